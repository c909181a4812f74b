"""The bucket tracker: delayed messages in an index that survives the broker."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from broker_tck.implementations.bucket_delivery.calls import Calls
from broker_tck.implementations.bucket_delivery.maintenance import Maintenance
from broker_tck.implementations.bucket_delivery.memory import Memory
from broker_tck.implementations.bucket_delivery.packed import MAX_ENTRY_ID
from broker_tck.implementations.bucket_delivery.reading import Reading
from broker_tck.implementations.bucket_delivery.recovery import Recovery
from broker_tck.implementations.bucket_delivery.schedule import Schedule
from broker_tck.implementations.bucket_delivery.sealing import Placing, Sealing
from broker_tck.implementations.bucket_delivery.snapshots import Snapshots
from broker_tck.implementations.interface import (
    BucketDeliveryConfig,
    BucketSnapshotStorage,
    Clock,
    CursorProperties,
    Done,
    Position,
    Timer,
)


class BucketTracker:
    """A :class:`~broker_tck.implementations.interface.BucketDelayedDeliveryTracker`.

    Messages gather in a growing bucket. It is sealed, cut into segments, and stored; of each sealed bucket one segment
    at a time is in memory. Times are in milliseconds.
    """

    contract: ClassVar[str] = "bucket-delivery"
    profiles: ClassVar[tuple[str, ...]] = ("ideal",)
    capabilities: ClassVar[dict[str, bool]] = {"shows_buckets": True}

    def __init__(
        self,
        config: BucketDeliveryConfig,
        clock: Clock,
        timer: Timer,
        storage: BucketSnapshotStorage,
        cursor: CursorProperties,
    ) -> None:
        """Recover what the cursor's properties lead to. Raises what :meth:`Recovery.recover` raises."""
        self._clock = clock
        self._memory = memory = Memory()
        self._held = memory.held
        self._growing = memory.growing
        self._schedule = schedule = Schedule(config, clock, timer, memory)
        self._calls = calls = Calls(storage, cursor)
        self._snapshots = snapshots = Snapshots(calls)
        placing = Placing(config, memory, schedule, snapshots)
        maintenance = Maintenance(config.max_buckets, memory, schedule, calls, snapshots, placing)
        self._sealing = Sealing(memory, placing, config.min_index_count, maintenance.sealed)
        self._reading = Reading(memory, schedule, calls, snapshots)
        Recovery(memory, snapshots, schedule.cutoff()).recover(cursor.get_cursor_properties())

    def add_message(self, ledger_id: int, entry_id: int, deliver_at: int) -> bool:
        """Track a message. False: it is due, or not delayed, and the caller dispatches it now (BD-04).

        Raises ``ValueError`` for an id, and ``OverflowError`` for a time, that no index can have.
        """
        if entry_id >> 32 or ledger_id >> 63:
            raise ValueError(f"({ledger_id}, {entry_id}) is no position")
        now = self._clock()
        schedule, held = self._schedule, self._held
        if deliver_at <= now + schedule.early or deliver_at < 0:
            held.refuse(ledger_id, entry_id)
            return False
        if held.contains(ledger_id, entry_id):
            return True
        covered = False
        if ledger_id == self._growing.joined:
            self._growing.push(deliver_at, ledger_id, entry_id)
        else:
            covered = self._sealing.take(deliver_at, ledger_id, entry_id)
        held.add(ledger_id, entry_id, deliver_at, covered)
        first = self._memory.first
        if first != schedule.target:
            schedule.aim(first, now, schedule.tick)
        return True

    def contains_message(self, ledger_id: int, entry_id: int) -> bool:
        """Whether a message is tracked, so that the caller need not read it."""
        return 0 <= entry_id <= MAX_ENTRY_ID and self._held.contains(ledger_id, entry_id)

    def has_message_available(self) -> bool:
        """Whether a message may be handed out now; if not, the timer is brought up to date."""
        available = self._schedule.available()
        if not available:
            self._schedule.update()
        return available

    def get_scheduled_messages(self, max_messages: int) -> list[Position]:
        """Hand out the first messages that are due, in the order of their positions (BD-19)."""
        return self._reading.take(max_messages)

    def should_pause_all_deliveries(self) -> bool:
        """Whether the dispatcher must stop reading: never (BD-10)."""
        return False

    def reset_tick_time(self, tick: int) -> None:
        """Change the tick time, in milliseconds; the next call heeds it."""
        self._schedule.reset_tick(tick)

    def get_number_of_delayed_messages(self) -> int:
        """How many messages are tracked, in memory or not (BD-25)."""
        return self._held.count

    def get_buckets(self) -> Sequence[tuple[int, int, int, int]]:
        """Of each placed bucket first and last ledger, the segment that was loaded last, and the number of segments."""
        return [(b.first_ledger, b.last_ledger, b.current, len(b.first_times)) for b in self._memory.placed]

    def get_queue_sizes(self) -> tuple[int, int]:
        """How many indexes are in memory: those that may be handed out next, and those of the growing bucket."""
        return len(self._memory.shared), len(self._growing)

    def clear(self) -> None:
        """Forget every message, and delete every snapshot as soon as it is there (BD-31)."""
        self._reading.forget_load()
        self._snapshots.give_up(self._memory.clear())

    def close(self, done: Done[None]) -> None:
        """Disarm the timer and let go of everything; told when no change of what is stored is under way (BD-32)."""
        self._schedule.close()
        self._memory.release()
        self._calls.close(lambda: done(None))
