"""Known mistakes with cursors, and with topics whose entries and reads are forgotten."""

from __future__ import annotations

from broker_tck.model.entry_cache.specification import EntryCaches
from broker_tck.model.entry_cache.topics import Cursors
from broker_tck.model.rules import Method
from broker_tck.properties.mistakes.book import around, instead, look_at, of

of(Cursors.caches_added)(
    instead(
        "absent",
        "Your cache has no grace time; it must cache for that time after the last cursor has left.",
        lambda c: c.active.size() > 0,
    ),
    instead(
        "at the grace time as well",
        "Your cache still caches added entries when the grace time is just over; it must not.",
        lambda c: (
            c.active.caches() or (c.config.by_read_count and c.active.now - c.active.grace.since <= c.config.grace)
        ),
    ),
    instead(
        "in grace alone",
        "Your cache caches added entries only in the grace time; it must also while there is a cursor.",
        lambda c: c.active.now - c.active.grace.since < c.active.config.grace,
    ),
    instead(
        "whether counted or not",
        "Your cache has a grace time although reads are not counted; it must have none then.",
        lambda c: c.active.caches() or c.active.now - c.active.grace.since < c.config.grace,
    ),
    instead(
        "always",
        "Your cache caches every added entry; it must only if there is a cursor, or in the grace time.",
        lambda c: True,
    ),
)
of(Cursors.start_on_add, look="cursors that are behind, or ahead")(
    instead(
        "absent",
        "Your cache expects no reads of an added entry; it must expect one by each active cursor.",
        lambda c: 0,
    ),
    instead(
        "whether counted or not",
        "Your cache expects reads of added entries although reads are not counted; it must expect none then.",
        lambda c: c.active.size(),
    ),
    instead(
        "one for all",
        "Your cache expects one read of an added entry, however many cursors are active; it must expect one by each.",
        lambda c: min(c.active.size(), 1) if c.config.by_read_count else 0,
    ),
    instead(
        "one at least",
        "Your cache expects a read of an added entry although no cursor is active; it must expect none then.",
        lambda c: max(c.active.size(), 1) if c.config.by_read_count else 0,
    ),
)
of(Cursors.rank)(
    instead(
        "absent",
        "Your cache expects one read of an entry that a cursor read; it must also expect one by each cursor behind.",
        lambda c, name: 1,
    ),
    instead(
        "without the reader",
        "Your cache leaves the reader out when it counts the expected reads; it must count the reader as well.",
        lambda c, name: max(c.active.count(name) - 1, 0),
    ),
    instead(
        "before the reader",
        "Your cache leaves out other cursors at the reader's position from its rank; they must count as well.",
        lambda c, name: (
            1 + sum(at < c.active.tracked[name] for at in c.active.tracked.values()) if name in c.active.tracked else 0
        ),
    ),
    instead(
        "all cursors",
        "Your cache expects every cursor to read an entry that was read; it must count those at the reader or behind.",
        lambda c, name: c.active.size() if name in c.active.tracked else 0,
    ),
)
of(Cursors.start_uncounted, look="the cursor's flag; the number of cursors does not matter")(
    instead(
        "absent",
        "If reads are not counted, your cache caches no entry that a cursor read; it must if the cursor asks for it.",
        lambda c, name: 0,
    ),
    instead(
        "whatever the flag",
        "If reads are not counted, your cache caches every cursor's reads; it must only if the cursor asks for it.",
        lambda c, name: 1,
    ),
    instead(
        "by rank",
        "If reads are not counted, your cache still expects reads by rank; it must expect one or 0.",
        lambda c, name: c.rank(name),
    ),
)
of(Cursors.moves_invalidate, look="entries that the slowest cursor has read")(
    instead(
        "absent",
        "Cursors that move or leave invalidate entries in your cache although reads are counted; they must not then.",
        lambda c: True,
    ),
)
of(Cursors.slowest, look="the least of all positions, not that of any cursor; the last cursor that leaves")(
    instead(
        "absent",
        "If reads are not counted and the slowest position changes, your cache keeps entries before it; they must go.",
        lambda c, before: before,
    ),
    instead(
        "of the first cursor",
        "Your cache invalidates up to the cursor that came first; the slowest one must decide.",
        lambda c, before: next(iter(c.active.tracked.values()), None),
    ),
    instead(
        "of the fastest cursor",
        "Your cache invalidates up to the fastest cursor; the slowest one must decide.",
        lambda c, before: max(c.active.tracked.values(), default=None),
    ),
)


@around(
    Cursors.remove,
    "EC-58",
    "from the start alone",
    was="cursors.GraceFromStartAlone: a removal does not begin the grace time",
)
def grace_from_start_alone(remove: Method, cursors: Cursors, name: str) -> bool:
    """The grace time of your cache counts from the start alone; it must begin when the last cursor leaves."""
    since = cursors.active.grace.since
    removed = bool(remove(cursors, name))
    cursors.active.grace.since = since
    return removed


look_at("RC-11", "counts that are corrected; only the time and the limit of requeueing take such entries away")


@around(
    EntryCaches.uncursor,
    "RC-11",
    "leaving lowers counts",
    was="LeavingLowersCounts: a cursor that leaves takes its read off every count",
)
def leaving_lowers_counts(uncursor: Method, model: EntryCaches, topic: int, name: int) -> bool:
    """A cursor that leaves lowers the counts of entries in your cache; they must stay."""
    if model.cursors[topic].has(str(name)):
        correct(model, topic, -1)
    return bool(uncursor(model, topic, name))


@around(
    EntryCaches.cursor,
    "RC-11",
    "coming raises counts",
    was="ComingRaisesCounts: a cursor that comes adds its read to every count",
)
def coming_raises_counts(cursor: Method, model: EntryCaches, topic: int, name: int, *rest: int) -> None:
    """A cursor that comes raises the counts of entries in your cache; they must stay."""
    if not model.cursors[topic].has(str(name)):
        correct(model, topic, 1)
    cursor(model, topic, name, *rest)


def correct(model: EntryCaches, topic: int, by: int) -> None:
    """Change the counts of what is cached of a topic."""
    for entry in model.caches[topic].entries.values():
        if entry.expected_reads is not None:
            entry.expected_reads.left += by


of(EntryCaches.invalidate_all)(
    instead(
        "absent",
        "Your cache keeps its entries when the last cursor leaves; if reads are not counted, all must go.",
        lambda m, topic: None,
    ),
)
of(EntryCaches.forget_dropped)(
    instead(
        "absent",
        "Your cache still joins reads of a ledger that was dropped; it must not.",
        lambda m, cache, ledger: None,
    ),
)
of(EntryCaches.forget_cleared)(
    instead(
        "absent",
        "After a clear, your cache still joins reads that ran before it; it must not.",
        lambda m, cache: None,
    ),
)
of(EntryCaches.close, look="entries of a cache that no name leads to any more")(
    instead("absent", "Your cache keeps the entries of a topic that was closed; they must go.", lambda m, cache: None),
)


@around(
    EntryCaches.reopen, "EC-18", "its old cache", was="ReopensOldCache: a topic that is opened again has its old cache"
)
def reopens_old_cache(reopen: Method, model: EntryCaches, cache: int) -> None:
    """A topic that is opened again has its old cache, with late insertions; your cache must make a new one."""
    left = model.caches[cache]
    reopen(model, cache)
    model.caches[cache] = left
