"""What a bucket tracker is given and must offer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol, TypeVar, runtime_checkable

from broker_tck.implementations.interface.common import Clock, Position
from broker_tck.implementations.interface.delayed_delivery import Timer

T = TypeVar("T")
Done = Callable[[T | Exception], None]
"""Told, once, what a call has come to: its result, or the error that it ended with. It may be told before the call
returns."""

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
        """Store a bucket, for the property with this key; answers with the snapshot's number."""

    def get_bucket_snapshot_metadata(self, bucket_id: int, done: Done[Sequence[SegmentMetadata]]) -> None:
        """What a snapshot says of its segments."""

    def get_bucket_snapshot_segment(
        self, bucket_id: int, first: int, last: int, done: Done[Sequence[Sequence[DelayedIndex]]]
    ) -> None:
        """Some segments of a snapshot, counted from 1, the last one included."""

    def delete_bucket_snapshot(self, bucket_id: int, done: Done[None]) -> None:
        """Delete a snapshot. If it is not there, that is as good."""


class CursorProperties(Protocol):
    """The cursor of the subscription, as far as a tracker needs it."""

    def get_cursor_properties(self) -> Mapping[str, str]:
        """The properties as they are now, in the order in which they are to be recovered."""

    def put_cursor_property(self, key: str, value: str, done: Done[None]) -> None:
        """Set a property."""

    def remove_cursor_property(self, key: str, done: Done[None]) -> None:
        """Take a property out. If it is not there, that is as good."""

    def get_mark_deleted_position(self) -> Position | None:
        """The position up to which everything is acknowledged; None: it is not known."""


class BucketDeliveryConfig(Protocol):
    """What a bucket tracker is configured with. Times are in milliseconds."""

    @property
    def min_index_count(self) -> int:
        """So many messages in memory make a bucket; 0 is as good as 1."""

    @property
    def time_step(self) -> int:
        """How long a segment may be, from its first time on; 0: each message is a segment of its own."""

    @property
    def max_indexes(self) -> int:
        """So many messages a segment has at most; -1: there is no limit, 0 is as good as 1."""

    @property
    def max_buckets(self) -> int:
        """With more buckets than that, some are trimmed or merged; 0 or less: there is no limit."""

    @property
    def tick(self) -> int:
        """Tick time, at least 0. ``reset_tick_time`` may change it later."""

    @property
    def strict(self) -> bool:
        """Whether a message must never be handed out before its time."""


@runtime_checkable
class BucketDelayedDeliveryTracker(Protocol):
    """A delayed-delivery tracker of one subscription that survives the broker (contract ``bucket-delivery``).

    It recovers as it is made: while it is, storage and cursor tell before their calls return. An error of theirs that
    it cannot go on after is raised. Times are absolute, in milliseconds. Calls come from one thread at a time.
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
        """Whether the dispatcher is to stop reading."""

    def reset_tick_time(self, tick: int) -> None:
        """Change the tick time (milliseconds)."""

    def get_number_of_delayed_messages(self) -> int:
        """How many messages are tracked."""

    def clear(self) -> None:
        """Forget every message, and delete every snapshot."""

    def close(self, done: Done[None]) -> None:
        """Disarm the timer and let go of everything; told when nothing that was begun is left. No call follows."""


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
"""How the keys of a bucket's property begin; ``_`` and its first ledger follow, ``_`` and its last."""
