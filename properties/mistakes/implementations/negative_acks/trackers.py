"""Mutants of the tracker of negative acks: what a client was seen to do, and what a model cannot have."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import ClassVar, cast

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
from broker_tck.implementations.negative_acks.entry_buckets import NackBuckets
from broker_tck.implementations.negative_acks.sorted_buckets import SortedBucketsTracker
from broker_tck.properties.mistakes.implementations.locks import ErrorCheckingLock, ReentrantLock
from broker_tck.properties.mistakes.implementations.mutant import mutant

MOST_NOTED = 16
LOOKED_AT = 3

# ---- Firing


@mutant("NA-25", shows="A real bug: a call without content.", source="PR 20750")
class EmptySetCalledBack(SortedBucketsTracker):
    """Calls the application with no ids at all."""

    def _take(self, now: int) -> list[Position]:
        ids = super()._take(now)
        if not ids:
            self._consumer.on_negative_acks_send(ids)
        return ids


@mutant("NA-35", shows="A deadlock, which no model can have.", source="PR 23651; client-cpp, PR 266, B-01, B-02")
class CalledUnderALock(SortedBucketsTracker):
    """Holds, while it calls, a lock that every operation takes."""

    lock: ClassVar[type[ErrorCheckingLock]] = ErrorCheckingLock

    def __init__(self, config: NegativeAcksConfig, clocks: Clocks, timer: NackTimer, consumer: Consumer) -> None:
        super().__init__(config, clocks, timer, consumer)
        self._lock = self.lock()

    def add_message(self, message_id: MessageId, redelivery_count: int) -> None:
        """Track a message, with the lock held."""
        with self._lock:
            super().add_message(message_id, redelivery_count)

    def _fired(self, timeout: Timeout) -> None:
        with self._lock:
            super()._fired(timeout)

    def close(self) -> None:
        """Close, with the lock held."""
        with self._lock:
            super().close()


@mutant("NA-35", shows="A deadlock of two threads.", source="PR 23651; apache/pulsar PR 26599, review")
class CalledUnderAReentrantLock(CalledUnderALock):
    """Holds, while it calls, a lock that every operation takes, and that its own thread may take again."""

    lock = ReentrantLock


class Alone:
    """A consumer that is called by one firing at a time."""

    def __init__(self, consumer: Consumer) -> None:
        self.redeliver_unacknowledged_messages = consumer.redeliver_unacknowledged_messages
        self._call_back = consumer.on_negative_acks_send
        self.called = False

    def on_negative_acks_send(self, ids: Collection[Position]) -> None:
        """The application's callback."""
        self.called = True
        self._call_back(ids)
        self.called = False


@mutant("NA-35", shows="A callback that throws.")
class StaysInACallback(SortedBucketsTracker):
    """Notes that a callback is under way, during which no firing does anything: for ever, if the callback throws."""

    def __init__(self, config: NegativeAcksConfig, clocks: Clocks, timer: NackTimer, consumer: Consumer) -> None:
        self._alone = Alone(consumer)
        super().__init__(config, clocks, timer, self._alone)

    def _fired(self, timeout: Timeout) -> None:
        if not self._alone.called:
            super()._fired(timeout)


class OneList:
    """A consumer whose requests are made with one list, which is emptied after each."""

    def __init__(self, consumer: Consumer) -> None:
        self.on_negative_acks_send = consumer.on_negative_acks_send
        self._request = consumer.redeliver_unacknowledged_messages
        self._ids: list[Position] = []

    def redeliver_unacknowledged_messages(self, ids: Collection[Position]) -> None:
        """Send one request."""
        self._ids += ids
        try:
            self._request(self._ids)
        finally:
            self._ids.clear()


@mutant("NA-33", shows="Ids that change after they were handed over.")
class EmptiesWhatItRequested(SortedBucketsTracker):
    """Empties the list of ids when it has made a request, so nothing is left of one that is sent later."""

    def __init__(self, config: NegativeAcksConfig, clocks: Clocks, timer: NackTimer, consumer: Consumer) -> None:
        super().__init__(config, clocks, timer, OneList(consumer))


