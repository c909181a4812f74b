"""Known mistakes: the memory estimate of a tracker: a number that only has to be plausible."""

from __future__ import annotations

from broker_tck.model.delayed_delivery.memory import BYTES, MemoryEstimate
from broker_tck.properties.mistakes.book import instead, of

of(MemoryEstimate.bytes_for, look="what is added to the running sum and what is taken off, where an entry set empties")(
    instead("absent", "Your tracker says that it takes no memory while it holds something.", lambda e, count: 0),
    instead(
        "never falls",
        "The memory estimate of your tracker never falls, also when messages leave.",
        lambda e, count: e.seen + BYTES * count,
    ),
    instead(
        "one byte too many",
        "Your tracker says that it takes memory while it holds nothing.",
        lambda e, count: 1 + BYTES * count,
    ),
    instead(
        "falls with every add",
        "The memory estimate of your tracker falls with every message that is added.",
        lambda e, count: max(1, 2**20 - count) if count else 0,
    ),
)
