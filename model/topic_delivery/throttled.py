"""The pruner of PIP-448's branch, which tries now and then, and its estimate of the memory."""

from __future__ import annotations

from collections.abc import Collection
from math import ceil, isnan
from typing import Protocol

from broker_tck.model.delayed_delivery.memory import MemoryEstimate
from broker_tck.model.rules import rule
from broker_tck.model.topic_delivery.pruner import Pruner
from broker_tck.model.topic_delivery.view import SubscriptionView

ADAPTIVE = (5, 50)
"""The bounds of the interval, in milliseconds, where it is taken from the tick."""
USUAL_RATIO = 0.5


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

    # ---- When it tries

    @rule("TD-21", source="InMemoryTopicDelayedDeliveryTrackerManager, pruneMinIntervalMillis")
    def may_try(self, now: int) -> bool:
        """A prune is tried when the interval has passed since the last try, whatever came of that; the interval is the
        configured one, else the first tick, but 5 ms at least and 50 at most. The first try is measured from 0.
        """
        return now - self.tried >= self.interval

    @rule("TD-21")
    def interval_of(self, prune_ms: int, tick: int) -> int:
        least, most = ADAPTIVE
        return prune_ms if prune_ms > 0 else min(max(tick, least), most)

    @rule("TD-22", source="PIP-448, delayedDeliveryPruneEligibleRatio; InMemoryTopicDelayedDeliveryTrackerManager")
    def is_worth_a_try(self, asked: int, views: int) -> bool:
        """A firing tries a prune when it asks at least the configured share of the views, rounded up, and one at least;
        what is no number is 0.5, and what is beyond 0 or 1 is taken for that.
        """
        return asked >= max(1, ceil(self.ratio * views))

    @rule("TD-22")
    def ratio_of(self, ratio: float | None) -> float:
        return USUAL_RATIO if ratio is None or isnan(ratio) else min(max(ratio, 0.0), 1.0)

    @rule("TD-23", source="InMemoryTopicDelayedDeliveryTrackerManager")
    def tries_after_get(self, taken: int) -> bool:
        """A prune is tried at the end of every get, whatever that handed out, and by firings; by nothing else."""
        return True

    @rule("TD-24", source="InMemoryTopicDelayedDeliveryTrackerManager; T-14, T-15")
    def fails(self, views: Collection[SubscriptionView]) -> bool:
        """A try with something held and nobody registered is an error; what was to be handed out is lost with it."""
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
        """One more came into a set, which has so many now."""
        self.bytes += self.size(entries) - self.size(entries - 1)

    @rule("TD-25", source="InMemoryTopicDelayedDeliveryTrackerManager; T-10")
    def freed(self, entries: int, left: int, whole: bool) -> int:
        """A set of entries that a prune drops as a whole takes a byte more off the estimate than it had added."""
        return self.size(entries) - (0 if whole else self.size(left))
