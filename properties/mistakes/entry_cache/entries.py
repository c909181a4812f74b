"""Known mistakes with entries: how they are inserted, read and removed, in the queue, and their read counts."""

from __future__ import annotations

from typing import Any

from broker_tck.model.entry_cache.entries import Cache, Cached, Config, Count, Lookup, Position, ReadCounts, Store
from broker_tck.model.entry_cache.releases import blanks_if_valid, counted_if_valid
from broker_tck.model.entry_cache.specification import EntryCaches
from broker_tck.model.rules import Method
from broker_tck.properties.mistakes.book import around, instead, look_at, mistake, of

# ---- Inserting

of(EntryCaches.misput, look="the comparison of key and value before anything is done")(
    instead(
        "absent",
        "Your cache takes a value whose position is not its key; it must refuse it.",
        lambda m, cache, ledger, entry: m.put(cache, ledger, entry + 1, 1, 0),
    ),
)
look_at("EC-04", "where in the queue an entry is put; which time it is given")


@around(Store.accept, "EC-04", "at the head", was="store.EntersAtHead: a new entry goes to the head")
def enters_at_head(accept: Method, store: Store, entry: Cached) -> None:
    """Your cache puts a new entry at the head of its queue; the entry must go to the tail."""
    accept(store, entry)
    store.queue.rotate(1)


@around(Store.map, "EC-04", "as old as the clock", was="store.EntersOld: a new entry is as old as the clock")
def enters_old(map_: Method, store: Store, entry: Cached) -> None:
    """A new entry has the time 0 in your cache; it must have that of its insertion."""
    entry.stamp = 0
    map_(store, entry)


def there_for(entry: Cached) -> Cached | None:
    """The entry that has an entry's position already."""
    return entry.cache.entries.get(entry.position)


def takes_over(what: str) -> Method:
    """An insertion that changes the entry that is there."""

    def enter(store: Store, entry: Cached) -> bool:
        if there := there_for(entry):
            setattr(there, what, getattr(entry, what))
        return Store.enter(store, entry)

    return enter


of(
    Store.enter,
    look="a put that replaces; counters that are raised before it is known; a fresh place in the queue",
)(
    *(
        instead(
            name,
            f"A refused insertion changes {name} of the entry that is there; your cache must leave it as it is.",
            takes_over(attribute),
            was=f"store.taken_over: {name}",
        )
        for name, attribute in (
            ("the time", "stamp"),
            ("the count", "expected_reads"),
            ("the access", "accessed"),
            ("the requeueings", "requeued"),
        )
    )
)


@around(
    Store.enter, "EC-05", "takes the old one's place", was="store.ReplacesThere: a new entry takes the old one's place"
)
def replaces(enter: Method, store: Store, entry: Cached) -> bool:
    """Your cache replaces an entry that is there; it must refuse the new one."""
    if there := there_for(entry):
        store.remove(there)
    return bool(enter(store, entry))


@around(Store.enter, "EC-05", "adds its size", was="store.AddsRefusedSize: a refused entry adds its size")
def adds_refused_size(enter: Method, store: Store, entry: Cached) -> bool:
    """Your cache adds the size of an entry that it refused; it must not."""
    if there_for(entry):
        store.grow(entry.cache, entry.size)
    return bool(enter(store, entry))


@around(
    Store.enter, "EC-05", "moves the old one", was="store.MovesThere: a refused entry has the old one go to the tail"
)
def moves_there(enter: Method, store: Store, entry: Cached) -> bool:
    """A refused insertion moves the entry that is there to the tail of your cache's queue; it must stay."""
    if there := there_for(entry):
        store.queue.remove(there)
        store.queue.append(there)
    return bool(enter(store, entry))


@around(Store.enter, "EC-05", "never released", was="store.KeepsRefused: a refused value is not released")
def keeps_refused(enter: Method, store: Store, entry: Cached) -> bool:
    """Your cache does not let go of a value that it refused; it must."""
    taken = bool(enter(store, entry))
    store.references += not taken
    return taken


# ---- Reading

look_at("EC-11", "single reads and ranges alike; a read that refreshes the place or the time")


@around(
    EntryCaches.enter, "EC-11", "refusal marks", was="RefusalMarks: a refused insertion marks the entry that is there"
)
def refusal_marks(enter: Method, model: EntryCaches, entry: Cached) -> Cached | None:
    """A refused insertion marks the entry that is there as accessed; your cache must leave it as it is."""
    there = there_for(entry)
    inserted: Cached | None = enter(model, entry)
    if there and not inserted:
        there.accessed = True
    return inserted


