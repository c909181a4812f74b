"""Known mistakes with reads: which are joined, what the storage is asked for and answers, and their limit."""

from __future__ import annotations

from typing import Any

from broker_tck.model.entry_cache.answers import Answers
from broker_tck.model.entry_cache.entries import Count
from broker_tck.model.entry_cache.read_limit import OVERHEAD, UNKNOWN_SIZE, ReadLimit
from broker_tck.model.entry_cache.readers import BROKEN, SINGLE, PendingReads, Reader, Request, Returned, Run
from broker_tck.model.entry_cache.reads import Reads
from broker_tck.model.entry_cache.releases import ReadsOfReleases
from broker_tck.model.entry_cache.retained import Retained
from broker_tck.model.entry_cache.short_answers import ShortAnswers
from broker_tck.model.entry_cache.specification import EntryCaches
from broker_tck.model.reference import Allowed
from broker_tck.model.rules import Method
from broker_tck.properties.mistakes.book import around, instead, look_at, mistake, of

Counts = dict[int, Count | None]
"""The counts of the entries of an answer."""

# ---- Running reads are joined

of(
    PendingReads.joins,
    look="the same range, a larger one, one that begins before, ends behind or lies inside; several of them",
)(
    instead(
        "absent",
        "Your cache never joins a read that runs already; it must if they overlap.",
        lambda p, request, first, last: False,
    ),
    instead(
        "the same only",
        "Your cache joins only a read of the same range; it must join every read that overlaps.",
        lambda p, request, first, last: (request.first, request.last) == (first, last),
    ),
    instead(
        "those with all of it",
        "A read of your cache joins only a running one that covers all of it; it must join every read that overlaps.",
        lambda p, request, first, last: request.first <= first and last <= request.last,
    ),
    instead(
        "none that begins before",
        "A read of your cache does not join one that begins before it and ends inside it; it must.",
        lambda p, request, first, last: (
            (request.first <= first and last <= request.last) or first <= request.first <= last
        ),
    ),
    instead(
        "none that ends behind",
        "A read of your cache does not join one that begins inside it and ends behind it; it must.",
        lambda p, request, first, last: (
            (request.first <= first and last <= request.last) or first <= request.last <= last
        ),
    ),
    instead(
        "none inside",
        "A read of your cache does not join one that lies inside it; it must.",
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
        "Your cache forgets running reads after too many requests; it must keep them after that failure.",
        lambda p, kind: True,
    ),
)
of(PendingReads.reopens)(
    instead(
        "absent",
        "Your cache gives up if a handle was closed; it must repeat the read once.",
        lambda p, request: False,
    ),
    instead(
        "every time",
        "Your cache repeats a read whose handle was closed again and again; it must only once.",
        lambda p, request: True,
    ),
)

# ---- What is asked for, and what is answered

