"""Mutants of the entry caches over one queue of removal."""

from __future__ import annotations

from math import inf
from typing import cast

from broker_tck.implementations.entry_cache.removal_queue import Count, RemovalQueue, Slot, TopicCache, expects_reads
from broker_tck.implementations.interface import Clock, Entry, EntryCacheConfig, Execute, Position, ReadCount
from broker_tck.implementations.mutants.mutant import mutant


def of_topic(broken: type[TopicCache]) -> type[RemovalQueue]:
    """The subject whose caches are broken so."""
    return type(broken.__name__, (RemovalQueue,), {"cache_type": broken})


def of_ranges(broken: type[TopicCache]) -> type[RemovalQueue]:
    """The same, of what readers do not look at: they would show it as what they are answered with."""
    return type(broken.__name__, (of_topic(broken),), {"capabilities": {"reads": False, "steps": False}})


class InParts(RemovalQueue):
    """The base of mutants of a pass: the same pass, in parts that can be got wrong."""

    def _take_from_head(self, before: float, wanted: float) -> tuple[int, int]:
        removed = [0, 0]
        visits, most = 0, (len(self.queue) + 1) * (self._most_requeued + 3)
        while self.queue:
            visits += 1
            if visits > most:
                raise RuntimeError("the pass goes round and round the queue")
            slot = self.next_slot()
            if slot.value is None:
                self.queue.remove(slot)
                if self.meets_blank(slot, removed):
                    break
            elif self.stops(slot, before, wanted, removed):
                break
            elif self.keeps(slot, before, wanted):
                self.queue.remove(slot)
                self.requeue(slot)
                if self.ends_at_requeueing():
                    break
            else:
                self.queue.remove(slot)
                self.take_out(slot, removed)
        return removed[0], removed[1]

    def next_slot(self) -> Slot:
        """The slot to look at."""
        return self.queue[0]

    def meets_blank(self, slot: Slot, removed: list[int]) -> bool:
        """A slot that has left its cache is dropped; whether the pass ends there."""
        self._blanks -= 1
        return False

    def stops(self, slot: Slot, before: float, wanted: float, removed: list[int]) -> bool:
        """Whether the pass ends at a slot."""
        return slot.stamp >= before or removed[1] >= wanted

    def keeps(self, slot: Slot, before: float, wanted: float) -> bool:
        """Whether a slot is requeued."""
        return self.requeues(slot)

    def requeue(self, slot: Slot) -> None:
        """Give a slot another turn."""
        slot.requeued += 1
        slot.stamp = self.clock()
        slot.accessed = False
        self.queue.append(slot)

    def ends_at_requeueing(self) -> bool:
        """Whether the pass ends where it has requeued a slot."""
        return False

    def take_out(self, slot: Slot, removed: list[int]) -> None:
        """Remove a slot."""
        slot.cache.take_out(slot)
        self.removed(1, slot.size)
        removed[0] += 1
        removed[1] += slot.size


# ---- A pass


@mutant("EC-20")
class ExpiredAtTheThreshold(InParts):
    """Takes an entry that is exactly as old as the TTL for older."""

    def stops(self, slot: Slot, before: float, wanted: float, removed: list[int]) -> bool:
        """Whether the pass ends at a slot."""
        return slot.stamp > before or removed[1] >= wanted


@mutant("EC-21")
class OnlyTheFirstIsAsked(InParts):
    """Removes what is young as well, once the pass has removed something that was old."""

    def stops(self, slot: Slot, before: float, wanted: float, removed: list[int]) -> bool:
        """Whether the pass ends at a slot."""
        return (slot.stamp >= before and not removed[0]) or removed[1] >= wanted


@mutant("EC-03")
class StopsAtABlank(InParts):
    """Ends a pass where it meets an entry that has left its cache."""

    def meets_blank(self, slot: Slot, removed: list[int]) -> bool:
        """Drop a slot that has left its cache; whether the pass ends there."""
        super().meets_blank(slot, removed)
        return True


@mutant("EC-02")
class BlanksCounted(InParts):
    """Counts an entry that has left its cache as one that a pass has removed."""

    def meets_blank(self, slot: Slot, removed: list[int]) -> bool:
        """Drop a slot that has left its cache; whether the pass ends there."""
        removed[0] += 1
        return super().meets_blank(slot, removed)


class WithKeys(TopicCache):
    """Remembers where the slots stood that have left."""

    def __init__(self, broker: RemovalQueue) -> None:
        super().__init__(broker)
        self.left: dict[Slot, Position] = {}

    def unmap(self, slot: Slot) -> Entry:
        """Take a slot out, and remember its place."""
        value = super().unmap(slot)
        self.left[slot] = value.position
        return value


