"""What is around a RangeEntryCacheImpl that reads: the managed ledger, its handles, its threads, and the readers.

Java holds none of it: what it calls leads back by weak references, as else neither would ever be let go.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any
from weakref import ref

from broker_tck.implementations.entry_cache.released_values import (
    LEDGER,
    JavaCount,
    JavaEntry,
    Payload,
    Values,
    value_of,
)
from broker_tck.implementations.interface import (
    Entry,
    EntryCacheConfig,
    ExpectedReads,
    HandleClosedException,
    LedgerHandle,
    ReadAnswered,
    ReadFailed,
    TooManyRequestsException,
)
from broker_tck.implementations.jvm.errors import guarded
from broker_tck.implementations.jvm.loader import Loader
from broker_tck.implementations.jvm.netty import NANOSECONDS, run
from broker_tck.implementations.jvm.standins import Answers, of_class, of_interface, weakly

IMPL = LEDGER + "impl/"
CALLBACKS = LEDGER + "AsyncCallbacks$"
SUPPLIER = "java.util.function.IntSupplier"
LATEST = 2**63 - 1
"""The ledger and the entry that were written last, as far as reads ask for it."""
TIMER = "java.util.concurrent.ScheduledExecutorService"
EXECUTE = ("execute", "executeOrRun")
MILLISECOND = 10**6
"""In nanoseconds."""
CALLED = (
    *("getName", "getExecutor", "getConfig", "getMbean", "getOptionalLedgerInfo", "getLastConfirmedEntry"),
    *("reopenReadHandle", "invalidateLedgerHandle", "isBatchReadEnabled", "getManagedLedgerInterceptor"),
)
"""What a managed ledger is called for."""
ASKED = ("isPulsarMessageEntries",)
COUNTS = ("recordCacheHits", "recordCacheMiss")
SAMPLES = ("recordReadEntriesOpsCacheMisses", "addReadEntriesSample")
STAND_INS = {
    IMPL + "ManagedLedgerImpl": CALLED,
    LEDGER + "ManagedLedgerConfig": ASKED,
    IMPL + "ManagedLedgerFactoryMBeanImpl": COUNTS,
    IMPL + "ManagedLedgerMBeanImpl": SAMPLES,
}
"""The classes around a cache that are too large to make, and what each is called for."""


class Kinds:
    """The classes of Java's that reads need, and what makes stand-ins for those around them."""

    def __init__(self, loader: Loader, values: Values) -> None:
        self.loader, self.values = loader, values
        self.limiter = loader.named(IMPL + "cache/InflightReadsLimiter")
        self.telemetry = loader.named("io.opentelemetry.api.OpenTelemetry").noop()
        self.ledger, config, self.counters, sample = (of_class(loader, *each) for each in STAND_INS.items())
        getter = loader.named(IMPL + "ManagedLedgerImpl").class_.getMethod("getExecutor")
        self.executor = str(getter.getReturnType().getName())
        self.config = config(dict.fromkeys(ASKED, lambda: False))
        self.sample = sample(dict.fromkeys(SAMPLES, nothing))
        self.future = loader.jpype.JClass("java.util.concurrent.CompletableFuture")
        self.optional = loader.jpype.JClass("java.util.Optional")
        self.thrown = loader.jpype.JClass("java.lang.IllegalStateException")
        self.holds_lock = loader.jpype.JClass("java.lang.Thread").holdsLock
        client = "org.apache.bookkeeper.client."
        self.entry = loader.named(client + "impl.LedgerEntryImpl").create
        self.entries = loader.named(client + "impl.LedgerEntriesImpl").create
        self.broken = loader.named(client + "BKException").create
        self.code = loader.named(client + "BKException$Code")
        self.closed = loader.named(LEDGER + "ManagedLedgerException$OffloadReadHandleClosedException")

    def error(self, error: object) -> Any:
        """Why the storage failed, as Java is told."""
        if isinstance(error, HandleClosedException):
            return self.closed()
        busy = isinstance(error, TooManyRequestsException)
        return self.broken(self.code.TooManyRequestsException if busy else self.code.ReadException)

    def came(self, values: Sequence[Entry]) -> Any:
        """What the storage answers, as Java is told."""
        return self.entries(self.loader.jpype.java.util.ArrayList([self.of_ledger(value) for value in values]))

    def of_ledger(self, value: Entry) -> Any:
        """A value of the storage's."""
        value.counts_as_read = False  # Java tells the count
        return self.entry(*value.position, value.length, Payload(self.values, value).java())