of(
    Answers.missing,
    look="how the missing entries are split into requests, and the order of the requests",
)(
    instead(
        "absent",
        "If a range is cached in part, your cache asks the storage for all of it; it must only for missing entries.",
        lambda a, reader, there: [(reader.first, reader.last)],
    ),
    instead(
        "from first to last",
        "Your cache reads from the first missing entry to the last; it must ask once for each run of them.",
        lambda a, reader, there: [(left[0], left[-1]) for left in [a.lacking(reader, there)] if left],
    ),
    instead(
        "each alone",
        "Your cache asks the storage for each missing entry alone; it must ask once for each run of them.",
        lambda a, reader, there: [(entry, entry) for entry in a.lacking(reader, there)],
    ),
    instead(
        "whole unless all is there",
        "Your cache reads a whole range again if a part is missing; it must ask for that part alone.",
        lambda a, reader, there: [(reader.first, reader.last)] if a.lacking(reader, there) else [],
    ),
)
of(Answers.hit, look="a range that is a hit in part is both; a failed read is no miss")(
    instead(
        "absent",
        "Your cache counts no hits; it must by entries and bytes when it is searched.",
        lambda a, entries, size: None,
    ),
    instead(
        "by reads",
        "Your cache counts a hit for each read; it must count one for each entry.",
        lambda a, entries, size: a.tally(0, bool(entries), size),
    ),
)
of(Answers.missed)(
    instead(
        "absent",
        "Your cache counts no misses; it must by entries and bytes when a storage read completes.",
        lambda a, entries, size: None,
    ),
    instead(
        "by requests",
        "Your cache counts misses by requests; it must count them by entries.",
        lambda a, entries, size: a.tally(2, 1, size),
    ),
)
of(Answers.determining, look="counts that are added up over the listeners")(
    instead(
        "absent",
        "Your cache asks every reader of a storage read for the count; the one that made the read must determine it.",
        lambda a, request: [reader for reader, *_ in request.listeners],
    ),
    instead(
        "the last",
        "In your cache the reader that joined last determines the count; the one that made the storage read must.",
        lambda a, request: [request.listeners[-1][0]],
    ),
)
of(
    Answers.populates,
    look="whether each entry is asked for by itself, and whether an entry without an expected read is cached",
)(
    instead(
        "absent",
        "Your cache does not keep the storage's answer although reads are expected; it must.",
        lambda a, start: False,
    ),
    instead(
        "always",
        "Your cache keeps the storage's answer although no reads are expected; it must not.",
        lambda a, start: True,
    ),
    instead(
        "from two on",
        "Your cache keeps the storage's answer only if two reads or more are expected; one must be enough.",
        lambda a, start: start > 1,
    ),
)
of(
    Answers.in_part,
    look="entries that are released beside their copies; what a listener did not ask for; entries shared by two",
)(
    instead(
        "absent",
        "Your cache gives a reader entries outside its range; each reader must get those of its own range.",
        lambda a, entry, first, last: True,
    ),
)
of(Reads.start_of, look="the constant that it passes; a hit marks the entry and shares its count, as any other")(
    instead(
        "absent",
        "A read of a single entry populates your cache; it must not, because it expects no reads.",
        lambda r, reader: 1 if reader.cursor == SINGLE else Reads.start_of(r, reader),
        was="start_of: absent",
    ),
)
of(Reads.read_left)(
    instead(
        "absent",
        "Your cache asks the storage for the part that running reads do not cover; it must look into the cache first.",
        lambda r, reader, part: r.ask(r.new_request(reader, part)),
        was="read_left: absent",
    ),
)
of(Reads.join_or_ask)(
    instead(
        "one after another",
        "A read of your cache joins one running read and reads all the rest; it must first join all that it overlaps.",
        ReadsOfReleases.join_or_ask,
        seen="PendingReadsManager of 4.2.4 and 5.0.1",
    ),
)
look_at("EC-53", "a listener that reads the same again before it returns")
look_at("EC-59", "locks that are held while readers are told")
of(Reads.raised)(
    instead(
        "absent",
        "Your cache keeps the entries of a ledger whose storage read raised; they must go.",
        lambda r, request: r.not_come(request, BROKEN),
        was="raised: absent",
    ),
)
of(Reads.kept_when_reopened)(
    instead(
        "from the first",
        "After a closed handle, your cache asks for all entries again; it must ask for what has not come yet.",
        lambda r, request: set(),
        seen="RangeEntryCacheImpl of 5.0.1",
    ),
)
look_at("EC-48", "a count of its own on either side; one count for several entries")
of(Reads.read_again)(
    instead(
        "absent",
        "A read of your cache fails if a missing part fails; it must read its whole range from the storage then.",
        lambda r, reader: r.give_up(reader),
        was="read_again: absent",
    ),
)
look_at("RC-07", "reads that fail in another part, and release what they had")
of(Reads.counts_from)(
    instead(
        "one count for all",
        "All entries of an answer share one read count in your cache; each must have its own.",
        lambda r, request, start: dict.fromkeys(request.entries, r.read_counts.new(start)),
        was="OneCountForAll: the entries of an answer have one count",
    ),
)


