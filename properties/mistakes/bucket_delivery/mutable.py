"""Known mistakes: the bucket that grows: a range of ledgers that ascends, and what of it is in memory alone."""

from __future__ import annotations

from broker_tck.model.bucket_delivery.mutable import Mutable
from broker_tck.properties.mistakes.book import instead, of

of(Mutable.takes, look="ledgers that come late: below the bucket, inside it, or under a sealed one")(
    instead(
        "absent",
        "Your tracker's growing bucket takes a ledger below its last one; that has to be kept in memory.",
        lambda m, ledger, covered: True,
    ),
    instead(
        "inside its range",
        (
            "Your tracker's growing bucket takes a ledger inside its range that is below its last one; that has to be "
            "kept in memory."
        ),
        lambda m, ledger, covered: not covered and (m.ledgers is None or ledger >= m.ledgers[0]),
    ),
    instead(
        "above it alone",
        "Your tracker's growing bucket takes no more messages of its last ledger; they have to join it.",
        lambda m, ledger, covered: not covered and (m.ledgers is None or ledger > m.ledgers[1]),
    ),
    instead(
        "whatever lies there",
        "Your tracker's growing bucket takes a ledger over which a sealed bucket lies; that has to be kept in memory.",
        lambda m, ledger, covered: m.ledgers is None or ledger >= m.ledgers[1],
    ),
)
of(Mutable.seals, look="the last ledger once more; the least number itself; what has become due no longer counts")(
    instead(
        "absent",
        "Your tracker never seals its growing bucket for a ledger above it, however much it holds.",
        lambda m, ledger, covered: False,
    ),
    instead(
        "at its last ledger",
        "Your tracker seals its growing bucket within a ledger; only a ledger above it may seal it.",
        lambda m, ledger, covered: m.has_enough() and not covered and m.reaches(ledger),
    ),
    instead(
        "one more needed",
        "Your tracker seals its growing bucket one message too late.",
        lambda m, ledger, covered: len(m.queue) > m.least and not covered and m.is_below(ledger),
    ),
    instead(
        "one less needed",
        "Your tracker seals its growing bucket one message too soon.",
        lambda m, ledger, covered: len(m.queue) >= max(m.least - 1, 1) and not covered and m.is_below(ledger),
    ),
    instead(
        "whatever lies there",
        "A ledger over which a sealed bucket lies has your tracker seal its growing bucket; it may not.",
        lambda m, ledger, covered: m.has_enough() and m.is_below(ledger),
    ),
)
of(Mutable.due, look="a firing that moves nothing; what is sealed although it was due")(
    instead(
        "absent",
        (
            "What is due stays in your tracker's growing bucket; it has to leave it at each firing, and when messages "
            "are asked for."
        ),
        lambda m, cutoff: [],
    ),
    instead(
        "strictly before",
        "What is due exactly at the cut-off stays in your tracker's growing bucket; it has to leave it.",
        lambda m, cutoff: m.taken(cutoff - 1),
    ),
)
of(Mutable.begin_anew, look="a range that goes on from what was sealed")(
    instead(
        "absent",
        (
            "After a seal your tracker's growing bucket goes on with the old range; the next message decides where it "
            "begins."
        ),
        lambda m: None,
    ),
)
