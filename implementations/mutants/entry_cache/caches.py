"""Mutants of the entry caches themselves: what is inserted, read and removed."""

from __future__ import annotations

from typing import cast

from broker_tck.implementations.entry_cache.removal_queue import Count, RemovalQueue, Slot, TopicCache, expects_reads
from broker_tck.implementations.interface import Entry, Position, ReadCount
from broker_tck.implementations.mutants.mutant import mutant


def of_topic(broken: type[TopicCache]) -> type[RemovalQueue]:
    """The subject whose caches are broken so."""
    return type(broken.__name__, (RemovalQueue,), {"cache_type": broken})


def of_ranges(broken: type[TopicCache]) -> type[RemovalQueue]:
    """The same, of what readers do not look at: they would show it as what they are answered with."""
    return type(broken.__name__, (of_topic(broken),), {"capabilities": {"reads": False, "steps": False}})


# ---- Inserting


@mutant("EC-04")
class InsertedAtTheHead(RemovalQueue):
    """Puts a new entry at the head of the queue."""

    def added(self, slot: Slot) -> None:
        """A slot was made."""
        super().added(slot)
        self.queue.rotate()


@mutant("EC-05", inside=of_topic)
class AgainReplaces(TopicCache):
    """Replaces an entry by one that is inserted again."""

    def put(self, position: Position, value: Entry) -> bool:
        """Insert a value, whatever is there."""
        if position == value.position and (there := self.ledgers.get(position[0], {}).get(position[1])):
            self._remove([there])
        return super().put(position, value)


@mutant("EC-05")
class AgainAddsItsSize(RemovalQueue):
    """Adds the size of an entry that is refused."""

    def meet_again(self, there: Slot, value: Entry) -> None:
        """A value was refused."""
        there.cache.size += value.length
        self.size += value.length


@mutant("EC-05")
class AgainMovesToTheTail(RemovalQueue):
    """Gives an entry that is inserted again the last place."""

    def meet_again(self, there: Slot, value: Entry) -> None:
        """A value was refused."""
        self.queue.remove(there)
        self.queue.append(there)


@mutant("EC-05")
class KeepsTheRefused(RemovalQueue):
    """Keeps a reference of a value that it has refused."""

    def meet_again(self, there: Slot, value: Entry) -> None:
        """A value was refused."""
        value.retain()


@mutant("EC-06", inside=of_topic)
class MismatchRefusedQuietly(TopicCache):
    """Refuses a value of another position as if it were cached."""

    def put(self, position: Position, value: Entry) -> bool:
        """Insert a value of this position."""
        return position == value.position and super().put(position, value)


# ---- Reading


@mutant("EC-09", source="PR 23903", inside=of_topic)
class SameInstanceOnly(TopicCache):
    """Finds an entry only by the very position that it was inserted with."""

    def get(self, position: Position) -> Entry | None:
        """The value of a position, retained."""
        slot = self.ledgers.get(position[0], {}).get(position[1])
        found = slot and slot.value and slot.value.position is position
        return super().get(position) if found else None


@mutant("EC-10", inside=of_ranges)
class LastOfRangeMissing(TopicCache):
    """Leaves out the last position of a range."""

    def get_range(self, first: Position, last: Position) -> list[Entry]:
        """The values of a range, retained."""
        return [value for slot in self._within(first, last, False) if (value := self._read(slot))]


@mutant("EC-10", inside=of_topic, conditions=2, deep=True)
class LedgersOf32Bits(TopicCache):
    """Reads ranges by the low 32 bits of ledger ids."""

    def get_range(self, first: Position, last: Position) -> list[Entry]:
        """The values of a range, retained."""
        ends = low_bits(first), low_bits(last)
        all_of_them = (slot for slots in self.ledgers.values() for slot in slots.values())
        found = {low_bits(slot.value.position): slot for slot in all_of_them if slot.value}
        within = [found[position] for position in sorted(found) if ends[0] <= position <= ends[1]]
        return [value for slot in within if (value := self._read(slot))]


def low_bits(position: Position) -> Position:
    """A position with the low 32 bits of its ledger id."""
    return position[0] & 0xFFFFFFFF, position[1]


@mutant("EC-11", inside=of_topic)
class ReadMovesToTheTail(TopicCache):
    """Gives an entry that is read the last place in the queue."""

    def get(self, position: Position) -> Entry | None:
        """The value of a position, retained."""
        slot = self.ledgers.get(position[0], {}).get(position[1])
        if slot:
            self.broker.queue.remove(slot)
            self.broker.queue.append(slot)
        return super().get(position)


@mutant("EC-11", inside=of_topic)
class RangeUnmarked(TopicCache):
    """Does not mark what a range reads as accessed."""

    def get_range(self, first: Position, last: Position) -> list[Entry]:
        """The values of a range, retained."""
        values = (slot.value for slot in self._within(first, last, True))
        return [value for value in values if value and value.retain()]


@mutant("EC-11")
class RefusalMarks(RemovalQueue):
    """Marks an entry as accessed where it is looked at for an insertion."""

    def meet_again(self, there: Slot, value: Entry) -> None:
        """A value was refused."""
        there.accessed = True


# ---- Removing


