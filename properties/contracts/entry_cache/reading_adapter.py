"""Readers on the adapter: what they are answered with, and what they hold until they let go of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, cast

from broker_tck.implementations.interface import EntryCache, EntryCaches, ReadingCache, ReadingCaches
from broker_tck.properties.contracts.entry_cache.ledgers import LedgerStorage, TopicCursors
from broker_tck.properties.contracts.entry_cache.operations import Config
from broker_tck.properties.contracts.entry_cache.reading import WAITS
from broker_tck.properties.contracts.entry_cache.values import Tally, Value
from broker_tck.properties.engine.answers import listed
from broker_tck.properties.engine.threads import first_elsewhere

CROWD = "crowd-"
"""What the names of a crowd of cursors begin with."""


class ReadersAdapter:
    """The part of the adapter that reads. Its methods are the operations."""

    now: int
    tally: Tally
    broker: EntryCaches
    caches: list[EntryCache]
    stored: dict[tuple[int, tuple[int, int]], Any]

    def start_reading(self, config: Config) -> None:
        """Nothing has been read yet."""
        self.reading = cast(ReadingCaches, self.broker)  # it has the capability if it is asked for this
        self.storages = LedgerStorage(self.tally)
        self.cursors = [TopicCursors(config, lambda: self.now) for _ in self.caches]
        self.readers = 0
        self.evaluated = 0
        self.calls = first_elsewhere()
        self.answered: list[list[Any]] = []
        self.returned: dict[int, Sequence[Any]] = {}

    def reading_cache(self, topic: int) -> ReadingCache:
        """A topic's cache, likewise."""
        return cast(ReadingCache, self.caches[topic])

    # ---- Ledgers and cursors

    def append(self, topic: int, ledger: int) -> bool | None:
        """Add the next entry of a ledger."""
        stored, cursors = self.storages.ledger(topic, ledger), self.cursors[topic]
        before = stored.length
        stored.grow(1)
        if not cursors.should_cache_added_entry():
            return None
        position = ledger, stored.last_confirmed
        count = self.broker.new_read_count(cursors.reads_of_added())
        value = Value(self.tally, position, stored.length - before, count)
        inserted = self.caches[topic].put(position, value)
        if inserted:
            self.stored[topic, position] = value
        value.release()
        return inserted

    def write(self, topic: int, ledger: int, n: int) -> None:
        """A ledger has n entries more."""
        self.storages.ledger(topic, ledger).grow(n)

    def cursor(self, topic: int, name: int, ledger: int, entry: int, caching: int) -> None:
        """A cursor is added, or moves."""
        self.cursors[topic].put(str(name), (ledger, entry), bool(caching), self.caches[topic])

    def uncursor(self, topic: int, name: int) -> bool:
        """A cursor is removed."""
        return self.cursors[topic].remove(str(name), self.caches[topic])

    def crowd(self, topic: int, ledger: int, entry: int, n: int, caching: int) -> None:
        """A crowd of cursors becomes n."""
        cursors, cache = self.cursors[topic], self.caches[topic]
        names = [name for name in cursors.at if name.startswith(CROWD)]
        for name in [f"{CROWD}{i}" for i in range(n)]:
            cursors.put(name, (ledger, entry), bool(caching), cache)
        for name in names[n:]:
            cursors.remove(name, cache)

    # ---- Reading

    def fetch(self, topic: int, cursor: int, ledger: int, first: int, n: int, again: int) -> list[list[Any]]:
        """A cursor reads n entries of a ledger."""
        self.ask(topic, cursor, ledger, (first, first + n - 1), bool(again))
        return self.tell()

    def fetch_many(
        self, topic: int, cursor: int, ledger: int, first: int, n: int, times: int, apart: int
    ) -> list[list[Any]]:
        """A cursor reads n entries so many times."""
        for at in [first + i * apart for i in range(times)]:
            self.ask(topic, cursor, ledger, (at, at + n - 1), again=False)
        return self.tell()

    def ask(self, topic: int, cursor: int, ledger: int, run: tuple[int, int], again: bool) -> None:
        """A cursor reads a range."""
        on = partial(self.ask, topic, cursor, ledger, run, again=False) if again else None
        self.reading_cache(topic).read_entries(
            self.storages.ledger(topic, ledger), *run, self.start_value(topic, cursor), self.new_reader(on)
        )

    def fetch_one(self, topic: int, ledger: int, entry: int) -> list[list[Any]]:
        """A single entry is read."""
        self.reading_cache(topic).read_entry(self.storages.ledger(topic, ledger), entry, self.new_reader(None))
        return self.tell()

    def start_value(self, topic: int, cursor: int) -> Callable[[], int]:
        """Tells how many reads are expected of what a cursor reads."""

        def evaluate() -> int:
            self.evaluated += 1
            return self.cursors[topic].reads_of_read(str(cursor))

        return evaluate

    def new_reader(self, on: Callable[[], None] | None) -> Callable[[Any], None]:
        """What a reader is told its answer by; before it returns, something may be done, perhaps by another thread."""
        self.readers += 1
        number = self.readers

        def told(answer: Any) -> None:
            if isinstance(answer, Exception):
                self.answered.append(["fails", number])
            else:
                entries = self.returned[number] = listed(answer)  # as it is: the reader has it until it lets go
                self.answered.append(["answers", number, [value.position[1] for value in entries], lefts(entries)])
            if on:
                next(self.calls)(on)

        return told

    def complete(self, i: int) -> list[list[Any]]:
        """A pending storage read completes."""
        if request := self.storages.reads.release(i):
            self.storages.complete(request)
        return self.tell()

    def short(self, i: int, n: int) -> list[list[Any]]:
        """A pending storage read is answered with its first n entries."""
        self.storages.mode = WAITS
        if request := self.storages.reads.release(i):
            request.ledger.is_slow = True
            self.storages.complete(request, n)
        return self.tell()

    def fail(self, i: int, kind: int) -> list[list[Any]]:
        """A pending storage read fails."""
        if request := self.storages.reads.release(i):
            self.storages.fail(request, kind)
        return self.tell()

    def storage(self, mode: int) -> None:
        """How the storage answers from now on."""
        self.storages.mode = mode

    def tell(self) -> list[list[Any]]:
        """What happened since the last time."""
        if not self.storages.asked and not self.answered and not self.evaluated:
            return []
        told = sorted(self.storages.asked + self.answered)
        self.storages.asked, self.answered = [], []
        if self.evaluated:
            told.append(["counts", self.evaluated])
            self.evaluated = 0
        return told

    # ---- Letting go

    def done(self, i: int) -> list[list[Any]]:
        """A reader lets go of what it was given."""
        number = self.number(i)
        for value in self.returned.pop(number) if number else ():
            value.release()
        return self.tell()

    def replay(self, i: int) -> list[Any]:
        """What a reader holds is put back."""
        values = self.held(i)
        for value in values:
            if value.reads is not None:
                value.reads.increment_expected_read_count()
        return lefts(values)

    def share(self, i: int) -> list[Any]:
        """A reader retains what it holds, and releases it."""
        values = self.held(i)
        for value in values:
            value.retain()
            value.release()
        return lefts(values)

    def number(self, i: int) -> int:
        """One of the readers who hold entries; 0 where there is none."""
        numbers = sorted(self.returned)
        return numbers[i % len(numbers)] if numbers else 0

    def held(self, i: int) -> Sequence[Any]:
        """What one of them holds."""
        number = self.number(i)
        return self.returned[number] if number else ()

    def timeouts(self) -> list[list[Any]]:
        """The timer of those who wait for permits."""
        self.reading.time_out_reads()
        return self.tell()

    def permits(self) -> int:
        """The bytes that are left of the limit."""
        return self.reading.get_remaining_permits()

    def hits(self) -> Any:
        """Entries and bytes of hits and of misses."""
        return listed(self.reading.get_read_counters())


def lefts(values: Sequence[Any]) -> list[int | None]:
    """The read counts of values; none where they are not counted."""
    return [None if value.reads is None else value.reads.get_expected_read_count() for value in values]
