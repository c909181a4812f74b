"""What a tracker of negative acks is given and must offer."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from broker_tck.implementations.interface.common import Clocks, Position, Timeout


class MessageId(NamedTuple):
    """What an application nacks. A message of a batch has its index, one in chunks the entries of all its chunks."""

    ledger_id: int
    entry_id: int
    batch_index: int = -1
    chunks: Sequence[int] = ()
    """Empty unless the message is chunked; ascending, and the last is ``entry_id``. They need not be neighbours."""


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


NackFired = Callable[[Timeout], None]
"""What a timeout calls when it fires, with itself."""


class NackTimer(Protocol):
    """A client's timer. It fires to the nanosecond, and never inside a call to the subject."""

    def new_timeout(self, deadline: int, fired: NackFired) -> Timeout:
        """Arm a timeout for a time of the monotonic clock. One that has passed fires when the clock moves next."""


class Consumer(Protocol):
    """The consumer that a tracker works for. What its callback does may come back to the tracker, or throw."""

    def on_negative_acks_send(self, ids: Collection[Position]) -> None:
        """The application's callback, with all ids of a firing. It may throw."""

    def redeliver_unacknowledged_messages(self, ids: Collection[Position]) -> None:
        """Send one request. It may throw, and may read the ids when the firing has ended: do not change them."""


@runtime_checkable
class NegativeAcksTracker(Protocol):
    """A tracker of messages that were nacked (contract ``negative-acks``). Calls come one at a time.

    While the tracker calls its consumer back, other calls come, from this thread or from another one.
    """

    def add(self, message_id: MessageId) -> None:
        """Track a message by its id alone."""

    def add_message(self, message_id: MessageId, redelivery_count: int) -> None:
        """Track a message that was redelivered so often before."""

    def get_nacked_messages_count(self) -> int:
        """How many items are tracked."""

    def close(self) -> None:
        """Disarm the timer and let go of everything."""


@runtime_checkable
class ChunkLedgers(Protocol):
    """Capability ``chunk_ledgers``: messages whose chunks are of several ledgers."""

    def add_chunked_message(self, chunks: Sequence[Position], redelivery_count: int) -> None:
        """Track a message by the positions of all its chunks, in ascending order. Its id is that of the last."""


NegativeAcksFactory = Callable[[NegativeAcksConfig, Clocks, NackTimer, Consumer], NegativeAcksTracker]
