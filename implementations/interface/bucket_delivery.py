"""What a bucket tracker is given and must offer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeVar, runtime_checkable

from broker_tck.implementations.interface.common import Clock, Position
from broker_tck.implementations.interface.delayed_delivery import Timer

T = TypeVar("T")
Done = Callable[[T | Exception], None]
"""Called once with the outcome of a call: its result, or its error. It may be called before the call returns."""

DelayedIndex = tuple[int, int, int]
"""When to deliver, in milliseconds, the ledger, and the entry."""


class BucketSnapshotPersistenceException(Exception):
    """The storage could not read or write; the same call may go well if it is made again."""


class BucketNotExistException(Exception):
    """There is no snapshot of that number."""


class InvalidSnapshotException(Exception):
    """A snapshot is there, but cannot be read."""


class BadVersionException(Exception):
    """The cursor's properties were changed by somebody else meanwhile; made again, the same call may go well."""


class SegmentMetadata(NamedTuple):
    """What a snapshot says of one of its segments, so that the segment need not be read."""

    min_schedule_timestamp: int
    """The first time in it."""
    max_schedule_timestamp: int
    """The last one."""
    delayed_index_bit_map: Mapping[int, bytes]
    """By ledger, the entries in it: a roaring bitmap in the portable serialization."""


class BucketSnapshotStorage(Protocol):
    """Stores snapshots of buckets under numbers that it gives. No call waits: each tells later what it has come to."""

    def create_bucket_snapshot(
        self,
        metadata: Sequence[SegmentMetadata],
        segments: Sequence[Sequence[DelayedIndex]],
        bucket_key: str,
        done: Done[int],
    ) -> None:
        """Store a bucket, for the property with this key; answers with the snapshot's number.

        The storage may read metadata and segments until it answers: they must not change before.
        """

    def get_bucket_snapshot_metadata(self, bucket_id: int, done: Done[Sequence[SegmentMetadata]]) -> None:
        """What a snapshot says of its segments."""

    def get_bucket_snapshot_segment(
        self, bucket_id: int, first: int, last: int, done: Done[Sequence[Sequence[DelayedIndex]]]
    ) -> None:
        """Some segments of a snapshot, counted from 1, the last one included."""

    def delete_bucket_snapshot(self, bucket_id: int, done: Done[None]) -> None:
        """Delete a snapshot. A missing one counts as deleted."""


class CursorProperties(Protocol):
    """The cursor of the subscription, as far as a tracker needs it."""

    def get_cursor_properties(self) -> Mapping[str, str]:
        """The properties as they are now, in the order of recovery."""

    def put_cursor_property(self, key: str, value: str, done: Done[None]) -> None:
        """Set a property."""

    def remove_cursor_property(self, key: str, done: Done[None]) -> None:
        """Take a property out. A missing one counts as taken out."""

    def get_mark_deleted_position(self) -> Position | None:
        """The position up to which everything is acknowledged; None: it is not known."""


class BucketDeliveryConfig(Protocol):
    """What a bucket tracker is configured with. Times are in milliseconds."""

    @property
    def min_index_count(self) -> int:
        """Number of messages in memory that make a bucket; 0 counts as 1."""

    @property
    def time_step(self) -> int:
        """Milliseconds that a segment may span from its first time on; 0: each message is a segment of its own."""

    @property
    def max_indexes(self) -> int:
        """Maximum number of messages in a segment; -1: no limit, 0 counts as 1."""

    @property
    def max_buckets(self) -> int:
        """Number of buckets above which some are trimmed or merged; 0 or less: no limit."""

    @property
    def tick(self) -> int:
        """Tick time, at least 0. ``reset_tick_time`` may change it later."""

    @property
    def strict(self) -> bool:
        """Whether a message must never be handed out before its time."""


@runtime_checkable
class BucketDelayedDeliveryTracker(Protocol):
    """A delayed-delivery tracker of one subscription that survives the broker (contract ``bucket-delivery``).

    It recovers when it is constructed. During a recovery, storage and cursor answer before their calls return. Raises
    an error of theirs that prevents the recovery. Times are absolute, in milliseconds. Calls come from one thread at a
    time.
    """

    def add_message(self, ledger_id: int, entry_id: int, deliver_at: int) -> bool:
        """Track a message. False: not taken, the caller dispatches it now."""

    def contains_message(self, ledger_id: int, entry_id: int) -> bool:
        """Whether a message is tracked, so that the caller need not read it."""

    def has_message_available(self) -> bool:
        """Whether a message may be handed out now."""

    def get_scheduled_messages(self, max_messages: int) -> Sequence[Position]:
        """Hand out at most ``max_messages`` messages that are due, in the order of their positions."""

    def should_pause_all_deliveries(self) -> bool:
        """Whether the dispatcher must stop reading."""

    def reset_tick_time(self, tick: int) -> None:
        """Change the tick time (milliseconds)."""

    def get_number_of_delayed_messages(self) -> int:
        """How many messages are tracked."""

    def clear(self) -> None:
        """Forget every message, and delete every snapshot."""

    def close(self, done: Done[None]) -> None:
        """Disarm the timer and release everything; ``done`` is called when no work is under way. No call follows."""


@runtime_checkable
class ShowsBuckets(Protocol):
    """Capability ``shows_buckets``: what the tracker has in buckets and queues can be seen."""

    def get_buckets(self) -> Sequence[tuple[int, int, int, int]]:
        """Of each placed bucket first and last ledger, the segment that was loaded last, and the number of segments."""

    def get_queue_sizes(self) -> tuple[int, int]:
        """How many indexes are in memory: those that may be handed out next, and those of the growing bucket."""


BucketDeliveryFactory = Callable[
    [BucketDeliveryConfig, Clock, Timer, BucketSnapshotStorage, CursorProperties], BucketDelayedDeliveryTracker
]

BUCKET_PROPERTY_PREFIX = "#pulsar.internal.delayed.bucket"
"""The prefix of a bucket's property; ``_``, its first ledger, ``_`` and its last ledger follow."""
