"""The view that a dispatcher is given: a tracker of one subscription over the shared index."""

from __future__ import annotations

from typing import TYPE_CHECKING

from broker_tck.implementations.delayed_delivery.fixed_delay import FixedDelayDetector
from broker_tck.implementations.interface import Dispatcher, IllegalStateException, Position
from broker_tck.implementations.topic_delivery.sight import Sight

if TYPE_CHECKING:
    from broker_tck.implementations.topic_delivery.manager import SharedIndexManager


class View:
    """One subscription's view. It is open until it is closed, or its subscription gets another one (TD-16, TD-26)."""

    __slots__ = ("_manager", "delays", "dispatcher", "hidden", "is_open", "nothing_before", "sight")

    def __init__(self, manager: SharedIndexManager, dispatcher: Dispatcher, sight: Sight) -> None:
        self._manager = manager
        self.dispatcher = dispatcher
        self.sight = sight
        self.delays = FixedDelayDetector()
        self.is_open = True
        self.hidden = 0
        """How many copies were held and not seen, those that have left since among them."""
        self.nothing_before = 0
        """In buckets with smaller keys it sees nothing, so that nobody looks there again."""

    def add_message(self, ledger_id: int, entry_id: int, deliver_at: int) -> bool:
        """Track a message. False: it is due, or not delayed, and the caller dispatches it now (TD-06)."""
        return self._asked().add(self, ledger_id, entry_id, deliver_at)

    def has_message_available(self) -> bool:
        """Whether a message may be handed out now (TD-10)."""
        return self._asked().answers(self)

    def get_scheduled_messages(self, max_messages: int) -> list[Position]:
        """Hand out what is due, in the order of positions; the first by bucket, ledger and entry (TD-09, DD-20)."""
        return self._asked().hand_out(self, max_messages)

    def should_pause_all_deliveries(self) -> bool:
        """Whether so many messages of one delay are seen that reading on is of no use (TD-12)."""
        return self._asked().pauses(self)

    def get_number_of_delayed_messages(self) -> int:
        """How many messages this subscription waits for (TD-11)."""
        return self._asked().count_of(self)

    def get_buffer_memory_usage(self) -> int:
        """An estimate of the size of the topic's index, in bytes (DD-29)."""
        return self._asked().get_buffer_memory_usage()

    def update_mark_delete_position(self, position: Position) -> None:
        """Everything up to this position is acknowledged (TD-15)."""
        self._asked().acknowledge(self, position)

    def reset_tick_time(self, tick: int) -> None:
        """Change the tick time of the topic, in milliseconds (TD-14)."""
        self._asked().reset_tick_time(tick)

    def clear(self) -> None:
        """Forget every message; other subscriptions keep theirs (TD-13)."""
        self._asked().forget(self)

    def close(self) -> None:
        """Leave. Idempotent; after it, and where the subscription has another view, no other call is answered."""
        if self.is_open:
            self._manager.leave(self)

    def _asked(self) -> SharedIndexManager:
        if not self.is_open:
            raise IllegalStateException(f"the view of {self.dispatcher.name} is closed, or there is a newer one")
        return self._manager
