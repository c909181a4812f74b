"""How the branch of PIP-448 deviates, as recorded (profile ``pip-448``). The branch was never merged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from math import ceil, isnan
from typing import ClassVar, Protocol

from broker_tck.model.delayed_delivery.specification import Buckets, FixedDelay, MemoryEstimate, Placed, Position
from broker_tck.model.parts.timer import BegunAtZero, WallTimer
from broker_tck.model.reference import Fault
from broker_tck.model.rules import rule
from broker_tck.model.topic_delivery.specification import (
    MANAGER,
    Config,
    Pruner,
    Registry,
    SubscriptionView,
    TopicDelivery,
)
from broker_tck.model.topic_delivery.timer import TopicTimer

ADAPTIVE = (5, 50)
"""The bounds of the interval, in milliseconds, if it is taken from the tick."""
USUAL_RATIO = 0.5


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

    begin = refused


class ArmedForThePast(BegunAtZero, TopicTimer):
    """A timer that is armed for a bucket that has passed as well: at once. It keeps every last run."""

    def remembered(self, last_run: int) -> int:
        return last_run

    def jump(self, by: int) -> None:
        WallTimer.jump(self, by)

    def settled(self, wake: int) -> bool:
        return self.timeout is not None and wake == self.target and wake >= self.now

    def passed(self, wake: int) -> bool:
        return False

    def arm(self, wake: int, tick: int) -> None:
        super().arm(max(wake, self.now), tick)
        self.target = wake


class BehindTheMark(SubscriptionView):
    """A view that sees every copy behind its mark-delete position, handed out before or not."""

    FixedDelay = ForAllTimes

    def was_handed(self, placed: Placed) -> bool:
        return False

    was_cleared = was_handed

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


class Throttle(Protocol):
    """What the pruner is configured with."""

    tick: int
    prune_ms: int
    ratio: float | None


class ThrottledPruner(Pruner):
    """It tries at most once in an interval, and goes by mark-delete positions alone."""

    def __init__(self, config: Throttle) -> None:
        super().__init__(config)
        self.interval = self.interval_of(config.prune_ms, config.tick)
        self.ratio = self.ratio_of(config.ratio)
        self.tried = 0

    @rule("TD-21", source=f"{MANAGER}, pruneMinIntervalMillis")
    def may_try(self, now: int) -> bool:
        """A prune is tried once the interval has passed since the last try, failed or not; the first counts from 0."""
        return now >= self.tried_at(now) + self.interval

    @rule("TD-42", source=f"{MANAGER}, as recorded", needs="jumps", when=lambda p, now: now < p.tried)
    def tried_at(self, now: int) -> int:
        """If the clock is set back, no prune is tried until the interval has passed since the old time of the last."""
        return self.tried

    @rule("TD-21")
    def interval_of(self, prune_ms: int, tick: int) -> int:
        """The interval is the configured one, else the first tick, but at least 5 ms and at most 50."""
        least, most = ADAPTIVE
        return prune_ms if prune_ms > 0 else min(max(tick, least), most)

    @rule("TD-22", source=f"PIP-448, delayedDeliveryPruneEligibleRatio; {MANAGER}")
    def is_worth_a_try(self, asked: int, views: int) -> bool:
        """A firing tries a prune if it asks the configured share of the views, rounded up, and at least one of them."""
        return asked >= max(1, ceil(self.ratio * views))

    @rule("TD-22")
    def ratio_of(self, ratio: float | None) -> float:
        """A share that is not a number counts as 0.5, one below 0 as 0, and one above 1 as 1."""
        return USUAL_RATIO if ratio is None or isnan(ratio) else min(max(ratio, 0.0), 1.0)

    @rule("TD-24", source=f"{MANAGER}; T-14, T-15")
    def fails(self, views: Collection[SubscriptionView]) -> bool:
        """If copies are held and no view is registered, a prune is an error; the messages of that get are lost."""
        return not views


class MeasuredSets(MemoryEstimate):
    """The sizes of the sets of entries, as the class keeps the sum."""

    def __init__(self) -> None:
        super().__init__()
        self.bytes = 0

    @staticmethod
    def size(entries: int) -> int:
        """Bytes of a set of entry ids below 65,536, as the class writes it."""
        return 58 + 2 * entries if entries else 1

    def entered(self, entries: int) -> None:
        """An entry came into a set, which has ``entries`` entries now."""
        self.bytes += self.size(entries) - self.size(entries - 1)

    @rule("TD-25", source=f"{MANAGER}; T-10")
    def freed(self, entries: int, left: int, whole: bool) -> int:
        """If a prune drops a whole set of entries, the estimate loses a byte more than the set had added."""
        return self.size(entries) - (0 if whole else self.size(left))


class Pip448(TopicDelivery):
    """The manager and the trackers of the branch, as recorded."""

    PROFILE = "pip-448"
    BREAKS: ClassVar[tuple[str, ...]] = (
        *("TD-04", "TD-33", "TD-34", "TD-35", "TD-36", "TD-37", "TD-40", "TD-43"),
        *("isolation", "keeping"),
    )
    NOT_APPLICABLE: ClassVar[tuple[str, ...]] = ("DD-02", "DD-03", "DD-29", "DD-30", "DD-33", "DD-35", "TD-38", "shift")
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

    # ---- Views come and go: each with a tick of its own

    def open(self, name: str) -> str:
        handle = super().open(name)
        view = self.registry.views[handle]
        if view.handle == handle:
            view.fixed_delay = self.fixed_delay
            view.buckets = self.Buckets(self.buckets.tick, self.buckets.strict)
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

    # ---- What a view sees

    def is_available(self, view: SubscriptionView) -> bool:
        return bool(self.index.held) and view.buckets.due(self.index.first(), self.timer.reading())

    def answered_no(self) -> None:
        pass

    def count_of(self, view: SubscriptionView) -> int:
        return self.index.count()

    def retick(self, tick: int) -> None:
        super().retick(tick)
        for view in self.registry.registered.values():
            view.buckets.reset_tick(tick)

    # ---- The timer

    def aim(self) -> int:
        return self.index.first()

    def rearm(self, asked: int) -> None:
        if self.pruner.is_worth_a_try(asked, len(self.registry.registered)):
            self.try_to_prune()

    # ---- Pruning

    def release(self, copies: Iterable[Placed]) -> None:
        pass

    settle = release

    @rule("TD-23", source=MANAGER)
    def hand_out(self, view: SubscriptionView, most: int) -> list[Position]:
        """Only gets and firings try a prune; every get does so at its end, whatever it hands out."""
        out = super().hand_out(view, most)
        self.try_to_prune()
        return out

    def try_to_prune(self) -> None:
        """Remove the copies that all views have acknowledged, unless that was tried just now."""
        views = self.registry.registered.values()
        now = self.timer.reading()
        if not self.pruner.may_try(now):
            return
        self.pruner.tried = now
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

    def came(self, view: SubscriptionView, placed: Placed, new: bool) -> None:
        if new:
            key, (ledger, _) = placed
            self.memory_estimate.entered(sum(position[0] == ledger for position in self.index.held[key]))
        view.adds(placed)

    def copies(self) -> Iterable[Placed]:
        """Every copy that is held."""
        return ((key, position) for key, bucket in self.index.held.items() for position in bucket)

    def entries(self) -> Counter[tuple[int, int]]:
        """How many entries each set has, by the key of its bucket and its ledger."""
        return Counter((key, ledger) for key, (ledger, _) in self.copies())

    def memory(self, handle: str) -> int | None:
        return self.asked(handle, lambda _: self.memory_estimate.bytes)

    def memory_seen(self) -> int:
        return self.memory_estimate.bytes


PROFILES = {model.PROFILE: model for model in (TopicDelivery, Pip448)}
"""Every profile of the contract; the first is the default."""
