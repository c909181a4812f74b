"""Readers: what each asked for and was given, the storage reads under way, and those that can be joined."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from broker_tck.model.entry_cache.entries import Cache, Count
from broker_tck.model.parts.calls import CallsUnderWay
from broker_tck.model.rules import rule

Run = tuple[int, int]
"""The first and the last entry of a part of a ledger."""
SINGLE = -1
"""In place of a cursor: a read of a single entry, which no cursor makes."""
NOBODY = -1
"""Instead of a number of expected reads: nobody counts them."""
WAITS, COMPLETES, FAILS, RAISES = range(4)
"""How the storage answers a request: it waits for an operation, completes at once, fails at once, or raises."""
BUSY, BROKEN, CLOSED = range(3)
"""How a storage read fails: too many requests, anything else, the ledger's handle was closed."""


@dataclass(eq=False)
class Returned:
    """An entry as one reader has it, until it is freed."""

    entry: int
    count: Count | None
    reader: Reader | None = None


@dataclass(eq=False)
class Reader:
    """Somebody who reads a part of a ledger, from the request until what was returned is freed."""

    cache: Cache
    topic: int
    cursor: int
    ledger: int
    first: int
    last: int
    again: bool = False
    """Whether it repeats the read in its callback, before that returns."""
    within: Reader | None = None
    """The reader that this one reads a part for."""
    number: int = 0
    got: dict[int, Returned] = field(default_factory=dict)
    awaited: int = 0
    """Parts that have not come yet."""
    failed: bool = False
    partial: bool = False
    """Whether a part of it was cached."""
    permits: int = 0
    expected: int = NOBODY
    """Reads that are expected of the answer, if that is asked for with the request."""
    since: int = 0
    """When it began to wait for permits."""
    left: int = 0
    """Returned entries that are not freed yet."""

    @property
    def entries(self) -> range:
        """The entries that it asked for."""
        return range(self.first, self.last + 1)

    def part(self, run: Run) -> Reader:
        """One who reads a part for this reader."""
        return Reader(self.cache, self.topic, self.cursor, self.ledger, *run, within=self, expected=self.expected)

    def listed(self) -> list[Returned]:
        """What it was given, in the order of the entries."""
        return [self.got[entry] for entry in sorted(self.got)]

    def take_all(self) -> list[Returned]:
        """What it was given, which it has no longer."""
        got, self.got = [*self.got.values()], {}
        return got


class Request:
    """A read that the storage was asked for, and who listens for it; or a part of one, which nobody listens for."""

    def __init__(self, creator: Reader, run: Run, whole: Request | None = None) -> None:
        self.creator = creator
        self.cache = creator.cache
        self.ledger = creator.ledger
        self.first, self.last = run
        self.whole: Request = whole or self
        """The read of which this one is a part; itself if it is none."""
        self.listeners: list[tuple[Reader, int, int]] = [] if whole else [(creator, *run)]
        """Readers, and the part that each is to have."""
        self.number = 0
        self.reopened: bool = whole is not None and whole.reopened
        self.came: set[int] = set()
        """The entries that came with answers in part."""
        self.failed = False
        """Whether it has failed. Parts of it that are still asked for come to nothing."""

    @property
    def entries(self) -> range:
        """The entries that were asked for."""
        return range(self.first, self.last + 1)

    def order(self) -> tuple[int, ...]:
        """Where it stands among what is pending."""
        return self.creator.topic, self.ledger, self.first, self.last, self.number


