"""Short runs of operations that chance seldom strings together: many ledgers, and many buckets between two views."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from msgspec.structs import replace

from broker_tck.model.topic_delivery.specification import TopicDelivery
from broker_tck.properties.contracts.topic_delivery.edges import fits
from broker_tck.properties.contracts.topic_delivery.operations import (
    Advance,
    AnyOperation,
    Clear,
    Count,
    Fill,
    Get,
    Has,
    MarkDelete,
)
from broker_tck.properties.engine import plots
from broker_tck.properties.engine.choices import Choices, one_of, weighted
from broker_tck.properties.engine.operation import Operation

if TYPE_CHECKING:
    from broker_tck.properties.contracts.topic_delivery.generator import Messages, Views

MANY_LEDGERS = (65, 70, 100, 130)
MANY_BUCKETS = (101, 105, 130)


class Plots(plots.Plots):
    """The plots of a topic."""

    def __init__(self, model: TopicDelivery, choices: Choices, messages: Messages, views: Views) -> None:
        super().__init__()
        self.model, self.choices, self.messages, self.views = model, choices, messages, views
        self.below = choices.below
        self.plots: list[Callable[[], Iterator[AnyOperation]]] = weighted(
            [(self.fill, 3), (self.ledgers, 1), (self.cleared, 2)]
        )

    def begin(self) -> Operation:
        """Begin a plot; if it has nothing to do, many messages are added."""
        return self.play(one_of(self.choices, self.plots), self.messages.fill)

    def fill(self) -> Iterator[AnyOperation]:
        """Many messages, whatever they are."""
        yield self.messages.fill()

    def two(self) -> list[str]:
        """Two views that are registered, if there are so many: one of them, and another."""
        handles = [view.handle for view in self.model.registry.registered.values()]
        first = self.below(max(len(handles), 1))
        return (handles[first:] + handles[:first])[:2]

    def first_time(self) -> int:
        """The first time that is not refused, a bucket later."""
        buckets = self.model.buckets
        return max(0, buckets.cutoff(self.model.timer.now) + 1) + buckets.width

    def ledgers(self) -> Iterator[AnyOperation]:
        """One bucket has messages of many ledgers, which are then taken or passed."""
        views, ledger, each = self.two(), self.messages.adds.pool[0][0], 1 + self.below(3)
        n = each * one_of(self.choices, MANY_LEDGERS)
        if not views or ledger + n >= 2**63:
            return
        fill = Fill(views[0], ledger, self.below(4), 1 + self.below(2), n, self.first_time(), 0, each)
        yield fill
        if self.below(2):
            yield replace(fill, handle=views[-1])
        if self.below(2):
            yield MarkDelete(views[0], ledger + self.below(n // each), self.below(8) - 1)
        yield Count(views[-1])
        yield from self.taken(views)

    def cleared(self) -> Iterator[AnyOperation]:
        """A view clears many buckets, one of two passes them, and one of them adds them again."""
        views, n, entry = self.two(), one_of(self.choices, MANY_BUCKETS), self.below(2)
        ledger = 1 + max([self.messages.pool[-1][0], *(mark[0] for mark in self.model.registry.marks.values())])
        fill = Fill(views[0] if views else "", ledger, entry, 1, n, self.first_time(), self.model.buckets.width)
        if not views or ledger >= 2**63 or not fits(fill, self.model):
            return
        yield fill
        if self.below(2):
            yield replace(fill, handle=views[-1])
        yield Clear(views[0])
        last = entry + n - 1 - self.below(n) if self.below(3) == 0 else entry + n - 1
        yield MarkDelete(views[0] if self.below(3) else views[-1], ledger, last)
        again = views[-1] if self.below(4) else views[0]
        if self.below(3) == 0:
            yield MarkDelete(again, ledger, entry - 1)
        yield replace(fill, handle=again)
        yield Count(again)
        yield from self.taken(views)

    def taken(self, views: list[str]) -> Iterator[AnyOperation]:
        """Times pass, and each of some views takes what it sees."""
        last = max((key for key in self.model.index.held if key < 2**60), default=0)
        until = last + self.model.buckets.width + 2 * self.model.buckets.tick
        yield Advance(min(max(0, until - self.model.timer.now), 2**53) if self.below(4) else 0)
        for view in views:
            yield Has(view)
            yield Get(view, self.model.index.count() // (1 + self.below(2)))