@mistake(
    "EC-11",
    "an entry that is inserted again is as accessed as it was",
    "If an accessed entry is inserted again, it still counts as accessed in your cache; it must not until it is read.",
)
class AccessedBefore(EntryCaches):
    """What was read alone is kept in mind by its position."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.marked: set[tuple[Cache, Position]] = set()

    def touch(self, entry: Cached, alone: bool) -> None:
        """Mark an entry, and keep its position in mind if it is read alone."""
        super().touch(entry, alone)
        if alone:
            self.marked.add((entry.cache, entry.position))

    def insert(self, cache: Cache, position: Position, size: int, count: Count | None) -> Cached | None:
        """Insert an entry with the mark of its position."""
        inserted = super().insert(cache, position, size, count)
        if inserted and (cache, position) in self.marked:
            inserted.accessed = True
        return inserted


@around(EntryCaches.touch, "EC-11", "single reads unmarked", was="SingleReadsUnmarked: a single read marks nothing")
def single_reads_unmarked(touch: Method, model: EntryCaches, entry: Cached, alone: bool) -> None:
    """A read of one entry does not mark it as accessed in your cache; it must."""
    if not alone:
        touch(model, entry, alone)


@around(EntryCaches.touch, "EC-11", "ranges unmarked", was="RangesUnmarked: a range marks nothing")
def ranges_unmarked(touch: Method, model: EntryCaches, entry: Cached, alone: bool) -> None:
    """A read of a range does not mark its entries as accessed in your cache; it must."""
    if alone:
        touch(model, entry, alone)


@around(EntryCaches.touch, "EC-11", "renews the time", was="SingleReadsRenew: a single read renews the time")
def single_reads_renew(touch: Method, model: EntryCaches, entry: Cached, alone: bool) -> None:
    """A read makes an entry of your cache as young as a new one; its time must stay."""
    touch(model, entry, alone)
    entry.stamp = model.now if alone else entry.stamp


@around(
    EntryCaches.touch, "EC-11", "moves to the tail", was="SingleReadsMove: a single read moves the entry to the tail"
)
def single_reads_move(touch: Method, model: EntryCaches, entry: Cached, alone: bool) -> None:
    """A read moves the entry to the end of your cache's queue; the entry must keep its place."""
    touch(model, entry, alone)
    if alone:
        model.store.queue.remove(entry)
        model.store.queue.append(entry)


def low_bits(position: Position) -> Position:
    """A position with the low 32 bits of its ledger id, as one who has no room for more keeps it."""
    return position[0] & 0xFFFFFFFF, position[1]


