"""What can be done to the entry caches of a broker, and with what they are configured."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from broker_tck.properties.contracts.entry_cache.reading import ReadingOperation
from broker_tck.properties.engine.operation import BUDGET, BULK, HANDLE, POSITION, Duration, Operation

CACHES = 3
"""How many topics a broker has in a walk."""
CacheNumber = Annotated[int, Meta(ge=0, le=CACHES - 1)]
LedgerId = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1, extra=POSITION)]
EntryId = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1, extra=POSITION)]
Id = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
Size = Annotated[int, Meta(ge=0, le=2**40)]
Reads = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
Requeued = Annotated[int, Meta(ge=0, le=1_000)]
Percent = Annotated[int, Meta(ge=0, le=100)]
Flag = Annotated[int, Meta(ge=0, le=1)]


class Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The configuration of a trace: the settings of the broker at its start."""

    max_requeue_count: Requeued = 5
    """How often an entry that reads are expected of is put back into the queue, at most."""
    extend_ttl_of_recently_accessed: bool = True
    """Whether an entry that was accessed since it was queued is put back, however often."""
    ttl: Annotated[int, Meta(ge=0, le=2**40)] = 1_000
    """How old an entry becomes, in milliseconds."""
    max_size: Size | None = None
    """The bytes of all caches together, at most; null: no limit."""
    watermark: Percent = 90
    """The percentage of the largest size down to which a size pass brings the caches."""
    by_read_count: bool = True
    """Whether reads that are expected are counted."""
    grace: Annotated[int, Meta(ge=0, le=2**40)] = 2_000
    """How long added entries are cached after the last cursor has gone, in milliseconds."""
    max_reads_in_flight: Size = 0
    """The bytes that reads of the storage may have in flight; 0: no limit."""
    acquire_timeout: Annotated[int, Meta(ge=0, le=2**40)] = 60_000
    """How long a read waits for its permits, in milliseconds; 0: for ever."""
    acquire_queue: Annotated[int, Meta(ge=1, le=2**20)] = 10_000
    """How many reads may wait for permits at once."""


