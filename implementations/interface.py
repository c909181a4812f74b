"""What a subject is given and what it must offer, one protocol a contract.

The names are those of the broker's own interface in snake case. Nothing here is shared with the reference
model: a subject that imports this module knows no more of the specification than its signatures.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar, runtime_checkable

Position = tuple[int, int]
"""Ledger id and entry id, ordered as tuples are."""

NOT_ANSWERED = "no answer within the limit"


class Hang(BaseException):
    """A subject did not come back within its limit. Not an ``Exception``, so that no subject swallows it.

    The kit's watchdog raises it inside of a subject. A wrapper raises it where the watchdog cannot strike, and what is
    wrapped was ended there, as a loop in Java code whose fuel has run out.
    """

    def __init__(self) -> None:
        super().__init__(NOT_ANSWERED)


Clock = Callable[[], int]
"""The time now, in milliseconds since the epoch. A subject has no other source of time."""


class Timeout(Protocol):
    """A timer that was armed."""

    @property
    def cancelled(self) -> bool:
        """Whether :meth:`cancel` was called."""

    def cancel(self) -> None:
        """Disarm. A firing that is already on its way may still arrive, and has to be ignored."""


Fired = Callable[[Timeout], bool]
"""What a timeout calls when it fires, with itself; answers whether the dispatcher is to read now."""


class Timer(Protocol):
    """The broker's timer wheel: it fires at the deadline exactly, never inside a call to the subject."""

    def new_timeout(self, deadline: int, fired: Fired) -> Timeout:
        """Arm a timeout for an absolute time in milliseconds. One that has passed fires when the clock moves next."""


class DelayedDeliveryConfig(Protocol):
    """What a delayed-delivery tracker is configured with."""

    @property
    def tick(self) -> int:
        """Tick time in milliseconds, at least 1. ``reset_tick_time`` may change it later."""

    @property
    def strict(self) -> bool:
        """Whether a message must never be handed out before its time."""

    @property
    def lookahead(self) -> int:
        """How many messages of one fixed delay are tracked before reading pauses; 0 switches that off."""


@runtime_checkable
class DelayedDeliveryTracker(Protocol):
    """A delayed-delivery tracker of one subscription (contract ``delayed-delivery``).

    Times are absolute, in milliseconds. Calls come from one thread at a time.
    """

    def add_message(self, ledger_id: int, entry_id: int, deliver_at: int) -> bool:
        """Track a message. False: not taken, the caller dispatches it now."""

    def has_message_available(self) -> bool:
        """Whether a message may be handed out now."""

    def get_scheduled_messages(self, max_messages: int) -> Sequence[Position]:
        """Hand out at most ``max_messages`` messages that are due, in the order of their positions."""

    def should_pause_all_deliveries(self) -> bool:
        """Whether the dispatcher is to stop reading, as everything it would read is delayed alike."""

    def reset_tick_time(self, tick: int) -> None:
        """Change the tick time (milliseconds)."""

    def get_number_of_delayed_messages(self) -> int:
        """How many messages are tracked."""

    def get_buffer_memory_usage(self) -> int:
        """An estimate of the index's size in bytes."""

    def clear(self) -> None:
        """Forget every message."""

    def close(self) -> None:
        """Disarm the timer and let go of everything. Idempotent; no other call follows."""


@runtime_checkable
class BatchAdds(Protocol):
    """Capability ``batch_adds``: many messages of one ledger in one call, as if added one by one."""

    def add_messages(self, ledger_id: int, entry_ids: Sequence[int], deliver_at: Sequence[int]) -> Sequence[bool]:
        """Track messages of one ledger; ``deliver_at`` has one time for each entry id. Answers as single adds would."""


DelayedDeliveryFactory = Callable[[DelayedDeliveryConfig, Clock, Timer], DelayedDeliveryTracker]


# ---- Contract negative-acks


