"""How a campaign's operations are divided into rounds and shards. The division is the same on all machines."""

from __future__ import annotations

from math import ceil, sqrt
from typing import NamedTuple

from broker_tck.spark_fuzz.driver.manifest import Goal

OPERATIONS = 10_000_000
"""The default number of operations of a campaign."""
SHARD = 500_000
"""The usual number of operations of a shard. They take a few seconds, so the start of its processes costs little."""
LEAST = 2
"""Rounds, and shards of a round, of the smallest campaign."""
ENDLESS = 16
"""Shards of a round in a campaign that ends by the clock."""


class Sizes(NamedTuple):
    """The sizes of a campaign."""

    shards: int
    """Of a round."""
    operations: int
    """That a shard makes, shared by the pairs."""
    goal: Goal


def sizes(
    operations: int | None, rounds: int | None, shards: int | None, seconds: float | None, findings: int | None
) -> Sizes:
    """The sizes of a campaign. Unless one is given, it has as many rounds as a round has shards.

    A campaign with neither operations nor rounds ends after a number of seconds or findings.
    """
    if operations is None and (seconds or findings) and not rounds:
        return Sizes(shards or ENDLESS, SHARD, Goal(None, seconds, findings))
    total = operations or OPERATIONS
    many = total / SHARD
    if rounds and shards is None:
        shards = max(LEAST, round(many / rounds))
    shards = shards or max(LEAST, round(sqrt(many)))
    rounds = rounds or max(LEAST, round(many / shards))
    return Sizes(shards, ceil(total / (rounds * shards)), Goal(rounds, seconds, findings))
