"""How a campaign's work is divided into rounds and shards. The division is the same on all machines."""

from __future__ import annotations

from math import ceil, sqrt
from typing import NamedTuple

from broker_tck.spark_fuzz.driver.manifest import Goal

OPERATIONS = 10_000_000
"""The default number of operations of a campaign."""
SHARD = 500_000
"""The usual number of operations of a shard. They take a few seconds, so the start of its processes costs little."""
PROGRAMS, SHARD_PROGRAMS = 20_000, 1_000
"""The same of a search of races: numbers of programs of each pair."""
LEAST = 2
"""Rounds, and shards of a round, of the smallest campaign."""
ENDLESS = 16
"""Shards of a round in a campaign that ends by the clock."""


class Sizes(NamedTuple):
    """The sizes of a campaign."""

    shards: int
    """Of a round."""
    share: int
    """The operations of a shard, shared by the pairs; of a search of races, the programs of a shard, for each pair."""
    goal: Goal


def sizes(
    wanted: int | None,
    rounds: int | None,
    shards: int | None,
    seconds: float | None,
    findings: int | None,
    usual: int = OPERATIONS,
    shard: int = SHARD,
) -> Sizes:
    """The sizes of a campaign. Unless one is given, it has as many rounds as a round has shards.

    A campaign for which neither work nor rounds are wanted ends after a number of seconds or findings. ``usual`` and
    ``shard`` are the usual work of a campaign and of a shard.
    """
    if wanted is None and (seconds or findings) and not rounds:
        return Sizes(shards or ENDLESS, shard, Goal(None, seconds, findings))
    total = wanted or usual
    many = total / shard
    if rounds and shards is None:
        shards = max(LEAST, round(many / rounds))
    shards = shards or max(LEAST, round(sqrt(many)))
    rounds = rounds or max(LEAST, round(many / shards))
    return Sizes(shards, ceil(total / (rounds * shards)), Goal(rounds, seconds, findings))