@mutant("EC-12", source="PR 22789", conditions=2)
class RemovedByKey(InParts):
    """Removes, for an entry that has left its cache, what is cached in its place by now."""

    cache_type = WithKeys

    def meets_blank(self, slot: Slot, removed: list[int]) -> bool:
        """Drop a slot that has left its cache; whether the pass ends there."""
        assert isinstance(slot.cache, WithKeys)
        ledger, entry = slot.cache.left[slot]
        if other := slot.cache.ledgers.get(ledger, {}).get(entry):
            self.take_out(other, removed)
            self._blanks += 1
        return super().meets_blank(slot, removed)


@mutant("EC-23")
class QueueOfEachTopic(InParts):
    """Takes the entries of one topic before those of the next."""

    def next_slot(self) -> Slot:
        """The slot to look at."""
        caches = [self._caches[name] for name in sorted(self._caches)]
        return next((slot for cache in caches for slot in self.queue if slot.cache is cache), self.queue[0])


@mutant("EC-23", source="PR 24363")
class LargestCacheFirst(InParts):
    """Takes from the topic that has the most bytes cached."""

    def next_slot(self) -> Slot:
        """The slot to look at."""
        return max(self.queue, key=lambda slot: slot.cache.size)


@mutant("EC-32")
class MoreThanAsked(InParts):
    """Has a size pass go on until more than what was asked for is gone."""

    def stops(self, slot: Slot, before: float, wanted: float, removed: list[int]) -> bool:
        """Whether the pass ends at a slot."""
        return slot.stamp >= before or removed[1] > wanted


@mutant("EC-32", conditions=2)
class RequeuesBeforeItStops(InParts):
    """Requeues what it meets next before it sees that enough is gone."""

    def stops(self, slot: Slot, before: float, wanted: float, removed: list[int]) -> bool:
        """Whether the pass ends at a slot."""
        return slot.stamp >= before or (removed[1] >= wanted and not self.requeues(slot))


@mutant("EC-32")
class NothingIsAPass(RemovalQueue):
    """Makes a size pass that is asked for nothing."""

    def evict_least_accessed_entries(self, size: int) -> tuple[int, int]:
        """Remove from the head until so many bytes are gone."""
        return self._take_from_head(inf, size)


@mutant("EC-33", conditions=2)
class AgeLiftsProtection(InParts):
    """Has a size pass remove what is older than the TTL, whatever reads are expected."""

    def keeps(self, slot: Slot, before: float, wanted: float) -> bool:
        """Whether a slot is requeued."""
        old = wanted < inf and slot.stamp < self.clock() - self._ttl
        return self.requeues(slot) and not old


@mutant("EC-34")
class EndsAtARequeue(InParts):
    """Ends a pass where it has requeued an entry."""

    def ends_at_requeueing(self) -> bool:
        """Whether the pass ends where it has requeued a slot."""
        return True


@mutant("EC-34", source="RangeCacheRemovalQueue, 5.0.1")
class OneRoundOfRequeueing(RemovalQueue):
    """Requeues for one round of the queue in each pass, and then removes whatever it meets."""

    def most_looks(self) -> float:
        """As many as there are slots when the pass begins."""
        return len(self.queue)


# ---- Requeueing


@mutant("EC-22")
class OldTimeKept(InParts):
    """Requeues an entry with the time that it had."""

    def requeue(self, slot: Slot) -> None:
        """Give a slot another turn."""
        stamp = slot.stamp
        super().requeue(slot)
        slot.stamp = stamp


@mutant("EC-22")
class StaysAccessed(InParts):
    """Requeues an entry as one that is still accessed."""

    def requeue(self, slot: Slot) -> None:
        """Give a slot another turn."""
        accessed = slot.accessed
        super().requeue(slot)
        slot.accessed = accessed


@mutant("EC-22")
class RequeuesUncounted(InParts):
    """Does not count how often an entry was requeued."""

    def requeue(self, slot: Slot) -> None:
        """Give a slot another turn."""
        super().requeue(slot)
        slot.requeued = 0


@mutant("EC-22", conditions=2)
class TwoCounters(InParts):
    """Does not count that an entry was requeued because it was accessed."""

    def requeue(self, slot: Slot) -> None:
        """Give a slot another turn."""
        slot.requeued -= slot.accessed and self._extends_accessed
        super().requeue(slot)


