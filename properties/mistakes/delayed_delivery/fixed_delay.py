"""Known mistakes: whether all delays are alike so far: then messages become due in the order in which they come."""

from __future__ import annotations

from broker_tck.model.delayed_delivery.fixed_delay import FixedDelay
from broker_tck.properties.mistakes.book import instead, look_at, of

look_at("DD-15", "the early return of a refused add")
of(FixedDelay.still_fixed, look="a step back by exactly a tick, which is still fixed; the tick is the current one")(
    instead(
        "absent",
        "Nothing ends the fixed delay here; a time more than a tick below the highest has to.",
        lambda d, at, tick: d.fixed,
    ),
    instead(
        "a tick back ends it",
        "A step back of exactly a tick ends the fixed delay here; it has to be more than a tick.",
        lambda d, at, tick: d.fixed and not at <= d.highest - tick,
    ),
    instead(
        "any step back ends it",
        "Any step back ends the fixed delay here; it has to be more than a tick.",
        lambda d, at, tick: d.fixed and not at < d.highest,
    ),
    instead(
        "two ticks",
        "Only a step back of more than two ticks ends the fixed delay here; more than one tick is enough.",
        lambda d, at, tick: d.fixed and not at < d.highest - 2 * tick,
    ),
    instead(
        "comes back",
        "A fixed delay that has ended comes back with the next time here; it has to stay ended.",
        lambda d, at, tick: not at < d.highest - tick,
    ),
)
of(FixedDelay.highest_after)(
    instead(
        "absent",
        "Your tracker compares a time with the one before; it has to compare it with the highest so far.",
        lambda d, at: at,
    ),
)
of(FixedDelay.starts_anew, look="get on an empty index, get of 0; clear and close reset nothing")(
    instead(
        "absent",
        "The detection of a fixed delay never starts anew; a get that leaves the index empty has to start it.",
        lambda d, taken, empty: False,
    ),
    instead(
        "only if something was taken",
        "A get that takes nothing from an empty index does not start the detection of a fixed delay anew; it has to.",
        lambda d, taken, empty: taken and empty,
    ),
    instead(
        "always",
        "Every get starts the detection of a fixed delay anew; only one that leaves the index empty may.",
        lambda d, taken, empty: True,
    ),
)
of(FixedDelay.starts_anew_on_clear)(
    instead(
        "absent",
        "A clear starts the detection of a fixed delay anew; only a get that leaves the index empty may.",
        lambda d: True,
    ),
)
