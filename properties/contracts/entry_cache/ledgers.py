"""The managed ledgers of the topics, played by the kit: entries that were written, the storage, and active cursors."""

from __future__ import annotations

from typing import Any, NamedTuple

from broker_tck.implementations.interface import (
    Clock,
    EntryCache,
    HandleClosedException,
    ReadFailed,
    StorageRead,
    TooManyRequestsException,
)
from broker_tck.properties.contracts.entry_cache.operations import Config
from broker_tck.properties.contracts.entry_cache.reading import BROKEN, BUSY, CLOSED, COMPLETES, RAISES, WAITS
from broker_tck.properties.contracts.entry_cache.values import Tally, Value
from broker_tck.properties.engine.calls import CallsUnderWay

Position = tuple[int, int]

ENTRY_SIZES = (10, 30, 20, 40)
"""Bytes of the stored entries, by entry id, over and over."""
FAILURES: dict[int, type[ReadFailed]] = {
    BUSY: TooManyRequestsException,
    BROKEN: ReadFailed,
    CLOSED: HandleClosedException,
}
"""What the storage fails with."""


class Ledger:
    """A ledger of a topic, as it is handed to a read."""

    def __init__(self, storage: LedgerStorage, topic: int, ledger_id: int) -> None:
        self.storage = storage
        self.topic = topic
        self.ledger_id = ledger_id
        self.length = 0
        self.last_confirmed = -1
        self.is_slow = False
        """Whether a read of it was answered in part: the storage waits if it is asked for more."""

    def grow(self, n: int) -> None:
        """So many entries more."""
        for _ in range(n):
            self.last_confirmed += 1
            self.length += size_of(self.last_confirmed)

    def read(self, first: int, last: int, done: StorageRead) -> None:
        """Have the storage read a range."""
        self.storage.read(self, first, last, done)

    def reopened(self) -> Ledger:
        """Another handle of the same ledger, which is as good as this one."""
        return self


class Pending(NamedTuple):
    """A read that the storage was asked for."""

    ledger: Ledger
    run: tuple[int, int]
    done: StorageRead
    number: int

    def order(self) -> tuple[int, ...]:
        """Where it stands among what is pending."""
        return self.ledger.topic, self.ledger.ledger_id, *self.run, self.number


class LedgerStorage:
    """What was written, and what is being read."""

    def __init__(self, tally: Tally) -> None:
        self.tally = tally
        self.ledgers: dict[tuple[int, int], Ledger] = {}
        self.reads = CallsUnderWay(order=Pending.order)
        self.mode = WAITS
        self.asked: list[list[Any]] = []
        self._requests = 0

    def ledger(self, topic: int, ledger_id: int) -> Ledger:
        """A ledger of a topic, empty where nothing was written."""
        key = topic, ledger_id
        if key not in self.ledgers:
            self.ledgers[key] = Ledger(self, topic, ledger_id)
        return self.ledgers[key]

    def read(self, ledger: Ledger, first: int, last: int, done: StorageRead) -> None:
        """A request. It waits, unless nothing of its ledger has to and the storage is set to answer at once."""
        self._requests += 1
        self.asked.append(["asks", ledger.topic, ledger.ledger_id, first, last])
        request = Pending(ledger, (first, last), done, self._requests)
        if self.mode == WAITS or ledger.is_slow or any(other.ledger is ledger for other in self.reads.held):
            self.reads.hold(request)
        elif self.mode == RAISES:
            raise OSError("the storage is broken")
        elif self.mode == COMPLETES:
            self.complete(request)
        else:
            self.fail(request, BROKEN)

    def complete(self, request: Pending, n: int | None = None) -> None:
        """Hand over the entries, or only the first n modulo their number. Whoever asked must release them."""
        first, last = request.run
        ledger_id, tally = request.ledger.ledger_id, self.tally
        entries = range(first, last + 1)
        if n is not None:
            entries = entries[: n % len(entries)]
        request.done([Value(tally, (ledger_id, e), size_of(e), None, counts_as_read=True) for e in entries])

    def fail(self, request: Pending, kind: int) -> None:
        """Hand over an error."""
        request.done(FAILURES[kind]("as told"))


class TopicCursors:
    """The active cursors of a topic, and what follows from where they are."""

    def __init__(self, config: Config, clock: Clock) -> None:
        self.by_read_count = config.by_read_count
        self.grace = config.grace if config.by_read_count else 0
        self.clock = clock
        self.at: dict[str, Position] = {}
        self.caching: set[str] = set()
        self.left_at = clock()

    def should_cache_added_entry(self) -> bool:
        """Whether an entry that is added is to be cached: for somebody who reads, or for who may come back."""
        return bool(self.at) or self.clock() - self.left_at < self.grace

    def reads_of_added(self) -> int:
        """How many reads of it are expected."""
        return len(self.at) if self.by_read_count else 0

    def reads_of_read(self, name: str) -> int:
        """How many reads are expected of what a cursor reads: of those that are no further, itself included."""
        if not self.by_read_count:
            return 1 if name in self.caching else 0
        return sum(at <= self.at[name] for at in self.at.values()) if name in self.at else 0

    def put(self, name: str, at: Position, caching: bool, cache: EntryCache) -> None:
        """Add or move a cursor, and do to the cache what follows."""
        before = self.bound()
        self.at[name] = at
        (self.caching.add if caching else self.caching.discard)(name)
        self.invalidate(before, cache)

    def remove(self, name: str, cache: EntryCache) -> bool:
        """Remove a cursor if it is there, and do to the cache what follows."""
        before = self.bound()
        removed = self.at.pop(name, None) is not None
        if removed and not self.at:
            self.left_at = self.clock()
        self.caching.discard(name)
        self.invalidate(before, cache)
        return removed

    def bound(self) -> Position | None:
        """The slowest position, below which nothing is to stay cached; none where reads are counted."""
        return None if self.by_read_count else min(self.at.values(), default=None)

    def invalidate(self, before: Position | None, cache: EntryCache) -> None:
        """Take from the cache what no cursor is to read any more, by what the bound was before."""
        bound = self.bound()
        if bound == before:
            return
        if bound is None:
            cache.clear()
        else:
            cache.invalidate_entries(bound)


def size_of(entry: int) -> int:
    """The bytes of a stored entry."""
    return ENTRY_SIZES[entry % len(ENTRY_SIZES)]
