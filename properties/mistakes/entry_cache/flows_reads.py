"""Known mistakes of topics, cursors, reads and the limit of reads in flight that take more than a clause."""

from __future__ import annotations

from typing import Any

from broker_tck.model.entry_cache.cursors import Cursors
from broker_tck.model.entry_cache.entries import Cached, Count
from broker_tck.model.entry_cache.read_limit import ReadLimit
from broker_tck.model.entry_cache.readers import Reader, Request, Returned
from broker_tck.model.entry_cache.reading import Reading
from broker_tck.model.entry_cache.topics import Topics
from broker_tck.properties.mistakes.book import mistake

# ---- Cursors


@mistake("EC-58", "a removal does not begin the grace time")
class GraceFromStartAlone(Cursors):
    """The grace time is that after the start."""

    def remove(self, name: str) -> bool:
        """Remove a cursor, and nothing else."""
        since = self.active.grace.since
        removed = super().remove(name)
        self.active.grace.since = since
        return removed


@mistake(
    "RC-11",
    "a cursor that leaves takes its read off every count",
    "A cursor that leaves lowers the counts of what your cache holds; they must stay.",
)
class LeavingLowersCounts(Topics):
    """Nobody will make that read."""

    def uncursor(self, topic: int, name: int) -> bool:
        """Lower the counts of what is cached, and remove the cursor."""
        if self.cursors[topic].has(str(name)):
            correct(self, topic, -1)
        return super().uncursor(topic, name)


@mistake("RC-11", "a cursor that comes adds its read to every count")
class ComingRaisesCounts(Topics):
    """One more is going to read what is cached."""

    def cursor(self, topic: int, name: int, ledger: int, entry: int, caching: int) -> None:
        """Raise the counts of what is cached for a new cursor, and place it."""
        if not self.cursors[topic].has(str(name)):
            correct(self, topic, 1)
        super().cursor(topic, name, ledger, entry, caching)


def correct(model: Topics, topic: int, by: int) -> None:
    """Change the counts of what is cached of a topic."""
    for entry in model.caches[topic].entries.values():
        if entry.counter is not None:
            entry.counter.left += by


# ---- Topics that are opened again


@mistake("EC-18", "a topic that is opened again has its old cache")
class ReopensOldCache(Topics):
    """What is inserted late is found."""

    def reopen(self, cache: int) -> None:
        """Close the topic, and open it with the cache that it had."""
        left = self.caches[cache]
        super().reopen(cache)
        self.caches[cache] = left


# ---- What the storage answered


@mistake(
    "RC-04",
    "the rank is asked for with the request",
    "Your cache asks for a reader's rank with the request; it must when the storage answers.",
)
class RankedWhenAsked(Reading):
    """A cursor that moves meanwhile counts as it stood."""

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.starts: dict[Request, int] = {}

    def ask(self, request: Request) -> None:
        """Note the start value, and ask the storage."""
        self.starts[request] = super().started(request)
        super().ask(request)

    def started(self, request: Request) -> int:
        """What was noted."""
        return self.starts[request]


@mistake(
    "EC-47",
    "it is asked once for each entry",
    "Your cache asks for each entry of an answer whether it is to be cached; once is right.",
)
class AsksForEachEntry(Reading):
    """The answer is a question for each of its entries."""

    def started(self, request: Request) -> int:
        """Ask as often as there are entries."""
        before = self.evaluated
        start = super().started(request)
        self.evaluated = before + (self.evaluated - before) * len(request.entries)
        return start


@mistake(
    "EC-47",
    "the entries of an answer have one count",
    "All entries of an answer share one read count in your cache; each has its own.",
)
class OneCountForAll(Reading):
    """A read of one entry is a read of all."""

    def counts_from(self, request: Request, start: int) -> dict[int, Count | None]:
        """One count for every entry."""
        return dict.fromkeys(request.entries, self.read_counts.new(start))