of(Lookup.find, look="a search by identity; a value that is handed out without a reference of its own")(
    instead(
        "absent",
        "Your cache does not find a position that it has; it must, whichever object names the position.",
        lambda f, cache, position: None,
    ),
)
of(Lookup.hands_out)(
    instead(
        "absent",
        "Your cache hands out a value whose last reference is gone; that read must be a miss.",
        lambda f, entry: True,
    ),
)
of(Lookup.within, look="the last position; ranges over several ledgers; holes")(
    instead(
        "absent",
        "Your cache answers a range with all cached entries; it must keep to the ends of the range.",
        lambda f, position, first, last: True,
    ),
    instead(
        "without the last",
        "A range of your cache leaves its last position out; it must include both its ends.",
        lambda f, position, first, last: first <= position < last,
    ),
    instead(
        "without the first",
        "A range of your cache leaves its first position out; it must include both its ends.",
        lambda f, position, first, last: first < position <= last,
    ),
    instead(
        "of one ledger",
        "Your cache answers a range from its first ledger alone; it must go over all of its ledgers.",
        lambda f, position, first, last: first <= position <= last and position[0] == first[0],
    ),
    instead(
        "by entry alone",
        "Your cache compares entry ids alone when it answers a range; it must compare ledgers first.",
        lambda f, position, first, last: first[1] <= position[1] <= last[1],
    ),
    instead(
        "ledgers of 32 bits",
        "Your cache keeps 32 bits of a ledger id; it must keep all 64.",
        lambda f, position, first, last: low_bits(first) <= low_bits(position) <= low_bits(last),
    ),
)
of(Lookup.in_order)(
    instead(
        "absent",
        "Your cache answers a range in the order of insertion; it must be in ascending order.",
        lambda f, entries: entries,
    ),
)
of(Lookup.invalid, look="the last position; the first ledgers; positions below the first")(
    instead(
        "absent",
        "Your cache also removes the position up to which it is invalidated; that one must stay.",
        lambda f, position, last, lowest: position <= last,
    ),
    instead(
        "of its ledger",
        "Your cache invalidates entries of a position's ledger alone; those of all ledgers before it must go, too.",
        lambda f, position, last, lowest: (last[0], 0) <= position < last,
    ),
    instead(
        "the first unasked",
        "An invalidation of your cache always removes the first entry; it must compare that entry's position.",
        lambda f, position, last, lowest: position < last or position == lowest,
    ),
)
of(Lookup.in_removal)(
    instead(
        "absent",
        "A removal in your cache always takes the last position of its range; it may only if the range includes it.",
        lambda f, position, first, last, inclusive: first <= position <= last,
    ),
    instead(
        "never inclusive",
        "A removal in your cache never takes the last position of its range; it must if the range includes it.",
        lambda f, position, first, last, inclusive: first <= position < last,
    ),
    instead(
        "without the first",
        "A removal in your cache leaves the first position of its range; it must take it.",
        lambda f, position, first, last, inclusive: first < position <= last if inclusive else first < position < last,
    ),
)
of(Lookup.of_ledger, look="the first entry of the next ledger")(
    instead(
        "absent",
        "Your cache keeps the entries of a ledger that is dropped; they must go.",
        lambda f, position, ledger: False,
    ),
    instead(
        "with the next ones first",
        "If a ledger is dropped, your cache also removes the first entry of the next one; that must stay.",
        lambda f, position, ledger: (ledger, 0) <= position <= (ledger + 1, 0),
    ),
    instead(
        "and those before",
        "A ledger that is dropped takes earlier ledgers along in your cache; all other ledgers must stay.",
        lambda f, position, ledger: position[0] <= ledger,
    ),
    instead(
        "but its first",
        "Your cache keeps the first entry of a ledger that is dropped; all of its entries must go.",
        lambda f, position, ledger: position[0] == ledger and position[1] > 0,
    ),
)


# ---- Removing

of(Store.gives_back, look="two ways out that both count; a reference that is not given back, or given back twice")(
    instead("absent", "Your cache never lets go of an entry that it removed; it must, once.", lambda s, entry: 0),
    instead(
        "twice",
        "Your cache lets go of a removed entry twice; it must once.",
        lambda s, entry: 2 * (entry.references > 0),
    ),
    instead(
        "of a freed value too",
        "Your cache lets go of a value that is freed already when it removes it; it may let go once only.",
        lambda s, entry: 1,
    ),
)
of(Store.counted)(
    instead(
        "absent",
        "If an entry's value is freed already, a removal in your cache does not take off its size; it must.",
        counted_if_valid,
    ),
    instead(
        "the size that it has now",
        "Your cache takes off the size that an entry has now; it must take off the size at its insertion.",
        lambda s, entry: [1, entry.size if entry.references else 0],
    ),
)
of(Store.let_go, look="a removal that frees what others hold")(
    instead(
        "frees what is held",
        "Your cache frees a value that a reader still holds; only the last holder must free it.",
        lambda s, entry: s.release(entry, entry.references),
        was="store.FreesHeld: a removal frees what readers hold",
    ),
)
of(EntryCaches.empty, look="the size before instead of the sum that was removed")(
    instead(
        "leaves the last entry",
        "A clear of your cache leaves the entry that came last; it must remove everything.",
        lambda m, cache: m.store.remove_all([*cache.entries.values()][:-1]),
        was="ClearLeavesLast: a clear leaves the last entry",
    ),
)


of(Store.blanks, look="every way out of the cache, and whether the place in the queue is blank afterwards")(
    instead("absent", "Your cache reports entries that have left it as protected; it must not.", lambda s, entry: None),
    instead(
        "unless it was freed",
        "Your cache reports an entry that has left it as protected if its value was freed before; it must not.",
        blanks_if_valid,
    ),
)


# ---- Another turn

look_at("EC-22", "each of the four; a time that is not renewed lets a pass go round")


@around(Store.requeue, "EC-22", "at the head", was="store.RequeuesAtHead: a requeued entry goes to the head")
def requeues_at_head(requeue: Method, store: Store, entry: Cached) -> None:
    """Your cache puts a requeued entry at the head of its queue; the entry must go to the tail."""
    requeue(store, entry)
    store.queue.rotate(1)


