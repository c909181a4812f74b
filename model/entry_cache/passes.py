"""What a pass over the queue judges: what is old, when enough is gone, and which entries have another turn."""

from __future__ import annotations

from typing import Protocol

from broker_tck.model.entry_cache.entries import Cached, Removed
from broker_tck.model.rules import Part, also, rule
from broker_tck.model.said import said


class Config(Protocol):
    """What a trace configures of it."""

    @property
    def max_requeue_count(self) -> int:
        """How often reads that are expected have an entry requeued."""

    @property
    def extend_ttl_of_recently_accessed(self) -> bool:
        """Whether access has an entry requeued."""


class Passes(Part):
    """When passes end, and what they requeue."""

    def __init__(self, config: Config) -> None:
        self.most_requeued = config.max_requeue_count
        self.extends_accessed = config.extend_ttl_of_recently_accessed

    # ---- Time passes

    @said(
        at_the_threshold="Your cache removes an entry that is exactly as old as the TTL; it has to stay.",
        threshold_unsigned="As long as its clock shows less than the TTL, your cache takes every entry for expired.",
        absent="Your cache removes entries in a time pass that are not older than the TTL.",
    )
    @rule(
        "EC-20",
        "An entry has expired when it is older than the TTL: one exactly as old stays.",
        source="RangeCacheRemovalQueue, PR 24363",
        look="the comparison with the threshold",
        absent=lambda p, entry, threshold: True,
        at_the_threshold=lambda p, entry, threshold: entry.stamp <= threshold,
        threshold_unsigned=lambda p, entry, threshold: entry.stamp < threshold % 2**64,
    )
    def expired(self, entry: Cached, threshold: int) -> bool:
        return entry.stamp < threshold

    @said(
        absent="A time pass of your cache goes on behind the first entry that has not expired; it has to end there.",
        only_the_first_is_asked="A time pass of your cache asks the age of the first entry alone.",
    )
    @rule(
        "EC-21",
        "A time pass ends at the first entry that has not expired.",
        source="RangeCacheRemovalQueue, PR 24363",
        look="entries behind a young one",
        absent=lambda p, entry, threshold, removed: False,
        only_the_first_is_asked=lambda p, entry, threshold, removed: not (removed[0] or p.expired(entry, threshold)),
    )
    def stops_time_pass(self, entry: Cached, threshold: int, removed: Removed) -> bool:
        return not self.expired(entry, threshold)

    # ---- Size passes

    @said(
        only_beyond="A size pass of your cache removes one entry too many; it has to end when enough bytes are gone.",
        after_requeueing=(
            "A size pass of your cache requeues one more entry before it ends; it has to end when enough bytes "
            "are gone."
        ),
        by_entries="A size pass of your cache ends by the number of entries that it removed; their bytes decide.",
        absent="A size pass of your cache goes on when enough bytes are removed; it has to end then.",
    )
    @rule(
        "EC-32",
        "A size pass ends as soon as enough bytes are removed, before it looks at what the next entry deserves.",
        source="RangeCacheRemovalQueue, PR 24623",
        look="the comparison; the order of the tests: enough comes before requeueing",
        absent=lambda p, entry, removed, asked: False,
        only_beyond=lambda p, entry, removed, asked: removed[1] > asked,
        after_requeueing=lambda p, entry, removed, asked: removed[1] >= asked and not p.should_requeue(entry),
        by_entries=lambda p, entry, removed, asked: removed[0] >= asked,
    )
    def stops_size_pass(self, entry: Cached, removed: Removed, asked: int) -> bool:
        return removed[1] >= asked

    @said(
        absent="Your cache makes a size pass for no bytes; that is an error.",
    )
    @also(stops_size_pass, absent=lambda p, asked: False)
    def refuses(self, asked: int) -> bool:
        """A size pass has to be asked for something."""
        return asked <= 0

    @said(
        absent="A size pass of your cache goes round once; it has to meet again what it requeued.",
    )
    @rule(
        "EC-34",
        "A size pass goes round the queue as often as it must: what it requeued it meets again.",
        source="RangeCacheRemovalQueue, PR 24623",
        look="a pass that ends at the first requeued entry, or after one round",
        when=lambda p, first_round: not first_round,
        absent=lambda p, first_round: first_round,
    )
    def spares(self, first_round: bool) -> bool:
        """Whether a size pass requeues on this round of the queue: the first, or a later one."""
        return True

    # ---- Which entries have another turn

    @said(
        limited_for_both="Your cache limits how often an accessed entry is requeued; there is no limit for that.",
        access_always_extends="Your cache requeues an accessed entry though access is not to extend its life.",
        unlimited_for_both=(
            "Your cache requeues an entry that reads are expected of however often; there is a limit to that."
        ),
        accessed_only=(
            "Your cache requeues only what was accessed; it has to requeue what reads are expected of as well."
        ),
        reads_only=(
            "Your cache requeues only what reads are expected of; where access extends life, it has to requeue what "
            "was accessed as well."
        ),
        absent="Your cache never requeues an entry; it has to if that was accessed, or if reads are expected.",
    )
    @rule(
        "EC-24",
        "An entry is requeued if it was accessed and that extends its life, however often, or if reads are expected "
        "and it was requeued less often than is allowed; one counter counts both.",
        source="RangeCacheRemovalQueue, PR 24623",
        look="the limit, which holds for expected reads alone; the counter, which is raised by both",
        absent=lambda p, entry: False,
        limited_for_both=lambda p, entry: (
            ((p.extends_accessed and entry.accessed) or p.has_expected_reads(entry)) and p.allowed(entry)
        ),
        unlimited_for_both=lambda p, entry: (p.extends_accessed and entry.accessed) or p.has_expected_reads(entry),
        accessed_only=lambda p, entry: p.extends_accessed and entry.accessed,
        reads_only=lambda p, entry: p.has_expected_reads(entry) and p.allowed(entry),
        access_always_extends=lambda p, entry: entry.accessed or (p.has_expected_reads(entry) and p.allowed(entry)),
    )
    def should_requeue(self, entry: Cached) -> bool:
        return (self.extends_accessed and entry.accessed) or (self.has_expected_reads(entry) and self.allowed(entry))

    @said(
        once_more="Your cache requeues an entry once more than is allowed.",
        once_less="Your cache requeues an entry once less often than is allowed.",
        absent="Your cache requeues an entry that reads are expected of without end; there is a limit to that.",
    )
    @also(
        should_requeue,
        absent=lambda p, entry: True,
        once_more=lambda p, entry: entry.requeued <= p.most_requeued,
        once_less=lambda p, entry: entry.requeued + 1 < p.most_requeued,
    )
    def allowed(self, entry: Cached) -> bool:
        return entry.requeued < self.most_requeued

    @said(
        at_zero_too="Your cache expects reads of an entry whose count is 0.",
        without_a_count_too="Your cache expects reads of an entry without a count.",
        from_two_on="Your cache expects reads of an entry whose count is 2 or more; 1 is enough.",
        not_zero="Your cache expects reads of an entry whose count is below 0; it has to be at least 1.",
        absent="Your cache expects no reads of an entry, whatever its count; it has to where that is at least 1.",
    )
    @rule(
        "RC-02",
        "Reads are expected of an entry whose count is at least 1; without a count none are, though it is told among "
        "what is not to be evicted.",
        source="EntryReadCountHandlerImpl, PR 24623",
        look="a count of 0; an entry without a count",
        absent=lambda p, entry: False,
        at_zero_too=lambda p, entry: entry.reads is not None and entry.reads >= 0,
        without_a_count_too=lambda p, entry: entry.reads is None or entry.reads >= 1,
        from_two_on=lambda p, entry: entry.reads is not None and entry.reads >= 2,
        not_zero=lambda p, entry: bool(entry.reads),
    )
    def has_expected_reads(self, entry: Cached) -> bool:
        return entry.reads is not None and entry.reads >= 1

    @said(
        counted_ones_alone=(
            "Your cache leaves entries without a count out of what is not to be evicted; they are told there."
        ),
        all_with_a_count=(
            "Your cache tells entries whose count is 0 among what is not to be evicted; no reads are expected of them."
        ),
        absent=(
            "Your cache says that nothing is not to be evicted; what reads are expected of is, and what has no count."
        ),
    )
    @also(
        has_expected_reads,
        absent=lambda p, entry: False,
        counted_ones_alone=lambda p, entry: entry.reads is not None and entry.reads >= 1,
        all_with_a_count=lambda p, entry: entry.reads is None or entry.reads >= 0,
    )
    def told_as_pinned(self, entry: Cached) -> bool:
        """Whether an entry is told among what is not to be evicted."""
        return entry.reads is None or entry.reads >= 1
