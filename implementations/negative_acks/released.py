"""The client's own tracker of negative acks, of any release."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from broker_tck.implementations.interface import (
    Clocks,
    Consumer,
    MessageId,
    NackTimer,
    NegativeAcksConfig,
    Position,
)
from broker_tck.implementations.jvm.client import API, CLIENT, Clients, JavaTracker
from broker_tck.implementations.jvm.errors import translating
from broker_tck.implementations.jvm.loader import Loader, classes_in
from broker_tck.implementations.jvm.positions import position_reader
from broker_tck.implementations.jvm.releases import Release
from broker_tck.implementations.jvm.standins import weakly
from broker_tck.implementations.jvm.subject import Boxed, Kind, Line

TRACKER = CLIENT + "NegativeAcksTracker"
COUNT = "getNackedMessagesCount"
REQUEST = 1_000
"""Ids of a request: MAX_REDELIVER_UNACKNOWLEDGED of ConsumerImpl, whose place the kit's consumer takes."""


class Trackers(Clients):
    """Makes trackers of NegativeAcksTracker."""

    def __init__(self, loader: Loader, _release: Release) -> None:
        """Load the classes."""
        name = TRACKER.replace("/", ".")
        loader.hold(classes_in(loader.place_of(name), (name,)))
        super().__init__(loader, ("timer",), ("getClient", "onNegativeAcksSend", "redeliverUnacknowledgedMessages"))
        self.made: Callable[..., Any] = loader.named(name)
        nack = loader.named(f"{CLIENT}Nack")
        self.add: Callable[..., Any] = nack.add
        self.number: Callable[[Any], Any] = nack.number
        count = self.made.class_.getDeclaredMethod(COUNT)
        if not count.getReturnType().isPrimitive():
            count.setAccessible(True)
            self.number = lambda tracker: count.invoke(tracker).orElse(0)
        self.multiplier = loader.named(f"{CLIENT}MultiplierRedeliveryBackoff")
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
        elif config.backoff_ms is not None:
            java.setNegativeAckRedeliveryBackoff(self.backoff(config.backoff_ms))
        return java


@translating
class JavaNacks(JavaTracker):
    """A tracker of negative acks of Java's."""

    def __init__(
        self, kind: Trackers, config: NegativeAcksConfig, clocks: Clocks, timer: NackTimer, consumer: Consumer
    ) -> None:
        super().__init__(kind, clocks, timer)
        self._kind, self._consumer, wheel = kind, consumer, self._wheel
        client = kind.client({"timer": lambda: wheel})
        java = self._consumer_with(
            {
                "getClient": lambda: client,
                "onNegativeAcksSend": weakly(self._send),
                "redeliverUnacknowledgedMessages": weakly(self._request),
            }
        )
        self._tracker = kind.made(java, kind.configured(config))

    def _read(self, ids: Any) -> list[Position]:
        return sorted(set(self._kind.positions(ids)))

    def _send(self, ids: Any) -> None:
        self._consumer.on_negative_acks_send(self._read(ids))

    def _request(self, ids: Any) -> None:
        positions = self._read(ids)
        for start in range(0, len(positions), REQUEST):
            self._consumer.redeliver_unacknowledged_messages(positions[start : start + REQUEST])

    def add(self, message_id: MessageId) -> None:
        """Track a message by its id alone."""
        self._ready()
        self._tracker.add(self._java_id(*message_id))

    def add_message(self, message_id: MessageId, redelivery_count: int) -> None:
        """Track a message that was redelivered so often before."""
        self._ready()
        self._kind.add(self._tracker, self._java_id(*message_id), redelivery_count)

    def get_nacked_messages_count(self) -> int:
        """How many items are tracked."""
        self._ready()
        return int(self._kind.number(self._tracker))

    def close(self) -> None:
        """Close it; the consumer, which closes it, forgets its own notes."""
        self._ready()
        self._tracker.close()
        self._chunks.clear()


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
        (Boxed((3,), "broker_tck.boxes.NegativeAcks", (TRACKER.replace("/", "."),)),),
    ),
)
"""Each branch changed in a release of its own (PRs 23582, 23600).

Those that lack ``threads`` call the application with their own monitor held: another thread that nacks waits for it.
No profile are 3.0.0 and 3.0.2, which ask for the redelivery of nothing (NA-25), and 3.1.0, which loses chunks (NA-06).
"""