class Surroundings:
    """What the caches of a broker share: a thread, a timer, the limit of reads in flight, and counters."""

    def __init__(
        self, kinds: Kinds, config: EntryCacheConfig, ready: Callable[[], None], now: Callable[[], int]
    ) -> None:
        self.kinds, self.ready, self.now = kinds, ready, now
        self.hits_and_misses = [0, 0, 0, 0]
        """Entries and bytes that were cached, entries and bytes that were not."""
        self.counters = kinds.counters(
            {
                "recordCacheHits": partial(add, self.hits_and_misses, 0),
                "recordCacheMiss": partial(add, self.hits_and_misses, 2),
            }
        )
        self.later: list[Any] = []
        """Tasks that wait until the limiter is not locked."""
        self.uncounted: list[Any] = []
        """Weak references to cached entries without a read count, to which an insertion may hand its own."""
        self.timers: list[tuple[int, Any]] = []
        """Tasks of the limiter's timer, and when they are due."""
        self.thread = of_interface(kinds.loader, kinds.executor, dict.fromkeys(EXECUTE, weakly(self.execute)))
        timer = of_interface(kinds.loader, TIMER, {"schedule": weakly(self.schedule)})
        self.limited = config.max_reads_in_flight > 0
        self.limiter = kinds.limiter(
            config.max_reads_in_flight, config.acquire_queue, config.acquire_timeout, timer, kinds.telemetry
        )

    def entry(self, java: Any) -> Any:
        """An entry that a reader is given."""
        return JavaEntry(java, self.ready, self.drain, self.kinds.loader.refuel)

    def count(self) -> None:
        """Java may have cached entries: values may have a count now."""
        there = [(weak, entry) for weak in self.uncounted if (entry := weak.get()) is not None and entry.refCnt()]
        self.uncounted = [weak for weak, entry in there if entry.getReadCountHandler() is None]
        for weak, entry in there:
            if (java := entry.getReadCountHandler()) is not None:
                value_of(entry).reads = count = JavaCount(java, self.kinds.loader.refuel)
                count.entry = weak

    # ---- The thread

    def executor(self) -> Any:
        """What tasks are done by."""
        return self.thread

    def execute(self, task: Any) -> None:
        """Do a task at once, unless the limiter is locked: the broker does it on another thread, which would wait."""
        if self.kinds.holds_lock(self.limiter):
            self.later.append(task)
        else:
            run(self.kinds.loader, task)

    def drain(self) -> None:
        """Do what had to wait."""
        later, self.later = self.later, []
        for task in later:
            run(self.kinds.loader, task)

    # ---- The timer

    def schedule(self, task: Any, delay: Any, unit: Any) -> None:
        """A task for later."""
        self.timers.append((self.now() + int(delay) * NANOSECONDS[str(unit.name())] // MILLISECOND, task))

    def time_out(self) -> None:
        """Do the tasks that are due."""
        self.ready()
        due = [task for at, task in self.timers if at <= self.now()]
        self.timers = [(at, task) for at, task in self.timers if at > self.now()]
        for task in due:
            run(self.kinds.loader, task)
        self.drain()

    def remaining(self) -> int:
        """The bytes that are left of the limit; 0 if there is none."""
        return int(self.limiter.getRemainingBytes()) if self.limited else 0


class Ledgers:
    """The managed ledger of a topic, by its handles."""

    def __init__(self, around: Surroundings) -> None:
        self._around, self._kinds = around, around.kinds
        self._handles: dict[int, Handle] = {}
        self._readers: list[object] = []
        """Those who read. Java refers to them as long as it likes."""
        kinds = self._kinds
        self.java = kinds.ledger(
            {
                "getName": lambda: "topic",
                "getExecutor": weakly(around.executor),
                "getConfig": lambda: kinds.config,
                "getMbean": lambda: kinds.sample,
                "getOptionalLedgerInfo": lambda _: kinds.optional.of(True),
                "getLastConfirmedEntry": lambda: kinds.values.position(LATEST, LATEST),
                "reopenReadHandle": weakly(self.reopen),
                "invalidateLedgerHandle": nothing,
                "isBatchReadEnabled": lambda: True,
                "getManagedLedgerInterceptor": lambda: None,
            }
        )

    def handle(self, handle: LedgerHandle) -> Any:
        """A handle, for Java."""
        if handle.ledger_id not in self._handles:
            self._handles[handle.ledger_id] = Handle(self._around, handle)
        return self._handles[handle.ledger_id].java

    def reopen(self, ledger: int) -> Any:
        """Another handle of a ledger."""
        handle = self._handles[int(ledger)]
        handle.kit = handle.kit.reopened()
        return self._kinds.future.completedFuture(handle.java)

    def reader(self, answered: ReadAnswered, kind: str) -> Any:
        """Somebody who reads, for Java."""
        reader = Reader(self._around, answered)
        self._readers.append(reader)
        return of_interface(self._kinds.loader, CALLBACKS + kind, reader.answers)

    def expected(self, expected: ExpectedReads) -> Any:
        """How many reads are expected, for Java."""
        self._readers.append(expected)
        kept, number = ref(expected), self._kinds.values.int

        def ask() -> Any:
            asked = kept()
            assert asked is not None, "the caches live as long as Java asks"
            return number(asked())

        return of_interface(self._kinds.loader, SUPPLIER, {"getAsInt": ask})


class Handle:
    """A ReadHandle of one ledger."""

    def __init__(self, around: Surroundings, kit: LedgerHandle) -> None:
        self._around, self.kit = around, kit
        whole, batch = weakly(self.read_all), weakly(self.read)
        self.java = of_interface(
            around.kinds.loader,
            "org.apache.bookkeeper.client.api.ReadHandle",
            {
                "getId": weakly(self.number),
                "getLength": weakly(self.length),
                "getLastAddConfirmed": weakly(self.last_confirmed),
                "readAsync": whole,
                "readUnconfirmedAsync": whole,
                "batchReadUnconfirmedAsync": lambda first, count, _size: batch(first, first + count - 1, 1),
            },
        )

    def number(self) -> int:
        """The ledger."""
        return self.kit.ledger_id

    def length(self) -> int:
        """Its bytes."""
        return self.kit.length

    def last_confirmed(self) -> int:
        """Its last entry."""
        return self.kit.last_confirmed

    def read_all(self, first: int, last: int) -> Any:
        """Ask the storage for entries, of which BookKeeper gives all or none."""
        return self.read(first, last, last - first + 1)

    def read(self, first: int, last: int, least: int) -> Any:
        """Ask the storage for entries, of which there must be so many at least."""
        future = self._around.kinds.future()
        try:
            self.kit.read(int(first), int(last), guarded(partial(self.answered, future, least)))
        except Exception as error:
            raise self._around.kinds.thrown(str(error)) from None
        return future

    def answered(self, future: Any, least: int, answer: Sequence[Entry] | Exception) -> None:
        """The storage answers."""
        self._around.ready()
        if isinstance(answer, Exception):
            future.completeExceptionally(self._around.kinds.error(answer))
        elif len(answer) < least:
            for value in answer:
                value.counts_as_read = False
                value.release()
            future.completeExceptionally(self._around.kinds.error(answer))
        else:
            future.complete(self._around.kinds.came(answer))
            self._around.count()
        self._around.drain()


class Reader:
    """Somebody who reads. Java tells what follows from permits that came back only after this is told."""

    def __init__(self, around: Surroundings, answered: ReadAnswered) -> None:
        self._around, self._answered = around, answered
        self.answers: Answers = {
            "readEntriesComplete": weakly(self.answer_all),
            "readEntryComplete": weakly(self.answer_one),
            "readEntriesFailed": weakly(self.fail),
            "readEntryFailed": weakly(self.fail),
        }

    def answer_all(self, entries: Any, _context: Any) -> None:
        """The reader gets some entries."""
        self._around.drain()
        self._answered([self._around.entry(java) for java in entries])

    def answer_one(self, entry: Any, context: Any) -> None:
        """The reader gets one."""
        self.answer_all([entry], context)

    def fail(self, error: Any, _context: Any) -> None:
        """The reader gets an error."""
        self._around.drain()
        self._answered(ReadFailed(str(error.getMessage())))


def add(counters: list[int], at: int, entries: Any, size: Any) -> None:
    """Count entries, and their bytes."""
    counters[at] += int(entries)
    counters[at + 1] += int(size)


def nothing(*_: Any) -> None:
    """Do nothing."""
