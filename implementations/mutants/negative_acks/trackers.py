"""Mutants of the tracker of negative acks."""

from __future__ import annotations

from collections.abc import Sequence

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
from broker_tck.implementations.negative_acks.parts import MS, emit
from broker_tck.implementations.negative_acks.sorted_buckets import SortedBucketsTracker


class LaterFirst(SortedBucketsTracker):
    """The base of mutants that leave buckets which are due: it waits a millisecond at least, or would never end."""

    def _arm_for_first(self, now: int) -> None:
        first = self._buckets.first()
        if first is not None:
            self._arm(self._monotonic() + max(first - now, 1) * MS)


# ---- Delay and bucket


@mutant("NA-13")
class BucketsRoundedUp(SortedBucketsTracker):
    """Files an item under the end of its bucket."""

    def _bucket(self, instant: int) -> int:
        return -(-instant & self._mask)


@mutant("NA-13")
class ABitTooMany(SortedBucketsTracker):
    """Clears a bit more than it should."""

    def _bucket(self, instant: int) -> int:
        return instant & self._mask << 1


@mutant("NA-13")
class MultiplesOfTheBits(SortedBucketsTracker):
    """Makes buckets as wide as there are bits, not as their power of two."""

    def __init__(self, config: NegativeAcksConfig, clocks: Clocks, timer: NackTimer, consumer: Consumer) -> None:
        super().__init__(config, clocks, timer, consumer)
        self._width = max(config.precision_bits, 1)

    def _bucket(self, instant: int) -> int:
        return instant - instant % self._width


@mutant("NA-13", source="client-cpp, B-28")
class PrecisionOfNanoseconds(SortedBucketsTracker):
    """Clears the bits of nanoseconds."""

    def _bucket(self, instant: int) -> int:
        return (instant * MS & self._mask) // MS


@mutant("NA-12")
class NoShortestDelay(SortedBucketsTracker):
    """Takes a fixed delay below 100 ms as it is."""

    def __init__(self, config: NegativeAcksConfig, clocks: Clocks, timer: NackTimer, consumer: Consumer) -> None:
        super().__init__(config, clocks, timer, consumer)
        self._fixed = config.delay_us // 1_000


@mutant("NA-12", source="client-go")
class NoneIsTheDefault(SortedBucketsTracker):
    """Takes a fixed delay of 0 for a minute."""

    def __init__(self, config: NegativeAcksConfig, clocks: Clocks, timer: NackTimer, consumer: Consumer) -> None:
        super().__init__(config, clocks, timer, consumer)
        self._fixed = self._fixed if config.delay_us else 60_000


