"""The managed ledgers of the topics, played by the kit: entries that were written, the storage, and active cursors."""

from __future__ import annotations

from typing import Any, NamedTuple

from msgspec.structs import replace

from broker_tck.implementations.active_cursors.sorted_cursors import SortedCursors
from broker_tck.implementations.interface import (
    Clock,
    EntryCache,
    HandleClosedException,
    ReadFailed,
    StorageRead,
    TooManyRequestsException,
)
from broker_tck.model.entry_cache.reads import BROKEN, BUSY, CLOSED, COMPLETES, ENTRY_SIZES, RAISES, WAITS
from broker_tck.properties.contracts.entry_cache.operations import Config
from broker_tck.properties.contracts.entry_cache.values import Tally, Value

Position = tuple[int, int]

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


class Pending:
    """A read that the storage was asked for."""

    __slots__ = ("done", "ledger", "number", "run")

    def __init__(self, ledger: Ledger, run: tuple[int, int], done: StorageRead, number: int) -> None:
        self.ledger = ledger
        self.run = run
        self.done = done
        self.number = number

    def order(self) -> tuple[int, ...]:
        """Where it stands among what is pending."""
        return self.ledger.topic, self.ledger.ledger_id, *self.run, self.number


class LedgerStorage:
    """What was written, and what is being read."""

    def __init__(self, tally: Tally) -> None:
        self.tally = tally
        self.ledgers: dict[tuple[int, int], Ledger] = {}
        self.pending: list[Pending] = []
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
        """A request. It waits, unless nothing else of its ledger does and the storage is set to answer at once."""
        self._requests += 1
        self.asked.append(["asks", ledger.topic, ledger.ledger_id, first, last])
        request = Pending(ledger, (first, last), done, self._requests)
        if self.mode == WAITS or any(other.ledger is ledger for other in self.pending):
            self.pending.append(request)
            self.pending.sort(key=Pending.order)
        elif self.mode == RAISES:
            raise OSError("the storage is broken")
        elif self.mode == COMPLETES:
            self.complete(request)
        else:
            self.fail(request, BROKEN)

    def take(self, i: int) -> Pending | None:
        """One of those that are pending, which it no longer is."""
        return self.pending.pop(i % len(self.pending)) if self.pending else None

    def complete(self, request: Pending) -> None:
        """Hand over the entries. Whoever asked has to release them."""
        first, last = request.run
        ledger_id, tally = request.ledger.ledger_id, self.tally
        entries = range(first, last + 1)
        request.done([Value(tally, (ledger_id, e), size_of(e), None, counts_as_read=True) for e in entries])

    def fail(self, request: Pending, kind: int) -> None:
        """Hand over an error."""
        request.done(FAILURES[kind]("as told"))


class Cursor(NamedTuple):
    """A cursor object."""

    name: str
    durable: bool = True


class TopicCursors:
    """The active cursors of a topic, in a bundled container, and what follows from where they are."""

    def __init__(self, config: Config, clock: Clock) -> None:
        self.by_read_count = config.by_read_count
        self.container = SortedCursors(config if config.by_read_count else replace(config, grace=0), clock)
        self.caching: set[str] = set()

    def should_cache_added_entry(self) -> bool:
        """Whether an entry that is added is to be cached."""
        return self.container.should_cache_added_entry()

    def reads_of_added(self) -> int:
        """How many reads of it are expected."""
        return self.container.size() if self.by_read_count else 0

    def reads_of_read(self, name: str) -> int:
        """How many reads are expected of what a cursor reads."""
        if not self.by_read_count:
            return 1 if name in self.caching else 0
        return self.container.get_number_of_cursors_at_same_position_or_before(Cursor(name))

    def put(self, name: str, at: Position, caching: bool, cache: EntryCache) -> None:
        """Add or move a cursor, and do to the cache what follows."""
        before = self.bound()
        self.container.add(Cursor(name), at)
        (self.caching.add if caching else self.caching.discard)(name)
        self.invalidate(before, cache)

    def remove(self, name: str, cache: EntryCache) -> bool:
        """Remove a cursor if it is there, and do to the cache what follows."""
        before = self.bound()
        removed = self.container.remove_cursor(name)
        self.caching.discard(name)
        self.invalidate(before, cache)
        return removed

    def bound(self) -> Position | None:
        """The slowest position, below which nothing is to stay cached; none where reads are counted."""
        return None if self.by_read_count else self.container.get_slowest_cursor_position()

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
