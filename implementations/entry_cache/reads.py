"""Reads through an entry cache: hits, storage reads that readers share, and the limit of what is in flight."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from broker_tck.implementations.interface import (
    Clock,
    Entry,
    EntryCache,
    ExpectedReads,
    HandleClosedException,
    LedgerHandle,
    ReadAnswered,
    ReadCount,
    ReadFailed,
    StorageRead,
    TooManyRequestsException,
)

OVERHEAD = 64
"""Bytes that are taken for each entry beside its own: what the storage wraps it in."""
UNKNOWN_SIZE = 10 * 1024
"""Bytes of an entry of which nothing is known, at least."""


class ReadLimiter:
    """Permits for bytes that are read and not freed yet. What does not fit waits, first come, first served.

    A small read may overtake those that wait: only :meth:`release` serves the queue.
    """

    def __init__(self, limit: int, most_waiting: int, timeout: int, clock: Clock) -> None:
        self.remaining = limit
        self._most_waiting = most_waiting
        self._timeout = timeout
        self._clock = clock
        self._waiting: deque[tuple[int, int, Callable[[bool], None]]] = deque()

    def acquire(self, permits: int, go: Callable[[bool], None]) -> None:
        """Take permits, now or later; ``go`` is called with whether they were taken."""
        if self.remaining >= permits:
            self.remaining -= permits
            go(True)
        elif len(self._waiting) < self._most_waiting:
            self._waiting.append((permits, self._clock(), go))
        else:
            go(False)

    def release(self, permits: int) -> None:
        """Give permits back; those who wait are served as far as they fit, unless they have waited for too long."""
        self.remaining += permits
        called: list[Callable[[], None]] = []
        while self._waiting:
            wanted, since, go = self._waiting[0]
            late = 0 < self._timeout < self._clock() - since
            if not late and self.remaining < wanted:
                break
            self._waiting.popleft()
            self.remaining -= 0 if late else wanted
            called.append(partial(go, not late))
        for call in called:
            call()

    def time_out(self) -> None:
        """Refuse those who have waited for too long."""
        called: list[Callable[[bool], None]] = []
        while self._timeout > 0 and self._waiting and self._clock() - self._waiting[0][1] >= self._timeout:
            called.append(self._waiting.popleft()[2])
        for go in called:
            go(False)


class Cache(EntryCache, Protocol):
    """The cache that reads go through."""

    added: int
    """How many entries it was ever given."""
    added_size: int
    """Their bytes."""
    disabled: bool
    """Whether it keeps nothing."""


@dataclass(eq=False, slots=True)
class Reader:
    """Somebody who reads a range, whose entries come in parts."""

    handle: LedgerHandle
    first: int
    last: int
    expected: ExpectedReads
    answered: ReadAnswered
    entries: dict[int, Entry] = field(default_factory=dict)
    awaited: int = 0
    failure: Exception | None = None
    hit: bool = False
    """Whether something of it came from the cache."""

    def take(self, value: Entry) -> None:
        """Keep a value until all have come."""
        self.entries[value.position[1]] = value

    def taken(self) -> list[Entry]:
        """What came, in ascending order. It is not kept any longer."""
        entries, self.entries = self.entries, {}
        return [entries[entry] for entry in sorted(entries)]


class Running:
    """A storage read that has not been answered, and the readers that listen, each for a part of it."""

    __slots__ = ("answered", "came", "expected", "first", "last", "ledger", "listeners", "reopened")

    def __init__(self, reader: Reader, first: int, last: int) -> None:
        self.reopened = False
        self.ledger = reader.handle.ledger_id
        self.expected = reader.expected
        self.first = first
        self.last = last
        self.listeners = [(reader, first, last)]
        self.came: list[Entry] = []
        """What came so far."""
        self.answered = False


class CacheReads:
    """The reads of one cache. Storage reads of a ledger that run never overlap: who wants the same joins them."""

    def __init__(
        self,
        cache: Cache,
        limiter: ReadLimiter | None,
        counters: list[int],
        new_read_count: Callable[[int], ReadCount | None],
    ) -> None:
        self.cache = cache
        self.limiter = limiter
        self.counters = counters
        """Hits and misses of all caches, each in entries and bytes."""
        self.new_read_count = new_read_count
        self.running: dict[int, list[Running]] = {}

    def read(
        self, handle: LedgerHandle, first: int, last: int, expected: ExpectedReads, answered: ReadAnswered
    ) -> None:
        """Read a range of a ledger, as soon as it is permitted."""
        reader = Reader(handle, first, last, expected, answered)
        if self.limiter is None:
            self.search(reader)
            return
        permits = (last - first + 1) * self.estimate(handle)

        def go(permitted: bool) -> None:
            if permitted:
                reader.answered = self.giving_back(permits, answered)
                self.search(reader)
            else:
                answered(TooManyRequestsException(f"{permits} bytes more are not to be read at once"))

        self.limiter.acquire(permits, go)

    def estimate(self, handle: LedgerHandle) -> int:
        """The bytes that an entry is estimated to hold."""
        if handle.length and handle.last_confirmed >= 0:
            return max(1, handle.length // (handle.last_confirmed + 1)) + OVERHEAD
        average = self.cache.added_size // self.cache.added if self.cache.added else 0
        return max(average, UNKNOWN_SIZE) + OVERHEAD

    def giving_back(self, permits: int, answered: ReadAnswered) -> ReadAnswered:
        """An answer that gives permits back, at once where it is a failure, else with the last entry that is freed."""
        limiter = self.limiter
        assert limiter is not None

        def answer(result: Sequence[Entry] | Exception) -> None:
            if isinstance(result, Exception) or not result:
                limiter.release(permits)
            else:
                left = len(result)

                def freed() -> None:
                    nonlocal left
                    left -= 1
                    if not left:
                        limiter.release(permits)

                for value in result:
                    value.on_freed(freed)
            answered(result)

        return answer

    # ---- What is cached, and what is not

    def search(self, reader: Reader) -> None:
        """Take copies of what is cached and gather the rest."""
        ledger, first, last = reader.handle.ledger_id, reader.first, reader.last
        if first == last:
            value = self.cache.get((ledger, first))
            found: Sequence[Entry] = [value] if value else ()
        else:
            found = self.cache.get_range((ledger, first), (ledger, last))
        for value in self.usable(found, first, last):
            self.count(0, value)
            reader.take(value.copy())
        for value in found:
            value.release()
        reader.hit = bool(reader.entries)
        self.gather(reader, [*gaps(first, last, ((e, e) for e in sorted(reader.entries)))])

    def usable(self, found: Sequence[Entry], first: int, last: int) -> Sequence[Entry]:
        """The cached entries that need not be read from the storage."""
        return found

    def gather(self, reader: Reader, runs: Sequence[tuple[int, int]]) -> None:
        """Get some runs from the storage; the reader is answered when the last of them has come."""
        reader.awaited = 1
        for first, last in runs:
            self.join_or_read(reader, first, last)
        self.arrived(reader)

    def join_or_read(self, reader: Reader, first: int, last: int) -> None:
        """Listen for the storage reads that run already, and start others for what they leave."""
        running = self.running.get(reader.handle.ledger_id, ())
        joined = sorted((r for r in running if r.first <= last and first <= r.last), key=lambda r: r.first)
        for other in joined:
            other.listeners.append((reader, max(first, other.first), min(last, other.last)))
        rest = [*gaps(first, last, ((other.first, other.last) for other in joined))]
        reader.awaited += len(joined) + len(rest)
        for run in rest:
            if joined:
                self.read_rest(reader, *run)
            else:
                self.start(reader, *run)

    def read_rest(self, reader: Reader, first: int, last: int) -> None:
        """Read what the joined reads leave."""
        self.search(Reader(reader.handle, first, last, reader.expected, self.handing_to(reader)))

    def handing_to(self, reader: Reader) -> ReadAnswered:
        """An answer that is a part of what a reader awaits."""

        def answered(result: Sequence[Entry] | Exception) -> None:
            if isinstance(result, Exception):
                reader.failure = result
            else:
                for value in result:
                    reader.take(value)
            self.arrived(reader)

        return answered

    def start(self, reader: Reader, first: int, last: int) -> None:
        """Start a storage read, for others to join unless the cache is disabled."""
        running = Running(reader, first, last)
        if not self.cache.disabled:
            self.running.setdefault(running.ledger, []).append(running)
        self.ask(running, reader.handle)

    def ask(self, running: Running, handle: LedgerHandle) -> None:
        """Ask the storage. One that raises is taken for one that failed, and its ledger for broken."""
        try:
            handle.read(running.first + len(running.came), running.last, self.listening(running, handle))
        except Exception as error:
            if running.answered:
                raise
            self.cache.invalidate_all_entries(running.ledger)
            self.failed(running, ReadFailed(str(error)))

    def listening(self, running: Running, handle: LedgerHandle) -> StorageRead:
        """What the storage answers to. A read whose handle was closed is made once more."""

        def answered(answer: Sequence[Entry] | Exception) -> None:
            if isinstance(answer, HandleClosedException) and not running.reopened:
                running.reopened = True
                self.forget(running.ledger)
                self.ask(running, handle.reopened())
            elif isinstance(answer, Exception):
                self.failed(running, answer)
            else:
                self.came(running, handle, answer)

        return answered

    # ---- The storage answers

    def came(self, running: Running, handle: LedgerHandle, values: Sequence[Entry]) -> None:
        """Entries have come. If there are fewer than were asked for, the rest is read."""
        running.came += values
        if len(running.came) <= running.last - running.first:
            self.ask(running, handle)
        else:
            self.completed(running, running.came)

    def completed(self, running: Running, values: Sequence[Entry]) -> None:
        """All entries have come: cache them if they are to be read again, and pass them on."""
        self.answered(running)
        expected = 0 if self.cache.disabled else running.expected()
        for value in values:
            self.count(2, value)
            value.reads = self.new_read_count(expected)
            if expected > 0:
                self.populate(value)
        self.deliver(running, values)

    def populate(self, value: Entry) -> None:
        """Put an entry of its own into the cache, which is no reader."""
        own = value.copy()
        own.counts_as_read = False
        self.cache.put(value.position, own)
        own.release()

    def deliver(self, running: Running, values: Sequence[Entry]) -> None:
        """Give one listener the values, or each of several copies of its part."""
        if len(running.listeners) == 1:
            ((reader, *_),) = running.listeners
            for value in values:
                reader.take(value)
            self.arrived(reader)
            return
        for reader, first, last in running.listeners:
            for value in values:
                if first <= value.position[1] <= last:
                    reader.take(value.copy())
            self.arrived(reader)
        for value in values:
            value.counts_as_read = False
            value.release()

    def failed(self, running: Running, error: Exception) -> None:
        """The storage has failed. Unless it was busy, nobody may join the other reads of this ledger."""
        self.answered(running)
        for value in running.came:
            value.release()
        if not isinstance(error, TooManyRequestsException):
            self.forget(running.ledger)
        for reader, *_ in running.listeners:
            reader.failure = error
            self.arrived(reader)

    def answered(self, running: Running) -> None:
        """An answer has come: nobody can join any more."""
        running.answered = True
        others = self.running.get(running.ledger, [])
        if running in others:
            others.remove(running)
            if not others:
                del self.running[running.ledger]

    def arrived(self, reader: Reader) -> None:
        """A part has come, or failed. With the last one the reader is answered, or tries again without the cache."""
        reader.awaited -= 1
        if reader.awaited:
            return
        failure, reader.failure = reader.failure, None
        if failure is None:
            reader.answered(reader.taken())
            return
        taken = reader.taken()
        if not reader.hit:
            reader.answered(failure)
        for value in taken:
            value.release()
        if reader.hit:
            reader.hit = False
            self.gather(reader, [(reader.first, reader.last)])

    # ---- Housekeeping

    def forget(self, ledger: int) -> None:
        """Let nobody join the running reads of a ledger."""
        self.running.pop(ledger, None)

    def forget_all(self) -> None:
        """Let nobody join the running reads."""
        self.running.clear()

    def count(self, where: int, value: Entry) -> None:
        """Count a hit or a miss."""
        self.counters[where] += 1
        self.counters[where + 1] += value.length


class WholeReads(CacheReads):
    """Reads that are hits as a whole, or not at all."""

    def usable(self, found: Sequence[Entry], first: int, last: int) -> Sequence[Entry]:
        """All, unless something is missing."""
        return found if len(found) == last - first + 1 else ()


def gaps(first: int, last: int, there: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The runs of a range that are not there, by those that are, in ascending order."""
    for start, end in there:
        if first < start:
            yield first, start - 1
        first = end + 1
    if first <= last:
        yield first, last
