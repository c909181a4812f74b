"""The baseline: a tracker of delayed delivery for each subscription, each with an index of its own.

It is what brokers do without PIP-448, behind the interface of a topic's manager. It conforms to no profile: a view has
only what it added itself, there is a timeout for each view, and what is acknowledged stays until it is due.
"""

from __future__ import annotations

from typing import ClassVar, cast

from broker_tck.implementations.delayed_delivery.time_bucket import TimeBucketTracker
from broker_tck.implementations.interface import (
    Clock,
    DelayedDeliveryConfig,
    Dispatcher,
    IllegalStateException,
    Position,
    Timer,
    TopicDeliveryConfig,
)
from broker_tck.implementations.topic_delivery.clock import TopicTimer


class OneTracker(TimeBucketTracker):
    """A subscription's own tracker, which passes over what is acknowledged."""

    def __init__(self, manager: TrackerEach, dispatcher: Dispatcher) -> None:
        super().__init__(cast(DelayedDeliveryConfig, manager.config), manager.clock, manager.timer)
        self._timer = TopicTimer(manager.clock, manager.timer, dispatcher.read_more_entries)
        self._manager = manager
        self._mark = dispatcher.mark_delete_position

    def get_scheduled_messages(self, max_messages: int) -> list[Position]:
        """Hand out what is due and not acknowledged. The budget counts copies, but for those that are acknowledged."""
        out: list[Position] = []
        left = max_messages
        while left > 0 and self.has_message_available():
            held = self.get_number_of_delayed_messages()
            taken = super().get_scheduled_messages(left)
            passed = [position for position in taken if self._mark is not None and position <= self._mark]
            out += [position for position in taken if position not in passed]
            left -= held - self.get_number_of_delayed_messages() - len(passed)
        return sorted(out) if out else super().get_scheduled_messages(0)

    def update_mark_delete_position(self, position: Position) -> None:
        """Everything up to this position is acknowledged."""
        self._mark = position

    def close(self) -> None:
        """Let go of everything."""
        super().close()
        if self in self._manager.trackers:
            self._manager.trackers.remove(self)


class TrackerEach:
    """Trackers that know nothing of each other."""

    contract: ClassVar[str] = "topic-delivery"
    capabilities: ClassVar[dict[str, bool]] = {"shows_index": False}

    def __init__(self, config: TopicDeliveryConfig, clock: Clock, timer: Timer) -> None:
        self.config = config
        self.clock = clock
        self.timer = timer
        self.trackers: list[OneTracker] = []
        self._is_open = True

    def create_or_get_tracker(self, dispatcher: Dispatcher) -> OneTracker:
        """A tracker of its own for each dispatcher."""
        if not self._is_open:
            raise IllegalStateException("the manager is closed")
        tracker = OneTracker(self, dispatcher)
        self.trackers.append(tracker)
        return tracker

    def get_number_of_delayed_messages(self) -> int:
        """How many copies all of them hold."""
        return sum(tracker.get_number_of_delayed_messages() for tracker in self.trackers)

    def get_buffer_memory_usage(self) -> int:
        """What all of them take, in bytes."""
        return sum(tracker.get_buffer_memory_usage() for tracker in self.trackers)

    def close(self) -> None:
        """Close all of them."""
        self._is_open = False
        for tracker in [*self.trackers]:
            tracker.close()
