"""Known wrong ways of the caches, their passes and their manager that take more than a clause."""

from __future__ import annotations

from broker_tck.model.entry_cache.broker import Broker, Keeps, Stops
from broker_tck.model.entry_cache.caches import Caches
from broker_tck.model.entry_cache.entries import Cache, Cached, Count, Position, Removed, add
from broker_tck.model.entry_cache.store import Store
from broker_tck.model.rules import wrong

# ---- Inserting


@wrong("EC-04", "a new entry goes to the head")
class EntersAtHead(Store):
    """What came last is looked at first."""

    def enqueue(self, entry: Cached) -> None:
        """Give an entry the first place in the queue."""
        self.queue.appendleft(entry)


@wrong("EC-04", "a new entry is as old as the clock")
class EntersOld(Store):
    """Nobody notes when an entry came."""

    def map(self, entry: Cached) -> None:
        """Put an entry into its cache with the time 0."""
        entry.stamp = 0
        super().map(entry)


@wrong("EC-05", "a new entry takes the old one's place")
class ReplacesThere(Store):
    """A put is a replacement."""

    def enter(self, entry: Cached) -> bool:
        """Remove what is there, and take the entry in."""
        if there := entry.cache.entries.get(entry.position):
            self.remove(there)
        self.accept(entry)
        return True


@wrong("EC-05", "a refused entry adds its size")
class AddsRefusedSize(Store):
    """Bytes are counted before it is known whether the entry is taken."""

    def take_over(self, there: Cached, refused: Cached) -> None:
        """Count the bytes of the refused entry."""
        self.grow(there, refused.size)


@wrong("EC-05", "a refused entry has the old one go to the tail")
class MovesThere(Store):
    """An insertion made again gives a fresh place in the queue."""

    def take_over(self, there: Cached, refused: Cached) -> None:
        """Give the entry that is there the last place."""
        self.queue.remove(there)
        self.queue.append(there)


@wrong("EC-05", "a refused value is not released")
class KeepsRefused(Store):
    """The cache goes on holding a value that it refused."""

    def enter(self, entry: Cached) -> bool:
        """Keep a reference, taken or not."""
        taken = super().enter(entry)
        self.references += not taken
        return taken


@wrong("EC-11", "a refused insertion marks the entry that is there")
class RefusalMarks(Caches):
    """A look at what is there is taken for a read."""

    def enter(self, cache: Cache, position: Position, size: int, count: Count | None) -> Cached | None:
        """Insert an entry, and mark the one that is there where it is refused."""
        there = cache.entries.get(position)
        inserted = super().enter(cache, position, size, count)
        if there and not inserted:
            there.accessed = True
        return inserted


# ---- Reading


@wrong("EC-11", "a single read marks nothing")
class SingleReadsUnmarked(Caches):
    """Only ranges mark what they read."""

    def touch(self, entry: Cached, alone: bool) -> None:
        """Mark an entry that is read in a range."""
        if not alone:
            super().touch(entry, alone)


@wrong("EC-11", "a range marks nothing")
class RangesUnmarked(Caches):
    """Only single reads mark what they read."""

    def touch(self, entry: Cached, alone: bool) -> None:
        """Mark an entry that is read alone."""
        if alone:
            super().touch(entry, alone)


@wrong("EC-11", "a single read renews the time")
class SingleReadsRenew(Caches):
    """What was read is as young as if it were new."""

    def touch(self, entry: Cached, alone: bool) -> None:
        """Mark an entry, and make it young if it is read alone."""
        super().touch(entry, alone)
        if alone:
            entry.stamp = self.now


@wrong("EC-11", "a single read moves the entry to the tail")
class SingleReadsMove(Caches):
    """What was read longest ago goes first."""

    def touch(self, entry: Cached, alone: bool) -> None:
        """Mark an entry, and give it the last place if it is read alone."""
        super().touch(entry, alone)
        if alone:
            self.store.queue.remove(entry)
            self.store.queue.append(entry)


# ---- Removing


@wrong("EC-12", "a pass that meets a blank removes what has its position now")
class BlankTakenForEntry(Broker):
    """What is removed is found by its position."""

    def drop_blank(self, blank: Cached, removed: Removed) -> None:
        """Drop the blank, and remove the entry that is there instead."""
        super().drop_blank(blank, removed)
        if there := blank.cache.entries.get(blank.position):
            add(removed, self.store.remove(there))


@wrong("EC-13", "a removal frees what readers hold")
class FreesHeld(Store):
    """The cache takes itself for the only holder."""

    def let_go(self, entry: Cached) -> None:
        """Give all references back."""
        self.release(entry, entry.count)


