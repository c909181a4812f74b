"""Known mistakes: the limit of reads in flight: permits for bytes, and a queue of reads that wait for them."""

from __future__ import annotations

from broker_tck.model.entry_cache.read_limit import OVERHEAD, UNKNOWN_SIZE, ReadLimit
from broker_tck.model.entry_cache.readers import SINGLE
from broker_tck.properties.mistakes.book import instead, of

of(
    ReadLimit.is_limited,
    look="permits that are counted twice or lost; reads that are not limited; the head of the queue, and its time",
)(
    instead(
        "absent",
        "Your cache does not limit the reads in flight; each read must take permits.",
        lambda r, reader: False,
    ),
    instead(
        "not without cache",
        "Your cache does not limit the reads of a topic that keeps nothing; each read takes permits.",
        lambda r, reader: r.config.max_reads_in_flight > 0 and not reader.cache.disabled,
    ),
    instead(
        "cursors only",
        "Your cache limits the reads of cursors alone; each read takes permits.",
        lambda r, reader: r.config.max_reads_in_flight > 0 and reader.cursor != SINGLE,
    ),
    instead(
        "misses only",
        "Your cache limits only reads that miss something; each read takes permits.",
        lambda r, reader: (
            r.config.max_reads_in_flight > 0
            and not all((reader.ledger, entry) in reader.cache.entries for entry in reader.entries)
        ),
    ),
)
of(ReadLimit.estimate)(
    instead(
        "absent",
        "Your cache takes one permit for each entry; it must take as many as the entry is estimated to hold bytes.",
        lambda r, reader, average: 1,
    ),
    instead(
        "without overhead",
        "Your cache leaves the overhead out of what a read is estimated to hold.",
        lambda r, reader, average: r.size(reader, average),
    ),
    instead(
        "always unknown",
        "Your cache takes permits as if nothing were known of a ledger's entries; it must go by their average size.",
        lambda r, reader, average: UNKNOWN_SIZE + OVERHEAD,
    ),
)
of(ReadLimit.unknown)(
    instead(
        "absent",
        (
            "Where a ledger tells nothing, your cache always takes 10 KiB for an entry; the average of what was cached "
            "may be more."
        ),
        lambda r, reader: UNKNOWN_SIZE,
    ),
    instead(
        "added alone",
        "Where a ledger tells nothing, your cache takes the average of what was cached; it must take 10 KiB at least.",
        lambda r, reader: reader.cache.average_added(),
    ),
)
of(ReadLimit.fits)(
    instead(
        "absent",
        "Your cache lets a read wait that takes exactly the permits that are left; it fits.",
        lambda r, permits: r.remaining > permits,
    ),
    instead(
        "however many",
        "Your cache lets a read begin while any permit is left; there must be as many as it takes.",
        lambda r, permits: r.remaining > 0,
    ),
)
of(ReadLimit.has_room)(
    instead(
        "absent",
        "Your cache lets any number of reads wait for permits; its queue may hold so many only.",
        lambda r: True,
    ),
    instead(
        "one more",
        "Your cache lets one read more wait for permits than its queue may hold.",
        lambda r: len(r.waiting) <= r.config.acquire_queue,
    ),
    instead(
        "nobody waits",
        "A read of your cache that does not fit fails at once; it must wait in the queue.",
        lambda r: False,
    ),
)
of(ReadLimit.returns_permits)(
    instead(
        "absent",
        "Your cache gives permits back with a read's first entry that is freed; it must with the last one.",
        lambda r, reader: True,
    ),
)
of(ReadLimit.too_late)(
    instead(
        "absent",
        "Your cache lets a read wait on that waited for too long already when permits come back; it must fail.",
        lambda r, age: False,
    ),
    instead(
        "at the time as well",
        (
            "Your cache fails a read that is served from the queue exactly at its time; only one that waited for longer"
            " is too late."
        ),
        lambda r, age: 0 < r.config.acquire_timeout <= age,
    ),
)
of(ReadLimit.timed_out)(
    instead(
        "absent",
        "A read waits for permits in your cache for ever; it must fail when its time is over.",
        lambda r, age: False,
    ),
    instead(
        "beyond the time",
        "A read that waits in your cache fails a moment after its time; it must fail when that is reached.",
        lambda r, age: 0 < r.config.acquire_timeout < age,
    ),
)