@around(Store.requeue, "EC-22", "keeps its time", was="store.RequeuesOld: a requeued entry keeps its time")
def requeues_old(requeue: Method, store: Store, entry: Cached) -> None:
    """A requeued entry keeps its old time in your cache; it must get the present time."""
    stamp = entry.stamp
    requeue(store, entry)
    entry.stamp = stamp


@around(Store.requeue, "EC-22", "stays accessed", was="store.StaysAccessed: a requeued entry stays accessed")
def stays_accessed(requeue: Method, store: Store, entry: Cached) -> None:
    """A requeued entry stays marked as accessed in your cache; the mark must go."""
    accessed = entry.accessed
    requeue(store, entry)
    entry.accessed = accessed


@around(Store.requeue, "EC-22", "uncounted", was="store.RequeuesUncounted: a requeueing is not counted")
def requeues_uncounted(requeue: Method, store: Store, entry: Cached) -> None:
    """Your cache does not count how often an entry was requeued; it must."""
    requeue(store, entry)
    entry.requeued -= 1


# ---- Read counts

of(ReadCounts.counted_from, look="a count of 0 or below, which is no count at all")(
    instead(
        "absent",
        "Your cache counts the reads of an entry without expected reads; that entry must have no count.",
        lambda c, expected: expected,
    ),
    instead(
        "one more",
        "A read count of your cache starts one too high; it must start with the number of expected reads.",
        lambda c, expected: expected + 1 if expected > 0 else None,
    ),
    instead(
        "in 16 bits",
        "Your cache keeps 16 bits of the reads that are expected; it must keep all of them.",
        lambda c, expected: (expected + 2**15) % 2**16 - 2**15 if expected > 0 else None,
    ),
    instead(
        "none for one",
        "Your cache keeps no read count if a single read is expected; it must start at 1.",
        lambda c, expected: expected if expected > 1 else None,
    ),
)
of(ReadCounts.after_read, look="a count that stops at 0")(
    instead("absent", "Your cache lets no read count fall below 0; it must.", lambda c, count: max(count - 1, 0)),
)
of(ReadCounts.after_increment)(
    instead(
        "absent",
        "Your cache raises a negative read count to 0 before an increment; it must increment the count as it is.",
        lambda c, count: max(count, 0) + 1,
    ),
)
of(Store.removal_counts)(
    instead(
        "removed",
        "An entry that leaves your cache counts as read; only what was returned to a reader may, when it is freed.",
        lambda s, entry: entry.from_storage,
        seen="RangeEntryCacheImpl of 4.2.4 and 5.0.1",
    ),
)
of(Store.refusal_counts)(
    instead(
        "refused",
        "If the storage's answer is cached already, your cache counts its own copy as read; it must not.",
        lambda s, entry: True,
        seen="RangeEntryCacheImpl of 4.2.4",
    ),
)
of(ReadCounts.counts_as_read, look="a count that is lowered on the way out of the cache, or by every release")(
    instead(
        "absent",
        "Your cache never counts a read; it must when the entry that was returned is freed.",
        lambda c, moment: False,
    ),
    instead(
        "when handed out",
        "Your cache counts a read when it hands the entry out; it must when the entry is freed.",
        lambda c, moment: moment == "answered",
    ),
    instead(
        "by every release",
        "Your cache counts a read at every release of an entry; it must when the entry that was returned is freed.",
        lambda c, moment: moment in ("freed", "released"),
    ),
)
of(ReadCounts.replayed, look="the count that cache and reader share")(
    instead(
        "absent",
        "An entry that is put back to be replayed keeps its read count in your cache; one more read must be expected.",
        lambda c, count: None,
    ),
)


# ---- What is kept


@around(Store.remove, "EC-P18", "the last one removed is kept")
def last_removed_kept(remove: Method, store: Any, entry: Cached) -> object:
    """Your cache keeps the value that it removed last; it must let go of it."""
    store.last_removed = entry.position
    return remove(store, entry)


@around(Store.enter, "EC-P18", "a refused one is kept")
def refused_kept(enter: Method, store: Any, entry: Cached) -> object:
    """Your cache keeps a value that it refused; it must let go of it."""
    entered = enter(store, entry)
    if not entered:
        store.refused = entry.position
    return entered