class PendingReads(CallsUnderWay[Request]):
    """Requests that wait for the storage, by topic, ledger and entries, and then as they were made."""

    def __init__(self) -> None:
        super().__init__(order=Request.order)
        self.requests = 0
        self.running: list[Request] = []
        """Those that can be joined."""
        self.mode = WAITS
        """What the storage does when it is asked."""
        self.slow: set[tuple[int, ...]] = set()
        """Topics and ledgers of which it has answered in part: it waits if it is asked for these."""

    # ---- Reads that run already are joined

    @rule("EC-50", source="PendingReadsManager, PR 17241", needs="reads")
    def joins(self, request: Request, first: int, last: int) -> bool:
        """For what is not cached, a read joins the running reads that it overlaps, whichever part they share."""
        return request.first <= last and first <= request.last

    @rule("EC-50", needs="reads")
    def of_its_cache(self, request: Request, reader: Reader, disabled: bool) -> bool:
        """A read joins only reads of its own cache and ledger; reads of a disabled cache cannot be joined."""
        return request.ledger == reader.ledger and request.cache is reader.cache and not disabled

    def join(self, reader: Reader, run: Run, disabled: bool) -> tuple[int, list[int]]:
        """Listen for the reads that run; answers with how many these are, and the entries that they leave."""
        first, last = run
        left = {*range(first, last + 1)}
        joined = self.overlapping(reader, run, disabled)
        for request in joined:
            request.listeners.append((reader, max(first, request.first), min(last, request.last)))
            left.difference_update(request.entries)
        return len(joined), sorted(left)

    def overlapping(self, reader: Reader, run: Run, disabled: bool) -> list[Request]:
        """The reads that run, and that a reader of this part joins, by their first entries."""
        found = [r for r in self.running if self.of_its_cache(r, reader, disabled) and self.joins(r, *run)]
        return sorted(found, key=lambda r: r.first)

    def parts_of(self, whole: Request) -> list[Request]:
        """The parts of a read that the storage was asked for, and has not given yet."""
        return [request for request in self.waiting if request.whole is whole]

    def rest_of(self, whole: Request) -> list[Run]:
        """The runs of a read that have not come, and that the storage was not asked for since."""
        asked = [entry for part in self.parts_of(whole) for entry in part.entries]
        return runs(sorted({*whole.entries}.difference(whole.came, asked)))

    # ---- The storage is asked, and answers

    def admit(self, request: Request) -> int:
        """The storage gets a request; answers what it does: it waits if the ledger is slow, or has another request."""
        self.requests += 1
        request.number = self.requests
        ledger = request.order()[:2]
        waits = ledger in self.slow or any(other.order()[:2] == ledger for other in self.waiting)
        return WAITS if waits else self.mode

    def settled(self, request: Request) -> None:
        """This one can no longer be joined."""
        self.running = [r for r in self.running if r is not request]

    def forget(self, cache: Cache, ledger: int | None = None) -> None:
        """No read of a cache, or of one of its ledgers, can be joined any more."""
        if self.running:
            self.running = [r for r in self.running if r.cache is not cache or ledger not in (None, r.ledger)]

    def runs(self, cache: Cache, ledger: int | None = None) -> bool:
        """Whether a read of a cache, or of one of its ledgers, can be joined."""
        return any(r.cache is cache and ledger in (None, r.ledger) for r in self.running)

    # ---- The storage fails

    @rule("EC-54", source="RangeEntryCacheImpl, 2026", needs="reads")
    def forgets_at(self, kind: int) -> bool:
        """If a storage read fails, running reads of its ledger are forgotten, except after too many requests."""
        return kind != BUSY

    @rule("EC-54", needs="reads", when=lambda p, request: not request.reopened)
    def reopens(self, request: Request) -> bool:
        """If a storage read fails because its ledger handle was closed, it is repeated once, for all its listeners.

        A repeated read cannot be joined.
        """
        return not request.reopened


def runs(entries: Iterable[int]) -> list[Run]:
    """Entries in ascending order as runs without a gap, each as long as can be."""
    found: list[Run] = []
    for entry in entries:
        if found and found[-1][1] == entry - 1:
            found[-1] = found[-1][0], entry
        else:
            found.append((entry, entry))
    return found


def lefts(entries: Iterable[Returned]) -> list[int | None]:
    """The counts of entries; None for each that is not counted."""
    return [entry.count.left if entry.count else None for entry in entries]
