"""Known mistakes in how long a nacked message stays away."""

from __future__ import annotations

from broker_tck.model.negative_acks.specification import SHORTEST, Delays, signed_int
from broker_tck.properties.mistakes.book import instead, of


def wrapped(delays: Delays, count: int) -> int:
    """The least delay multiplied ``count`` times in 64 bits, in milliseconds."""
    return min(delays.least * pow(int(delays.factor), count, 2**64) % 2**64, delays.most)


of(Delays.delay, look="which count a nack by id is taken for; counts beyond the last of the backoff")(
    instead("absent", "Your tracker does not ask its backoff for the delay; it must.", lambda d, count: d.fixed()),
    instead(
        "one more",
        "Your tracker asks its backoff with a redelivery count that is one too high.",
        lambda d, count: d.backed_off(count + 1) if d.backs_off() else d.fixed(),
    ),
    instead(
        "one less",
        "Your tracker takes the backoff's delay for one redelivery less; it must use the count as it is.",
        lambda d, count: d.backed_off(max(count - 1, 0)) if d.backs_off() else d.fixed(),
    ),
    instead(
        "always the first",
        "Your tracker takes the backoff's first delay for every message; it must go by the redelivery count.",
        lambda d, count: d.backed_off(0) if d.backs_off() else d.fixed(),
    ),
    instead(
        "counted in 8 bits",
        "Your tracker keeps a redelivery count in eight bits; it must keep all of it.",
        lambda d, count: d.backed_off(count % 256) if d.backs_off() else d.fixed(),
    ),
    instead(
        "an int",
        "Your tracker keeps 32 bits of a backoff's delay; it must keep all of it.",
        lambda d, count: max(signed_int(d.backoff(count)), 0) * d.scale if d.backs_off() else d.fixed(),
    ),
)
of(Delays.count_of_id)(
    instead(
        "absent",
        "Your tracker takes an id alone for a message that was redelivered before; its count must be 0.",
        lambda d: 1,
    ),
)
of(Delays.backed_off, look="the lower limit of the fixed delay, applied to the backoff as well")(
    instead(
        "absent",
        "Your tracker lengthens its backoff's delay; it must take the delay as it is, even 0.",
        lambda d, count: max(d.backoff(count), SHORTEST) * d.scale,
    ),
    instead(
        "fixed for none",
        "Your tracker takes the fixed delay if its backoff gives 0; the item must be due at once.",
        lambda d, count: d.backoff(count) * d.scale or d.fixed(),
    ),
)
of(Delays.multiplied)(
    instead(
        "absent",
        "The delay of your tracker's multiplier stays the first one; it must grow with the redelivery count.",
        lambda d, count: d.least,
    ),
    instead(
        "never the most",
        "The delays of your tracker's multiplier grow beyond the longest; they must end there.",
        lambda d, count: min(int(d.least * d.factor ** min(count, 40)), 2**40),
    ),
    instead(
        "one step late",
        "The delays of your tracker's multiplier grow one redelivery too late.",
        lambda d, count: Delays.multiplied(d, count - 1),
    ),
    instead(
        "wrapping around",
        "The delays of your tracker's multiplier overflow at high redelivery counts; they must end at the longest.",
        lambda d, count: Delays.multiplied(d, count) if d.factor % 1 else wrapped(d, max(count, 0)),
        seen="client-go, issue 1384",
    ),
)
of(Delays.fixed, look="a delay of 0, which neither is immediate nor stands for the default")(
    instead(
        "absent",
        "Your tracker takes a fixed delay below 100 ms; it must take 100 ms at least.",
        lambda d: d.in_units(d.delay_us),
    ),
    instead(
        "default for none",
        "Your tracker takes a delay of 0 for the default delay; it must take 100 ms then.",
        lambda d: max(d.in_units(d.delay_us or 60_000_000), SHORTEST * d.scale),
    ),
    instead(
        "of a second",
        "Your tracker's fixed delay is a second at least; the minimum must be 100 ms.",
        lambda d: max(d.in_units(d.delay_us), 1_000 * d.scale),
    ),
)
of(Delays.in_units, look="how the configured delay is converted")(
    instead(
        "absent",
        "Your tracker rounds microseconds up to milliseconds; they must be cut.",
        lambda d, us: -(-us * d.scale // 1_000),
    ),
    instead(
        "nearest",
        "Your tracker rounds microseconds to the nearest millisecond; it must cut them.",
        lambda d, us: (us * d.scale + 500) // 1_000,
    ),
    instead(
        "an int",
        "Your tracker keeps 32 bits of the microseconds; it must keep all of them.",
        lambda d, us: signed_int(us) * d.scale // 1_000,
    ),
)
