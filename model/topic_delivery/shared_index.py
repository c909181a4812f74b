"""The shared index of a topic: what is held, who sees it, when it goes, and what the timer is armed for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from broker_tck.model.delayed_delivery import index
from broker_tck.model.delayed_delivery.buckets import Buckets
from broker_tck.model.delayed_delivery.memory import MemoryEstimate
from broker_tck.model.parts.timer import Timer
from broker_tck.model.reference import Fault, Reference
from broker_tck.model.rules import rule
from broker_tck.model.topic_delivery.pruner import Pruner
from broker_tck.model.topic_delivery.registry import Registry
from broker_tck.model.topic_delivery.view import Placed, SubscriptionView

CLOSED = "IllegalStateException"


class Config(Protocol):
    """What a trace configures."""

    tick: int
    strict: bool | int
    lookahead: int
    prune_ms: int
    ratio: float | None
    clock: int


class SharedIndex(Reference):
    """Copies in buckets, held once whatever the number of views; the views; and one timer."""

    Timer = Timer
    Buckets = Buckets
    Index = index.Index
    MemoryEstimate = MemoryEstimate
    Registry = Registry
    View = SubscriptionView
    Pruner = Pruner

    def __init__(self, config: Config) -> None:
        self.lookahead = config.lookahead
        self.timer = self.Timer(config.clock)
        self.buckets = self.Buckets(config.tick, bool(config.strict))
        self.index = self.Index()
        self.memory_estimate = self.MemoryEstimate()
        self.registry = self.Registry()
        self.pruner = self.Pruner(config)

    def view(self, handle: str) -> SubscriptionView | None:
        """The view of a handle; None where there is none. A fault where it refuses to be called."""
        if self.registry.refuses(handle):
            raise Fault(CLOSED)
        return self.registry.views.get(handle)

    def forget(self) -> None:
        """Let go of everything."""
        self.memory_estimate.shrank = True
        self.index.clear()
        self.update_timer()

    # ---- What is held

    def index_of(self, copies: Iterable[Placed]) -> index.Index:
        """Some copies, as an index of their own."""
        shown = self.Index()
        for key, copy in copies:
            shown.held.setdefault(key, set()).add(copy)
        return shown

    def seen_by(self, view: SubscriptionView) -> list[Placed]:
        """The copies that a view sees."""
        held = self.index.held.items()
        return [placed for key, bucket in held for copy in bucket if view.sees(placed := (key, copy))]

    def settle(self, done: Iterable[Placed]) -> None:
        """A view is done with some copies; the timer is brought up to date."""
        self.release(done)
        self.update_timer()

    def release(self, copies: Iterable[Placed]) -> None:
        """A view is done with some copies: those leave the index that nobody else sees."""
        gone = self.pruner.pruned(copies, self.registry.registered.values())
        self.index.drop(gone)
        self.memory_estimate.shrank |= bool(gone)

    # ---- The timer

    @rule("TD-17", source="InMemoryTopicDelayedDeliveryTrackerManager; T-03, T-04, T-05")
    def aim(self) -> int:
        """The timer aims at the first bucket of which no firing has told yet, and at nothing where there is none; where
        that bucket's moment has passed, at the next millisecond.
        """
        moments = self.moments()
        first = min([moment for moment in moments if not self.was_told(moment)] or moments)
        told_or_armed = self.was_told(first) or first == self.timer.target
        return first if told_or_armed else max(first, self.timer.now + 1)

    def was_told(self, moment: int) -> bool:
        """Whether a firing has told of a bucket that wants to be looked at then."""
        return self.timer.last_run is not None and moment <= self.timer.last_run

    def moments(self) -> list[int]:
        """When each bucket wants to be looked at."""
        return [*map(self.buckets.wake, self.index.held)]

    def update_timer(self) -> None:
        """Bring the timer up to date with what is held."""
        self.timer.update(self.aim() if self.index.held else None, self.buckets.tick)

    def sets(self) -> list[int]:
        """How many buckets there are, and how many sets of entries, one for each ledger in a bucket."""
        return [len(self.index.held), sum(len({copy[0] for copy in b}) for b in self.index.held.values())]
