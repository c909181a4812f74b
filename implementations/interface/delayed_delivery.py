"""What a delayed-delivery tracker is given and must offer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

from broker_tck.implementations.interface.common import Clock, Position, Timeout

Fired = Callable[[Timeout], bool]
"""A timeout calls it with itself when it fires; answers whether the dispatcher must read now."""


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
        """Whether the dispatcher must stop reading, because all messages that it would read are delayed alike."""

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