class Released:
    """Stands in for a value that was released already."""

    def retain(self) -> bool:
        """There is nothing to retain."""
        return False


@mutant("EC-12", source="PR 10480", inside=of_topic)
class GivesBackTwice(TopicCache):
    """Gives its reference back by two ways out."""

    def unmap(self, slot: Slot) -> Entry:
        """Take a slot out of the maps, and release its value."""
        value = super().unmap(slot)
        if value.retain():
            for _ in range(3):
                value.release()
        return cast(Entry, Released())


@mutant("EC-12", source="PR 23955", inside=of_topic)
class RetainedForGood(TopicCache):
    """Retains a value to remove it, and does not let go of it."""

    def unmap(self, slot: Slot) -> Entry:
        """Take a slot out of the maps."""
        value = super().unmap(slot)
        value.retain()
        return value


@mutant("EC-12", source="RangeCache, test cacheSizeUpdate", inside=of_topic, conditions=2)
class SizeAsItIsNow(TopicCache):
    """Takes off the bytes that a value has when it is removed: none, where it was freed."""

    def unmap(self, slot: Slot) -> Entry:
        """Take a slot out of the maps."""
        assert slot.value
        if slot.value.retain():
            slot.value.release()
        else:
            slot.size = 0
        return super().unmap(slot)


@mutant("EC-12", source="RangeCache.removeEntry, 4.2.4", inside=of_topic, conditions=2)
class FreedUncounted(TopicCache):
    """Leaves the size of a value as it is that was released once too often, and does not count its removal."""

    def take_out(self, slot: Slot) -> bool:
        """Take a slot out of the maps, and let go of its value."""
        size, value = self.size, slot.value
        assert value
        if value.retain():
            value.release()
            return super().take_out(slot)
        self.unmap(slot)
        self.size = size
        return False


@mutant("EC-26")
class LeftIsTold(RemovalQueue):
    """Tells what has left its cache among what is not to be evicted, until a pass has met it."""

    def get_non_evictable_size(self) -> tuple[int, int]:
        """What stands in the queue, but for what no reads are expected of; entries and bytes."""
        kept = [slot for slot in self.queue if not slot.value or not slot.value.reads or expects_reads(slot)]
        return len(kept), sum(slot.size for slot in kept)


@mutant("EC-13", inside=of_topic, conditions=2)
class FreesWhatIsHeld(TopicCache):
    """Frees the values that it removes, whoever holds them."""

    def unmap(self, slot: Slot) -> Entry:
        """Take a slot out of the maps."""
        value = super().unmap(slot)
        while value.retain():
            value.release()
            value.release()
        return value


@mutant("EC-14", inside=of_topic)
class InvalidatesInclusively(TopicCache):
    """Removes the position that is invalidated up to, too."""

    def invalidate_entries(self, last: Position) -> None:
        """Remove what is before a position."""
        self._remove(self._within((-1, 0), last, True))


@mutant("EC-14", source="PR 18076", inside=of_topic)
class FirstGoesUnasked(TopicCache):
    """Removes the first entry before it asks whether that is one to go."""

    def invalidate_entries(self, last: Position) -> None:
        """Remove what is before a position."""
        first = min(((ledger, min(slots)) for ledger, slots in self.ledgers.items()), default=last)
        self._remove(self._within((-1, 0), max(last, (first[0], first[1] + 1)), False))


@mutant("EC-15", inside=of_topic, conditions=2)
class TakesTheNextLedgersFirst(TopicCache):
    """Takes the first entry of the next ledger along with a ledger."""

    def invalidate_all_entries(self, ledger: int) -> None:
        """Remove all of a ledger."""
        self._remove(self._within((ledger, 0), (ledger + 1, 0), True))


@mutant("EC-16", source="PR 10225", inside=of_topic)
class StaleSizeCleared(TopicCache):
    """Answers a clear with what was there after the last insertion, not with what it removes."""

    before = 0, 0

    def put(self, position: Position, value: Entry) -> bool:
        """Insert a value, and remember the sizes."""
        inserted = super().put(position, value)
        self.before = self.entries, self.size
        return inserted

    def clear(self) -> tuple[int, int]:
        """Remove everything."""
        super().clear()
        removed, self.before = self.before, (0, 0)
        return removed


@mutant("EC-18")
class ClosedKeepsItsEntries(RemovalQueue):
    """Closes a topic without clearing its cache."""

    def remove_entry_cache(self, topic: str) -> None:
        """A topic is closed."""
        del self._caches[topic]


# ---- Read counts


class Floored(Count):
    """A count that does not go below 0."""

    __slots__ = ()

    def mark_read(self) -> None:
        """A reader is done."""
        self.expected = max(self.expected - 1, 0)


@mutant("RC-08")
class FloorAtZero(RemovalQueue):
    """Keeps read counts from going below 0."""

    def new_read_count(self, expected: int) -> ReadCount | None:
        """A count, if reads are expected."""
        return Floored(expected) if expected > 0 else None


@mutant("RC-01")
class CountForNobody(RemovalQueue):
    """Makes a count even where no reads are expected."""

    def new_read_count(self, expected: int) -> ReadCount | None:
        """A count."""
        return Count(expected)