@mistake(
    "RC-04",
    "the rank is asked for with the request",
    "Your cache asks for a reader's rank with the request; it must when the storage answers.",
    was="RankedWhenAsked: the rank is asked for with the request",
)
class RankedWhenAsked(Reads):
    """A cursor that moves meanwhile counts as it stood."""

    def __init__(self, model: EntryCaches) -> None:
        super().__init__(model)
        self.starts: dict[Request, int] = {}

    def ask(self, request: Request) -> None:
        """Note the start value, and ask the storage."""
        self.starts[request] = super().started(request)
        super().ask(request)

    def started(self, request: Request) -> int:
        """Answer with what was noted."""
        return self.starts[request]


@around(Reads.started, "EC-47", "asked for each entry", was="AsksForEachEntry: it is asked once for each entry")
def asks_for_each_entry(started: Method, reads: Reads, request: Request) -> int:
    """Your cache asks for the expected reads at each entry of an answer; it must ask once for each answer."""
    before = reads.evaluated
    start: int = started(reads, request)
    reads.evaluated = before + (reads.evaluated - before) * len(request.entries)
    return start


def of_its_own(count: Count | None) -> Count | None:
    """Another count that says the same."""
    return None if count is None else Count(count.left)


@around(Retained.hand_over, "EC-48", "a count of its own", was="CountsApart: what is returned has a count of its own")
def counts_apart(hand_over: Method, r: Retained, reader: Reader, entry: int, count: Count | None) -> None:
    """An entry that your cache returns has a read count of its own; it must share the cached entry's."""
    hand_over(r, reader, entry, of_its_own(count))


@around(Retained.hand_over, "EC-48", "uncounted", was="ReturnedUncounted: what is returned is not counted")
def returned_uncounted(hand_over: Method, r: Retained, reader: Reader, entry: int, _: Count | None) -> None:
    """An entry that your cache returns has no read count; it must share the cached entry's."""
    hand_over(r, reader, entry, None)


@around(
    Reads.deliver, "EC-48", "cached ones alone share", was="StorageCountsApart: only what was cached shares its count"
)
def storage_counts_apart(deliver: Method, reads: Reads, request: Request, counts: Counts) -> None:
    """In your cache the storage's answer has a read count of its own; it must share the cached entry's."""
    deliver(reads, request, {entry: of_its_own(count) for entry, count in counts.items()})


@around(
    Reads.deliver,
    "EC-51",
    "originals count as well",
    was="OriginalsCount: of several listeners, the originals count as well",
)
def originals_count(deliver: Method, reads: Reads, request: Request, counts: Counts) -> None:
    """Your cache counts the original entry as read if several readers get copies; it must not."""
    shared = len(request.listeners) > 1
    deliver(reads, request, counts)
    for count in counts.values():
        if count is not None and shared:
            reads.read_counts.read(count)


@mistake(
    "EC-53",
    "a read can be joined while its listeners are told",
    "Your cache still lets others join a read while its listeners get their answers; it must not.",
    was="JoinedWhileTold: a read can be joined while its listeners are told",
)
class JoinedWhileTold(Reads):
    """It is forgotten when all is done."""

    def settle(self, request: Request) -> None:
        """Leave it as it is."""

    def come(self, request: Request) -> None:
        """Tell the listeners, and forget the read."""
        super().come(request)
        super().settle(request)

    def not_come(self, request: Request, kind: int) -> None:
        """Tell the listeners, and forget the read."""
        super().not_come(request, kind)
        super().settle(request.whole)


@around(
    Reads.read_again,
    "EC-45",
    "keeps what it had",
    was="KeepsObtained: all is read again, and what was obtained is kept",
)
def keeps_obtained(read_again: Method, reads: Reads, reader: Reader) -> None:
    """If a missing part fails, your cache never releases the entries obtained; it must before it reads again."""
    reader.take_all()
    read_again(reads, reader)


@around(Retained.discard, "RC-07", "discarded uncounted", was="DiscardedUncounted: what is discarded does not count")
def discarded_uncounted(discard: Method, r: Retained, entries: list[Returned]) -> None:
    """An entry that was read and discarded does not count as read in your cache; it must."""
    for entry in entries:
        entry.count = None
    discard(r, entries)