@wrong("EC-16", "a clear leaves the last entry")
class ClearLeavesLast(Caches):
    """One entry is not thought of."""

    def empty(self, cache: Cache) -> Removed:
        """Remove all but what came last."""
        return self.store.remove_all([*cache.entries.values()][:-1])


# ---- Passes


@wrong("EC-02", "a blank is counted as removed")
class BlankCounted(Broker):
    """What has left its cache is removed once more."""

    def drop_blank(self, blank: Cached, removed: Removed) -> None:
        """Drop the blank, and count it with its bytes."""
        super().drop_blank(blank, removed)
        add(removed, [1, blank.size])


@wrong("EC-02", "a blank is counted as an entry")
class BlankCountedAsEntry(Broker):
    """What has left its cache is removed, without bytes."""

    def drop_blank(self, blank: Cached, removed: Removed) -> None:
        """Drop the blank, and count it."""
        super().drop_blank(blank, removed)
        add(removed, [1, 0])


@wrong("EC-03", "a pass ends at a blank")
class StopsAtBlank(Broker):
    """A blank is taken for the end of the queue."""

    def visit(self, head: Cached, removed: Removed, stops: Stops, keeps: Keeps, first_round: bool) -> bool:
        """Go on unless the head is blank."""
        blank = head.blank
        return super().visit(head, removed, stops, keeps, first_round) and not blank


@wrong("EC-22", "a requeued entry goes to the head")
class RequeuesAtHead(Store):
    """What has another turn has it now."""

    def requeue(self, entry: Cached, now: int) -> None:
        """Give an entry the first place again."""
        super().requeue(entry, now)
        self.queue.appendleft(self.queue.pop())


@wrong("EC-22", "a requeued entry keeps its time")
class RequeuesOld(Store):
    """What has another turn is as old as before."""

    def requeue(self, entry: Cached, now: int) -> None:
        """Requeue an entry with its own time."""
        super().requeue(entry, entry.stamp)


@wrong("EC-22", "a requeued entry stays accessed")
class StaysAccessed(Store):
    """One read is worth any number of turns."""

    def requeue(self, entry: Cached, now: int) -> None:
        """Requeue an entry that stays marked."""
        accessed = entry.accessed
        super().requeue(entry, now)
        entry.accessed = accessed


@wrong("EC-22", "a requeueing is not counted")
class RequeuesUncounted(Store):
    """Nobody counts the turns."""

    def requeue(self, entry: Cached, now: int) -> None:
        """Requeue an entry as if it were the first time."""
        super().requeue(entry, now)
        entry.requeued -= 1


@wrong("EC-22", "a requeueing is counted for reads alone")
class CountsTurnsForReads(Broker):
    """A turn that access brings is not counted."""

    def requeue(self, entry: Cached) -> None:
        """Requeue an entry, and take back what was counted for access."""
        extended = self.passes.extends_accessed and entry.accessed
        super().requeue(entry)
        entry.requeued -= extended


@wrong("EC-34", "a pass ends where it requeues")
class EndsAtRequeueing(Broker):
    """What is protected protects those behind it."""

    def visit(self, head: Cached, removed: Removed, stops: Stops, keeps: Keeps, first_round: bool) -> bool:
        """Go on unless the head is in the queue again."""
        goes_on = super().visit(head, removed, stops, keeps, first_round)
        return goes_on and head not in self.store.queue


# ---- The manager


@wrong("EC-19", "what is set has a pass made at once")
class ActsAtOnce(Broker):
    """A setter removes what is too much."""

    def resize(self, size: int) -> None:
        """Set the largest size, and make a pass if one is needed."""
        super().resize(size)
        self.relieve()

    def set_watermark(self, percent: int) -> None:
        """Set the watermark, and make a pass if one is needed."""
        super().set_watermark(percent)
        self.relieve()


@wrong("EC-38", "a scheduled run makes the size pass first")
class RunsSizeFirst(Broker):
    """Bytes are asked for that time would have removed."""

    def run(self) -> None:
        """Make the size pass, then the time pass."""
        self.relieve()
        self.time_pass(self.now - self.config.ttl)


@wrong("EC-38", "a scheduled run makes the time pass alone")
class RunsTimeAlone(Broker):
    """Space waits for the next insertion."""

    def run(self) -> None:
        """Make the time pass."""
        self.time_pass(self.now - self.config.ttl)


@wrong("EC-38", "a scheduled run makes the size pass alone")
class RunsSizeAlone(Broker):
    """What is old stays."""

    def run(self) -> None:
        """Make the size pass."""
        self.relieve()