# ---- Sizes


@mutant("NA-06", shows="A table of fixed size.")
class ChunksOfSixteenMessages(SortedBucketsTracker):
    """Of each bucket it notes the chunks of 16 messages at most; of the others the last chunk alone comes back."""

    def _note_chunks(self, bucket: int, position: Position, chunks: Sequence[Position]) -> None:
        known = self._chunks.get(bucket, {})
        if position in known or len(known) < MOST_NOTED:
            super()._note_chunks(bucket, position, chunks)


@mutant("NA-06", shows="Chunks of several ledgers.", source="an id has one ledger")
class ChunksOfOneLedger(SortedBucketsTracker):
    """It takes all chunks of a message for entries of the ledger of the last."""

    def _note_chunks(self, bucket: int, position: Position, chunks: Sequence[Position]) -> None:
        super()._note_chunks(bucket, position, [(position[0], entry) for _, entry in chunks])


@mutant("NA-06", shows="Chunks with one entry id in several ledgers.", source="an id has one ledger")
class ChunksByEntry(SortedBucketsTracker):
    """It notes the chunks of a message by their entry ids, so of two that share one the first is lost."""

    def _note_chunks(self, bucket: int, position: Position, chunks: Sequence[Position]) -> None:
        super()._note_chunks(bucket, position, [*{entry: (ledger, entry) for ledger, entry in chunks}.values()])


@mutant("NA-06", shows="A message that is nacked with other chunks than before.")
class ChunksOfTheLastNack(SortedBucketsTracker):
    """If a message is in several buckets, each of them emits the chunks that the last nack had."""

    def _note_chunks(self, bucket: int, position: Position, chunks: Sequence[Position]) -> None:
        super()._note_chunks(bucket, position, chunks)
        for noted in self._chunks.values():
            if position in noted:
                noted[position] = chunks


@mutant("NA-06", shows="A change of what it was given.")
class TakesChunksAway(SortedBucketsTracker):
    """Takes the chunks out of the list that the id of a message has, so the application has them no longer."""

    def add_message(self, message_id: MessageId, redelivery_count: int) -> None:
        """Track a message."""
        super().add_message(message_id, redelivery_count)
        if message_id.chunks:
            cast(list[int], message_id.chunks).clear()


class ThreeBlocks(NackBuckets):
    """Buckets of which three blocks are looked at."""

    def take(self, last: int) -> list[Position]:
        """Remove the buckets up to the last one, as far as they are in the first three blocks."""
        return super().take(min(last, self.starts[LOOKED_AT] - 1) if len(self.starts) > LOOKED_AT else last)


@mutant("NA-30", shows="More blocks than a loop looks at.")
class TakesThreeBlocks(SortedBucketsTracker):
    """A firing takes what is due from three blocks of 2,048 entries at most; what is left is due to the next."""

    def __init__(self, config: NegativeAcksConfig, clocks: Clocks, timer: NackTimer, consumer: Consumer) -> None:
        super().__init__(config, clocks, timer, consumer)
        self._buckets = ThreeBlocks()


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


@mutant("NA-43", shows="A pooled bitmap that is not emptied.")
class BitmapsAreUsedAgain(SortedBucketsTracker):
    """The bitmaps of a bucket of more than 24 entries are used again without being emptied."""

    def __init__(self, config: NegativeAcksConfig, clocks: Clocks, timer: NackTimer, consumer: Consumer) -> None:
        super().__init__(config, clocks, timer, consumer)
        self._buckets = KeepsBitmaps()


# ---- What is kept


@mutant("P16", shows="A log that nobody empties.")
class LogsEveryNack(SortedBucketsTracker):
    """Keeps a log of all that was nacked."""

    def __init__(self, config: NegativeAcksConfig, clocks: Clocks, timer: NackTimer, consumer: Consumer) -> None:
        super().__init__(config, clocks, timer, consumer)
        self._log: list[MessageId] = []

    def add_message(self, message_id: MessageId, redelivery_count: int) -> None:
        """Track a message, and log it."""
        self._log.append(message_id)
        super().add_message(message_id, redelivery_count)