class MessageId(NamedTuple):
    """What an application nacks. A message of a batch has its index, one in chunks the entries of all its chunks."""

    ledger_id: int
    entry_id: int
    batch_index: int = -1
    chunks: Sequence[int] = ()
    """Empty unless the message is chunked; the last is ``entry_id``."""


class NegativeAcksConfig(Protocol):
    """What a negative-acks tracker is configured with."""

    @property
    def delay_us(self) -> int:
        """The fixed delay in microseconds."""

    @property
    def precision_bits(self) -> int:
        """How many low bits of an instant do not matter."""

    @property
    def backoff_ms(self) -> Sequence[int] | None:
        """A backoff: the delay in milliseconds for each redelivery count, the last one for all above."""

    @property
    def multiplier(self) -> tuple[int, int, float] | None:
        """Another backoff: the first delay and the longest in milliseconds, and the factor."""


class Clocks(Protocol):
    """The two clocks of a client. It has no other source of time."""

    def wall(self) -> int:
        """Milliseconds since the epoch. They may jump, both ways."""

    def monotonic(self) -> int:
        """Nanoseconds since some moment. They only go forward."""


NackFired = Callable[[Timeout], None]
"""What a timeout calls when it fires, with itself."""


class NackTimer(Protocol):
    """A client's timer. It fires to the nanosecond, and never inside a call to the subject."""

    def new_timeout(self, deadline: int, fired: NackFired) -> Timeout:
        """Arm a timeout for a time of the monotonic clock. One that has passed fires when the clock moves next."""


class Consumer(Protocol):
    """The consumer that a tracker works for. What its callback does may come back to the tracker, or throw."""

    def on_negative_acks_send(self, ids: Collection[Position]) -> None:
        """The application's callback, with all ids of a firing."""

    def redeliver_unacknowledged_messages(self, ids: Collection[Position]) -> None:
        """Send one request. It may throw."""


@runtime_checkable
class NegativeAcksTracker(Protocol):
    """A tracker of messages that were nacked (contract ``negative-acks``). Calls come from one thread at a time."""

    def add(self, message_id: MessageId) -> None:
        """Track a message by its id alone."""

    def add_message(self, message_id: MessageId, redelivery_count: int) -> None:
        """Track a message that was redelivered so often before."""

    def get_nacked_messages_count(self) -> int:
        """How many items are tracked."""

    def close(self) -> None:
        """Disarm the timer and let go of everything."""


NegativeAcksFactory = Callable[[NegativeAcksConfig, Clocks, NackTimer, Consumer], NegativeAcksTracker]


class IllegalArgumentException(ValueError):
    """What a subject raises where it refuses an argument."""


class ReadCount(Protocol):
    """How many reads of an entry are still expected. It is shared by all who hold the entry, and may go below 0."""

    def get_expected_read_count(self) -> int:
        """The count now."""

    def increment_expected_read_count(self) -> None:
        """One more read is expected."""

    def mark_read(self) -> None:
        """A reader is done."""


class Entry(Protocol):
    """A value with a reference count, made by the kit. Whoever keeps it retains it, and releases it in the end."""

    @property
    def position(self) -> Position:
        """Where in its topic the entry stands."""

    @property
    def length(self) -> int:
        """Its bytes. After it was freed they are not to be asked for."""

    @property
    def reads(self) -> ReadCount | None:
        """Its read count, as the subject made it; None where reads are not counted."""

    @reads.setter
    def reads(self, count: ReadCount | None) -> None: ...

    @property
    def count(self) -> int:
        """The references that were taken and not given back; 0 once it was freed."""

    counts_as_read: bool
    """Whether the read count is told when this entry is freed: so with what the storage answered, and with copies."""

    def copy(self) -> Entry:
        """An entry of its own, with the same bytes and the same read count; whoever makes it has to release it."""

    def on_freed(self, call: Callable[[], object]) -> None:
        """Have something called, without arguments, when this entry is freed. One call for each entry."""

    def retain(self) -> bool:
        """Take a reference; False where the value was freed already."""

    def release(self) -> None:
        """Give a reference back. With the last one the value is freed."""


