"""Mutants that go wrong by how much there is: a full request, second lives, chunks that differ."""

from __future__ import annotations

from collections.abc import Sequence

from pyroaring import BitMap64

from broker_tck.implementations.interface import (
    Clocks,
    Consumer,
    MessageId,
    NackTimer,
    NegativeAcksConfig,
    Position,
    Timeout,
)
from broker_tck.implementations.mutants.mutant import mutant
from broker_tck.implementations.negative_acks.entry_buckets import NackBuckets
from broker_tck.implementations.negative_acks.parts import IDS_A_REQUEST
from broker_tck.implementations.negative_acks.sorted_buckets import SortedBucketsTracker

BITS_OF_A_WORD = 64
MOST_NOTED = 16
LOOKED_AT = 3

# ---- Sizes


@mutant("NA-33", shows="Exactly as many ids as a request has.", conditions=2, deep=True)
class RequestAfterAFullOne(SortedBucketsTracker):
    """After a request of exactly 1,000 ids that is the last one it sends another, of none."""

    def _fired(self, timeout: Timeout) -> None:
        if timeout is self._timeout:
            self._timeout = None
            now = self._wall()
            ids = self._take(now)
            self._arm_for_first(now)
            if ids:
                self._consumer.on_negative_acks_send(ids)
                for start in range(0, len(ids) + 1, IDS_A_REQUEST):
                    self._consumer.redeliver_unacknowledged_messages(ids[start : start + IDS_A_REQUEST])


@mutant("NA-06", shows="A table of fixed size.", conditions=2, deep=True)
class ChunksOfSixteenMessages(SortedBucketsTracker):
    """Of each bucket it notes the chunks of 16 messages at most; of the others the last chunk alone comes back."""

    def _note_chunks(self, bucket: int, position: Position, chunks: Sequence[int]) -> None:
        known = self._chunks.get(bucket, {})
        if position in known or len(known) < MOST_NOTED:
            super()._note_chunks(bucket, position, chunks)


class ThreeBlocks(NackBuckets):
    """Buckets of which three blocks are looked at."""

    def take(self, last: int) -> list[Position]:
        """Remove the buckets up to the last one, as far as they are in the first three blocks."""
        return super().take(min(last, self.starts[LOOKED_AT] - 1) if len(self.starts) > LOOKED_AT else last)


@mutant("NA-30", shows="More blocks than a loop looks at.", conditions=3, deep=True)
class TakesThreeBlocks(SortedBucketsTracker):
    """A firing takes what is due from three blocks of 2,048 entries at most; what is left is due to the next."""

    def __init__(self, config: NegativeAcksConfig, clocks: Clocks, timer: NackTimer, consumer: Consumer) -> None:
        super().__init__(config, clocks, timer, consumer)
        self._buckets = ThreeBlocks()


# ---- Second lives


class KeepsBitmaps(NackBuckets):
    """Buckets that use the bitmaps of emitted ones again, as they are."""

    def __init__(self) -> None:
        super().__init__()
        self._spare: dict[int, BitMap64] = {}

    def add_dense(self, ledgers: dict[int, BitMap64], ledger: int, entry: int) -> None:
        """Add an entry to a bucket of bitmaps, the spare one of its ledger if there is one."""
        if ledger not in ledgers and ledger in self._spare:
            ledgers[ledger] = self._spare.pop(ledger)
            self.count += len(ledgers[ledger])
        super().add_dense(ledgers, ledger, entry)

    def take(self, last: int) -> list[Position]:
        """Remove the buckets up to the last one, and keep their bitmaps."""
        for bucket in self.dense.irange(None, last):
            self._spare.update(self.dense[bucket])
        return super().take(last)


@mutant("NA-43", shows="A pooled bitmap that is not emptied.", conditions=3, deep=True)
class BitmapsAreUsedAgain(SortedBucketsTracker):
    """The bitmaps of a bucket of more than 24 entries are used again without being emptied."""

    def __init__(self, config: NegativeAcksConfig, clocks: Clocks, timer: NackTimer, consumer: Consumer) -> None:
        super().__init__(config, clocks, timer, consumer)
        self._buckets = KeepsBitmaps()


# ---- Items that differ


@mutant("NA-01", shows="A batch of more messages than a word has bits.", conditions=2, deep=True)
class IndexesBeyondAWord(SortedBucketsTracker):
    """Of a batch the messages from index 64 on, for which a word has no bits, are counted as an item of their own."""

    def __init__(self, config: NegativeAcksConfig, clocks: Clocks, timer: NackTimer, consumer: Consumer) -> None:
        super().__init__(config, clocks, timer, consumer)
        self._beyond: set[Position] = set()

    def add_message(self, message_id: MessageId, redelivery_count: int) -> None:
        """Track a message."""
        super().add_message(message_id, redelivery_count)
        if message_id.batch_index >= BITS_OF_A_WORD and not self._closed:
            self._beyond.add(message_id[:2])

    def _take(self, now: int) -> list[Position]:
        ids = super()._take(now)
        self._beyond.difference_update(ids)
        return ids

    def get_nacked_messages_count(self) -> int:
        """How many items are tracked."""
        return super().get_nacked_messages_count() + len(self._beyond)

    def close(self) -> None:
        """Disarm and forget, for good."""
        super().close()
        self._beyond.clear()
