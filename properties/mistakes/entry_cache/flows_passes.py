"""Known mistakes of passes, and of the manager that orders them, that take more than a clause."""

from __future__ import annotations

from broker_tck.model.entry_cache.broker import Broker, Keeps, Stops
from broker_tck.model.entry_cache.entries import Cached, Removed, add
from broker_tck.model.entry_cache.store import Store
from broker_tck.properties.mistakes.book import mistake

# ---- Passes


@mistake(
    "EC-02",
    "a blank is counted as removed",
    "A pass of your cache counts what has left already as removed; it must count nothing.",
)
class BlankCounted(Broker):
    """What has left its cache is removed once more."""

    def drop_blank(self, blank: Cached, removed: Removed) -> None:
        """Drop the blank, and count it with its bytes."""
        super().drop_blank(blank, removed)
        add(removed, [1, blank.size])


@mistake(
    "EC-02",
    "a blank is counted as an entry",
    "A pass of your cache counts what has left already as an entry; it must count nothing.",
)
class BlankCountedAsEntry(Broker):
    """What has left its cache is removed, without bytes."""

    def drop_blank(self, blank: Cached, removed: Removed) -> None:
        """Drop the blank, and count it."""
        super().drop_blank(blank, removed)
        add(removed, [1, 0])


@mistake(
    "EC-12",
    "a pass that meets a blank removes what has its position now",
    "A pass of your cache removes another entry in place of one that has left; it must look at the entry itself.",
)
class BlankTakenForEntry(Broker):
    """What is removed is found by its position."""

    def drop_blank(self, blank: Cached, removed: Removed) -> None:
        """Drop the blank, and remove the entry that is there instead."""
        super().drop_blank(blank, removed)
        if there := blank.cache.entries.get(blank.position):
            add(removed, self.store.remove(there))


@mistake("EC-03", "a pass ends at a blank", "A pass of your cache ends where an entry has left already; it must go on.")
class StopsAtBlank(Broker):
    """A blank is taken for the end of the queue."""

    def visit(self, head: Cached, removed: Removed, stops: Stops, keeps: Keeps, first_round: bool) -> bool:
        """Go on unless the head is blank."""
        blank = head.blank
        return super().visit(head, removed, stops, keeps, first_round) and not blank


@mistake(
    "EC-22",
    "a requeued entry goes to the head",
    "Your cache puts a requeued entry at the head of its queue; it goes to the tail.",
)
class RequeuesAtHead(Store):
    """What has another turn has it now."""

    def requeue(self, entry: Cached, now: int) -> None:
        """Give an entry the first place again."""
        super().requeue(entry, now)
        self.queue.appendleft(self.queue.pop())


@mistake(
    "EC-22",
    "a requeued entry keeps its time",
    "A requeued entry keeps its old time in your cache; it gets the time of now.",
)
class RequeuesOld(Store):
    """What has another turn is as old as before."""

    def requeue(self, entry: Cached, now: int) -> None:
        """Requeue an entry with its own time."""
        super().requeue(entry, entry.stamp)


@mistake(
    "EC-22",
    "a requeued entry stays accessed",
    "A requeued entry stays marked as accessed in your cache; the mark must go.",
)
class StaysAccessed(Store):
    """One read is worth any number of turns."""

    def requeue(self, entry: Cached, now: int) -> None:
        """Requeue an entry that stays marked."""
        accessed = entry.accessed
        super().requeue(entry, now)
        entry.accessed = accessed


@mistake("EC-22", "a requeueing is not counted", "Your cache does not count how often an entry was requeued.")
class RequeuesUncounted(Store):
    """Nobody counts the turns."""

    def requeue(self, entry: Cached, now: int) -> None:
        """Requeue an entry as if it were the first time."""
        super().requeue(entry, now)
        entry.requeued -= 1


@mistake(
    "EC-22",
    "a requeueing is counted for reads alone",
    "Your cache counts a requeueing for expected reads alone; one counter counts both kinds.",
)
class CountsTurnsForReads(Broker):
    """A turn that access brings is not counted."""

    def requeue(self, entry: Cached) -> None:
        """Requeue an entry, and take back what was counted for access."""
        extended = self.passes.extends_accessed and entry.accessed
        super().requeue(entry)
        entry.requeued -= extended


@mistake(
    "EC-34",
    "a pass ends where it requeues",
    "A size pass of your cache ends where it requeues an entry; it must go round.",
)
class EndsAtRequeueing(Broker):
    """What is protected protects those behind it."""

    def visit(self, head: Cached, removed: Removed, stops: Stops, keeps: Keeps, first_round: bool) -> bool:
        """Go on unless the head is in the queue again."""
        goes_on = super().visit(head, removed, stops, keeps, first_round)
        return goes_on and head not in self.store.queue


# ---- The manager


@mistake(
    "EC-19",
    "what is set has a pass made at once",
    "A new largest size has your cache make a pass at once; the next pass must go by it.",
)
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


@mistake(
    "EC-38",
    "a scheduled run makes the size pass first",
    "A scheduled run of your cache makes the size pass first; the time pass comes first.",
)
class RunsSizeFirst(Broker):
    """Bytes are asked for that time would have removed."""

    def run(self) -> None:
        """Make the size pass, then the time pass."""
        self.relieve()
        self.time_pass(self.now - self.config.ttl)


@mistake("EC-38", "a scheduled run makes the time pass alone")
class RunsTimeAlone(Broker):
    """Space waits for the next insertion."""

    def run(self) -> None:
        """Make the time pass."""
        self.time_pass(self.now - self.config.ttl)


@mistake("EC-38", "a scheduled run makes the size pass alone")
class RunsSizeAlone(Broker):
    """What is old stays."""

    def run(self) -> None:
        """Make the size pass."""
        self.relieve()
