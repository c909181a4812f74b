"""Known mistakes with passes over the queue, and with the manager that orders them."""

from __future__ import annotations

from typing import Any

from broker_tck.model.entry_cache.entries import Cached, Removed, add
from broker_tck.model.entry_cache.eviction import TRIGGER_PERCENT, Manager, Passes
from broker_tck.model.entry_cache.specification import EntryCaches
from broker_tck.model.rules import Method
from broker_tck.properties.mistakes.book import around, instead, look_at, mistake, of

USUAL_WATERMARK = 90
"""The percentage that a broker has if nothing else is configured."""

# ---- Passes

of(Passes.head, look="a queue of each topic's own")(
    instead(
        "absent",
        "Your cache has a queue for each topic; all topics must share one.",
        lambda p: next((e for c in p.caches for e in p.store.queue if e.cache is c), p.store.queue[0]),
        was="head: absent",
    ),
    instead(
        "the largest cache first",
        "Your cache evicts from the largest topic first; it must take the head of the one queue.",
        lambda p: max(p.store.queue, key=lambda e: e.cache.size),
        was="head: the largest cache first",
    ),
)
look_at("EC-03", "the order of the tests: whether the entry is there comes before its age")
look_at("EC-02", "a blank head that is counted, or taken for what was removed")
of(Passes.keeps_in_size_pass, look="expired entries that lose their protection, young ones that are spared")(
    instead(
        "absent",
        "A size pass of your cache looks at an entry's age; only a time pass must.",
        lambda p, entry: p.should_requeue(entry) and entry.stamp >= p.store.clock.now - p.config.ttl,
        was="keeps_in_size_pass: absent",
    ),
    instead(
        "young ones are kept",
        "A size pass of your cache keeps an entry that was inserted just now; it must not look at ages.",
        lambda p, entry: p.should_requeue(entry) or entry.stamp >= p.store.clock.now,
        was="keeps_in_size_pass: young ones are kept",
    ),
)


@around(Passes.drop_blank, "EC-02", "counted as removed", was="BlankCounted: a blank is counted as removed")
def blank_counted(drop_blank: Method, passes: Passes, blank: Cached, removed: Removed) -> None:
    """A pass of your cache counts an entry that had left already, with its bytes, as removed; it must not."""
    drop_blank(passes, blank, removed)
    add(removed, [1, blank.size])


@around(Passes.drop_blank, "EC-02", "counted as an entry", was="BlankCountedAsEntry: a blank is counted as an entry")
def blank_counted_as_entry(drop_blank: Method, passes: Passes, blank: Cached, removed: Removed) -> None:
    """A pass of your cache counts an entry that had left already, without its bytes, as removed; it must not."""
    drop_blank(passes, blank, removed)
    add(removed, [1, 0])


@around(
    Passes.drop_blank,
    "EC-12",
    "removes what is there now",
    was="BlankTakenForEntry: a pass that meets a blank removes what has its position now",
)
def blank_taken_for_entry(drop_blank: Method, passes: Passes, blank: Cached, removed: Removed) -> None:
    """A pass of your cache removes another entry in place of one that has left; it must look at the entry itself."""
    drop_blank(passes, blank, removed)
    if there := blank.cache.entries.get(blank.position):
        add(removed, passes.store.remove(there))


@around(Passes.visit, "EC-03", "ends at a blank", was="StopsAtBlank: a pass ends at a blank")
def stops_at_blank(visit: Method, passes: Passes, head: Cached, *rest: Any) -> bool:
    """A pass of your cache ends at an entry that has left its cache; it must go on."""
    blank = head.blank
    return visit(passes, head, *rest) and not blank


@around(Passes.visit, "EC-34", "ends at a requeueing", was="EndsAtRequeueing: a pass ends where it requeues")
def ends_at_requeueing(visit: Method, passes: Passes, head: Cached, *rest: Any) -> bool:
    """A size pass of your cache ends when it requeues an entry; it must go on."""
    return visit(passes, head, *rest) and head not in passes.store.queue


@around(
    Passes.visit, "EC-22", "counted for reads alone", was="CountsTurnsForReads: a requeueing is counted for reads alone"
)
def counts_turns_for_reads(visit: Method, passes: Passes, head: Cached, *rest: Any) -> bool:
    """Your cache counts only requeueings for expected reads; it must count both kinds."""
    before, extended = head.requeued, passes.extends_accessed and head.accessed
    goes_on = bool(visit(passes, head, *rest))
    head.requeued = before if extended else head.requeued
    return goes_on


