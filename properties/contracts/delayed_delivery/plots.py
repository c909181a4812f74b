"""Short runs of operations that chance seldom strings together: times that step back, much of something."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from broker_tck.model.delayed_delivery.specification import LAST, DelayedDelivery
from broker_tck.properties.contracts.delayed_delivery.operations import (
    Add,
    Advance,
    AnyOperation,
    Capabilities,
    Clear,
    Fill,
    Get,
    Has,
    Memory,
    Pause,
    ResetTick,
)
from broker_tck.properties.engine import plots
from broker_tck.properties.engine.choices import Choices, one_of, weighted
from broker_tck.properties.engine.operation import Operation

if TYPE_CHECKING:
    from broker_tck.properties.contracts.delayed_delivery.generator import Adds, Ticks

FURTHEST = 2**53
"""How far the clock moves at once, at most."""
MOST_AHEAD = 1_000
"""Whoever looks ahead further has no pause in a walk."""
MANY = (999, 1_000, 1_001, 1_024, 1_025)
"""What does many at once does so many in a call."""
MANY_BUCKETS = (1_025, 1_030, 1_060, 1_099)
SCATTERED = (2_049, 2_050, 2_100, 2_560, 4_097)
THOUSAND, THOUSANDS = 999, 4_097
"""The budgets of walks that add about so many messages at once."""
CONTAINER = 65_536
"""So many entries share a container of a bitmap."""
FULL = (65_535, 65_536, 65_537)
"""How many entries fill a container, or nearly."""
GROWN = weighted([((8, 16, 32, 64), 4), ((128, 256, 1_000, 1_024), 2), ((4_096,), 3)])
"""So many entries of a ledger in a bucket are kept in one way, and one more in another."""
AROUND = 3
"""So many messages are added one by one where that may happen, and taken again."""
BATCHES = (1_002, 1_025, 1_099)
"""Over how many messages of a batch times fall by about a tick."""
AGAIN = 4
"""One time in so many, many messages are added once more."""
CROWD, CROWDS = 200, 9
"""So many scattered entries of a bucket are better kept as a bitmap; in so many buckets and one more."""


class Plots(plots.Plots):
    """The plots of a tracker."""

    def __init__(
        self, model: DelayedDelivery, choices: Choices, adds: Adds, ticks: Ticks, capabilities: Capabilities
    ) -> None:
        super().__init__()
        self.model, self.choices, self.adds, self.ticks = model, choices, adds, ticks
        self.below = choices.below
        steps = self.step_back if 0 < model.lookahead <= MOST_AHEAD else self.fill
        self.sizes = capabilities.memory_estimate
        grown = self.grown if self.sizes else self.scattered
        self.plots = weighted([(self.fill, 1), (steps, 3)])
        batched = self.batched if 0 < model.lookahead <= MOST_AHEAD else self.twice
        large = {
            THOUSAND: [self.buckets, self.buckets, self.twice, batched, batched],
            THOUSANDS: [self.scattered, self.scattered, self.scattered, self.crowds, grown],
            CONTAINER: [self.full],
        }
        self.first = large.get(adds.work, [])
        """The plots from which the first one is drawn, which spends the walk's whole budget; empty if none does."""
        adds.work = 0 if self.first else adds.work

    def begin(self) -> Operation:
        """Begin a plot, first the one that spends the budget; if a plot has nothing to do, add many messages."""
        plots, self.first = self.first or self.plots, []
        return self.play(one_of(self.choices, plots), self.adds.fill)

    def fill(self) -> Iterator[AnyOperation]:
        """Many messages, whatever they are; now and then once more."""
        fill = self.adds.fill()
        yield fill
        if self.below(AGAIN) == 0:
            yield fill

    def emptied(self) -> Iterator[AnyOperation]:
        """All times pass, and everything is handed out, in one piece or in two."""
        last = max((key for key in self.model.index.held if key < 2**60), default=0)
        until = last + self.model.buckets.width + self.model.buckets.tick
        yield Advance(min(max(0, until - self.model.timer.now), FURTHEST))
        yield Has()
        yield Get(self.model.count() // (1 + self.below(3) // 2))
        yield Get(self.model.count())

    def first_time(self) -> int:
        """The first time that is not refused."""
        return max(0, self.model.buckets.cutoff(self.model.timer.now) + 1)

    # ---- A fixed delay

    def step_back(self) -> Iterator[AnyOperation]:
        """Times step back by about a tick, over two messages or three."""
        return self.stepping_back(2 + self.below(2))

    def batched(self) -> Iterator[AnyOperation]:
        """Times step back by about a tick, over many messages."""
        return self.stepping_back(one_of(self.choices, BATCHES))

    def stepping_back(self, n: int) -> Iterator[AnyOperation]:
        """All delays are alike, and enough is held for a pause; then times step back by about a tick, all at once."""
        model, below = self.model, self.below
        if not model.fixed_delay.fixed and below(4):
            yield from self.emptied()
        if below(2):
            yield ResetTick(self.ticks.next())
        if n < THOUSAND:
            apart = self.about_a_tick() // (n - 1)
        else:  # by more than a tick, but not over any thousand of them
            apart = max(1, model.buckets.tick // THOUSAND)
            n = max(n, model.buckets.tick // apart + 2)
        at = max(self.first_time() + 2 * (n * apart + model.buckets.tick), model.fixed_delay.highest)
        if at > LAST:
            return
        missing = model.lookahead - model.count() - below(n + 1)
        if missing > 0:
            yield Fill(*self.adds.position(missing), 1, missing, at)
        yield Fill(*self.adds.position(n), 1, n, at, -apart)
        yield Pause()
        yield from self.meanwhile()
        yield Pause()

    def about_a_tick(self) -> int:
        """By how much times step back: by a tick, give or take one, or by something between it and another length."""
        tick = self.model.buckets.tick
        low, high = sorted((tick, one_of(self.choices, (self.ticks.first, self.ticks.other, self.model.buckets.width))))
        if low == high or self.below(3) == 0:
            return max(0, tick - 1 + self.below(3))
        return low + 1 + self.below(high - low)

    def meanwhile(self) -> Iterator[AnyOperation]:
        """What may happen between two questions whether deliveries pause."""
        kind = self.below(8)
        if kind == 0:
            yield Clear()
        elif kind == 1:
            yield Get(self.below(2))
        elif kind == 2:
            yield ResetTick(self.ticks.next())
        elif kind == 3:
            yield Advance(self.below(self.model.buckets.tick + 1))
        elif kind == 4:
            yield self.adds.again()
        elif kind < 7:
            yield Add(*self.adds.position(1), self.model.fixed_delay.highest - self.about_a_tick())

    # ---- Much of something

    def twice(self) -> Iterator[AnyOperation]:
        """A thousand messages, and the same once more."""
        n = one_of(self.choices, MANY)
        fill = Fill(*self.adds.position(n), 1, n, self.first_time() + self.below(2 * self.model.buckets.width))
        yield from (fill, fill)

    def buckets(self) -> Iterator[AnyOperation]:
        """Many buckets, which are forgotten together, or whose messages are taken."""
        n, width = one_of(self.choices, MANY_BUCKETS), self.model.buckets.width
        at = self.first_time() + width
        if at + n * width > LAST:
            return
        yield Fill(*self.adds.position(n), 1, n, at, width)
        if self.below(3) == 0:
            yield Clear()
        else:
            yield from self.emptied()

    def full(self) -> Iterator[AnyOperation]:
        """A bucket is as full as a container of a bitmap can be; it is added to, asked, taken from, and emptied."""
        n, step = one_of(self.choices, FULL), one_of(self.choices, (1, 1, 1, 2))
        ledger, entry = self.adds.position(n * step)
        at = self.first_time() + self.below(2 * self.model.buckets.width)
        if entry + n * step > self.adds.largest or at > LAST:
            return
        inside, beyond = Add(ledger, entry + self.below(n) * step, at), Add(ledger, entry + n * step, at)
        yield Fill(ledger, entry, step, n, at)
        yield from (inside, beyond)
        yield from self.sized()
        yield Advance(min(max(0, at + self.model.buckets.width - self.model.timer.now), FURTHEST))
        yield Has()
        yield Get(one_of(self.choices, (n, self.below(n))))
        yield from self.sized()
        if self.below(4):
            yield from self.emptied()
        else:
            yield Clear()
        yield from self.sized()

    def sized(self) -> Iterator[AnyOperation]:
        """Memory is asked for, if it can be."""
        if self.sizes:
            yield Memory()

    def scattered(self) -> Iterator[AnyOperation]:
        """Many entries of a bucket none of which is the next of another; then one before them all, and a run."""
        n, step, room = one_of(self.choices, SCATTERED), one_of(self.choices, (2, 2, 3, 7)), 1 + self.below(300)
        ledger, before = self.adds.position(room + n * step + CONTAINER)
        at = self.first_time() + self.below(2 * self.model.buckets.width)
        if before + room + n * step + CONTAINER > self.adds.largest or at > LAST:
            return
        yield Fill(ledger, before + room, step, n, at)
        yield Add(ledger, before + self.below(room), at)
        run = 2 + self.below(30)
        border = (before + room + CONTAINER) // CONTAINER * CONTAINER
        yield Fill(ledger, border - 1 - self.below(run - 1), 1, run, at)
        yield from self.emptied()

    def grown(self) -> Iterator[AnyOperation]:
        """The entries of a bucket become so many that they are kept otherwise, and fewer; memory is asked for."""
        n, step = one_of(self.choices, one_of(self.choices, GROWN)) - 1, one_of(self.choices, (1, 2))
        ledger, entry = self.adds.position((n + AROUND) * step)
        at = self.first_time() + self.below(2 * self.model.buckets.width)
        if entry + (n + AROUND) * step > self.adds.largest or at > LAST:
            return
        yield Fill(ledger, entry, step, n, at)
        yield Memory()
        for i in range(AROUND):
            yield Add(ledger, entry + (n + i) * step, at)
            yield Memory()
        yield Advance(min(max(0, at + self.model.buckets.width - self.model.timer.now), FURTHEST))
        for _ in range(AROUND):
            yield Get(1)
            yield Memory()

    def crowds(self) -> Iterator[AnyOperation]:
        """Several buckets at once, each with many entries that are not the next of one another."""
        width, step = self.model.buckets.width, one_of(self.choices, (2, 3, 16))
        apart = width // CROWD
        n = (CROWDS + 1) * (width // max(apart, 1))
        ledger, entry = self.adds.position(n * step)
        at = self.first_time() + self.below(width)
        if apart == 0 or entry + n * step > self.adds.largest or at + n * apart > LAST:
            return
        yield Fill(ledger, entry, step, n, at, apart)
        if self.below(2):
            yield from self.emptied()
