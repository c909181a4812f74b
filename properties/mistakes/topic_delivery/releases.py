"""Known mistakes of PIP-448's branch: in its pruner, and in its estimate of the memory."""

from __future__ import annotations

from math import ceil
from typing import Any

from broker_tck.model.rules import Method
from broker_tck.model.topic_delivery.releases import ADAPTIVE, MeasuredSets, Pip448, ThrottledPruner
from broker_tck.properties.mistakes.book import around, instead, look_at, of
from broker_tck.properties.mistakes.parts.without import without

of(ThrottledPruner.may_try, look="a try that is refused, or throws, and spends the interval all the same")(
    instead(
        "absent",
        "Your tracker tries a prune at every occasion; the interval must have passed since the last try.",
        lambda p, now: True,
    ),
    instead(
        "only after the interval",
        "Your tracker tries no prune when exactly its interval has passed; it must then.",
        lambda p, now: now - p.tried > p.interval,
    ),
    instead(
        "twice the interval",
        "Your tracker waits for twice its interval before it tries a prune again; it must wait for one.",
        lambda p, now: now - p.tried >= 2 * p.interval,
    ),
)
of(ThrottledPruner.tried_at, look="the time of the last try, which may lie ahead of the clock")(
    instead(
        "absent",
        "After a step back of the clock your tracker forgets its last try of a prune; here it must wait for that time.",
        lambda p, now: p.tried if p.tried <= now else now - p.interval,
    ),
)
of(ThrottledPruner.interval_of)(
    instead(
        "absent",
        "Your tracker has no interval between prunes unless one is configured; it must take it from the first tick.",
        lambda p, prune_ms, tick: prune_ms,
    ),
    instead(
        "always the tick",
        "Your tracker takes the interval of its prunes from the tick although one is configured; it must use that.",
        lambda p, prune_ms, tick: min(max(tick, ADAPTIVE[0]), ADAPTIVE[1]),
    ),
    instead(
        "the tick without bounds",
        "The interval of your tracker's prunes is the tick, however short or long; it must be 5 ms to 50 ms.",
        lambda p, prune_ms, tick: prune_ms or tick,
    ),
    instead(
        "no more than 50",
        "Your tracker keeps a configured interval of its prunes between 5 and 50 ms; it must use it as it is.",
        lambda p, prune_ms, tick: min(max(prune_ms or tick, ADAPTIVE[0]), ADAPTIVE[1]),
    ),
)
of(ThrottledPruner.is_worth_a_try, look="equality with the share; a share of 0")(
    instead(
        "absent",
        "Every firing of your tracker tries a prune; it must ask the configured share of the views for that.",
        lambda p, asked, views: True,
    ),
    instead(
        "rounded down",
        "Your tracker rounds the share of views for a prune down; it must round up.",
        lambda p, asked, views: asked >= max(1, int(p.ratio * views)),
    ),
    instead(
        "more than the share",
        "A firing of your tracker tries no prune if it asks exactly the configured share of the views; it must.",
        lambda p, asked, views: asked > max(0, p.ratio * views),
    ),
    instead(
        "never",
        "A firing of your tracker never tries a prune; it must when it asks enough of the views.",
        lambda p, asked, views: False,
    ),
    instead(
        "half of them",
        "A firing of your tracker tries a prune when it asks half of the views; it must use the configured share.",
        lambda p, asked, views: asked >= max(1, ceil(views / 2)),
    ),
    instead(
        "all of them",
        "A firing of your tracker tries a prune only when it asks all views; it must use the configured share.",
        lambda p, asked, views: asked >= max(1, views),
    ),
)
of(ThrottledPruner.ratio_of)(
    instead(
        "absent",
        "Your tracker takes a share that is not a number for 0; it must take 0.5, and cut one below 0 or above 1.",
        lambda p, ratio: 0.0 if ratio is None else ratio,
    ),
    instead(
        "no number is 1",
        "Your tracker takes a share that is not a number for 1; it must take 0.5.",
        lambda p, ratio: 1.0 if ratio is None else min(max(ratio, 0.0), 1.0),
    ),
)
look_at("TD-23", "a get of nothing; a view that leaves")


@around(Pip448.hand_out, "TD-23", "absent", was="pruner.tries_after_get: absent")
def no_prune_after_a_get(hand_out: Method, m: Pip448, *get: Any) -> Any:
    """Your tracker tries no prune after a get; it must after every one."""
    return without("try_to_prune", m, hand_out, *get)


@around(
    Pip448.hand_out,
    "TD-23",
    "only if something was handed out",
    was="pruner.tries_after_get: only if something was handed out",
)
def only_if_something_was_handed_out(hand_out: Method, m: Pip448, *get: Any) -> Any:
    """Your tracker tries a prune only after a get that handed something out; it must after every get."""
    out = without("try_to_prune", m, hand_out, *get)
    if out:
        m.try_to_prune()
    return out


of(ThrottledPruner.fails, look="the smallest of no mark-delete positions")(
    instead(
        "absent",
        "If copies are held and no view is registered, a prune of your tracker does nothing; it must fail here.",
        lambda p, views: False,
    ),
)
of(MeasuredSets.freed, look="the size of an empty set, 1 byte; an estimate below 0")(
    instead(
        "absent",
        "Your tracker's estimate loses only the bytes of a set that goes as a whole; it must lose a byte more.",
        lambda e, entries, left, whole: e.size(entries) - e.size(left),
    ),
    instead(
        "always",
        "Your tracker's estimate loses a byte too many if a set goes in parts; it must only for a whole set.",
        lambda e, entries, left, whole: e.size(entries) - (0 if not left else e.size(left)),
    ),
)