of(Passes.expired, look="the comparison with the threshold")(
    instead(
        "absent",
        "A time pass of your cache removes entries that are not older than the TTL; they must stay.",
        lambda p, entry, threshold: True,
    ),
    instead(
        "at the threshold",
        "Your cache removes an entry that is exactly as old as the TTL; it must stay.",
        lambda p, entry, threshold: entry.stamp <= threshold,
    ),
    instead(
        "threshold unsigned",
        "While its clock shows less than the TTL, your cache takes every entry for expired; it must not.",
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
        "A time pass of your cache checks the age of the first entry alone; it must check each one's.",
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
        "A size pass of your cache ends by the number of entries that it removed; their bytes must decide.",
        lambda p, entry, removed, asked: removed[0] >= asked,
    ),
)
of(Passes.refuses)(
    instead(
        "absent",
        "Your cache makes a size pass for no bytes; it must refuse that with an error.",
        lambda p, asked: False,
    ),
)
of(Passes.spares, look="a pass that ends at the first requeued entry, or after one round")(
    instead(
        "absent",
        "A size pass of your cache goes round once; it must meet again the entries that it requeued.",
        lambda p, entry, first_round: first_round and p.keeps_in_size_pass(entry),
    ),
)
of(Passes.should_requeue, look="the limit, which holds for expected reads alone; the counter, which is raised by both")(
    instead(
        "absent",
        "Your cache never requeues an entry; it must if the entry was accessed, or if reads are expected.",
        lambda p, entry: False,
    ),
    instead(
        "limited for both",
        "Your cache limits how often an accessed entry is requeued; it must not.",
        lambda p, entry: ((p.extends_accessed and entry.accessed) or p.has_expected_reads(entry)) and p.allowed(entry),
    ),
    instead(
        "accessed only",
        "Your cache requeues only accessed entries; it must also requeue entries with expected reads.",
        lambda p, entry: p.extends_accessed and entry.accessed,
    ),
    instead(
        "reads only",
        "Your cache requeues for expected reads alone; if access extends life, it must for access as well.",
        lambda p, entry: p.has_expected_reads(entry) and p.allowed(entry),
    ),
    instead(
        "access always extends",
        "Your cache requeues an accessed entry although access does not extend life; it must not.",
        lambda p, entry: entry.accessed or (p.has_expected_reads(entry) and p.allowed(entry)),
    ),
)
of(Passes.allowed)(
    instead(
        "absent",
        "Your cache requeues an entry with expected reads without end; it must stop at the limit.",
        lambda p, entry: True,
        was="passes.should_requeue: unlimited for both",
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
        "Your cache expects no reads of an entry, whatever its count; it must if the count is at least 1.",
        lambda p, entry: False,
    ),
    instead(
        "at zero too",
        "Your cache expects reads of an entry whose count is 0; it must not.",
        lambda p, entry: entry.reads is not None and entry.reads >= 0,
    ),
    instead(
        "without a count too",
        "Your cache expects reads of an entry without a count; it must not.",
        lambda p, entry: entry.reads is None or entry.reads >= 1,
    ),
    instead(
        "from two on",
        "Your cache expects reads of an entry only if its count is 2 or more; 1 must be enough.",
        lambda p, entry: entry.reads is not None and entry.reads >= 2,
    ),
    instead(
        "not zero",
        "Your cache expects reads of an entry whose count is below 0; the count must be at least 1.",
        lambda p, entry: bool(entry.reads),
    ),
)
of(Passes.told_as_pinned)(
    instead(
        "absent",
        "Your cache reports no protected entries; it must report those with expected reads, and those without a count.",
        lambda p, entry: False,
    ),
    instead(
        "counted ones alone",
        "Your cache does not report entries without a count as protected; it must.",
        lambda p, entry: entry.reads is not None and entry.reads >= 1,
    ),
    instead(
        "all with a count",
        "Your cache reports entries whose count is 0 as protected; it must not, because they have no expected reads.",
        lambda p, entry: entry.reads is None or entry.reads >= 0,
    ),
)

# ---- The manager

