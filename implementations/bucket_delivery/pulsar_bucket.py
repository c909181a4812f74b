"""Buckets of the broker's tracker: which positions are in one, and how a sealed one is stored, loaded and deleted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import dropwhile

from pyroaring import BitMap

from broker_tck.implementations.bucket_delivery.positions import read_entries
from broker_tck.implementations.bucket_delivery.pulsar_futures import Future, completed
from broker_tck.implementations.bucket_delivery.pulsar_persistence import Metadata, Persistence, Segments
from broker_tck.implementations.bucket_delivery.pulsar_ranges import Range, closed
from broker_tck.implementations.interface import BUCKET_PROPERTY_PREFIX, DelayedIndex

INVALID_ID = -1
NO_LEDGER = -1
LAST_ENTRY = 2**32 - 1


class Bits:
    """A set of positions, by ledger."""

    def __init__(self) -> None:
        self.by_ledger: dict[int, BitMap] = {}

    def __len__(self) -> int:
        return sum(map(len, self.by_ledger.values()))

    def holds(self, ledger: int, entry: int) -> bool:
        """Whether a position is in it."""
        bits = self.by_ledger.get(ledger)
        return bits is not None and entry in bits

    def add(self, ledger: int, entry: int) -> None:
        """Put a position in."""
        self.by_ledger.setdefault(ledger, BitMap()).add(entry)

    def discard(self, ledger: int, entry: int) -> bool:
        """Take a position out; answers whether it was in."""
        if not self.holds(ledger, entry):
            return False
        bits = self.by_ledger[ledger]
        bits.remove(entry)
        if not bits:
            del self.by_ledger[ledger]
        return True

    def add_all(self, maps: Mapping[int, BitMap]) -> None:
        """Put in what is in some bitmaps."""
        for ledger, bits in maps.items():
            self.by_ledger[ledger] = self.by_ledger.get(ledger, BitMap()) | bits

    def discard_all(self, maps: Mapping[int, BitMap]) -> None:
        """Take out what is in some bitmaps."""
        for ledger, bits in maps.items():
            left = self.by_ledger.pop(ledger, BitMap()) - bits
            if left:
                self.by_ledger[ledger] = left

    def clear(self) -> None:
        """Take all out."""
        self.by_ledger.clear()


class BitsByRange(Bits):
    """Bits that are asked for a range of one entry. One that ends at 2^32 is never found in the broker's bitmaps."""

    def holds(self, ledger: int, entry: int) -> bool:
        """Whether a position is found in it."""
        return entry != LAST_ENTRY and super().holds(ledger, entry)


class MutableBucket:
    """The growing bucket: a heap of indexes, and the range of ledgers that they are of."""

    def __init__(self) -> None:
        self.queue: list[DelayedIndex] = []
        self.bits = BitsByRange()
        self.reset_range()

    def reset_range(self) -> None:
        """No ledger any more."""
        self.first = self.last = NO_LEDGER

    def extend(self, ledger: int) -> None:
        """Its range goes up to a ledger."""
        if self.first == NO_LEDGER:
            self.first = ledger
        self.last = ledger

    def clear(self) -> None:
        """Let go of all."""
        self.queue.clear()
        self.bits.clear()
        self.reset_range()


class ImmutableBucket:
    """A sealed bucket. Segments are counted from 1; what was loaded of it is in the tracker's shared queue."""

    def __init__(self, persistence: Persistence, first: int, last: int) -> None:
        self._persistence = persistence
        self.first = first
        self.last = last
        self.key = f"{BUCKET_PROPERTY_PREFIX}_{first}_{last}"
        self.number: int | None = None
        """Of its snapshot."""
        self.bits = BitsByRange()
        self.messages = 0
        """How many it has, as it counts them itself."""
        self.loaded = 0
        """The segment that was loaded last."""
        self.segments = 0
        """How many segments it has."""
        self.first_times: Sequence[int] = ()
        self.recovered = False
        self.merging = False
        self.unstored: Segments = ()
        """Its segments but for the first one, until they are stored."""
        self.created: Future[int] = completed(0)
        """The number of its snapshot, or -1 where there is none and never will be."""

    @property
    def span(self) -> Range:
        """Its ledgers."""
        return closed(self.first, self.last)

    def forget_bit(self, ledger: int, entry: int) -> bool:
        """Take a position out, and count it down; answers whether it was in."""
        held = self.bits.discard(ledger, entry)
        if held and self.messages > 0:
            self.messages -= 1
        return held

    def known_number(self) -> int:
        """The number of its snapshot; where it is not known, what its property says. Raises where there is none."""
        if self.number is None:
            self.number = int(self._persistence.cursor.get_cursor_properties()[self.key])
        return self.number

    # ---- Stored

    def save(self, metadata: Metadata, segments: Segments) -> Future[int]:
        """Store it, then set its property, which may fail unnoticed; answers with the snapshot's number."""

        def stored(number: int) -> Future[int]:
            self.number = number
            return self._persistence.put_key(self.key, number).exceptionally(None).then(lambda _: number)

        return self._persistence.create(metadata, segments, self.key).then_compose(stored)

    # ---- Loaded

    def load_next(self) -> Future[Sequence[DelayedIndex] | None]:
        """Load the next segment; None: there is none."""
        return self._load(self.known_number(), self.loaded + 1)

    def _load(self, number: int, segment: int) -> Future[Sequence[DelayedIndex] | None]:
        if segment > self.segments:
            return completed(None)

        def loaded(segments: Segments) -> Sequence[DelayedIndex] | None:
            if not segments:
                return None
            self.loaded = segment
            return segments[0]

        return self._persistence.read_segments(number, segment, segment).then(loaded)

    def recover(self, cutoff: Callable[[], int]) -> Future[Sequence[DelayedIndex] | None]:
        """Load the first segment that is not past; None: there is none."""
        number = self.known_number()

        def known(metadata: Metadata) -> int:
            now = cutoff()
            left = [*dropwhile(lambda segment: segment.max_schedule_timestamp <= now, metadata)]
            self.segments = len(metadata)
            self.first_times = [segment.min_schedule_timestamp for segment in metadata]
            self.bits.clear()
            self.messages = 0
            for segment in left:
                maps = {ledger: read_entries(bits) for ledger, bits in segment.delayed_index_bit_map.items()}
                self.messages += sum(map(len, maps.values()))
                self.bits.add_all(maps)
            self.recovered = True
            return len(metadata) - len(left) + 1

        return (
            self._persistence.read_metadata(number)
            .then(known)
            .then_compose(lambda segment: self._load(number, segment))
        )

    def read_from(self, segment: int) -> Future[Segments]:
        """Read all segments from one on."""
        if segment > self.segments:
            return completed(())
        return self._persistence.read_segments(self.known_number(), segment, self.segments)

    # ---- Deleted

    def delete(self) -> Future[None]:
        """Delete its snapshot, then take out its property. Raises where its snapshot has no number."""
        number = self.known_number()
        return self._persistence.delete(number).then_compose(lambda _: self._persistence.remove_key(self.key))

    def once_created(self, delete: Callable[[ImmutableBucket], Future[None]]) -> Future[None]:
        """Delete it as soon as it is stored, or is known not to be."""
        return self.created.exceptionally(INVALID_ID).then_compose(lambda _: delete(self))
