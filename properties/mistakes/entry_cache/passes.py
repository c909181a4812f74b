"""Known mistakes in the specification's passes."""

from __future__ import annotations

from broker_tck.model.entry_cache.passes import Passes
from broker_tck.properties.mistakes.book import instead, of

of(Passes.expired, look="the comparison with the threshold")(
    instead(
        "absent",
        "Your cache removes entries in a time pass that are not older than the TTL.",
        lambda p, entry, threshold: True,
    ),
    instead(
        "at the threshold",
        "Your cache removes an entry that is exactly as old as the TTL; it must stay.",
        lambda p, entry, threshold: entry.stamp <= threshold,
    ),
    instead(
        "threshold unsigned",
        "As long as its clock shows less than the TTL, your cache takes every entry for expired.",
        lambda p, entry, threshold: entry.stamp < threshold % 2**64,
    ),
)
of(Passes.stops_time_pass, look="entries behind a young one")(
    instead(
        "absent",
        "A time pass of your cache goes on behind the first entry that has not expired; it must end there.",
        lambda p, entry, threshold, removed: False,
    ),
    instead(
        "only the first is asked",
        "A time pass of your cache asks the age of the first entry alone.",
        lambda p, entry, threshold, removed: not (removed[0] or p.expired(entry, threshold)),
    ),
)
of(Passes.stops_size_pass, look="the comparison; the order of the tests: enough comes before requeueing")(
    instead(
        "absent",
        "A size pass of your cache goes on when enough bytes are removed; it must end then.",
        lambda p, entry, removed, asked: False,
    ),
    instead(
        "only beyond",
        "A size pass of your cache removes one entry too many; it must end when enough bytes are gone.",
        lambda p, entry, removed, asked: removed[1] > asked,
    ),
    instead(
        "after requeueing",
        "A size pass of your cache requeues one more entry before it ends; it must end when enough bytes are gone.",
        lambda p, entry, removed, asked: removed[1] >= asked and not p.should_requeue(entry),
    ),
    instead(
        "by entries",
        "A size pass of your cache ends by the number of entries that it removed; their bytes decide.",
        lambda p, entry, removed, asked: removed[0] >= asked,
    ),
)
of(Passes.refuses)(
    instead("absent", "Your cache makes a size pass for no bytes; that is an error.", lambda p, asked: False),
)
of(Passes.spares, look="a pass that ends at the first requeued entry, or after one round")(
    instead(
        "absent",
        "A size pass of your cache goes round once; it must meet again what it requeued.",
        lambda p, first_round: first_round,
    ),
)
of(Passes.should_requeue, look="the limit, which holds for expected reads alone; the counter, which is raised by both")(
    instead(
        "absent",
        "Your cache never requeues an entry; it must if that was accessed, or if reads are expected.",
        lambda p, entry: False,
    ),
    instead(
        "limited for both",
        "Your cache limits how often an accessed entry is requeued; there is no limit for that.",
        lambda p, entry: ((p.extends_accessed and entry.accessed) or p.has_expected_reads(entry)) and p.allowed(entry),
    ),
    instead(
        "unlimited for both",
        "Your cache requeues an entry that reads are expected of however often; there is a limit to that.",
        lambda p, entry: (p.extends_accessed and entry.accessed) or p.has_expected_reads(entry),
    ),
    instead(
        "accessed only",
        "Your cache requeues only what was accessed; it must requeue what reads are expected of as well.",
        lambda p, entry: p.extends_accessed and entry.accessed,
    ),
    instead(
        "reads only",
        (
            "Your cache requeues only what reads are expected of; where access extends life, it must requeue what was"
            " accessed as well."
        ),
        lambda p, entry: p.has_expected_reads(entry) and p.allowed(entry),
    ),
    instead(
        "access always extends",
        "Your cache requeues an accessed entry though access is not to extend its life.",
        lambda p, entry: entry.accessed or (p.has_expected_reads(entry) and p.allowed(entry)),
    ),
)
of(Passes.allowed)(
    instead(
        "absent",
        "Your cache requeues an entry that reads are expected of without end; there is a limit to that.",
        lambda p, entry: True,
    ),
    instead(
        "once more",
        "Your cache requeues an entry once more than is allowed.",
        lambda p, entry: entry.requeued <= p.most_requeued,
    ),
    instead(
        "once less",
        "Your cache requeues an entry once less often than is allowed.",
        lambda p, entry: entry.requeued + 1 < p.most_requeued,
    ),
)
of(Passes.has_expected_reads, look="a count of 0; an entry without a count")(
    instead(
        "absent",
        "Your cache expects no reads of an entry, whatever its count; it must where that is at least 1.",
        lambda p, entry: False,
    ),
    instead(
        "at zero too",
        "Your cache expects reads of an entry whose count is 0.",
        lambda p, entry: entry.reads is not None and entry.reads >= 0,
    ),
    instead(
        "without a count too",
        "Your cache expects reads of an entry without a count.",
        lambda p, entry: entry.reads is None or entry.reads >= 1,
    ),
    instead(
        "from two on",
        "Your cache expects reads of an entry whose count is 2 or more; 1 is enough.",
        lambda p, entry: entry.reads is not None and entry.reads >= 2,
    ),
    instead(
        "not zero",
        "Your cache expects reads of an entry whose count is below 0; it must be at least 1.",
        lambda p, entry: bool(entry.reads),
    ),
)
of(Passes.told_as_pinned)(
    instead(
        "absent",
        "Your cache says that nothing is not to be evicted; what reads are expected of is, and what has no count.",
        lambda p, entry: False,
    ),
    instead(
        "counted ones alone",
        "Your cache leaves entries without a count out of what is not to be evicted; they are told there.",
        lambda p, entry: entry.reads is not None and entry.reads >= 1,
    ),
    instead(
        "all with a count",
        "Your cache tells entries whose count is 0 among what is not to be evicted; no reads are expected of them.",
        lambda p, entry: entry.reads is None or entry.reads >= 0,
    ),
)