of(
    Manager.keeps_nothing,
    look="a pass inside of the setter; a trigger that was worked out once; a cache that is disabled, or no longer",
)(
    instead(
        "absent",
        "Your cache keeps entries of a topic that was opened at a largest size of 0; it must never keep any.",
        lambda m, cache: False,
    ),
    instead(
        "as the size is now",
        "Your cache keeps nothing while the largest size is 0; the size when the topic was opened must decide.",
        lambda m, cache: m.max_size == 0,
    ),
    instead(
        "until it is raised",
        "Once the largest size is raised, your cache keeps entries of a topic that was opened at 0; it must not.",
        lambda m, cache: cache.disabled and m.max_size == 0,
    ),
)
of(Manager.triggers, look="the comparison; what the percentage is of; a second pass that awaits its turn as well")(
    instead(
        "absent",
        "No insertion orders a size pass of your cache; one that leaves more than 98 % of the largest size must.",
        lambda m, total: False,
    ),
    instead(
        "at the trigger",
        "Your cache orders a size pass at exactly 98 % of the largest size; it must only above that.",
        lambda m, total: m.max_size is not None and total >= m.max_size * TRIGGER_PERCENT // 100,
    ),
    instead(
        "at the watermark",
        "Your cache orders a size pass at the watermark; it must at more than 98 % of the largest size.",
        lambda m, total: m.max_size is not None and total > m.goal(),
    ),
    instead(
        "at the largest",
        "Your cache orders a size pass only beyond its largest size; it must at more than 98 % of that.",
        lambda m, total: m.max_size is not None and total > m.max_size,
    ),
)
of(Manager.excess, look="an amount that was worked out where the pass was ordered; what it is measured from")(
    instead(
        "absent", "A size pass of your cache empties it; it must come down to the watermark.", lambda m, total: total
    ),
    instead(
        "down to the trigger",
        "A size pass of your cache comes down to the trigger; it must come down to the watermark.",
        lambda m, total: total - (m.max_size or 0) * TRIGGER_PERCENT // 100,
    ),
    instead(
        "down to the largest",
        "A size pass of your cache comes down to the largest size; it must come down to the watermark.",
        lambda m, total: total - (m.max_size or 0),
    ),
    instead(
        "no watermark is the usual one",
        "Your cache takes a watermark of 0 for one of 90 %; a size pass must empty the cache then.",
        lambda m, total: total - (m.max_size or 0) * (m.watermark or USUAL_WATERMARK) // 100,
    ),
)
of(Manager.asks_for)(
    instead(
        "absent",
        "If the trigger is no longer passed, an ordered size pass of your cache still removes entries; it must not.",
        lambda m, total: 0 if m.max_size is None else max(m.excess(total), 0),
        was="manager.still_triggers: absent",
    ),
)
of(Manager.count_pass, look="removals that are no evictions; passes of time, which do not count")(
    instead(
        "absent",
        "Your cache does not count its size passes; it must count those that had something to do.",
        lambda m: None,
    ),
)
of(EntryCaches.run, look="the order: what time removes need not be asked for again")(
    instead(
        "absent",
        "The scheduled run of your cache does nothing; it must be a time pass, then a size pass.",
        lambda m: None,
    ),
)


@around(EntryCaches.run, "EC-38", "size pass first", was="RunsSizeFirst: a scheduled run makes the size pass first")
def runs_size_first(_: Method, model: EntryCaches) -> None:
    """A scheduled run of your cache makes the size pass first; the time pass must come first."""
    model.relieve()
    model.passes.time_pass(model.now - model.config.ttl)


@around(EntryCaches.run, "EC-38", "time pass alone", was="RunsTimeAlone: a scheduled run makes the time pass alone")
def runs_time_alone(_: Method, model: EntryCaches) -> None:
    """A scheduled run of your cache makes the time pass alone; the size pass must follow."""
    model.passes.time_pass(model.now - model.config.ttl)


@around(EntryCaches.run, "EC-38", "size pass alone", was="RunsSizeAlone: a scheduled run makes the size pass alone")
def runs_size_alone(_: Method, model: EntryCaches) -> None:
    """A scheduled run of your cache makes the size pass alone; the time pass must come first."""
    model.relieve()


@mistake(
    "EC-19",
    "what is set has a pass made at once",
    "A new largest size makes your cache run a pass at once; it must wait for the next pass.",
)
class ActsAtOnce(EntryCaches):
    """A setter removes what is too much."""

    def resize(self, size: int) -> None:
        """Set the largest size, and make a pass if one is needed."""
        super().resize(size)
        self.relieve()

    def set_watermark(self, percent: int) -> None:
        """Set the watermark, and make a pass if one is needed."""
        super().set_watermark(percent)
        self.relieve()
