"""The client's own tracker of ack timeouts, of any release."""

from __future__ import annotations

from typing import Any

from broker_tck.implementations.interface import (
    AckTimeoutConfig,
    AckTimeoutConsumer,
    AckTimer,
    Clocks,
    TrackedId,
    TrackedPosition,
)
from broker_tck.implementations.jvm.client import CLIENT, Clients, JavaTracker
from broker_tck.implementations.jvm.errors import translating
from broker_tck.implementations.jvm.loader import Loader, classes_in
from broker_tck.implementations.jvm.releases import Release
from broker_tck.implementations.jvm.standins import of_class, weakly
from broker_tck.implementations.jvm.subject import Boxed, Kind, Line

HELD = tuple(f"org.apache.pulsar.client.impl.{name}" for name in ("UnAcked", "UnackMessageIdWrapper"))
"""The beginnings of the names of the classes under test."""
TRACKER = CLIENT + "UnAcked{topic}Message{redelivery}Tracker"
TENANT = "persistent://public/default/"


class Trackers(Clients):
    """Makes trackers of the class that a consumer with some configuration has."""

    def __init__(self, loader: Loader, _release: Release) -> None:
        """Load the classes."""
        loader.hold(classes_in(loader.place_of(f"{HELD[0]}MessageTracker"), HELD))
        super().__init__(
            loader,
            ("timer", "instrumentProvider"),
            ("getTopic", "getSubscription", "toString", "onAckTimeoutSend", "redeliverUnacknowledgedMessages"),
        )
        self.size = loader.named(TRACKER.format(topic="", redelivery="")).class_.getDeclaredMethod("size")
        self.size.setAccessible(True)
        self.of_topic = loader.named(f"{CLIENT}TopicMessageIdImpl")
        self.metrics = metrics(loader)

    def __call__(
        self, config: AckTimeoutConfig, clocks: Clocks, timer: AckTimer, consumer: AckTimeoutConsumer
    ) -> JavaAckTimeouts:
        """Make one."""
        return JavaAckTimeouts(self, config, clocks, timer, consumer)

    def configured(self, config: AckTimeoutConfig) -> Any:
        """The configuration of a consumer."""
        java = self.configuration()
        java.setAckTimeoutMillis(config.ack_timeout)
        java.setTickDurationMillis(config.tick)
        if config.backoff is not None:
            java.setAckTimeoutRedeliveryBackoff(self.backoff(config.backoff))
        return java


def metrics(loader: Loader) -> Any:
    """Where a client of 4.0 or later counts; what it counts is dropped. None before."""
    name = f"{CLIENT}metrics/".replace("/", ".")
    if not loader.has(f"{name}InstrumentProvider"):
        return None
    counter = of_class(loader, f"{name}Counter", ("add", "increment"))({"add": lambda _: None})
    return of_class(loader, f"{name}InstrumentProvider", ("newCounter",))({"newCounter": lambda *_: counter})


@translating
class JavaAckTimeouts(JavaTracker):
    """A tracker of ack timeouts of Java's."""

    def __init__(
        self, kind: Trackers, config: AckTimeoutConfig, clocks: Clocks, timer: AckTimer, consumer: AckTimeoutConsumer
    ) -> None:
        super().__init__(kind, clocks, timer)
        self._kind, self._consumer, wheel = kind, consumer, self._wheel
        client = kind.client({"timer": lambda: wheel, "instrumentProvider": lambda: kind.metrics})
        java = self._consumer_with(
            {
                "getTopic": lambda: "",
                "getSubscription": lambda: "",
                "toString": lambda: "",
                "onAckTimeoutSend": weakly(self._send),
                "redeliverUnacknowledgedMessages": weakly(self._request),
            }
        )
        name = TRACKER.format(
            topic="Topic" if config.topics else "", redelivery="" if config.backoff is None else "Redelivery"
        )
        self._tracker = kind.loader.named(name)(client, java, kind.configured(config))

    def _send(self, ids: Any) -> None:
        self._consumer.on_ack_timeout_send(read(ids))

    def _request(self, ids: Any) -> None:
        self._consumer.redeliver_unacknowledged_messages(read(ids))

    def _id(self, message: TrackedId, received: bool = False) -> Any:
        ledger, entry, index, chunks, topic = message
        java = self._java_id(ledger, entry, index, chunks, received)
        return self._kind.of_topic(TENANT + topic, java) if topic else java

    def add(self, message_id: TrackedId, redelivery_count: int) -> bool:
        """Track a message that was redelivered so often before."""
        self._ready()
        return bool(self._tracker.add(self._id(message_id, received=True), redelivery_count))

    def remove(self, message_id: TrackedId) -> bool:
        """A message was acknowledged."""
        self._ready()
        return bool(self._tracker.remove(self._id(message_id)))

    def remove_messages_till(self, message_id: TrackedId) -> int:
        """All messages up to one were acknowledged."""
        self._ready()
        return int(self._tracker.removeMessagesTill(self._id(message_id)))

    def remove_topic_messages(self, topic: str) -> int:
        """A topic was left. The tracker of one topic has no such method, and no such message."""
        self._ready()
        leave = getattr(self._tracker, "removeTopicMessages", None)
        return int(leave(TENANT + topic)) if leave else 0

    def clear(self) -> None:
        """Let go of everything."""
        self._ready()
        self._tracker.clear()

    def size(self) -> int:
        """How many messages are tracked."""
        self._ready()
        return int(self._kind.size.invoke(self._tracker))

    def close(self) -> None:
        """Close it."""
        self._ready()
        self._tracker.close()

    def collect_garbage(self) -> None:
        """The same once the consumer has forgotten its notes: nothing is tracked."""
        self._chunks.clear()
        super().collect_garbage()


def read(ids: Any) -> list[TrackedPosition]:
    """The ids of a set of Java's."""
    return [(int(found.getLedgerId()), int(found.getEntryId()), int(found.getBatchIndex())) for found in ids]


JARS = ("pulsar-client-original", "pulsar-client-api", "pulsar-common", "pulsar-client-admin-api")
"""No other kind has them in this order, so its classes have a loader of their own, in which they are held."""
LOCKED = {"threads": False}
"""With a backoff it calls the application with its own lock held: another thread that adds waits for it."""
KINDS = (
    Kind(
        "ack-timeout",
        "ack-timeout",
        "UnAckedMessageTracker",
        Trackers,
        (
            Line((3,), "ack-timeout-java", LOCKED),
            Line((4, 2, 4), "ack-timeout-java-4.2", LOCKED),
            Line((5,), "ack-timeout-java-5.0.0-M1", LOCKED),
            Line((5, 0, 1), "ack-timeout-java-4.2", LOCKED),
        ),
        JARS,
        (Boxed((3,), "broker_tck.boxes.AckTimeouts", HELD),),
    ),
)
"""With a backoff, PR 25916 has topics left whole, and PR 26043 has a cancelled timeout do nothing."""
