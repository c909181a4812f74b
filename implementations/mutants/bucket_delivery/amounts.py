"""Mutants that go wrong by how much there is: what differs, what is used up, lives."""

from __future__ import annotations

from collections.abc import Callable

from pyroaring import BitMap

from broker_tck.implementations.bucket_delivery.keys import KeyUpdates
from broker_tck.implementations.bucket_delivery.pulsar_5_0 import PulsarBuckets50
from broker_tck.implementations.bucket_delivery.pulsar_cutting import Cutter, Pieces
from broker_tck.implementations.bucket_delivery.tracker import BucketTracker
from broker_tck.implementations.interface import (
    BucketDeliveryConfig,
    BucketSnapshotStorage,
    Clock,
    CursorProperties,
    DelayedIndex,
    Timer,
)
from broker_tck.implementations.mutants.bucket_delivery.parts import around_cutter
from broker_tck.implementations.mutants.mutant import mutant

# ---- Ledgers that differ


@mutant("BD-13", conditions=2, inside=around_cutter)
class PositionsOfTheFirstLedger(Cutter):
    """A snapshot says of a segment which positions it has of its first ledger, and of no others."""

    def _close(self, segment: list[DelayedIndex], pieces: Pieces) -> None:
        super()._close(segment, pieces)
        ledger, bits = next(iter(pieces.metadata[-1].delayed_index_bit_map.items()))
        pieces.metadata[-1] = pieces.metadata[-1]._replace(delayed_index_bit_map={ledger: bits})


@mutant("BD-13", conditions=3, deep=True, inside=around_cutter)
class PositionsInAPage(Cutter):
    """A snapshot says of a segment which positions it has of a ledger: of more than 1,024 the first 1,024."""

    def _close(self, segment: list[DelayedIndex], pieces: Pieces) -> None:
        super()._close(segment, pieces)
        maps = pieces.metadata[-1].delayed_index_bit_map
        paged = {ledger: BitMap(BitMap.deserialize(bits)[:1_024]).serialize() for ledger, bits in maps.items()}
        pieces.metadata[-1] = pieces.metadata[-1]._replace(delayed_index_bit_map=paged)


# ---- What is handed out


@mutant("BD-19", conditions=4, deep=True)
class SealForgetsWhatWasRefused(BucketTracker):
    """What was refused while an index of it is in memory is known as such until the next seal, and no longer."""

    def add_message(self, ledger_id: int, entry_id: int, deliver_at: int) -> bool:
        """Track a message."""
        before = len([*self._memory.placed])
        taken = super().add_message(ledger_id, entry_id, deliver_at)
        if len([*self._memory.placed]) > before:
            self._held.suspects.clear()
        return taken


# ---- Lives


@mutant("BD-31", conditions=2)
class RangeOutlivesTheClear(PulsarBuckets50):
    """A clear leaves the range of the growing bucket: a lower ledger that comes then does not join it."""

    def _empty(self) -> None:
        first, last = self._growing.first, self._growing.last
        super()._empty()
        self._growing.first, self._growing.last = first, last


class RemovesByKey(KeyUpdates):
    """Removes a key wherever it leads."""

    def remove(self, key: str, number: int, done: Callable[[bool], None]) -> None:
        """Remove a key; tells whether that went well."""
        leads_to = self._calls.property_of(key)
        super().remove(key, number if leads_to is None else int(leads_to), done)


@mutant("BD-17", source="apache/pulsar PR 26401", conditions=4, deep=True)
class RemovesTheKeyOfItsHeir(BucketTracker):
    """The deletion of a bucket removes its key, though that leads to a later bucket of the same range by then."""

    def __init__(
        self,
        config: BucketDeliveryConfig,
        clock: Clock,
        timer: Timer,
        storage: BucketSnapshotStorage,
        cursor: CursorProperties,
    ) -> None:
        super().__init__(config, clock, timer, storage, cursor)
        vars(self._snapshots)["_keys"] = RemovesByKey(self._calls)