class EntryCacheConfig(Protocol):
    """What the caches of a broker are configured with."""

    @property
    def max_requeue_count(self) -> int:
        """How often reads that are expected have an entry requeued."""

    @property
    def extend_ttl_of_recently_accessed(self) -> bool:
        """Whether entries that were accessed are requeued."""

    @property
    def ttl(self) -> int:
        """Milliseconds after which a scheduled run takes an entry for old."""

    @property
    def max_size(self) -> int | None:
        """The largest size of all caches together in bytes; None for no limit."""

    @property
    def watermark(self) -> int:
        """The percentage of the largest size that a size pass goes down to."""

    @property
    def max_reads_in_flight(self) -> int:
        """The bytes that may be read and not freed yet; 0 for no limit."""

    @property
    def acquire_timeout(self) -> int:
        """Milliseconds that a read waits for its permits; 0 for ever."""

    @property
    def acquire_queue(self) -> int:
        """How many reads wait for permits; one more is refused."""


class ReadFailed(Exception):
    """What the storage fails with, and what readers are told then."""


class TooManyRequestsException(ReadFailed):
    """The storage is busy, or the limit of reads in flight is reached: nothing is wrong with the ledger."""


class HandleClosedException(ReadFailed):
    """The ledger's handle was closed in the meantime. It can be opened again."""


StorageRead = Callable[[Sequence[Entry] | Exception], None]
"""Takes a storage read's answer: its entries in ascending order, each to be released once, or why it failed."""

ReadAnswered = Callable[[Sequence[Entry] | Exception], None]
"""Takes a reader's answer: entries in ascending order, which the reader releases, or why it failed. It may read on."""

ExpectedReads = Callable[[], int]
"""Tells how many reads are expected of what is being read, as things are when it is called."""


class LedgerHandle(Protocol):
    """A ledger in the storage, made by the kit."""

    @property
    def ledger_id(self) -> int:
        """The ledger."""

    @property
    def length(self) -> int:
        """Its bytes."""

    @property
    def last_confirmed(self) -> int:
        """Its last entry; -1 where it has none."""

    def read(self, first: int, last: int, done: StorageRead) -> None:
        """Read from one entry to another, both included. ``done`` is called later, or before this returns."""

    def reopened(self) -> LedgerHandle:
        """Another handle of the same ledger."""


class EntryCache(Protocol):
    """The cache of one topic. Calls come from one thread at a time."""

    def put(self, position: Position, value: Entry) -> bool:
        """Insert a value, with a reference of the cache's own; False where the position is cached already."""

    def get(self, position: Position) -> Entry | None:
        """The value of a position, retained for the caller; None where there is none."""

    def get_range(self, first: Position, last: Position) -> Sequence[Entry]:
        """The values from one position to another, both included, each retained for the caller."""

    def remove_range(self, first: Position, last: Position, last_inclusive: bool) -> tuple[int, int]:
        """Remove a range; answers with entries and bytes."""

    def invalidate_entries(self, last: Position) -> None:
        """Remove what is before a position."""

    def invalidate_all_entries(self, ledger: int) -> None:
        """Remove all of a ledger."""

    def clear(self) -> tuple[int, int]:
        """Remove everything; answers with entries and bytes."""

    def get_number_of_entries(self) -> int:
        """How many entries are cached."""

    def get_size(self) -> int:
        """Their bytes."""