class Capabilities(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a subject may declare. A subject is never asked for what it says that it lacks."""

    manager: bool = True
    """It decides itself when a pass is due, and for how much."""
    settings: bool = True
    """How entries are put back may change while it runs."""
    pinned: bool = True
    """It tells what is not to be evicted."""
    reads: bool = True
    """It answers readers, out of the cache and the storage."""
    steps: bool = True
    """Its calls can be made step by step, and so overlap."""
    shows_kept: bool = True
    """It shows which values it keeps: it runs in Python, or its method ``collect_garbage`` lets go of all others."""


class Put(Operation, frozen=True, tag="put"):
    """Insert an entry of so many bytes and expected reads; result: whether it was inserted."""

    cache: CacheNumber
    ledger: LedgerId
    entry: EntryId
    size: Size
    expected_reads: Reads


class Fill(Operation, frozen=True, tag="fill"):
    """Insert n entries, over so many ledgers in turn; result: how many were inserted.

    In a ledger each is ``step`` entries after the one before. Each is ``apart`` bytes larger than the one before, and
    the reads that are expected of them are fewer by one from entry to entry, over and over in so many ``turns``.
    """

    cache: CacheNumber
    ledger: LedgerId
    entry: EntryId
    n: Annotated[int, Meta(ge=0, le=10_000, extra=BULK)]
    across: Annotated[int, Meta(ge=1, le=10_000)] = 1
    step: Annotated[int, Meta(ge=0, le=2**40)] = 1
    size: Size = 10
    apart: Annotated[int, Meta(ge=0, le=2**20)] = 0
    expected_reads: Reads = 0
    turns: Annotated[int, Meta(ge=1, le=1_000)] = 1

    def puts(self) -> Iterator[Put]:
        """The same insertions, each by itself."""
        for i in range(self.n):
            place = self.cache, self.ledger + i % self.across, self.entry + i // self.across * self.step
            yield Put(*place, self.size + i * self.apart, self.expected_reads - i % self.turns)


class Late(Operation, frozen=True, tag="late"):
    """Insert into the cache that the topic had before it was reopened; result: as of :class:`Put`, null for none."""

    cache: CacheNumber
    ledger: LedgerId
    entry: EntryId
    size: Size
    expected_reads: Reads


class Misput(Operation, frozen=True, tag="misput"):
    """Insert a value under the position after its own; result: an error."""

    cache: CacheNumber
    ledger: LedgerId
    entry: EntryId


class Get(Operation, frozen=True, tag="get"):
    """Read an entry and let go of it; result: ``hit`` or ``miss``."""

    cache: CacheNumber
    ledger: LedgerId
    entry: EntryId


class Hold(Operation, frozen=True, tag="hold"):
    """Read an entry and keep it; result: ``hit`` or ``miss``."""

    cache: CacheNumber
    ledger: LedgerId
    entry: EntryId


class Free(Operation, frozen=True, tag="free"):
    """Let go of the value that is held longest; result: whether there was one."""


class Spoil(Operation, frozen=True, tag="spoil"):
    """Let go of a value that only its cache holds, once too often; result: whether it was."""

    cache: CacheNumber
    ledger: LedgerId
    entry: EntryId


class Range(Operation, frozen=True, tag="range"):
    """Read a range, both ends included, and let go of it; result: the positions in ascending order."""

    cache: CacheNumber
    l1: Id
    e1: Id
    l2: Id
    e2: Id


class Read(Operation, frozen=True, tag="read"):
    """A reader is done with the value stored last under a key; result: its read count then, or ``none``."""

    cache: CacheNumber
    ledger: LedgerId
    entry: EntryId


class Expect(Operation, frozen=True, tag="expect"):
    """One more read of the value stored last under a key is expected; result: its read count then, or ``none``."""

    cache: CacheNumber
    ledger: LedgerId
    entry: EntryId


class Remove(Operation, frozen=True, tag="remove"):
    """Remove a range of one cache; result: entries and bytes removed."""

    unit = ("entries", "bytes")

    cache: CacheNumber
    l1: Id
    e1: Id
    l2: Id
    e2: Id
    last_inclusive: Flag


class Invalidate(Operation, frozen=True, tag="invalidate"):
    """Remove what is before a position; no result."""

    cache: CacheNumber
    ledger: LedgerId
    entry: EntryId


class Trim(Operation, frozen=True, tag="trim"):
    """A ledger is dropped; no result."""

    cache: CacheNumber
    ledger: Id


class Clear(Operation, frozen=True, tag="clear"):
    """Empty a cache; result: entries and bytes removed."""

    unit = ("entries", "bytes")

    cache: CacheNumber


class Reopen(Operation, frozen=True, tag="reopen"):
    """The topic is closed and opened again; no result."""

    cache: CacheNumber


class EvictOld(Operation, frozen=True, tag="ttl"):
    """A time pass over what is older; result: entries and bytes removed."""

    unit = ("entries", "bytes")

    age: Annotated[int, Meta(ge=0, le=2**53)]


class EvictSize(Operation, frozen=True, tag="size"):
    """A size pass for so many bytes; result: entries and bytes removed, an error where nothing is asked for."""

    unit = ("entries", "bytes")

    bytes: Annotated[int, Meta(ge=-(2**53), le=2**53, extra=BUDGET)]


class Pinned(Operation, frozen=True, tag="pinned"):
    """What is not to be evicted; result: entries and bytes."""

    unit = ("entries", "bytes")

    needs = "pinned"


class Background(Operation, frozen=True, tag="background"):
    """What was ordered to be done soon is done; result: how many tasks there were."""

    unit = "tasks"

    needs = "manager"


class Run(Operation, frozen=True, tag="run"):
    """The scheduled run; no result."""

    needs = "manager"


class SizeOfAll(Operation, frozen=True, tag="total"):
    """The bytes of all caches, those that were closed included; result: so many."""

    unit = "bytes"

    needs = "manager"


class Counters(Operation, frozen=True, tag="counters"):
    """What the broker counts; result: insertions, removals, size passes."""

    unit = ("insertions", "removals", "passes")

    needs = "manager"


class Resize(Operation, frozen=True, tag="resize"):
    """Set the largest size in bytes; no result."""

    needs = "manager"

    bytes: Size


class SetWatermark(Operation, frozen=True, tag="watermark"):
    """Set the watermark, a percentage; no result."""

    needs = "manager"

    percent: Percent


class Requeues(Operation, frozen=True, tag="requeues"):
    """Set how often reads that are expected have an entry requeued; no result."""

    needs = "settings"

    n: Requeued


class Extend(Operation, frozen=True, tag="extend"):
    """Set whether entries that were accessed are requeued; no result."""

    needs = "settings"

    on_access: Flag


class Advance(Operation, frozen=True, tag="adv"):
    """Time passes; no result."""

    ms: Duration


Thread = Annotated[int, Meta(ge=0, le=15, extra=HANDLE)]


class Begin(Operation, frozen=True):
    """Begin on a thread what the base beside this one does; result: whether the thread was in no other call."""

    needs = "steps"
    opens = True

    @property
    @abstractmethod
    def thread(self) -> int:
        """The thread: the last field of each."""

    def on(self, to: Any) -> Any:
        return to.begin(self.thread, super().on)


class BeginPut(Begin, Put, frozen=True, tag="begin-put"):
    """Begin to insert, on a thread; result: whether the thread was in no other call."""

    thread: Thread


class BeginGet(Begin, Get, frozen=True, tag="begin-get"):
    """Begin to read an entry, on a thread; result: whether the thread was in no other call."""

    thread: Thread


class BeginRemove(Begin, Remove, frozen=True, tag="begin-remove"):
    """Begin to remove a range, on a thread; result: whether the thread was in no other call."""

    thread: Thread


class BeginInvalidate(Begin, Invalidate, frozen=True, tag="begin-invalidate"):
    """Begin to remove what is before a position, on a thread; result: whether the thread was in no other call."""

    thread: Thread


class BeginTrim(Begin, Trim, frozen=True, tag="begin-trim"):
    """Begin to remove all of a ledger, on a thread; result: whether the thread was in no other call."""

    thread: Thread


class BeginClear(Begin, Clear, frozen=True, tag="begin-clear"):
    """Begin to empty a cache, on a thread; result: whether the thread was in no other call."""

    thread: Thread


class BeginOld(Begin, EvictOld, frozen=True, tag="begin-ttl"):
    """Begin a time pass, on a thread; result: whether the thread was in no other call."""

    thread: Thread


class BeginSize(Begin, EvictSize, frozen=True, tag="begin-size"):
    """Begin a size pass for so many bytes, on a thread; result: whether the thread was in no other call."""

    bytes: Annotated[int, Meta(ge=1, le=2**53, extra=BUDGET)]
    thread: Thread


class Step(Operation, frozen=True, tag="step"):
    """Go on by a step with the call of a thread; result: what it did, ``ends`` and the call's result, null for none."""

    needs = "steps"

    thread: Thread


AnyOperation = (
    Put
    | Fill
    | Late
    | Misput
    | Get
    | Hold
    | Free
    | Spoil
    | Range
    | Read
    | Expect
    | Remove
    | Invalidate
    | Trim
    | Clear
    | Reopen
    | EvictOld
    | EvictSize
    | Pinned
    | Background
    | Run
    | SizeOfAll
    | Counters
    | Resize
    | SetWatermark
    | Requeues
    | Extend
    | Advance
    | ReadingOperation
    | BeginPut
    | BeginGet
    | BeginRemove
    | BeginInvalidate
    | BeginTrim
    | BeginClear
    | BeginOld
    | BeginSize
    | Step
)
