"""The interface of a broker's entry caches: what the kit passes in, and what a subject must offer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

from broker_tck.implementations.interface.common import Clock, Position
from broker_tck.implementations.interface.steps import Steps


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
        """Its length in bytes. Do not ask for it after the entry was freed."""

    @property
    def reads(self) -> ReadCount | None:
        """Its read count, as the subject made it; None if reads are not counted."""

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
        """Take a reference; False if the value was freed already."""

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
        """Milliseconds after which a scheduled run removes an entry."""

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
        """Maximum time that a read waits for its permits, in milliseconds; 0: no limit."""

    @property
    def acquire_queue(self) -> int:
        """Maximum number of reads that wait for permits; one more is refused."""


class ReadFailed(Exception):
    """The storage fails with it, and readers get it."""


class TooManyRequestsException(ReadFailed):
    """The storage is busy, or the limit of reads in flight is reached: nothing is wrong with the ledger."""


class HandleClosedException(ReadFailed):
    """The ledger's handle was closed in the meantime. It can be opened again."""


StorageRead = Callable[[Sequence[Entry] | Exception], None]
"""Takes a storage read's answer: its entries in ascending order, each to be released once, or why it failed."""

ReadAnswered = Callable[[Sequence[Entry] | Exception], None]
"""Takes a reader's answer: entries in ascending order, which the reader releases, or why it failed.

The sequence is the reader's from then on: do not change it. Before the call returns, other reads may come, from this
thread or from another one.
"""

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
        """Its last entry; -1 if it is empty."""

    def read(self, first: int, last: int, done: StorageRead) -> None:
        """Read from one entry to another, both included.

        ``done`` is called later, or before this returns. It may get only the first of the entries, or none of them.
        """

    def reopened(self) -> LedgerHandle:
        """Another handle of the same ledger."""


class EntryCache(Protocol):
    """The cache of one topic. Calls come one at a time, except while it answers a reader."""

    def put(self, position: Position, value: Entry) -> bool:
        """Insert a value, with a reference of the cache's own; False if it is cached already or the cache disabled."""

    def get(self, position: Position) -> Entry | None:
        """The value of a position, retained for the caller; None if it is not cached."""

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

    A subject without the capability ``manager`` is not asked for ``do_cache_eviction``, ``update_max_size``,
    ``update_watermark``, ``get_size`` and ``get_counters``; one without ``settings`` not for the other
    two setters, without ``pinned`` not for ``get_non_evictable_size``, without ``reads`` not for what is in
    ``ReadingCaches``, without ``steps`` not for what is in ``SteppedCaches``.
    """

    def get_entry_cache(self, topic: str) -> EntryCache:
        """The cache of a topic, made if it is missing.

        A cache made while the largest size is 0 is disabled: it never keeps entries, and passes reads on to the
        storage.
        """

    def remove_entry_cache(self, topic: str) -> None:
        """A topic is closed: its cache is cleared and forgotten."""

    def new_read_count(self, expected: int) -> ReadCount | None:
        """A count that starts with this number of reads; None if no reads are expected, or reads are not counted."""

    def evict_entries_before_timestamp(self, timestamp: int) -> tuple[int, int]:
        """A time pass; answers with entries and bytes."""

    def evict_least_accessed_entries(self, size: int) -> tuple[int, int]:
        """A size pass for a number of bytes; answers with entries and bytes. IllegalArgumentException for 0 bytes."""

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
        """Insertions, removals of whatever kind, and ordered or scheduled size passes that had something to do."""


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
    """Capability ``reads``, of the broker; its caches are ``ReadingCache`` as well."""

    def get_read_counters(self) -> tuple[int, int, int, int]:
        """Entries and bytes that readers found in the cache, and that the storage read for them."""

    def get_remaining_permits(self) -> int:
        """The bytes that are left of the limit of reads in flight; 0 if there is no limit."""

    def time_out_reads(self) -> None:
        """The timer: refuse the reads that have waited for their permits for too long."""


Execute = Callable[[Callable[[], object]], None]
"""Has something done soon, never inside the call."""

EntryCachesFactory = Callable[[EntryCacheConfig, Clock, Execute], EntryCaches]


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
    """Capability ``steps``: the passes as generators. The caches are of ``SteppedCache``."""

    def evict_entries_before_timestamp_steps(self, timestamp: int) -> Steps[tuple[int, int]]:
        """A time pass: looks, removes, requeues, and stops unless the queue is empty."""

    def evict_least_accessed_entries_steps(self, size: int) -> Steps[tuple[int, int]]:
        """A size pass for so many bytes, in the same steps."""
