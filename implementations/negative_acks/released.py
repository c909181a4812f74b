"""The client's own tracker of negative acks, of any release."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from broker_tck.implementations.interface import (
    Clocks,
    Consumer,
    MessageId,
    NackTimer,
    NegativeAcksConfig,
    Position,
    Timeout,
)
from broker_tck.implementations.jvm.errors import translating
from broker_tck.implementations.jvm.loader import Loader, classes_in
from broker_tck.implementations.jvm.netty import netty_timer
from broker_tck.implementations.jvm.positions import position_reader
from broker_tck.implementations.jvm.releases import Release
from broker_tck.implementations.jvm.standins import Methods, of_class, weakly
from broker_tck.implementations.jvm.subject import Kind, Line

API = "org/apache/pulsar/client/api/"
CLIENT = "org/apache/pulsar/client/impl/"
TRACKER = CLIENT + "NegativeAcksTracker"
COUNT = "getNackedMessagesCount"
CHUNKS = "unAckedChunkedMessageIdSequenceMap"
"""Where a consumer notes the chunks of a message as it receives it."""
CONCURRENT = "org.apache.pulsar.common.util.collections.ConcurrentOpenHashMap"
"""What that is in 3.0; a map of Java's own later."""
NO_PARTITION = -1
REQUEST = 1_000
"""Ids of a request: MAX_REDELIVER_UNACKNOWLEDGED of ConsumerImpl, whose place the kit's consumer takes."""


class Trackers:
    """Makes trackers of NegativeAcksTracker."""

    def __init__(self, loader: Loader, _release: Release) -> None:
        """Load the classes."""
        name = TRACKER.replace("/", ".")
        loader.hold(classes_in(loader.place_of(name), (name,)))
        self.loader = loader
        self.made: Callable[..., Any] = loader.named(name)
        nack = loader.named(f"{CLIENT}Nack")
        self.add: Callable[..., Any] = nack.add
        self.number: Callable[[Any], Any] = nack.number
        count = self.made.class_.getDeclaredMethod(COUNT)
        if not count.getReturnType().isPrimitive():
            count.setAccessible(True)
            self.number = lambda tracker: count.invoke(tracker).orElse(0)
        self.id, self.in_batch = (loader.named(f"{CLIENT}{kind}MessageIdImpl") for kind in ("", "Batch"))
        self.configuration = loader.named(f"{CLIENT}conf/ConsumerConfigurationData")
        self.multiplier = loader.named(f"{CLIENT}MultiplierRedeliveryBackoff")
        self.backoff = loader.named(f"{API}RedeliveryBackoff")
        self.client = of_class(loader, f"{CLIENT}PulsarClientImpl".replace("/", "."), ("timer",))
        self.consumer = of_class(
            loader,
            f"{CLIENT}ConsumerBase".replace("/", "."),
            ("getClient", "onNegativeAcksSend", "redeliverUnacknowledgedMessages"),
        )
        self.chunks = loader.named(f"{CLIENT}ConsumerBase").class_.getDeclaredField(CHUNKS)
        self.chunks.setAccessible(True)
        self.positions = position_reader(loader, f"{API}MessageIdAdv")

    def __call__(self, config: NegativeAcksConfig, clocks: Clocks, timer: NackTimer, consumer: Consumer) -> JavaNacks:
        """Make one."""
        return JavaNacks(self, config, clocks, timer, consumer)

    def configured(self, config: NegativeAcksConfig) -> Any:
        """The configuration of a consumer. A release without precision has no setter of it."""
        java = self.configuration()
        java.setNegativeAckRedeliveryDelayMicros(config.delay_us)
        if hasattr(java, "setNegativeAckPrecisionBitCnt"):
            java.setNegativeAckPrecisionBitCnt(config.precision_bits)
        if config.multiplier:
            first, most, factor = config.multiplier
            builder = self.multiplier.builder().minDelayMs(first).maxDelayMs(most).multiplier(factor)
            java.setNegativeAckRedeliveryBackoff(builder.build())
        elif (delays := config.backoff_ms) is not None:
            answers = Methods({"next": table(delays)})
            java.setNegativeAckRedeliveryBackoff(self.loader.jpype.JProxy(self.backoff, inst=answers))
        return java


def chunk_map(loader: Loader, field: Any) -> Any:
    """An empty map of the chunks of messages, of the type of a field."""
    if str(field.getType().getName()) == CONCURRENT:
        return loader.named(CONCURRENT).newBuilder().build()
    return loader.jpype.JClass("java.util.concurrent.ConcurrentHashMap")()


def chunked_id(loader: Loader, ledger: int, chunks: Sequence[int]) -> tuple[Any, Any]:
    """The id of a message in chunks, and the ids of its chunks."""
    kind = loader.named(f"{CLIENT}MessageIdImpl")
    each = [kind(ledger, chunk, NO_PARTITION) for chunk in chunks]
    java = loader.named(f"{CLIENT}ChunkMessageIdImpl")(each[0], each[-1])
    array = loader.jpype.JClass("java.lang.reflect.Array").newInstance(kind.class_, len(each))
    array[:] = each
    return java, array


