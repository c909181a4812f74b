"""Mutants of passes over the queue of removal: what one takes, what it gives another turn, and when it is made."""

from __future__ import annotations

from math import inf

from broker_tck.implementations.entry_cache.removal_queue import RemovalQueue, Slot, TopicCache, expects_reads
from broker_tck.implementations.interface import Clock, Entry, EntryCacheConfig, Execute, Position
from broker_tck.implementations.mutants.mutant import mutant


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
