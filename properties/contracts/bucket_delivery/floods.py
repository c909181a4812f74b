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
        kind = self.choices.below(6)
        if kind == 2:
            yield Mark(*self.messages.position())
            yield from self.moves.many()
        if kind < 2:
            yield from self.moves.lives()
        elif kind == 3:
            yield Clear()
        elif kind == 4:
            yield Advance(until_next(self.model) + self.messages.times.spread)
            yield Get(one_of(self.choices, (1, 100, 1_000, 2**31 - 1)))

    def one_ledger(self) -> Iterator[Operation]:
        """A bucket of one ledger has one segment or many; mostly another tracker loads it, and all is handed out."""
        step = 0 if self.choices.below(3) else max(self.model.config.time_step, 1)
        n = max(self.messages.sizes.next(), 1)
        if self.model.config.min_index_count > n:
            return
        yield Storage(AT_ONCE)
        yield from self.messages.all_of_one(n, step)
        yield self.messages.next_ledger()
        if self.choices.below(2):
            yield from self.moves.all_but("")
        if self.choices.below(4):
            yield from self.moves.lives()
        if self.choices.below(2):
            yield Mark(*self.messages.position())
        yield Advance(until_next(self.model) + self.choices.below(n + 1) * step)
        yield Get(one_of(self.choices, (100, n, n + 1)))
