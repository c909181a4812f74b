"""Known mistakes: the pruner of PIP-448's branch, which tries now and then, and its estimate of the memory."""

from __future__ import annotations

from math import ceil

from broker_tck.model.topic_delivery.throttled import ADAPTIVE, MeasuredSets, ThrottledPruner
from broker_tck.properties.mistakes.book import instead, of

of(ThrottledPruner.may_try, look="a try that is refused, or throws, and spends the interval all the same")(
    instead(
        "absent",
        "Your tracker tries a prune at every occasion; the interval has to have passed since the last try.",
        lambda p, now: True,
    ),
    instead(
        "only after the interval",
        "Your tracker tries no prune when exactly its interval has passed; then it has to.",
        lambda p, now: now - p.tried > p.interval,
    ),
    instead(
        "twice the interval",
        "Your tracker waits for twice its interval before it tries a prune again; once is right.",
        lambda p, now: now - p.tried >= 2 * p.interval,
    ),
)
of(ThrottledPruner.interval_of)(
    instead(
        "absent",
        "Your tracker has no interval between prunes unless one is configured; it has to take it from the first tick.",
        lambda p, prune_ms, tick: prune_ms,
    ),
    instead(
        "always the tick",
        "Your tracker takes the interval of its prunes from the tick although one is configured.",
        lambda p, prune_ms, tick: min(max(tick, ADAPTIVE[0]), ADAPTIVE[1]),
    ),
    instead(
        "the tick without bounds",
        "The interval of your tracker's prunes is the tick, however short or long; it is 5 ms at least and 50 at most.",
        lambda p, prune_ms, tick: prune_ms or tick,
    ),
    instead(
        "no more than 50",
        "Your tracker keeps a configured interval of its prunes between 5 and 50 ms; that is for the tick alone.",
        lambda p, prune_ms, tick: min(max(prune_ms or tick, ADAPTIVE[0]), ADAPTIVE[1]),
    ),
)
of(ThrottledPruner.is_worth_a_try, look="equality with the share; a share of 0")(
    instead(
        "absent",
        "Every firing of your tracker tries a prune; it has to ask the configured share of the views for that.",
        lambda p, asked, views: True,
    ),
    instead(
        "rounded down",
        "Your tracker rounds the share of views for a prune down; it has to round up.",
        lambda p, asked, views: asked >= max(1, int(p.ratio * views)),
    ),
    instead(
        "more than the share",
        (
            "A firing of your tracker tries a prune only if it asks more than the configured share of the views; "
            "exactly that share is enough."
        ),
        lambda p, asked, views: asked > max(0, p.ratio * views),
    ),
    instead(
        "never",
        "A firing of your tracker never tries a prune; it has to when it asks enough of the views.",
        lambda p, asked, views: False,
    ),
    instead(
        "half of them",
        "A firing of your tracker tries a prune when it asks half of the views, whatever share is configured.",
        lambda p, asked, views: asked >= max(1, ceil(views / 2)),
    ),
    instead(
        "all of them",
        "A firing of your tracker tries a prune only when it asks all views, whatever share is configured.",
        lambda p, asked, views: asked >= max(1, views),
    ),
)
of(ThrottledPruner.ratio_of)(
    instead(
        "absent",
        (
            "Your tracker takes a share that is no number for 0, and one beyond 0 or 1 as it is; the former is 0.5, the"
            " latter is cut."
        ),
        lambda p, ratio: 0.0 if ratio is None else ratio,
    ),
    instead(
        "no number is 1",
        "Your tracker takes a share that is no number for 1; it is 0.5.",
        lambda p, ratio: 1.0 if ratio is None else min(max(ratio, 0.0), 1.0),
    ),
)
of(ThrottledPruner.tries_after_get, look="a get of nothing; a view that leaves")(
    instead("absent", "Your tracker tries no prune after a get; it has to after every one.", lambda p, taken: False),
    instead(
        "only if something was handed out",
        "Your tracker tries a prune only after a get that handed something out; it has to after every get.",
        lambda p, taken: taken > 0,
    ),
)
of(ThrottledPruner.fails, look="the smallest of no mark-delete positions")(
    instead(
        "absent",
        "A prune of your tracker with something held and nobody registered does nothing; this profile has it fail.",
        lambda p, views: False,
    ),
)
of(MeasuredSets.freed, look="the size of an empty set, 1 byte; an estimate below 0")(
    instead(
        "absent",
        (
            "A prune takes off your tracker's memory estimate exactly what was added; for a set that goes as a whole "
            "this profile takes a byte more."
        ),
        lambda e, entries, left, whole: e.size(entries) - e.size(left),
    ),
    instead(
        "always",
        (
            "What empties a set in parts takes a byte too many off your tracker's memory estimate; only a prune that "
            "drops it as a whole may."
        ),
        lambda e, entries, left, whole: e.size(entries) - (0 if not left else e.size(left)),
    ),
)
