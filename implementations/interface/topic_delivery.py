"""What the manager of a topic's delayed messages is given, and must offer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from broker_tck.implementations.interface.common import Clock, Position
from broker_tck.implementations.interface.delayed_delivery import DelayedDeliveryTracker, Timer


class IllegalStateException(RuntimeError):
    """A closed or stale view raises it, and a closed manager that is asked for a tracker."""


class TopicDeliveryConfig(Protocol):
    """What the manager of a topic is configured with."""

    @property
    def tick(self) -> int:
        """Tick time in milliseconds. ``reset_tick_time`` may change it later."""

    @property
    def strict(self) -> bool | int:
        """Whether a message must never be handed out before its time; a recorded trace has 0 or 1."""

    @property
    def lookahead(self) -> int:
        """How many messages of one fixed delay a view sees before its reading pauses; 0 switches that off."""

    @property
    def prune_ms(self) -> int:
        """Minimum time between prunes in milliseconds; 0: the manager chooses."""

    @property
    def ratio(self) -> float | None:
        """The share of views that a firing must ask before it tries a prune; None: not a number."""


class Dispatcher(Protocol):
    """The dispatcher of a subscription, which reads messages and asks the tracker about them."""

    @property
    def name(self) -> str:
        """The name of the subscription. A later dispatcher may have the same."""

    @property
    def mark_delete_position(self) -> Position | None:
        """Where the subscription's cursor is: everything up to there is acknowledged. None: that is not known."""

    def read_more_entries(self) -> None:
        """Ask it to read. It may call its tracker before it returns; so the manager asks when it is done itself."""


@runtime_checkable
class SubscriptionTracker(DelayedDeliveryTracker, Protocol):
    """One subscription's view of the delayed messages of a topic: what one dispatcher was given.

    A view that was closed, or whose subscription has got another one since, raises IllegalStateException from every
    call but ``close``.
    """

    def update_mark_delete_position(self, position: Position) -> None:
        """Everything up to this position is acknowledged. It may be the same as before, or an earlier one."""


@runtime_checkable
class TopicManager(Protocol):
    """The delayed messages of a topic, for all its subscriptions (contract ``topic-delivery``).

    Times are absolute, in milliseconds. Calls come from one thread at a time. The function that a timeout calls asks
    the dispatchers itself; the kit ignores its answer.
    """

    def create_or_get_tracker(self, dispatcher: Dispatcher) -> SubscriptionTracker:
        """A tracker for a new dispatcher of a subscription."""

    def get_number_of_delayed_messages(self) -> int:
        """How many copies the index holds: a position counts once for each of its buckets. 0 after ``close``."""

    def get_buffer_memory_usage(self) -> int:
        """An estimate of the index's size in bytes."""

    def close(self) -> None:
        """Close every view, disarm the timer and let go of everything."""


@runtime_checkable
class ShowsIndex(Protocol):
    """Capability ``shows_index``: what the index is made of."""

    def get_index_sizes(self) -> tuple[int, int]:
        """How many buckets there are, and how many sets of entries: one for each ledger in each bucket."""


TopicDeliveryFactory = Callable[[TopicDeliveryConfig, Clock, Timer], TopicManager]