@mistake(
    "EC-48",
    "what is returned has a count of its own",
    "What your cache returns has a read count of its own; it must share that of the cached entry.",
)
class CountsApart(Reading):
    """A reader's release lowers nothing in the cache, where :meth:`returned_count` does not say so."""

    def returned_count(self, count: Count | None, cached: bool) -> Count | None:
        """The count that an entry has that is returned, out of the cache or not."""
        return None if count is None else Count(count.left)

    def take_cached(self, reader: Reader, cached: Cached) -> None:
        """A reader has an entry out of the cache, with another count."""
        self.hand_over(reader, cached.position[1], self.returned_count(cached.counter, True))

    def deliver(self, request: Request, counts: dict[int, Count | None]) -> None:
        """Give every listener its part, with other counts."""
        super().deliver(request, {entry: self.returned_count(count, False) for entry, count in counts.items()})


@mistake(
    "EC-48",
    "only what was cached shares its count",
    "What the storage answered has a read count of its own; it must share that of the cached entry.",
)
class StorageCountsApart(CountsApart):
    """What the storage answered is counted apart."""

    def returned_count(self, count: Count | None, cached: bool) -> Count | None:
        """Its own where it was cached."""
        return count if cached else super().returned_count(count, cached)


@mistake("EC-48", "what is returned is not counted")
class ReturnedUncounted(CountsApart):
    """The count is the cache's alone."""

    def returned_count(self, count: Count | None, cached: bool) -> Count | None:
        """None."""
        return None


@mistake(
    "EC-51",
    "of several listeners, the originals count as well",
    "Your cache counts an entry as read for its own sake where several readers got copies.",
)
class OriginalsCount(Reading):
    """What is released beside its copies is one more read."""

    def deliver(self, request: Request, counts: dict[int, Count | None]) -> None:
        """Give every listener its part, and count the originals."""
        shared = len(request.listeners) > 1
        super().deliver(request, counts)
        for count in counts.values():
            if count is not None and shared:
                self.read_counts.read(count)


@mistake(
    "EC-53",
    "a read can be joined while its listeners are told",
    "A read can still be joined in your cache while its listeners are told; it can no longer.",
)
class JoinedWhileTold(Reading):
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
        super().settle(request)


@mistake(
    "EC-45",
    "all is read again, and what was obtained is kept",
    "Your cache reads all of a range again and keeps what it had; it must ask for what is missing alone.",
)
class KeepsObtained(Reading):
    """What was obtained before is never freed."""

    def read_again(self, reader: Reader) -> None:
        """Forget what was obtained, and read all."""
        reader.take_all()
        super().read_again(reader)


@mistake(
    "RC-07",
    "what is discarded does not count",
    "An entry that was read and discarded does not count as read in your cache; it must.",
)
class DiscardedUncounted(Reading):
    """Only those who are answered make reads."""

    def discard(self, entries: list[Returned]) -> None:
        """Free entries whose counts stay as they are."""
        for entry in entries:
            entry.count = None
            self.free_returned(entry)


# ---- The limit of reads in flight


@mistake(
    "EC-55",
    "a read that fits waits for those that came before",
    "A read that would fit waits in your cache behind those that came before.",
)
class WaitsBehind(ReadLimit):
    """First come, first served."""

    def take(self, reader: Reader) -> bool:
        """Take permits where nobody waits."""
        return not self.waiting and super().take(reader)


@mistake("EC-55", "who waited takes nothing", "A read that has waited takes no permits in your cache.")
class WaitingTakeNothing(ReadLimit):
    """Permits are counted for those alone that need not wait."""

    def serve(self, now: int) -> Reader | None:
        """Serve the head, and leave its permits there."""
        remaining = self.remaining
        head = super().serve(now)
        self.remaining = remaining
        return head


@mistake(
    "EC-55",
    "a head that does not fit lets the next one go first",
    "Your cache serves a later read before the head of the queue, which does not fit yet.",
)
class PassesOver(ReadLimit):
    """What is large waits until nothing small comes."""

    def serve(self, now: int) -> Reader | None:
        """Serve the head, or the one behind it."""
        head = super().serve(now)
        if head is None and len(self.waiting) > 1 and self.fits(self.waiting[1].permits):
            self.waiting.rotate(-1)
            return super().serve(now)
        return head
