"""Short runs of operations that chance seldom strings together: times that step back, much of something."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec.structs import replace

from broker_tck.model.delayed_delivery.specification import LAST, DelayedDelivery
from broker_tck.properties.contracts.delayed_delivery import operations as op
from broker_tck.properties.engine import plots
from broker_tck.properties.engine.choices import Choices, one_of
from broker_tck.properties.engine.operation import Operation

if TYPE_CHECKING:
    from broker_tck.properties.contracts.delayed_delivery.generator import Adds, Ticks

FURTHEST = 2**53
"""How far the clock moves at once, at most."""
MOST_AHEAD = 1_000
"""Whoever looks ahead further has no pause in a walk."""
AROUND = 3
"""So many messages are added one by one after many, and taken again."""


class Plots(plots.Plots):
    """The plots of a tracker."""

    def __init__(
        self, model: DelayedDelivery, choices: Choices, adds: Adds, ticks: Ticks, capabilities: op.Capabilities
    ) -> None:
        super().__init__()
        self.model, self.choices, self.adds, self.ticks = model, choices, adds, ticks
        self.below = choices.below
        pauses = 0 < model.lookahead <= MOST_AHEAD
        self.plots = (self.much, self.step_back, self.step_back, self.stepping_back) if pauses else (self.much,)
        self.estimates = capabilities.memory_estimate

    def begin(self) -> Operation:
        """Begin a plot; if it has nothing to do, add many messages."""
        return self.play(one_of(self.choices, self.plots), self.adds.fill)

    def emptied(self) -> Iterator[op.AnyOperation]:
        """All times pass, and everything is handed out, in one piece or in two."""
        last = max((key for key in self.model.index.held if key < 2**60), default=0)
        until = last + self.model.buckets.width + self.model.buckets.tick
        yield op.Advance(min(max(0, until - self.model.timer.now), FURTHEST))
        yield op.Has()
        yield op.Get(self.model.count() // (1 + self.below(3) // 2))
        yield op.Get(self.model.count())

    def first_time(self) -> int:
        """The first time that is not refused."""
        return max(0, self.model.buckets.cutoff(self.model.timer.now) + 1)

    # ---- A fixed delay

    def step_back(self) -> Iterator[op.AnyOperation]:
        """Times step back by about a tick, over two messages or three."""
        return self.stepping_back(2 + self.below(2))

    def stepping_back(self, n: int = 0) -> Iterator[op.AnyOperation]:
        """All delays are alike, and enough is held for a pause; then times step back by about a tick, all at once."""
        n = n or 2 + self.adds.sizes.next()
        model, below = self.model, self.below
        if not model.fixed_delay.fixed and below(4):
            yield from self.emptied()
        if below(2):
            yield op.ResetTick(self.ticks.next())
        apart = max(1, self.about_a_tick() // (n - 1))
        at = max(self.first_time() + 2 * (n * apart + model.buckets.tick), model.fixed_delay.highest)
        if at > LAST:
            return
        missing = model.lookahead - model.count() - below(n + 1)
        if missing > 0:
            yield op.Fill(*self.adds.position(missing), 1, missing, at)
        yield op.Fill(*self.adds.position(n), 1, n, at, -apart)
        yield op.Pause()
        yield from self.meanwhile()
        yield op.Pause()

    def about_a_tick(self) -> int:
        """By how much times step back: by a tick, give or take one, or by something between it and another length."""
        tick = self.model.buckets.tick
        low, high = sorted((tick, one_of(self.choices, (self.ticks.first, self.ticks.other, self.model.buckets.width))))
        if low == high or self.below(3) == 0:
            return max(0, tick - 1 + self.below(3))
        return low + 1 + self.below(high - low)

    def meanwhile(self) -> Iterator[op.AnyOperation]:
        """What may happen between two questions whether deliveries pause."""
        kind = self.below(8)
        if kind == 0:
            yield op.Clear()
        elif kind == 1:
            yield op.Get(self.below(2))
        elif kind == 2:
            yield op.ResetTick(self.ticks.next())
        elif kind == 3:
            yield op.Advance(self.below(self.model.buckets.tick + 1))
        elif kind == 4:
            yield self.adds.again()
        elif kind < 7:
            yield op.Add(*self.adds.position(1), self.model.fixed_delay.highest - self.about_a_tick())

    # ---- Much of something

    def much(self) -> Iterator[op.AnyOperation]:
        """Many messages of one bucket or of many, now and then once more; a few beside them; some or all are taken."""
        width, fill = self.model.buckets.width, self.adds.fill()
        entry = fill.entry + fill.n * fill.step
        at = min(max(fill.at, self.first_time()), LAST - width)
        within = entry + AROUND * fill.step <= self.adds.largest and 0 <= at + fill.n * fill.apart <= LAST
        fill = replace(fill, at=at) if within else fill
        yield fill
        if self.below(4) == 0:
            yield fill
        for i in range(AROUND if within else 0):
            yield from self.estimated()
            yield op.Add(fill.ledger, max(0, entry - self.below(2)) + i * fill.step, at)
        yield op.Advance(min(max(0, at + width - self.model.timer.now), FURTHEST))
        yield op.Get(one_of(self.choices, (1, fill.n, self.below(fill.n + 1))))
        for _ in range(AROUND):
            yield from self.estimated()
            yield op.Get(1)
        if self.below(4):
            yield from self.emptied()
        else:
            yield op.Clear()
        yield from self.estimated()

    def estimated(self) -> Iterator[op.AnyOperation]:
        """Memory is asked for, if it can be."""
        if self.estimates:
            yield op.Memory()
