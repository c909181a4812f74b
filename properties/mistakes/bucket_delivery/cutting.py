"""Known mistakes: how the indexes of a bucket are cut into segments."""

from __future__ import annotations

from broker_tck.model.bucket_delivery.cutting import NO_LIMIT, Cutting
from broker_tck.properties.mistakes.book import instead, of

of(
    Cutting.is_too_late,
    look="an index exactly one step after the first; a limit that is reached; the first index, not the one before",
)(
    instead(
        "absent",
        "Your tracker ends no segment for its time; it has to span less than the time step.",
        lambda c, first, before, at: False,
    ),
    instead(
        "a step longer",
        "A segment of your tracker spans a whole time step; it has to span less.",
        lambda c, first, before, at: at > first + c.time_step,
    ),
    instead(
        "a step shorter",
        "A segment of your tracker ends sooner than it must.",
        lambda c, first, before, at: at >= first + c.time_step - 1,
    ),
    instead(
        "a step of 32 bits",
        "Your tracker keeps 32 bits of the time step; a larger one has to stay as it is.",
        lambda c, first, before, at: at >= first + (c.time_step + 2**31) % 2**32 - 2**31,
    ),
    instead(
        "from the one before",
        "Your tracker counts the time step from the index before; it counts from the first of the segment.",
        lambda c, first, before, at: at >= before + max(c.time_step, 1),
    ),
)
of(Cutting.is_full)(
    instead("absent", "Your tracker puts more indexes into a segment than the limit says.", lambda c, n: False),
    instead(
        "one more",
        "A segment of your tracker holds one index more than the limit.",
        lambda c, n: c.most != NO_LIMIT and n > c.most,
    ),
    instead(
        "no limit below one",
        "Your tracker takes a limit of 0 indexes for none; only -1 is no limit.",
        lambda c, n: c.most > 0 and n >= c.most,
    ),
)
