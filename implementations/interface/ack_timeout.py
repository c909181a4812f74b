"""What a tracker of ack timeouts is given and must offer."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from broker_tck.implementations.interface.common import Clocks
from broker_tck.implementations.interface.negative_acks import NackTimer

TrackedPosition = tuple[int, int, int]
"""Ledger id, entry id and batch index, -1 if there is none; ordered as tuples are."""


class TrackedId(NamedTuple):
    """The id of a message that was received. Two are of one message if ledger, entry and batch index are the same."""

    ledger_id: int
    entry_id: int
    batch_index: int = -1
    chunks: Sequence[int] = ()
    """The entries of all its chunks, the last of which is ``entry_id``; empty unless it has several."""
    topic: str = ""
    """The topic, or the partition of one, that it is of; empty for a consumer of one topic."""


class AckTimeoutConfig(Protocol):
    """What a tracker of ack timeouts is configured with. Times are in milliseconds."""

    @property
    def ack_timeout(self) -> int:
        """How long the application may take to acknowledge a message."""

    @property
    def tick(self) -> int:
        """How often the tracker looks."""

    @property
    def backoff(self) -> Sequence[int] | None:
        """The further delay for each redelivery count, the last one for all above; None: there is no backoff."""

    @property
    def topics(self) -> Sequence[str]:
        """The topics of a consumer of many; empty for a consumer of one."""


class AckTimer(NackTimer, Protocol):
    """A client's timer, as trackers of negative acks have it: it waits by the monotonic clock."""


class AckTimeoutConsumer(Protocol):
    """The consumer that a tracker works for. What its callback does may come back to the tracker, or throw."""

    def on_ack_timeout_send(self, ids: Collection[TrackedPosition]) -> None:
        """The application's callback, with all ids of a firing. It may throw."""

    def redeliver_unacknowledged_messages(self, ids: Collection[TrackedPosition]) -> None:
        """Send a request. It may throw, and may read the ids when the firing has ended: do not change them."""


@runtime_checkable
class AckTimeoutTracker(Protocol):
    """A tracker of messages that were received and not acknowledged (contract ``ack-timeout``).

    Calls come one at a time. While the tracker calls its consumer back, other calls come, from this thread or from
    another one.
    """

    def add(self, message_id: TrackedId, redelivery_count: int) -> bool:
        """Track a message that was redelivered so often before; whether it was not tracked yet."""

    def remove(self, message_id: TrackedId) -> bool:
        """A message was acknowledged; whether it was tracked."""

    def remove_messages_till(self, message_id: TrackedId) -> int:
        """All messages up to one were acknowledged; how many of them were tracked."""

    def remove_topic_messages(self, topic: str) -> int:
        """A topic was left; how many of its messages were tracked."""

    def clear(self) -> None:
        """Let go of everything."""

    def size(self) -> int:
        """How many messages are tracked."""

    def close(self) -> None:
        """Disarm the timer and let go of everything, for good."""


AckTimeoutFactory = Callable[[AckTimeoutConfig, Clocks, AckTimer, AckTimeoutConsumer], AckTimeoutTracker]
