"""Known mistakes: the reference model of contract ``negative-acks``: a client's tracker of messages that are to come back later."""

from __future__ import annotations

from broker_tck.model.negative_acks.clock import MS
from broker_tck.model.negative_acks.specification import NegativeAcks
from broker_tck.properties.mistakes.book import instead, look_at, of

of(NegativeAcks.ignores_after_close, look="a flag that says that the tracker is closed")(
    instead("absent", "Your tracker takes nacks after it was closed; it has to ignore them.", lambda m: False),
)
of(NegativeAcks.deadline_at_start)(
    instead(
        "absent",
        "Your tracker's timer runs before anything is nacked; it has to be idle until then.",
        lambda m: m.clock.now + m.delays.interval(),
    ),
)
of(NegativeAcks.first_wait)(
    instead(
        "absent",
        "Your tracker arms its idle timer for the bucket; it has to wait for the whole delay.",
        lambda m, delay: max(m.buckets.key(m.clock.reading() + delay) - m.clock.reading(), 0) * MS // m.SCALE,
    ),
    instead(
        "polled",
        "Your tracker polls; an idle timer has to be armed for the whole delay.",
        lambda m, delay: m.delays.interval(),
    ),
)
of(NegativeAcks.deadline_after_firing)(
    instead(
        "absent",
        "Your tracker does not arm its timer for the first bucket that is left after a firing.",
        lambda m, before: None,
    ),
    instead(
        "of the last bucket",
        "After a firing your tracker arms its timer for the last bucket that is left; it has to be the first.",
        lambda m, before: m.clock.until(max(m.buckets.held)) if m.buckets.held else None,
    ),
    instead(
        "a poll later",
        (
            "After a firing your tracker arms its timer for its next poll; it has to arm it for the first bucket that "
            "is left."
        ),
        lambda m, before: m.clock.now + m.delays.interval() if before else None,
    ),
    instead(
        "only after an emission",
        "Your tracker arms its timer again only after a firing that emitted something; it has to while anything is left.",
        lambda m, before: (
            m.clock.until(min(m.buckets.held)) if m.buckets.held and len(m.buckets.held) < before else None
        ),
    ),
)
look_at("NA-40", "a timer that outlives its tracker; items that are emitted by it")
