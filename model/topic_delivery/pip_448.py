"""What the branch of PIP-448 does otherwise, as recorded (profile ``pip-448``). The branch was never merged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import ClassVar

from broker_tck.model.delayed_delivery.specification import Buckets, FixedDelay, Position
from broker_tck.model.parts.timer import BegunAtZero
from broker_tck.model.reference import Fault
from broker_tck.model.topic_delivery.registry import Registry
from broker_tck.model.topic_delivery.shared_index import Config
from broker_tck.model.topic_delivery.specification import TopicDelivery
from broker_tck.model.topic_delivery.throttled import MeasuredSets, ThrottledPruner
from broker_tck.model.topic_delivery.view import Placed, SubscriptionView


class BucketsByTheTick(Buckets):
    """Buckets as wide as the tick is when a message comes; each is due when its first time is within the cut-off."""

    def key(self, at: int) -> int:
        return at - at % self.tick if self.tick > 0 else at

    def due(self, key: int, now: int) -> bool:
        return key <= self.cutoff(now)


class ForAllTimes(FixedDelay):
    """A detection that no refusal ends, and that nothing starts anew."""

    def refused(self) -> None:
        pass

    def starts_anew(self, taken: bool, empty: bool) -> bool:
        return False


class ArmedForThePast(BegunAtZero):
    """A timer that is armed for a bucket that has passed as well: at once."""

    def settled(self, wake: int) -> bool:
        return self.timeout is not None and wake == self.target and wake >= self.now

    def passed(self, wake: int) -> bool:
        return False

    def arm(self, wake: int, tick: int) -> None:
        super().arm(max(wake, self.now), tick)
        self.target = wake


class BehindTheMark(SubscriptionView):
    """A view that sees whatever is behind its mark-delete position, handed out before or not."""

    FixedDelay = ForAllTimes

    def was_handed(self, placed: Placed) -> bool:
        return False

    def was_cleared(self, placed: Placed) -> bool:
        return False

    def was_passed(self, position: Position) -> bool:
        return False


class ByName(Registry):
    """A registry that knows subscriptions by their names alone. A shutdown closes no view."""

    def mark_of(self, name: str) -> Position | None:
        return None

    def taken_over(self, name: str) -> SubscriptionView | None:
        return self.registered.get(name)

    def is_stale(self, view: SubscriptionView) -> bool:
        return False

    def is_registered(self, view: SubscriptionView) -> bool:
        return True

    def may_open(self) -> bool:
        return True


class Pip448(TopicDelivery):
    """The manager and the trackers of the branch, as recorded."""

    PROFILE = "pip-448"
    BREAKS: ClassVar[tuple[str, ...]] = (
        *("TD-04", "TD-33", "TD-34", "TD-35", "TD-36", "TD-37"),
        *("isolation", "keeping"),
    )
    MOOT: ClassVar[tuple[str, ...]] = ("DD-02", "DD-03", "DD-29", "DD-30", "DD-33", "DD-35", "shift")
    Timer = ArmedForThePast
    Buckets = BucketsByTheTick
    View = BehindTheMark
    Registry = ByName
    Pruner: type[ThrottledPruner] = ThrottledPruner
    MemoryEstimate: type[MeasuredSets] = MeasuredSets
    pruner: ThrottledPruner
    memory_estimate: MeasuredSets

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.fixed_delay = self.View.FixedDelay()
        """One for all views."""
        self.own: dict[str, Buckets] = {}
        """The tick of each view, with the buckets that are due by it."""

    # ---- Views come and go

    def open(self, name: str) -> str:
        handle = super().open(name)
        view = self.registry.views[handle]
        if view.handle == handle:
            view.fixed_delay = self.fixed_delay
            self.own[handle] = self.Buckets(self.buckets.tick, self.buckets.strict)
        return handle

    def close(self, handle: str) -> None:
        view = self.registry.views.get(handle)
        self.registry.close(handle)
        if view is not None:
            self.left(view)

    def left(self, view: SubscriptionView) -> None:
        if not self.registry.registered:
            self.forget()

    def forget(self) -> None:
        super().forget()
        self.memory_estimate.bytes = 0

    # ---- What a view sees: with a tick of its own

    def cutoff(self, view: SubscriptionView) -> int:
        return self.own[view.handle].cutoff(self.timer.now)

    def is_due(self, key: int, view: SubscriptionView) -> bool:
        return self.own[view.handle].due(key, self.timer.now)

    def is_available(self, view: SubscriptionView) -> bool:
        return bool(self.index.held) and self.is_due(self.index.first(), view)

    def count_of(self, view: SubscriptionView) -> int:
        return self.index.count()

    def retick(self, tick: int) -> None:
        super().retick(tick)
        for view in self.registry.registered.values():
            self.own[view.handle].reset_tick(tick)

    # ---- The timer

    def aim(self) -> int:
        return self.index.first()

    def rearm(self, asked: int) -> None:
        if self.pruner.is_worth_a_try(asked, len(self.registry.registered)):
            self.try_to_prune()

    # ---- Pruning

    def release(self, copies: Iterable[Placed]) -> None:
        pass

    def settle(self, done: Iterable[Placed]) -> None:
        pass

    def hand_out(self, view: SubscriptionView, most: int) -> list[Position]:
        out = super().hand_out(view, most)
        if self.pruner.tries_after_get(len(out)):
            self.try_to_prune()
        return out

    def try_to_prune(self) -> None:
        """Let go of what all have acknowledged, unless that was tried just now."""
        views = self.registry.registered.values()
        if not self.pruner.may_try(self.timer.now):
            return
        self.pruner.tried = self.timer.now
        if not self.index.held:
            return
        if self.pruner.fails(views):
            raise Fault("NullPointerException")
        self.prune(self.pruner.pruned([*self.copies()], views))

    def prune(self, gone: list[Placed]) -> None:
        """Let go of copies."""
        before = self.entries()
        self.index.drop(gone)
        after = self.entries()
        last = min((view.mark[0] for view in self.registry.registered.values() if view.mark), default=0)
        for (key, ledger), entries in before.items():
            left = after[key, ledger]
            if left < entries:
                self.memory_estimate.bytes -= self.memory_estimate.freed(entries, left, ledger < last)

    # ---- Memory

    def inserted(self, new: bool, key: int, position: Position) -> None:
        if new:
            self.memory_estimate.entered(sum(copy[0] == position[0] for copy in self.index.held[key]))

    def copies(self) -> Iterable[Placed]:
        """Every copy that is held."""
        return ((key, copy) for key, bucket in self.index.held.items() for copy in bucket)

    def entries(self) -> Counter[tuple[int, int]]:
        """How many entries each set has, by the key of its bucket and its ledger."""
        return Counter((key, copy[0]) for key, copy in self.copies())

    def memory(self, handle: str) -> int | None:
        return None if self.view(handle) is None else self.memory_estimate.bytes

    def memory_seen(self) -> int:
        return self.memory_estimate.bytes