@runtime_checkable
class EntryCaches(Protocol):
    """The caches of a broker's topics, over one queue of removal (contract ``entry-cache``).

    A subject without the capability ``manager`` is not asked for :meth:`do_cache_eviction`, :meth:`update_max_size`,
    :meth:`update_watermark`, :meth:`get_size` and :meth:`get_counters`; one without ``settings`` not for the other
    two setters, without ``pinned`` not for :meth:`get_non_evictable_size`, without ``reads`` not for what is in
    :class:`ReadingCaches`, without ``steps`` not for what is in :class:`SteppedCaches`.
    """

    def get_entry_cache(self, topic: str) -> EntryCache:
        """The cache of a topic, made where there is none.

        One that is made while the largest size is 0 is disabled: it keeps nothing, then or later, and passes what is
        read on to the storage.
        """

    def remove_entry_cache(self, topic: str) -> None:
        """A topic is closed: its cache is cleared and forgotten."""

    def new_read_count(self, expected: int) -> ReadCount | None:
        """A count that starts with so many reads; None where none are expected, or reads are not counted."""

    def evict_entries_before_timestamp(self, timestamp: int) -> tuple[int, int]:
        """A time pass; answers with entries and bytes."""

    def evict_least_accessed_entries(self, size: int) -> tuple[int, int]:
        """A size pass for so many bytes; answers with entries and bytes. It refuses to be asked for nothing."""

    def get_non_evictable_size(self) -> tuple[int, int]:
        """Entries, and their bytes, of which reads are expected, or not counted."""

    def do_cache_eviction(self) -> None:
        """The scheduled run."""

    def update_max_size(self, size: int) -> None:
        """Set the largest size in bytes."""

    def update_watermark(self, percent: int) -> None:
        """Set the watermark."""

    def update_max_requeue_count(self, count: int) -> None:
        """Set how often reads that are expected have an entry requeued."""

    def update_extend_ttl_of_recently_accessed(self, extend: bool) -> None:
        """Set whether entries that were accessed are requeued."""

    def get_size(self) -> int:
        """The bytes of all caches."""

    def get_counters(self) -> tuple[int, int, int]:
        """Insertions, removals of whatever kind, and size passes that had something to do."""


@runtime_checkable
class ReadingCache(Protocol):
    """Capability ``reads``, of a topic's cache."""

    def read_entries(
        self, handle: LedgerHandle, first: int, last: int, expected: ExpectedReads, answered: ReadAnswered
    ) -> None:
        """Answer a reader, out of the cache and the storage."""

    def read_entry(self, handle: LedgerHandle, entry: int, answered: ReadAnswered) -> None:
        """The same of a single entry, of which no reads are expected."""


@runtime_checkable
class ReadingCaches(Protocol):
    """Capability ``reads``, of the broker; its caches are :class:`ReadingCache` as well."""

    def get_read_counters(self) -> tuple[int, int, int, int]:
        """Entries and bytes that readers found in the cache, and that the storage read for them."""

    def get_remaining_permits(self) -> int:
        """The bytes that are left of the limit of reads in flight; 0 where there is no limit."""

    def time_out_reads(self) -> None:
        """The timer: refuse the reads that have waited for their permits for too long."""


Execute = Callable[[Callable[[], object]], None]
"""Has something done soon, never inside the call."""

EntryCachesFactory = Callable[[EntryCacheConfig, Clock, Execute], EntryCaches]
# ---- Contract active-cursors


class Cursor(Protocol):
    """A cursor that reads a topic. Two objects of one name may follow each other."""

    @property
    def name(self) -> str:
        """What it is known by."""

    @property
    def durable(self) -> bool:
        """Whether it outlives its consumers."""


class ActiveCursorsConfig(Protocol):
    """What a container of active cursors is configured with."""

    @property
    def grace(self) -> int:
        """For how many milliseconds added entries are cached after the last cursor has left; 0 or less is none."""


@runtime_checkable
class ActiveCursors(Protocol):
    """The cursors that read a topic, ordered by position (contract ``active-cursors``). Calls come one at a time."""

    def add(self, cursor: Cursor, position: Position | None) -> None:
        """Add a cursor; without a position it is not ordered."""

    def update_cursor(self, cursor: Cursor, position: Position | None) -> None:
        """A cursor has moved; without a position it is not ordered any more."""

    def remove_cursor(self, name: str) -> bool:
        """Remove a cursor. False: there is none of that name."""

    def get(self, name: str) -> Cursor | None:
        """The cursor of a name."""

    def __iter__(self) -> Iterator[Cursor]:
        """All cursors, in any order."""

    def size(self) -> int:
        """How many cursors there are."""

    def get_slowest_cursor_position(self) -> Position | None:
        """The least position of all that have one."""

    def should_cache_added_entry(self) -> bool:
        """Whether an entry that is added now is likely to be read soon."""