def table(delays: Sequence[int]) -> Callable[[Any], int]:
    """The delay for each redelivery count; the last for all above."""
    last = len(delays) - 1
    return lambda count: delays[min(int(count), last)]


@translating
class JavaNacks:
    """A tracker of Java's behind the kit's interface. Before each call Java is told the time."""

    def __init__(
        self, kind: Trackers, config: NegativeAcksConfig, clocks: Clocks, timer: NackTimer, consumer: Consumer
    ) -> None:
        self._kind, self._clocks, self._timer, self._consumer = kind, clocks, timer, consumer
        self._ready()
        wheel = netty_timer(kind.loader, weakly(self._arm))
        client = kind.client({"timer": lambda: wheel})
        java = kind.consumer(
            {
                "getClient": lambda: client,
                "onNegativeAcksSend": weakly(self._send),
                "redeliverUnacknowledgedMessages": weakly(self._request),
            }
        )
        self._followed: list[tuple[int, Any]] = []
        """Ids of a class of their own, each with Java's weak reference to the id that Java was given for it."""
        self._chunks = chunk_map(kind.loader, kind.chunks)
        kind.chunks.set(java, self._chunks)
        self._tracker = kind.made(java, kind.configured(config))

    def _ready(self) -> None:
        loader = self._kind.loader
        loader.ready(self._clocks.wall())
        loader.held.monotonic = self._clocks.monotonic()

    def _arm(self, delay: int, fire: Callable[[], None]) -> Any:
        def fired(_timeout: Timeout) -> None:
            self._ready()
            fire()

        return self._timer.new_timeout(self._clocks.monotonic() + delay, fired)

    def _read(self, ids: Any) -> list[Position]:
        return sorted(set(self._kind.positions(ids)))

    def _send(self, ids: Any) -> None:
        self._consumer.on_negative_acks_send(self._read(ids))

    def _request(self, ids: Any) -> None:
        positions = self._read(ids)
        for start in range(0, len(positions), REQUEST):
            self._consumer.redeliver_unacknowledged_messages(positions[start : start + REQUEST])

    def _id(self, message_id: MessageId) -> Any:
        java = self._java_id(message_id)
        if type(message_id.entry_id) is not int:  # of a plain number nobody asks what has become of it
            self._followed.append((message_id.entry_id, self._kind.loader.jpype.java.lang.ref.WeakReference(java)))
        return java

    def _java_id(self, message_id: MessageId) -> Any:
        ledger, entry, index, chunks = message_id
        kind = self._kind
        if index >= 0:
            return kind.in_batch(ledger, entry, NO_PARTITION, index)
        if not chunks:
            return kind.id(ledger, entry, NO_PARTITION)
        java, each = chunked_id(kind.loader, ledger, chunks)
        self._chunks.put(java, each)
        return java

    def add(self, message_id: MessageId) -> None:
        """Track a message by its id alone."""
        self._ready()
        self._tracker.add(self._id(message_id))

    def add_message(self, message_id: MessageId, redelivery_count: int) -> None:
        """Track a message that was redelivered so often before."""
        self._ready()
        self._kind.add(self._tracker, self._id(message_id), redelivery_count)

    def get_nacked_messages_count(self) -> int:
        """How many items are tracked."""
        self._ready()
        return int(self._kind.number(self._tracker))

    def close(self) -> None:
        """Close it; the consumer, which closes it, forgets its own notes."""
        self._ready()
        self._tracker.close()
        self._chunks.clear()

    def collect_garbage(self) -> None:
        """Have Java collect its garbage, and let go of the ids that it has let go of."""
        self._kind.loader.jpype.java.lang.System.gc()
        self._followed = [(number, java) for number, java in self._followed if java.get() is not None]


KINDS = (
    Kind(
        "negative-acks",
        "negative-acks",
        "NegativeAcksTracker",
        Trackers,
        (
            Line((3,), "", {}),
            Line((3, 0, 7), "legacy-java-3.0", {"threads": False}),
            Line((3, 0, 8), "legacy-java", {"negative_ids": False}),
            Line((3, 1), "", {}),
            Line((3, 1, 1), "legacy-java-3.0", {"threads": False}),
            Line((3, 3, 3), "legacy-java", {"negative_ids": False}),
            Line((4,), "legacy-java-3.0", {"threads": False}),
            Line((4, 0, 1), "legacy-java", {"negative_ids": False}),
            Line((4, 0, 2), "pip-393-java", {"precision_bits": 72}),
            Line((4, 2), "pip-393-java-4.2", {"precision_bits": 72}),
        ),
        ("pulsar-client-original", "pulsar-client-api", "pulsar-client-admin-api", "pulsar-common"),
    ),
)
"""Each branch changed in a release of its own (PRs 23582, 23600).

Those that lack ``threads`` call the application with their own monitor held: another thread that nacks waits for it.
No profile are 3.0.0 and 3.0.2, which ask for the redelivery of nothing (NA-25), and 3.1.0, which loses chunks (NA-06).
"""
