"""Mutants of the entry caches themselves: what is inserted, read and removed."""

from __future__ import annotations

from typing import cast

from broker_tck.implementations.entry_cache.removal_queue import RemovalQueue, Slot, TopicCache, expects_reads
from broker_tck.implementations.interface import Entry, Position
from broker_tck.implementations.mutants.mutant import mutant


def of_topic(broken: type[TopicCache]) -> type[RemovalQueue]:
    """The subject whose caches are broken so."""
    return type(broken.__name__, (RemovalQueue,), {"cache_type": broken})


# ---- Inserting


@mutant("EC-06", shows="An error that is swallowed.", inside=of_topic)
class MismatchRefusedQuietly(TopicCache):
    """Refuses a value of another position as if it were cached."""

    def put(self, position: Position, value: Entry) -> bool:
        """Insert a value of this position."""
        return position == value.position and super().put(position, value)


# ---- Reading


@mutant("EC-09", shows="A comparison by identity, which only objects have.", source="PR 23903", inside=of_topic)
class SameInstanceOnly(TopicCache):
    """Finds an entry only by the very position that it was inserted with."""

    def get(self, position: Position) -> Entry | None:
        """The value of a position, retained."""
        slot = self.ledgers.get(position[0], {}).get(position[1])
        found = slot and slot.value and slot.value.position is position
        return super().get(position) if found else None


# ---- Removing


class Released:
    """Stands in for a value that was released already."""

    def retain(self) -> bool:
        """There is nothing to retain."""
        return False


@mutant(
    "EC-12",
    shows="A reference count that falls below that of its holders, as real reference counts do.",
    source="PR 10480",
    inside=of_topic,
)
class GivesBackTwice(TopicCache):
    """Gives its reference back by two ways out."""

    def unmap(self, slot: Slot) -> Entry:
        """Take a slot out of the maps, and release its value."""
        value = super().unmap(slot)
        if value.retain():
            for _ in range(3):
                value.release()
        return cast(Entry, Released())


@mutant(
    "EC-12", shows="A leak that no answer shows, only the references of values.", source="PR 23955", inside=of_topic
)
class RetainedForGood(TopicCache):
    """Retains a value to remove it, and does not let go of it."""

    def unmap(self, slot: Slot) -> Entry:
        """Take a slot out of the maps."""
        value = super().unmap(slot)
        value.retain()
        return value


@mutant("EC-26", shows="A statistic read from the queue, in which what has left stands until a pass meets it.")
class LeftIsTold(RemovalQueue):
    """Tells what has left its cache among what is not to be evicted, until a pass has met it."""

    def get_non_evictable_size(self) -> tuple[int, int]:
        """What stands in the queue, but for what no reads are expected of; entries and bytes."""
        kept = [slot for slot in self.queue if not slot.value or not slot.value.reads or expects_reads(slot)]
        return len(kept), sum(slot.size for slot in kept)


@mutant("EC-14", shows="A real bug of a loop that removes before it asks.", source="PR 18076", inside=of_topic)
class FirstGoesUnasked(TopicCache):
    """Removes the first entry before it asks whether that is one to go."""

    def invalidate_entries(self, last: Position) -> None:
        """Remove what is before a position."""
        first = min(((ledger, min(slots)) for ledger, slots in self.ledgers.items()), default=last)
        self._remove(self._within((-1, 0), max(last, (first[0], first[1] + 1)), False))


@mutant(
    "EC-16",
    shows="An answer from a size that was kept aside, and is stale after a removal.",
    source="PR 10225",
    inside=of_topic,
)
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