@runtime_checkable
class Ranks(Protocol):
    """Capability ``ranks``."""

    def get_number_of_cursors_at_same_position_or_before(self, cursor: Cursor) -> int:
        """How many cursors are at the position of one, or before it, itself included; 0 if it has none."""


@runtime_checkable
class Versions(Protocol):
    """Capability ``versions``."""

    def get_cursor_with_oldest_position(self) -> tuple[Cursor, Position | None, int] | None:
        """A cursor at the slowest position, with the position and the version."""


@runtime_checkable
class Durables(Protocol):
    """Capability ``durables``."""

    def has_durable_cursors(self) -> bool:
        """Whether one of the cursors is durable."""


ActiveCursorsFactory = Callable[[ActiveCursorsConfig, Clock], Any]
"""Makes an :class:`ActiveCursors`, which may be :class:`Ranks`, :class:`Versions` and :class:`Durables` as well."""


# ---- Contract entry-cache, step by step


class Did(NamedTuple):
    """What a step of a call did, as far as other calls can notice."""

    word: str
    position: Position | None = None


LOOKS = Did("looks")
"""Nothing that others notice: something was looked up, a blank head of the queue was dropped."""
WAITS = Did("waits")
"""Nothing: another call holds the lock that is needed."""
MAPS = Did("maps")
"""An insertion: the value is in its cache."""
QUEUES = Did("queues")
"""An insertion: it is at the tail of the queue."""
MARKS = Did("marks")
"""A read: the entry is marked as accessed."""
STOPS = Did("stops")
"""A pass: the head of the queue is one that it stops at."""


def removes(position: Position) -> Did:
    """A removal, or a pass: the entry has left its cache, and its value was released."""
    return Did("removes", position)


def requeues(position: Position) -> Did:
    """A pass: the head of the queue is at its tail now, with the time of now."""
    return Did("requeues", position)


R = TypeVar("R")
Steps = Generator[Did, None, R]
"""A call in steps: it yields wherever another call may come in between, and says what it did since it last yielded."""


class SteppedCache(EntryCache, Protocol):
    """Capability ``steps``: the calls of a cache as generators. What each returns, the call itself would."""

    def put_steps(self, position: Position, value: Entry) -> Steps[bool]:
        """Insert a value: maps, queues."""

    def get_steps(self, position: Position) -> Steps[Entry | None]:
        """The value of a position, retained for the caller: marks."""

    def remove_range_steps(self, first: Position, last: Position, last_inclusive: bool) -> Steps[tuple[int, int]]:
        """Remove a range: removes, entry by entry."""

    def invalidate_entries_steps(self, last: Position) -> Steps[None]:
        """Remove what is before a position: removes, entry by entry."""

    def invalidate_all_entries_steps(self, ledger: int) -> Steps[None]:
        """Remove all of a ledger: removes, entry by entry."""

    def clear_steps(self) -> Steps[tuple[int, int]]:
        """Remove everything: removes, entry by entry."""


@runtime_checkable
class SteppedCaches(EntryCaches, Protocol):
    """Capability ``steps``: the passes as generators. The caches are of :class:`SteppedCache`."""

    def evict_entries_before_timestamp_steps(self, timestamp: int) -> Steps[tuple[int, int]]:
        """A time pass: looks, removes, requeues, and stops unless the queue is empty."""

    def evict_least_accessed_entries_steps(self, size: int) -> Steps[tuple[int, int]]:
        """A size pass for so many bytes, in the same steps."""
