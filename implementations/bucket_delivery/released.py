"""The broker's own bucket tracker, of any release that has the one of a profile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import finalize

from broker_tck.implementations.bucket_delivery.durable_java import JavaDurable, JavaDurables
from broker_tck.implementations.delayed_delivery.released import (
    ABSTRACT,
    PACKAGE,
    InMemory,
    JavaTracker,
    dispatched,
    prepare,
)
from broker_tck.implementations.interface import (
    BucketDeliveryConfig,
    BucketSnapshotStorage,
    Clock,
    CursorProperties,
    Done,
    InvalidSnapshotException,
    Timer,
)
from broker_tck.implementations.jvm.errors import translated, translating
from broker_tck.implementations.jvm.loader import Loader, classes_in
from broker_tck.implementations.jvm.releases import Release
from broker_tck.implementations.jvm.standins import Answers, Methods
from broker_tck.implementations.jvm.subject import Kind, Line

BUCKETS = PACKAGE + "bucket."
TRACKER = BUCKETS + "BucketDelayedDeliveryTracker"
FAILED = BUCKETS + "RecoverDelayedDeliveryTrackerException"
"""What a recovery throws, around what the storage did."""
UNREADABLE = "BucketSnapshotSerializationException"
HELD = tuple(
    BUCKETS + name for name in ("BucketDelayed", "BucketContext", "Immutable", "Mutable", "Combined", "Triple")
)
"""How the names of the classes begin that a tracker is made of; and there is ``Bucket`` itself, up to 4.2."""


class BucketTrackers(InMemory):
    """Makes trackers of BucketDelayedDeliveryTracker."""

    def __init__(self, loader: Loader, release: Release) -> None:
        """Load the class."""
        names = classes_in(loader.place_of(TRACKER), HELD)
        prepare(loader, [*names, *([BUCKETS + "Bucket"] if loader.has(BUCKETS + "Bucket") else [])])
        super().__init__(loader, release)
        self.inside = loader.named(BUCKETS + "Inside")
        self.made = loader.named(TRACKER)
        self.durables = JavaDurables(loader)
        self.closes_later = hasattr(self.made, "closeAsync")
        self.consumer = loader.jpype.JClass("java.util.function.BiConsumer")
        self.thread = loader.jpype.JClass("java.lang.Thread")

    def __call__(  # type: ignore[override]  # a storage and a cursor besides
        self,
        config: BucketDeliveryConfig,
        clock: Clock,
        timer: Timer,
        storage: BucketSnapshotStorage,
        cursor: CursorProperties,
    ) -> JavaBuckets:
        """Make one, which recovers."""
        return JavaBuckets(self, config, clock, timer, storage, cursor)


@translating
class JavaBuckets(JavaTracker):
    """A bucket tracker of Java's behind the kit's interface."""

    _kind: BucketTrackers

    def __init__(
        self,
        kind: BucketTrackers,
        config: BucketDeliveryConfig,
        clock: Clock,
        timer: Timer,
        storage: BucketSnapshotStorage,
        cursor: CursorProperties,
    ) -> None:
        self._durable = JavaDurable(kind.durables, storage, cursor, self._ready)
        super().__init__(kind, config, clock, timer)
        shared, mutable = self._tracker.getSharedBucketPriorityQueue(), self._tracker.getLastMutableBucket()
        self._queues = shared, mutable
        self._let_go = finalize(self, let_go, shared.close, mutable.close)
        self._let_go.atexit = False

    def _more(self) -> Answers:
        cursor = self._durable.java_cursor
        return {"getCursor": lambda: cursor}

    def _made(self, config: BucketDeliveryConfig, dispatcher: Any, wheel: Any) -> Any:
        try:
            return self._kind.made(
                dispatcher,
                wheel,
                config.tick,
                self._java_clock,
                config.strict,
                self._durable.java_storage,
                config.min_index_count,
                config.time_step,
                config.max_indexes,
                config.max_buckets,
            )
        except self._kind.loader.jpype.JException as error:
            raise reason(error) from None

    def contains_message(self, ledger_id: int, entry_id: int) -> bool:
        """Whether a message is tracked."""
        return bool(self._ready().containsMessage(ledger_id, entry_id))

    def clear(self) -> None:
        """Forget every message. The future that Java answers with is nobody's."""
        self._ready().clear()

    def close(self, done: Done[None] | None = None) -> None:
        """Close it. Up to 4.0 that waits for a minute, as long as a creation is under way."""
        tracker = self._ready()
        self._let_go.detach()
        if self._kind.closes_later:
            tell_at_end(self._kind, tracker.closeAsync(), done)
        elif not would_wait(self._kind.thread, tracker.close) and done:
            done(None)

    def get_buckets(self) -> list[tuple[int, int, int, int]]:
        """The placed buckets."""
        numbers = map(int, str(self._kind.inside.placed(self._tracker)).split())
        return [*zip(*[numbers] * 4, strict=True)]

    def get_queue_sizes(self) -> tuple[int, int]:
        """How many indexes are in memory."""
        shared, mutable = self._queues
        return int(shared.size()), int(self._kind.inside.size(mutable))


def reason(error: Any) -> BaseException:
    """Why a recovery has failed. A snapshot that cannot be read is told as the storage told it, by the kit's name."""
    if str(error.getClass().getName()) == FAILED:
        error = error.getCause()
    found = translated(error)
    return InvalidSnapshotException(str(found)) if type(found).__name__ == UNREADABLE else found


def tell_at_end(kind: BucketTrackers, future: Any, done: Done[None] | None) -> None:
    """Tell when a future has ended, however it has."""
    if done and future.isDone():
        done(None)
    elif done:
        told = done

        def accept(_result: Any, _error: Any) -> None:
            told(None)

        future.whenComplete(kind.loader.jpype.JProxy(kind.consumer, inst=Methods({"accept": accept})))


def would_wait(thread: Any, call: Callable[[], None]) -> bool:
    """Make a call; answers whether it would have waited. It goes on as if it had done so for its whole minute."""
    thread.currentThread().interrupt()
    call()
    return not thread.interrupted()


def let_go(*ends: Callable[[], None]) -> None:
    """Give the memory back that is none of Java's own."""
    for end in ends:
        end()


WOVEN = (
    ABSTRACT,
    *(BUCKETS + name for name in ("BucketDelayedDeliveryTracker", "Bucket.", "ImmutableBucket", "MutableBucket")),
    "org.apache.pulsar.common.util.FutureUtil$Sequencer",
)
KINDS = (
    Kind(
        "bucket",
        "bucket-delivery",
        "BucketDelayedDeliveryTracker",
        BucketTrackers,
        (
            Line((3,), "", {}),
            Line((4,), "bucket-2025", {"tells_when_closed": False}),
            Line((4, 1), "", {}),
            Line((4, 2, 4), "bucket-4.2", {}),
            Line((5,), "", {}),
            Line((5, 0, 1), "bucket-5.0", {}),
        ),
        boxes=dispatched("broker_tck.boxes.Buckets", WOVEN, called_back=True),
    ),
)
"""No profile have 3.0, which strikes a key out before it deletes the snapshot, and the milestone of 5.0."""
