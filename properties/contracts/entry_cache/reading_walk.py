"""What readers do next in a walk: they read where entries are, where reads run already, and a little beside both."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from broker_tck.model.entry_cache.entries import Position
from broker_tck.model.entry_cache.readers import Request
from broker_tck.model.entry_cache.specification import EntryCaches
from broker_tck.properties.contracts.entry_cache.operations import Advance
from broker_tck.properties.contracts.entry_cache.reading import (
    COMPLETES,
    WAITS,
    Append,
    Complete,
    Crowd,
    Cursor,
    Done,
    Fail,
    Fetch,
    FetchMany,
    FetchOne,
    Hits,
    Permits,
    ReadingOperation,
    Replay,
    Share,
    Short,
    Storage,
    Timeouts,
    Uncursor,
    Write,
)
from broker_tck.properties.engine.choices import Choices
from broker_tck.properties.engine.contract import Maker
from broker_tck.properties.engine.sizes import size

GRACES = (0, 1, 2, 10, 50, 2_000)
LIMITS = (0, 0, 0, 0, 100, 250, 400, 740, 740, 11_000, 25_000, 52_000)
TIMEOUTS = (0, 1, 10, 50, 51, 1_000)
QUEUES = (1, 2, 3, 10_000)
MOST_AT_ONCE = 6
LONG = 150
"""One read of a cursor of so many is of as many entries as there can be."""
MOST_READ, MOST_COME = 513, 257
"""How many entries are read at once at most, and how many cursors or readers come."""
RANKS = (127, 255)
"""RC-04: a rank counts so many cursors."""
WIDE = 64
"""Entries that are further apart than so many are read around each of them."""
LAST_READ = 2**40 - 1_000
"""Entries are read up to here."""
LARGE = 100
"""While a crowd of more than so many is there, every second cursor comes to where it is, and has a high rank."""
MANY_RUNNING = 3
"""Where more reads than these run, now and then one is of all that they read."""
MOST_WAITING = 20
"""While more than so many reads wait for permits, and where many come at once, the storage does not fail by itself:
each that fails has the next one served, within the call in which it fails."""


class Readers:
    """Topics, ledgers and cursors of one walk; it makes operations of readers, or none at all."""

    def __init__(
        self, model: EntryCaches, choices: Choices, topics: Sequence[int], pool: Sequence[Position], reading: bool
    ) -> None:
        self.model = model
        self.choices = choices
        self.below = choices.below
        self.reading = reading
        self.topics = topics
        self.ledgers = [ledger for ledger, _ in pool]
        self.low = min(entry for _, entry in pool)
        self.width = max(entry for _, entry in pool) - self.low + 4
        self.apart = [entry for _, entry in pool if entry < LAST_READ] if self.width > WIDE else []
        self.names = 1 + choices.below(4)
        self.crowded: Crowd | None = None
        """The last large crowd."""

    def makers(self) -> list[Maker]:
        """The kinds of operations."""
        below, timeouts, permits, hits = self.below, Timeouts(), Permits(), Hits()
        limited = self.model.config.max_reads_in_flight > 0
        return [
            Maker("append", self.weights(3, 8, 15), lambda: Append(*self.place())),
            Maker("written", self.weights(0, 0, 1), lambda: Write(*self.place(), 1 + below(9))),
            Maker("cursor", self.weights(4, 8, 12), self.cursor),
            Maker("uncursor", self.weights(0, 1, 3, 6), lambda: Uncursor(self.topic(), below(self.names))),
            Maker("crowd", self.weights(*(0,) * 4, 2), self.crowd),
            Maker("fetches", self.weights(*(0,) * 7, 1), self.fetch_many),
            Maker("fetch", self.weights(10, 20, 30), self.fetch),
            Maker("single", self.weights(2, 5, 10), lambda: FetchOne(*self.place(), self.entry())),
            Maker("complete", self.weights(8, 15, 25), lambda: Complete(below(4))),
            Maker("short", self.weights(0, 1, 3, 6), lambda: Short(below(4), below(MOST_AT_ONCE))),
            Maker("fail", self.weights(0, 1, 3, 6), lambda: Fail(below(4), below(3))),
            Maker("storage", self.weights(0, 0, 1, 2), self.storage),
            Maker("done", self.weights(5, 10, 20), lambda: Done(below(4))),
            Maker("replay", self.weights(1, 3, 6), lambda: Replay(below(4))),
            Maker("share", self.weights(0, 0, 2), lambda: Share(below(4))),
            Maker("timeouts", self.weights(1, 4) if limited else (0,), lambda: timeouts),
            Maker("permits", self.weights(2, 4) if limited else (0,), lambda: permits),
            Maker("hits", self.weights(1, 3), lambda: hits),
        ]

    def weights(self, *weights: int) -> tuple[int, ...]:
        """These, if there are readers in this walk."""
        return weights if self.reading else (0,)

    def topic(self) -> int:
        """A topic."""
        return self.topics[self.below(len(self.topics))]

    def place(self) -> tuple[int, int]:
        """A topic and a ledger."""
        return self.topic(), self.ledgers[self.below(len(self.ledgers))]

    def entry(self) -> int:
        """An entry of a ledger."""
        if self.width > WIDE:
            return self.apart[self.below(len(self.apart))] + self.below(4) if self.apart else self.below(4)
        return self.low + self.below(self.width)

    def cursor(self) -> Cursor:
        """A cursor moves."""
        if self.crowded and self.below(2):
            return self.behind(self.crowded)
        topic, ledger = self.place()
        return Cursor(topic, self.below(self.names), ledger, self.entry(), self.below(4) and 1)

    def behind(self, crowd: Crowd) -> Cursor:
        """A cursor comes to where all of a crowd are before it."""
        return Cursor(crowd.topic, self.below(self.names), crowd.ledger, max(crowd.entry, self.entry()), 1)

    def fetch(self) -> Fetch:
        """A read, now and then of a part of what runs, and a little more."""
        topic, ledger = self.place()
        first, n = self.entry(), 1 + self.below(MOST_AT_ONCE)
        running = self.model.pending_reads.running
        if len(running) > MANY_RUNNING and self.below(4) == 0:
            return self.fetch_over(running)
        if running and self.below(2):
            request = running[self.below(len(running))]
            topic, ledger = request.creator.topic, request.ledger
            first = max(request.first + self.below(4) - 2, 0)
            n = max(request.last - first + self.below(4) - 1, 1)
        n = max(size(self.choices, MOST_READ, (64,)), 1) if self.below(LONG) == 0 else min(n, 12)
        return Fetch(topic, self.below(self.names), ledger, first, n, (self.below(10) == 0 and 1) or 0)

    def fetch_over(self, running: Sequence[Request]) -> Fetch:
        """A read of all that runs in a ledger: it joins many."""
        one = running[self.below(len(running))]
        topic, ledger = one.creator.topic, one.ledger
        beside = [r for r in running if r.creator.topic == topic and r.ledger == ledger]
        first, last = min(r.first for r in beside), max(r.last for r in beside)
        return Fetch(topic, self.below(self.names), ledger, first, min(last - first + 1 + self.below(2), MOST_READ), 0)

    def crowd(self) -> Crowd:
        """A crowd of cursors comes, moves or leaves."""
        n = size(self.choices, MOST_COME, RANKS)
        topic, ledger = self.place()
        first = n > LARGE and self.below(2)
        crowd = Crowd(topic, ledger, 0 if first else self.entry(), n, self.below(4) and 1)
        if n > LARGE:
            self.crowded = crowd
        return crowd

    def fetch_many(self) -> FetchMany:
        """Many readers come at once, for the same, or each for the next."""
        n, most = 1 + self.below(MOST_AT_ONCE), MOST_COME if self.below(4) == 0 else MOST_AT_ONCE
        times = 2 + size(self.choices, most)
        times = times if may_come(self.model) else 1
        return FetchMany(*self.whose(), self.entry(), n, times, self.below(3) * n)

    def whose(self) -> tuple[int, int, int]:
        """A topic, a cursor and a ledger."""
        topic, ledger = self.place()
        return topic, self.below(self.names), ledger

    def storage(self) -> Storage:
        """How the storage answers."""
        mode = max(self.below(6) - 2, WAITS)
        return Storage(mode if may_answer(self.model, mode) else WAITS)


def may_come(model: EntryCaches) -> bool:
    """Whether many readers may come at once."""
    return model.pending_reads.mode in (WAITS, COMPLETES)


def may_answer(model: EntryCaches, mode: int) -> bool:
    """Whether the storage may answer so by itself."""
    return mode in (WAITS, COMPLETES) or len(model.read_limit.waiting) <= MOST_WAITING


def drain_readers(model: EntryCaches) -> Iterator[ReadingOperation | Advance]:
    """How readers end: the storage answers all, everybody lets go, and who waited for too long is refused."""
    while model.pending_reads.waiting or model.returned or model.read_limit.waiting:
        if model.pending_reads.waiting or model.returned:
            yield Complete(0) if model.pending_reads.waiting else Done(0)
        else:
            yield Advance(max(model.config.acquire_timeout, 1))
            yield Timeouts()
    if model.config.max_reads_in_flight:
        yield Permits()
    yield Hits()