# ---- The storage answers in part

look_at("EC-65", "an answer that is empty, or ends early; the reader is told once, with all entries, or that it failed")


@around(ShortAnswers.come_short, "EC-65", "handed over")
def too_few_handed_over(_come_short: Method, short: ShortAnswers, request: Request, n: int) -> list[list[Any]]:
    """If the storage answers with fewer entries, your cache gives readers too few; it must read the rest, or fail."""
    request.last = request.first + n - 1
    short.reads.come(request)
    return short.reads.tell()


@around(ShortAnswers.come_short, "EC-65", "nobody is told of nothing")
def nobody_told(come_short: Method, short: ShortAnswers, request: Request, n: int) -> Any:
    """If the storage answers without entries, your cache tells no reader; it must ask once more, or fail the read."""
    return come_short(short, request, n) if n else short.reads.tell()


@around(ShortAnswers.come_short, "EC-65", "asks for all")
def all_asked_again(come_short: Method, short: ShortAnswers, request: Request, _n: int) -> Any:
    """If the storage answers with fewer entries, your cache asks for all again; it must ask only for the rest."""
    short.retained.keep(request.whole, set())
    return come_short(short, request, 0)


@around(ShortAnswers.come_short, "EC-65", "fails, and keeps them")
def short_ones_kept(_come_short: Method, short: ShortAnswers, request: Request, n: int) -> list[list[Any]]:
    """If a read fails for want of entries, your cache never releases those that came; it must."""
    short.retained.store.references += n
    return short.failing(request)


@around(ShortAnswers.come_short, "EC-65", "fails, and keeps the permits")
def permits_kept(_come_short: Method, short: ShortAnswers, request: Request, _n: int) -> list[list[Any]]:
    """If a read fails for want of entries, your cache keeps its permits; they must come back."""
    for reader, *_ in request.listeners:
        reader.permits = 0
    return short.failing(request)


@mistake(
    "EC-65",
    "the first part alone",
    "If your cache asks for the rest in parts, it gives readers only the first; it must ask for all parts.",
)
class FirstPartAlone(ShortAnswers):
    """It asks for the first entry of the rest, and takes that for the rest."""

    def rest(self, whole: Request) -> Allowed:
        """Ask for one entry."""
        asks = super().rest(whole)
        (*does, first, _), *_ = asks.example
        return asks._replace(example=[[*does, first, first]])

    def come_in_full(self, request: Request) -> Allowed | None:
        """Give readers what came."""
        request.whole.last = request.last
        return super().come_in_full(request)


@mistake(
    "EC-65",
    "a part missing",
    "If your cache asks for parts of the rest at the same time, it takes the first that comes for all; it must wait.",
)
class PartMissing(ShortAnswers):
    """It asks for two parts, and gives readers what came with the first of them."""

    def rest(self, whole: Request) -> Allowed:
        """Ask for the first entry, and for all others."""
        asks = super().rest(whole)
        (*does, first, last), *_ = asks.example
        parts = [(first, first), (first + 1, last)] if first < last else [(first, last)]
        return asks._replace(example=[[*does, *run] for run in parts])

    def come_in_full(self, request: Request) -> Allowed | None:
        """Give readers what came."""
        whole = request.whole
        if request is not whole:
            whole.failed = True
            gone = {*whole.entries}.difference(whole.came, request.entries)
            whole.last = min(gone, default=whole.last + 1) - 1
        self.reads.come(whole)
        return None


@around(ShortAnswers.go_on, "EC-65", "the rest cannot be joined")
def rest_not_joined(go_on: Method, short: ShortAnswers, whole: Request, parts: list[Run]) -> None:
    """Once a part of a read has come, your cache lets nobody join it; it must until all has come."""
    go_on(short, whole, parts)
    short.pending.settled(whole)