@mutant("NA-51")
class MicrosecondsRoundedUp(SortedBucketsTracker):
    """Rounds microseconds up to milliseconds."""

    def __init__(self, config: NegativeAcksConfig, clocks: Clocks, timer: NackTimer, consumer: Consumer) -> None:
        super().__init__(config, clocks, timer, consumer)
        self._fixed = max(self._fixed, -(-config.delay_us // 1_000))


@mutant("NA-10", source="client-go, issue 801")
class IdsCountOne(SortedBucketsTracker):
    """Takes a nack by id for one of a message that was redelivered once."""

    def add(self, message_id: MessageId) -> None:
        """Track a message by its id alone."""
        self.add_message(message_id, 1)


@mutant("NA-11")
class BackoffClamped(SortedBucketsTracker):
    """Has a backoff's delay be at least 100 ms, too."""

    def __init__(self, config: NegativeAcksConfig, clocks: Clocks, timer: NackTimer, consumer: Consumer) -> None:
        super().__init__(config, clocks, timer, consumer)
        backoff = self._backoff
        self._backoff = (lambda count: max(backoff(count), 100)) if backoff else None


# ---- The timer


@mutant("NA-23", source="NegativeAcksTracker, B-26")
class PendingTimerLeftAlone(SortedBucketsTracker):
    """Leaves a pending timer as it is, whatever is due sooner."""

    def _arm_for(self, deadline: int) -> None:
        if self._timeout is None:
            self._arm(deadline)


@mutant("NA-24", source="client-cpp, PR 266, B-27")
class EveryNackPostpones(SortedBucketsTracker):
    """Starts the wait anew with every nack."""

    def _arm_for(self, deadline: int) -> None:
        if self._timeout is not None:
            self._timeout.cancel()
        self._arm(deadline)


@mutant("NA-22")
class ArmedForTheBucket(SortedBucketsTracker):
    """Arms for the bucket, not for the delay, from idle."""

    def _arm_for(self, deadline: int) -> None:
        if self._timeout is None:
            now = self._wall()
            bucket = self._bucket(now + (deadline - self._monotonic()) // MS)
            self._arm(self._monotonic() + max(bucket - now, 0) * MS)
        else:
            super()._arm_for(deadline)


@mutant("NA-22", source="PR 15312")
class NotArmedAgain(SortedBucketsTracker):
    """Does not arm for what a firing leaves."""

    def _arm_for_first(self, now: int) -> None:
        return


@mutant("NA-42", source="client-cpp, PRs 6272, 362")
class StaleFiringHeeded(SortedBucketsTracker):
    """Does as much in a firing whose timeout was cancelled as in any other."""

    def _fired(self, timeout: Timeout) -> None:
        self._timeout = timeout
        super()._fired(timeout)


@mutant("NA-40", source="PR 12469; client-cpp, PR 188")
class TimerOutlivesClose(SortedBucketsTracker):
    """Forgets at close to cancel the timer."""

    def close(self) -> None:
        """Forget everything but the timer."""
        self._timeout = None
        super().close()


@mutant("NA-41", source="NegativeAcksTracker")
class TakesAfterClose(SortedBucketsTracker):
    """Tracks what is added after close."""

    def close(self) -> None:
        """Forget everything, and go on."""
        super().close()
        self._closed = False


# ---- Firing


@mutant("NA-30")
class StrictlyBefore(LaterFirst):
    """Leaves a bucket that is due at this very millisecond."""

    def _take(self, now: int) -> list[Position]:
        return super()._take(now - 1)


@mutant("NA-30", source="client-go, PR 1410, B-10", conditions=2)
class SecondBucketSkipped(SortedBucketsTracker):
    """Takes the first bucket and the last, not those between, where several are due."""

    def _take(self, now: int) -> list[Position]:
        first = self._buckets.first()
        return super()._take(now if first is None or first > now else first)

    def _arm_for_first(self, now: int) -> None:
        first = self._buckets.first()
        super()._arm_for_first(now if first is None else min(now, first))


@mutant("NA-06", source="issue 25220, B-05")
class ChunksLost(SortedBucketsTracker):
    """Emits the last chunk only."""

    def _note_chunks(self, bucket: int, position: Position, chunks: Sequence[int]) -> None:
        return


@mutant("NA-06", source="PR 25229", conditions=2)
class ChunksForOneBucket(SortedBucketsTracker):
    """Keeps chunks by entry, and forgets them when the first bucket emits them: the next emits the last chunk only."""

    def __init__(self, config: NegativeAcksConfig, clocks: Clocks, timer: NackTimer, consumer: Consumer) -> None:
        super().__init__(config, clocks, timer, consumer)
        self._known: dict[Position, Sequence[int]] = {}

    def _note_chunks(self, bucket: int, position: Position, chunks: Sequence[int]) -> None:
        self._known[position] = chunks

    def _take(self, now: int) -> list[Position]:
        ids = super()._take(now)
        return [*{(ledger, chunk) for ledger, last in ids for chunk in self._known.pop((ledger, last), (last,))}]


@mutant("NA-06")
class FirstChunkLost(SortedBucketsTracker):
    """Emits all chunks but the first."""

    def _note_chunks(self, bucket: int, position: Position, chunks: Sequence[int]) -> None:
        super()._note_chunks(bucket, position, chunks[1:])


@mutant("NA-25", source="PR 20750")
class EmptySetCalledBack(SortedBucketsTracker):
    """Calls the application with no ids at all."""

    def _take(self, now: int) -> list[Position]:
        ids = super()._take(now)
        if not ids:
            self._consumer.on_negative_acks_send(ids)
        return ids


@mutant("NA-31")
class RepeatedIds(SortedBucketsTracker):
    """Emits an entry of two buckets twice."""

    def _take(self, now: int) -> list[Position]:
        repeated: list[Position] = []
        while (first := self._buckets.first()) is not None and first <= now:
            repeated += super()._take(first)
        return repeated


@mutant("NA-33")
class AllAtOnce(SortedBucketsTracker):
    """Requests everything at once."""

    def _fired(self, timeout: Timeout) -> None:
        if timeout is self._timeout:
            self._timeout = None
            now = self._wall()
            ids = self._take(now)
            self._arm_for_first(now)
            emit(self._consumer, ids, at_once=max(len(ids), 1))


@mutant("NA-35", source="PRs 15312, 23651, B-03")
class CalledBeforeTheTimerIsSettled(LaterFirst):
    """Calls and requests before it arms the timer anew, and believes it pending if that throws."""

    def _fired(self, timeout: Timeout) -> None:
        if timeout is self._timeout:
            now = self._wall()
            emit(self._consumer, self._take(now))
            self._timeout = None
            self._arm_for_first(now)


class ErrorCheckingLock:
    """A lock that says so where it would be waited for in vain."""

    def __init__(self) -> None:
        self.taken = False

    def __enter__(self) -> None:
        if self.taken:
            raise RuntimeError("deadlock: the lock is held by this very thread")
        self.taken = True

    def __exit__(self, *error: object) -> None:
        self.taken = False


@mutant("NA-35", source="PR 23651; client-cpp, PR 266, B-01, B-02")
class CalledUnderALock(SortedBucketsTracker):
    """Holds, while it calls, a lock that every operation takes."""

    def __init__(self, config: NegativeAcksConfig, clocks: Clocks, timer: NackTimer, consumer: Consumer) -> None:
        super().__init__(config, clocks, timer, consumer)
        self._lock = ErrorCheckingLock()

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


# ---- What is held


@mutant("NA-38", source="client-go, v0.17.0")
class FirstNackCounts(SortedBucketsTracker):
    """Ignores a nack of an entry that is tracked already."""

    def __init__(self, config: NegativeAcksConfig, clocks: Clocks, timer: NackTimer, consumer: Consumer) -> None:
        super().__init__(config, clocks, timer, consumer)
        self._tracked: set[Position] = set()

    def add_message(self, message_id: MessageId, redelivery_count: int) -> None:
        """Track a message, unless it is tracked."""
        if message_id[:2] not in self._tracked:
            self._tracked.add(message_id[:2])
            super().add_message(message_id, redelivery_count)

    def _take(self, now: int) -> list[Position]:
        ids = super()._take(now)
        self._tracked.difference_update(ids)
        return ids


@mutant("NA-05")
class EntriesOf32Bits(SortedBucketsTracker):
    """Keeps the low 32 bits of entry ids, and counts the chunks of a message back from there."""

    def add_message(self, message_id: MessageId, redelivery_count: int) -> None:
        """Track a message, by a part of its id."""
        last = message_id.entry_id & 0xFFFFFFFF
        chunks = range(last + 1 - len(message_id.chunks), last + 1)
        super().add_message(message_id._replace(entry_id=last, chunks=chunks), redelivery_count)


@mutant("NA-43")
class CountsBuckets(SortedBucketsTracker):
    """Counts an entry once, in however many buckets it is."""

    def get_nacked_messages_count(self) -> int:
        """How many entries are tracked."""
        buckets = self._buckets
        sparse = {p for block in buckets.blocks for p in block.positions()}
        return len(sparse | {(k, e) for b in buckets.dense.values() for k, bits in b.items() for e in bits})


@mutant("NA-26")
class MonotonicInstants(SortedBucketsTracker):
    """Reckons instants by the clock that never jumps."""

    def __init__(self, config: NegativeAcksConfig, clocks: Clocks, timer: NackTimer, consumer: Consumer) -> None:
        super().__init__(config, clocks, timer, consumer)
        self._wall = lambda: clocks.monotonic() // MS
