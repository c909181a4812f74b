"""The pruner of PIP-448's branch, which tries now and then, and its estimate of the memory."""

from __future__ import annotations

from collections.abc import Collection
from math import ceil, isnan
from typing import Protocol

from broker_tck.model.delayed_delivery.memory import MemoryEstimate
from broker_tck.model.rules import also, rule
from broker_tck.model.said import said
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

    @said(
        only_after_the_interval="Your tracker tries no prune when exactly its interval has passed; then it has to.",
        twice_the_interval="Your tracker waits for twice its interval before it tries a prune again; once is right.",
        absent="Your tracker tries a prune at every occasion; the interval has to have passed since the last try.",
    )
    @rule(
        "TD-21",
        "A prune is tried when the interval has passed since the last try, whatever came of that; the interval is the "
        "configured one, else the first tick, but 5 ms at least and 50 at most. The first try is measured from 0.",
        source="InMemoryTopicDelayedDeliveryTrackerManager, pruneMinIntervalMillis",
        look="a try that is refused, or throws, and spends the interval all the same",
        absent=lambda p, now: True,
        only_after_the_interval=lambda p, now: now - p.tried > p.interval,
        twice_the_interval=lambda p, now: now - p.tried >= 2 * p.interval,
    )
    def may_try(self, now: int) -> bool:
        return now - self.tried >= self.interval

    @said(
        always_the_tick="Your tracker takes the interval of its prunes from the tick although one is configured.",
        the_tick_without_bounds=(
            "The interval of your tracker's prunes is the tick, however short or long; it is 5 ms at least and 50 at "
            "most."
        ),
        no_more_than_50=(
            "Your tracker keeps a configured interval of its prunes between 5 and 50 ms; that is for the tick alone."
        ),
        absent=(
            "Your tracker has no interval between prunes unless one is configured; it has to take it from the first "
            "tick."
        ),
    )
    @also(
        may_try,
        absent=lambda p, prune_ms, tick: prune_ms,
        always_the_tick=lambda p, prune_ms, tick: min(max(tick, ADAPTIVE[0]), ADAPTIVE[1]),
        the_tick_without_bounds=lambda p, prune_ms, tick: prune_ms or tick,
        no_more_than_50=lambda p, prune_ms, tick: min(max(prune_ms or tick, ADAPTIVE[0]), ADAPTIVE[1]),
    )
    def interval_of(self, prune_ms: int, tick: int) -> int:
        least, most = ADAPTIVE
        return prune_ms if prune_ms > 0 else min(max(tick, least), most)

    @said(
        rounded_down="Your tracker rounds the share of views for a prune down; it has to round up.",
        more_than_the_share=(
            "A firing of your tracker tries a prune only if it asks more than the configured share of the views; "
            "exactly that share is enough."
        ),
        never="A firing of your tracker never tries a prune; it has to when it asks enough of the views.",
        half_of_them=(
            "A firing of your tracker tries a prune when it asks half of the views, whatever share is configured."
        ),
        all_of_them=(
            "A firing of your tracker tries a prune only when it asks all views, whatever share is configured."
        ),
        absent="Every firing of your tracker tries a prune; it has to ask the configured share of the views for that.",
    )
    @rule(
        "TD-22",
        "A firing tries a prune when it asks at least the configured share of the views, rounded up, and one at least; "
        "what is no number is 0.5, and what is beyond 0 or 1 is taken for that.",
        source="PIP-448, delayedDeliveryPruneEligibleRatio; InMemoryTopicDelayedDeliveryTrackerManager",
        look="equality with the share; a share of 0",
        absent=lambda p, asked, views: True,
        rounded_down=lambda p, asked, views: asked >= max(1, int(p.ratio * views)),
        more_than_the_share=lambda p, asked, views: asked > max(0, p.ratio * views),
        never=lambda p, asked, views: False,
        half_of_them=lambda p, asked, views: asked >= max(1, ceil(views / 2)),
        all_of_them=lambda p, asked, views: asked >= max(1, views),
    )
    def is_worth_a_try(self, asked: int, views: int) -> bool:
        return asked >= max(1, ceil(self.ratio * views))

    @said(
        no_number_is_1="Your tracker takes a share that is no number for 1; it is 0.5.",
        absent=(
            "Your tracker takes a share that is no number for 0, and one beyond 0 or 1 as it is; the former is 0.5, "
            "the latter is cut."
        ),
    )
    @also(
        is_worth_a_try,
        absent=lambda p, ratio: 0.0 if ratio is None else ratio,
        no_number_is_1=lambda p, ratio: 1.0 if ratio is None else min(max(ratio, 0.0), 1.0),
    )
    def ratio_of(self, ratio: float | None) -> float:
        return USUAL_RATIO if ratio is None or isnan(ratio) else min(max(ratio, 0.0), 1.0)

    @said(
        only_if_something_was_handed_out=(
            "Your tracker tries a prune only after a get that handed something out; it has to after every get."
        ),
        absent="Your tracker tries no prune after a get; it has to after every one.",
    )
    @rule(
        "TD-23",
        "A prune is tried at the end of every get, whatever that handed out, and by firings; by nothing else.",
        source="InMemoryTopicDelayedDeliveryTrackerManager",
        look="a get of nothing; a view that leaves",
        absent=lambda p, taken: False,
        only_if_something_was_handed_out=lambda p, taken: taken > 0,
    )
    def tries_after_get(self, taken: int) -> bool:
        return True

    @said(
        absent=(
            "A prune of your tracker with something held and nobody registered does nothing; this profile has it fail."
        ),
    )
    @rule(
        "TD-24",
        "A try with something held and nobody registered is an error; what was to be handed out is lost with it.",
        source="InMemoryTopicDelayedDeliveryTrackerManager; T-14, T-15",
        look="the smallest of no mark-delete positions",
        absent=lambda p, views: False,
    )
    def fails(self, views: Collection[SubscriptionView]) -> bool:
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

    @said(
        always=(
            "What empties a set in parts takes a byte too many off your tracker's memory estimate; only a prune that "
            "drops it as a whole may."
        ),
        absent=(
            "A prune takes off your tracker's memory estimate exactly what was added; for a set that goes as a whole "
            "this profile takes a byte more."
        ),
    )
    @rule(
        "TD-25",
        "A set of entries that a prune drops as a whole takes a byte more off the estimate than it had added.",
        source="InMemoryTopicDelayedDeliveryTrackerManager; T-10",
        look="the size of an empty set, 1 byte; an estimate below 0",
        absent=lambda e, entries, left, whole: e.size(entries) - e.size(left),
        always=lambda e, entries, left, whole: e.size(entries) - (0 if not left else e.size(left)),
    )
    def freed(self, entries: int, left: int, whole: bool) -> int:
        return self.size(entries) - (0 if whole else self.size(left))
