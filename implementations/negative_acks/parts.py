"""What trackers of negative acks have in common: backoffs, and how a set of ids is requested."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from broker_tck.implementations.interface import Consumer, NegativeAcksConfig, Position

MS = 1_000_000
"""Nanoseconds in a millisecond."""
SHORTEST_MS = 100
IDS_A_REQUEST = 1_000

Backoff = Callable[[int], int]
"""The delay in milliseconds for a redelivery count."""


def backoff_of(config: NegativeAcksConfig) -> Backoff | None:
    """The backoff that is configured, if there is one."""
    if config.backoff_ms:
        table = tuple(config.backoff_ms)
        return lambda count: table[count] if count < len(table) else table[-1]
    return MultiplierBackoff(*config.multiplier) if config.multiplier else None


class MultiplierBackoff:
    """A delay that grows by a factor with each redelivery, from the first to the longest."""

    def __init__(self, first_ms: int, longest_ms: int, factor: float) -> None:
        self.first = first_ms
        self.longest = longest_ms
        self.factor = factor
        self.growing = math.floor(math.log(longest_ms / first_ms) / math.log(factor)) + 1 if first_ms else 0

    def __call__(self, count: int) -> int:
        """The delay for a redelivery count."""
        if count <= 0 or not self.first:
            return self.first
        return self.longest if count > self.growing else min(int(self.first * self.factor**count), self.longest)


def emit(consumer: Consumer, ids: Sequence[Position], at_once: int = IDS_A_REQUEST) -> None:
    """Call the application, then send the requests; nothing at all without ids."""
    if ids:
        consumer.on_negative_acks_send(ids)
        for start in range(0, len(ids), at_once):
            consumer.redeliver_unacknowledged_messages(ids[start : start + at_once])