# ---- The limit of reads in flight

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
        "Your cache does not limit the reads of a topic that keeps nothing; each read must take permits.",
        lambda r, reader: r.config.max_reads_in_flight > 0 and not reader.cache.disabled,
    ),
    instead(
        "cursors only",
        "Your cache limits the reads of cursors alone; each read must take permits.",
        lambda r, reader: r.config.max_reads_in_flight > 0 and reader.cursor != SINGLE,
    ),
    instead(
        "misses only",
        "Your cache limits only reads that miss something; each read must take permits.",
        lambda r, reader: (
            r.config.max_reads_in_flight > 0
            and not all((reader.ledger, entry) in reader.cache.entries for entry in reader.entries)
        ),
    ),
)
of(ReadLimit.estimate)(
    instead(
        "absent",
        "Your cache takes one permit for each entry; it must take one for each byte of the entry's estimated size.",
        lambda r, reader, average: 1,
    ),
    instead(
        "without overhead",
        "Your cache leaves the overhead out when it estimates a read; it must add that for each entry.",
        lambda r, reader, average: ReadLimit.estimate(r, reader, average) - OVERHEAD,
    ),
    instead(
        "always unknown",
        "Your cache takes permits as if a ledger's average size were not known; it must use that average.",
        lambda r, reader, average: UNKNOWN_SIZE + OVERHEAD,
    ),
)
of(ReadLimit.unknown)(
    instead(
        "absent",
        "If a ledger's average is not known, your cache takes 10 KiB; it must take the cache's average if larger.",
        lambda r, reader: UNKNOWN_SIZE,
    ),
    instead(
        "added alone",
        "If a ledger's average is not known, your cache takes the cache's average; it must take at least 10 KiB.",
        lambda r, reader: reader.cache.average_added(),
    ),
)
of(ReadLimit.fits)(
    instead(
        "absent",
        "Your cache makes a read wait that takes exactly the permits that are left; it must begin.",
        lambda r, permits: r.remaining > permits,
    ),
    instead(
        "however many",
        "Your cache lets a read begin while any permit is left; it must wait until all its permits are there.",
        lambda r, permits: r.remaining > 0,
    ),
)
of(ReadLimit.has_room)(
    instead(
        "absent",
        "Your cache lets any number of reads wait for permits; it must refuse a read if the queue is full.",
        lambda r: True,
    ),
    instead(
        "one more",
        "Your cache lets one read too many wait for permits; it must refuse a read if the queue is full.",
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
        "Your cache gives permits back when a read's first entry is freed; it must when the last one is.",
        lambda r, reader: True,
    ),
)
of(ReadLimit.too_late)(
    instead(
        "absent",
        "When permits come back, your cache lets a read wait on that has waited too long; the read must fail.",
        lambda r, age: False,
    ),
    instead(
        "at the time as well",
        "Your cache fails a read that is served exactly at its time; it must only after a longer wait.",
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


@around(
    ReadLimit.take,
    "EC-55",
    "waits behind others",
    was="read_limit.WaitsBehind: a read that fits waits for those that came before",
)
def waits_behind(take: Method, limit: ReadLimit, reader: Reader) -> bool:
    """Your cache makes a read that fits wait behind earlier ones; it must overtake them."""
    return not limit.waiting and bool(take(limit, reader))


@around(
    ReadLimit.serve,
    "EC-55",
    "takes nothing after waiting",
    was="read_limit.WaitingTakeNothing: who waited takes nothing",
)
def waiting_take_nothing(serve: Method, limit: ReadLimit, now: int) -> Reader | None:
    """A read that has waited takes no permits in your cache; it must."""
    remaining = limit.remaining
    head: Reader | None = serve(limit, now)
    limit.remaining = remaining
    return head


@around(
    ReadLimit.serve,
    "EC-55",
    "passes over the head",
    was="read_limit.PassesOver: a head that does not fit lets the next one go first",
)
def passes_over(serve: Method, limit: ReadLimit, now: int) -> Reader | None:
    """Your cache serves a later read if the head of the queue does not fit yet; it must wait for the head."""
    head: Reader | None = serve(limit, now)
    if head is None and len(limit.waiting) > 1 and limit.fits(limit.waiting[1].permits):
        limit.waiting.rotate(-1)
        head = serve(limit, now)
    return head
