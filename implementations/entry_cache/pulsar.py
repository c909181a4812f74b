"""Entry caches that do as the broker's classes do (profiles ``pip-430``, ``pip-430-2026`` and ``pip-430-5.0``)."""

from __future__ import annotations

from typing import ClassVar

from broker_tck.implementations.entry_cache.removal_queue import Count, FromALedgerOn, RemovalQueue, Slot, TopicCache
from broker_tck.implementations.interface import Entry, ReadCount


class KeepsSizes(FromALedgerOn):
    """Never takes the size off of a value that was released once too often."""

    __slots__ = ()

    def take_out(self, slot: Slot) -> bool:
        """Take a slot out of the maps. Where its value was freed it does not count, and its queue does not know."""
        value = slot.value
        assert value is not None
        if value.retain():
            value.release()
            return super().take_out(slot)
        ledger, entry = value.position
        slots = self.ledgers.get(ledger, {})
        if slots.get(entry) is slot:
            del slots[entry]
            self.entries -= 1
            if not slots:
                del self.ledgers[ledger]
        return False


class PulsarQueue(RemovalQueue):
    """The queue as released in 4.2."""

    profiles = ("pip-430",)
    cache_type: ClassVar[type[TopicCache]] = KeepsSizes


class CountTakingQueue(PulsarQueue):
    """The same, but an insertion that is refused hands its read count to the value that is there."""

    profiles = ("pip-430-2026",)

    def meet_again(self, there: Slot, value: Entry) -> None:
        """The value that is there takes the count over, unless it was freed."""
        if there.value is not None and there.value.retain():
            there.value.reads = value.reads
            there.value.release()


class FlooredCount(Count):
    """A count that does not go below 0."""

    __slots__ = ()

    def mark_read(self) -> None:
        """A reader is done."""
        self.expected = max(self.expected - 1, 0)


class PulsarQueue50(CountTakingQueue):
    """The queue as released in 5.0: counts begin at 0, and end there; a pass requeues for one round."""

    profiles = ("pip-430-5.0",)

    def new_read_count(self, expected: int) -> ReadCount | None:
        """A count, unless less than no reads are expected."""
        return FlooredCount(expected) if expected >= 0 else None

    def most_looks(self) -> float:
        """As many as there are slots when the pass begins."""
        return len(self.queue)
