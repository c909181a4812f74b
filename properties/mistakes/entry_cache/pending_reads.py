"""Known mistakes in the specification's pending reads."""

from __future__ import annotations

from broker_tck.model.entry_cache.pending_reads import PendingReads
from broker_tck.properties.mistakes.book import instead, of

of(
    PendingReads.joins,
    look="the same range, a larger one, one that begins before, ends behind or lies inside; several of them",
)(
    instead(
        "absent",
        "Your cache never joins a read that runs already; it must where they overlap.",
        lambda p, request, first, last: False,
    ),
    instead(
        "the same only",
        "Your cache joins only a read of the same range; it must join whatever overlaps.",
        lambda p, request, first, last: (request.first, request.last) == (first, last),
    ),
    instead(
        "those with all of it",
        "A read of your cache joins only a running one that covers all of it; it must join wherever they overlap.",
        lambda p, request, first, last: request.first <= first and last <= request.last,
    ),
    instead(
        "none that begins before",
        (
            "A read of your cache does not join a running one that begins before it and ends inside it; it must join "
            "wherever they overlap."
        ),
        lambda p, request, first, last: (
            (request.first <= first and last <= request.last) or first <= request.first <= last
        ),
    ),
    instead(
        "none that ends behind",
        (
            "A read of your cache does not join a running one that begins inside it and ends behind it; it must join "
            "wherever they overlap."
        ),
        lambda p, request, first, last: (
            (request.first <= first and last <= request.last) or first <= request.last <= last
        ),
    ),
    instead(
        "none inside",
        "A read of your cache does not join a running one that lies inside it; it must join wherever they overlap.",
        lambda p, request, first, last: (
            request.first <= last and first <= request.last and not (first < request.first and request.last < last)
        ),
    ),
)
of(PendingReads.of_its_cache)(
    instead(
        "absent",
        "A read of your cache joins reads of another cache; it may only join those of its own.",
        lambda p, request, reader, disabled: request.ledger == reader.ledger,
    ),
)
of(
    PendingReads.forgets_at,
    look="reads that join what was asked of a broken ledger; which failures these are; a second try, and no third",
)(
    instead(
        "absent",
        "After a failure your cache still has reads of that ledger running; it must forget them.",
        lambda p, kind: False,
    ),
    instead(
        "at any failure",
        "Your cache forgets running reads after too many requests; that failure alone leaves them.",
        lambda p, kind: True,
    ),
)
of(PendingReads.reopens)(
    instead(
        "absent", "Your cache gives up where a handle was closed; the read is made once more.", lambda p, request: False
    ),
    instead(
        "every time",
        "Your cache makes a read whose handle was closed again and again; it may once more only.",
        lambda p, request: True,
    ),
)
