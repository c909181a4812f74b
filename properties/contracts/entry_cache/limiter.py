"""What threads may call of a limiter of reads alone: readers acquire permits and release them, its timer fires.

The storage answers at once and nothing is cached, so that permits are all that a read waits for.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import structs

from broker_tck.model.entry_cache.readers import SINGLE, Reader
from broker_tck.model.entry_cache.specification import EntryCaches
from broker_tck.properties.contracts.entry_cache.operations import Advance, Capabilities, Config
from broker_tck.properties.contracts.entry_cache.reading import (
    COMPLETES,
    Done,
    Fetch,
    FetchOne,
    Permits,
    Storage,
    Timeouts,
)
from broker_tck.properties.engine.answers import agree
from broker_tck.properties.engine.concurrent import Concurrent, Word
from broker_tck.properties.engine.operation import Operation

LIMIT = 52_000
"""The bytes that reads may have in flight, if a walk's configuration has no limit: permits for five entries."""
MOST_READ = 6
"""Maximum number of entries that are read at once."""
ASKING = (Fetch, FetchOne)


class Permitted(ABC):
    """A call that acquires permits, or releases them, at one moment."""

    def __init__(self, model: EntryCaches) -> None:
        self.model = model
        self.told: list[list[Any]] | None = None
        """What followed, if the moment has come."""

    def words(self) -> Sequence[Word]:
        """The moment, if it has not come."""
        return [("permits",)] if self.told is None else []

    def step(self, _: Word) -> None:
        """The moment has come."""
        self.change()
        self.told = self.model.reads.tell()

    @abstractmethod
    def change(self) -> None:
        """Acquire permits, or release them."""

    def ends(self, result: Any) -> bool:
        """Whether the moment has come, and nothing else has followed from it."""
        return self.told is not None and agree(self.told, result)

    def says(self) -> str:
        """What has followed from it."""
        return "an answer that follows from the permits that are left" if self.told is None else str(self.told)


class Asking(Permitted):
    """A read. Its reader has his number from its begin on."""

    def __init__(self, model: EntryCaches, call: Any, _: int) -> None:
        super().__init__(model)
        cache = model.caches[call.topic]
        self.reader = (
            Reader(cache, call.topic, SINGLE, call.ledger, call.entry, call.entry)
            if isinstance(call, FetchOne)
            else Reader(cache, call.topic, call.cursor, call.ledger, call.first, call.first + call.n - 1)
        )
        model.reads.arrive(self.reader)

    def change(self) -> None:
        """Acquire permits, or wait for them."""
        self.model.reads.admit(self.reader)


class LettingGo(Permitted):
    """A reader lets go of what he has read. Who that is may be known before the permits come back."""

    def __init__(self, model: EntryCaches, call: Any, _: int) -> None:
        super().__init__(model)
        self.i = call.i
        self.reader: Reader | None = None
        self.chosen = False

    def words(self) -> Sequence[Word]:
        """He is known, then the permits come back."""
        return super().words() if self.chosen else [("chooses",)]

    def step(self, word: Word) -> None:
        """He is known, or the permits come back."""
        if self.chosen:
            super().step(word)
            return
        self.chosen, self.reader = True, self.model.reader(self.i)
        if self.reader:
            del self.model.returned[self.reader.number]

    def change(self) -> None:
        """Release what he has read."""
        for entry in self.reader.listed() if self.reader else []:
            self.model.reads.free(entry)


def rest(model: EntryCaches, operations: Sequence[Operation]) -> Iterator[Operation]:
    """Who waits for too long is refused, and all others let go: then all permits are back."""
    yield Permits()
    yield Advance(model.config.acquire_timeout)
    yield Timeouts()
    yield from (Done(0) for operation in operations if isinstance(operation, ASKING))
    yield Permits()


def fits(operation: Operation, _: EntryCaches, __: Capabilities) -> bool:
    """Whether a read is short, and not repeated by its reader."""
    return not isinstance(operation, Fetch) or (operation.n <= MOST_READ and not operation.again)


def limited(config: Config) -> Config:
    """A configuration with a limit."""
    return structs.replace(config, max_reads_in_flight=config.max_reads_in_flight or LIMIT)


LIMITER = Concurrent(
    opening=(Storage(COMPLETES),),
    fills=ASKING,
    before=(*ASKING, Done, Advance),
    calls=(*ASKING, *ASKING, Done, Done, Timeouts, Permits),
    of_one=(Timeouts,),
    rest=rest,
    steps={Fetch: Asking, FetchOne: Asking, Done: LettingGo},
    fits=fits,
    config=limited,
)
