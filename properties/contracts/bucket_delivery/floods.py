"""Plots of many messages at once: many buckets, a large one, an answer of thousands."""

from __future__ import annotations

from collections.abc import Iterator

from broker_tck.properties.contracts.bucket_delivery.messages import until_next
from broker_tck.properties.contracts.bucket_delivery.moves import Moves
from broker_tck.properties.contracts.bucket_delivery.operations import (
    AT_ONCE,
    WAITS,
    Advance,
    Clear,
    Get,
    Mark,
    Storage,
)
from broker_tck.properties.engine.choices import one_of
from broker_tck.properties.engine.operation import Operation

MANY_BUCKETS = 50
"""Where so many lie, they are recovered."""
LARGE_SEGMENTS = (1_025, 1_030, 1_100)
"""So many positions of one ledger make a segment."""
MANY_SEGMENTS = (501, 520)
"""So many segments make a bucket."""
LARGE_BUDGETS = (4_097, 4_100, 5_000)
"""So many messages are handed out at once."""


class Floods:
    """What may become of many messages."""

    def __init__(self, moves: Moves, calls_wait: bool) -> None:
        self.moves = moves
        self.model, self.choices, self.messages = moves.model, moves.choices, moves.messages
        self.calls_wait = calls_wait

    def all_at_once(self) -> Iterator[Operation]:
        """Many messages at once, whose calls wait or end as they are made; then mostly something happens to all."""
        at_once = self.choices.below(3) > 0
        if at_once:  # key updates come one after the other: one that waits has all others wait
            yield from self.moves.all_but("")
            yield Storage(AT_ONCE)
        yield self.messages.many()
        if at_once and self.calls_wait:
            yield Storage(WAITS)
        tracker = self.model.tracker
        many, kind = tracker is not None and len(tracker.placed.pieces) >= MANY_BUCKETS, self.choices.below(6)
        if kind == 2 or (many and kind > 3):
            yield Mark(*self.messages.position())
            yield from self.moves.many()
        if kind < 2 or many:
            yield from self.moves.lives()
        elif kind == 3:
            yield Clear()
        elif kind == 4:
            yield Advance(until_next(self.model) + self.messages.times.spread)
            yield Get(one_of(self.choices, (1, 100, 1_000, 2**31 - 1)))

    def large_bucket(self) -> Iterator[Operation]:
        """A bucket of one ledger has a large segment, or many small ones, and is mostly loaded by another tracker."""
        config, step = self.model.config, 0 if self.choices.below(3) else max(self.model.config.time_step, 1)
        n = one_of(self.choices, MANY_SEGMENTS if step else LARGE_SEGMENTS)
        cut = not step and (config.time_step < 1 or -1 < config.max_indexes < n)
        if cut or config.min_index_count > n:
            return
        yield Storage(AT_ONCE)
        yield from self.messages.all_of_one(n, step)
        yield self.messages.next_ledger()
        if self.choices.below(2):
            yield from self.moves.all_but("")
        yield from self.moves.lives()
        if self.choices.below(2):
            yield Mark(*self.messages.position())
        yield Advance(until_next(self.model) + self.choices.below(n) * step)
        yield Get(one_of(self.choices, (100, 2_000)))

    def one_answer(self) -> Iterator[Operation]:
        """Thousands of messages are handed out at once."""
        n = one_of(self.choices, LARGE_BUDGETS)
        yield from self.messages.all_of_one(n)
        yield Advance(until_next(self.model))
        yield Get(n + self.choices.below(3) - 1)