@mutant("EC-22", source="a draft of PIP-430")
class RequeuedInPlace(InParts):
    """Leaves a requeued entry at the head."""

    def requeue(self, slot: Slot) -> None:
        """Give a slot another turn."""
        super().requeue(slot)
        self.queue.rotate()


@mutant("EC-24")
class OneRequeueMore(RemovalQueue):
    """Has expected reads requeue an entry once more than is allowed."""

    def requeues(self, slot: Slot) -> bool:
        """Whether a slot at the head is given another turn."""
        accessed = slot.accessed and self._extends_accessed
        return accessed or (slot.requeued <= self._most_requeued and expects_reads(slot))


@mutant("EC-24", conditions=2)
class AccessLimited(RemovalQueue):
    """Counts requeueing by access against the limit, too."""

    def requeues(self, slot: Slot) -> bool:
        """Whether a slot at the head is given another turn."""
        wanted = (slot.accessed and self._extends_accessed) or expects_reads(slot)
        return wanted and slot.requeued < self._most_requeued


@mutant("EC-24")
class AccessAlwaysExtends(RemovalQueue):
    """Requeues what was accessed, even where that is switched off."""

    def requeues(self, slot: Slot) -> bool:
        """Whether a slot at the head is given another turn."""
        return slot.accessed or super().requeues(slot)


@mutant("EC-24", source="PR 26627")
class SettingsAtStartIgnored(RemovalQueue):
    """Begins with the default settings of requeueing, whatever is configured."""

    def __init__(self, config: EntryCacheConfig, clock: Clock, execute: Execute) -> None:
        super().__init__(config, clock, execute)
        self._most_requeued, self._extends_accessed = 5, True


@mutant("RC-02")
class ZeroIsExpected(RemovalQueue):
    """Takes a count of 0 for one of which reads are expected."""

    def requeues(self, slot: Slot) -> bool:
        """Whether a slot at the head is given another turn."""
        count = slot.value.reads if slot.value else None
        zero = count is not None and count.get_expected_read_count() == 0
        return super().requeues(slot) or (zero and slot.requeued < self._most_requeued)


@mutant("RC-02")
class NoCountIsExpected(RemovalQueue):
    """Expects reads of an entry that has no count."""

    def requeues(self, slot: Slot) -> bool:
        """Whether a slot at the head is given another turn."""
        uncounted = slot.value is not None and slot.value.reads is None
        return super().requeues(slot) or (uncounted and slot.requeued < self._most_requeued)


# ---- When passes are made


@mutant("EC-30", conditions=2, deep=True)
class TriggeredAt98Percent(RemovalQueue):
    """Orders a pass at the trigger, not only beyond it."""

    def _set_max_size(self, size: int | None) -> None:
        super()._set_max_size(size)
        self._trigger -= 1


@mutant("EC-30")
class TriggeredAtTheWatermark(RemovalQueue):
    """Orders a pass beyond the watermark."""

    def _set_max_size(self, size: int | None) -> None:
        super()._set_max_size(size)
        self._trigger = self._goal


@mutant("EC-30")
class OnePassAndNoMore(RemovalQueue):
    """Goes on to believe that a pass is ordered."""

    def _run_ordered(self) -> None:
        self._relieve()


@mutant("EC-31")
class DownToTheTrigger(RemovalQueue):
    """Asks for what is above the trigger."""

    def _set_max_size(self, size: int | None) -> None:
        super()._set_max_size(size)
        self._goal = self._trigger


@mutant("EC-38", conditions=2, deep=True)
class SizeFirst(RemovalQueue):
    """Makes the size pass of a scheduled run before that of time."""

    def do_cache_eviction(self) -> None:
        """The scheduled run."""
        self._relieve()
        self.evict_entries_before_timestamp(self.clock() - self._ttl)


@mutant("EC-40")
class TimePassesCounted(RemovalQueue):
    """Counts passes of time as well."""

    def evict_entries_before_timestamp(self, timestamp: int) -> tuple[int, int]:
        """Remove from the head what was put there before a time."""
        self._counters[2] += 1
        return super().evict_entries_before_timestamp(timestamp)


@mutant("EC-19")
class ResizedAtOnce(RemovalQueue):
    """Evicts where a setter is called."""

    def update_max_size(self, size: int) -> None:
        """Set the largest size, and go down to it."""
        super().update_max_size(size)
        self._relieve()

    def update_watermark(self, percent: int) -> None:
        """Set the watermark, and go down to it."""
        super().update_watermark(percent)
        self._relieve()


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
