"""What a subject is given and what it must offer, one protocol a contract.

The names are those of the broker's own interface in snake case. Nothing here is shared with the reference
model: a subject that imports this module knows no more of the specification than its signatures.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

Position = tuple[int, int]
"""Ledger id and entry id, ordered as tuples are."""

Clock = Callable[[], int]
"""The time now, in milliseconds since the epoch. A subject has no other source of time."""


class Timeout(Protocol):
    """A timer that was armed."""

    @property
    def cancelled(self) -> bool:
        """Whether :meth:`cancel` was called."""

    def cancel(self) -> None:
        """Disarm. A firing that is already on its way may still arrive, and has to be ignored."""


Fired = Callable[[Timeout], bool]
"""What a timeout calls when it fires, with itself; answers whether the dispatcher is to read now."""


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
        """Whether the dispatcher is to stop reading, as everything it would read is delayed alike."""

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


# ---- Contract negative-acks


class MessageId(NamedTuple):
    """What an application nacks. A message of a batch has its index, one in chunks the entries of all its chunks."""

    ledger_id: int
    entry_id: int
    batch_index: int = -1
    chunks: Sequence[int] = ()
    """Empty unless the message is chunked; the last is ``entry_id``."""


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


class Clocks(Protocol):
    """The two clocks of a client. It has no other source of time."""

    def wall(self) -> int:
        """Milliseconds since the epoch. They may jump, both ways."""

    def monotonic(self) -> int:
        """Nanoseconds since some moment. They only go forward."""


NackFired = Callable[[Timeout], None]
"""What a timeout calls when it fires, with itself."""


class NackTimer(Protocol):
    """A client's timer. It fires to the nanosecond, and never inside a call to the subject."""

    def new_timeout(self, deadline: int, fired: NackFired) -> Timeout:
        """Arm a timeout for a time of the monotonic clock. One that has passed fires when the clock moves next."""


class Consumer(Protocol):
    """The consumer that a tracker works for. What its callback does may come back to the tracker, or throw."""

    def on_negative_acks_send(self, ids: Collection[Position]) -> None:
        """The application's callback, with all ids of a firing."""

    def redeliver_unacknowledged_messages(self, ids: Collection[Position]) -> None:
        """Send one request. It may throw."""


@runtime_checkable
class NegativeAcksTracker(Protocol):
    """A tracker of messages that were nacked (contract ``negative-acks``). Calls come from one thread at a time."""

    def add(self, message_id: MessageId) -> None:
        """Track a message by its id alone."""

    def add_message(self, message_id: MessageId, redelivery_count: int) -> None:
        """Track a message that was redelivered so often before."""

    def get_nacked_messages_count(self) -> int:
        """How many items are tracked."""

    def close(self) -> None:
        """Disarm the timer and let go of everything."""


NegativeAcksFactory = Callable[[NegativeAcksConfig, Clocks, NackTimer, Consumer], NegativeAcksTracker]


# ---- Contract active-cursors


class Cursor(Protocol):
    """A cursor that reads a topic. Two objects of one name may follow each other."""

    @property
    def name(self) -> str:
        """What it is known by."""

    @property
    def durable(self) -> bool:
        """Whether it outlives its consumers."""


class ActiveCursorsConfig(Protocol):
    """What a container of active cursors is configured with."""

    @property
    def grace(self) -> int:
        """For how many milliseconds added entries are cached after the last cursor has left; 0 or less is none."""


@runtime_checkable
class ActiveCursors(Protocol):
    """The cursors that read a topic, ordered by position (contract ``active-cursors``). Calls come one at a time."""

    def add(self, cursor: Cursor, position: Position | None) -> None:
        """Add a cursor; without a position it is not ordered."""

    def update_cursor(self, cursor: Cursor, position: Position | None) -> None:
        """A cursor has moved; without a position it is not ordered any more."""

    def remove_cursor(self, name: str) -> bool:
        """Remove a cursor. False: there is none of that name."""

    def get(self, name: str) -> Cursor | None:
        """The cursor of a name."""

    def __iter__(self) -> Iterator[Cursor]:
        """All cursors, in any order."""

    def size(self) -> int:
        """How many cursors there are."""

    def get_slowest_cursor_position(self) -> Position | None:
        """The least position of all that have one."""

    def should_cache_added_entry(self) -> bool:
        """Whether an entry that is added now is likely to be read soon."""


@runtime_checkable
class Ranks(Protocol):
    """Capability ``ranks``."""

    def get_number_of_cursors_at_same_position_or_before(self, cursor: Cursor) -> int:
        """How many cursors are at the position of one, or before it, itself included; 0 if it has none."""


@runtime_checkable
class Versions(Protocol):
    """Capability ``versions``."""

    def get_cursor_with_oldest_position(self) -> tuple[Cursor, Position | None, int] | None:
        """A cursor at the slowest position, with the position and the version."""


@runtime_checkable
class Durables(Protocol):
    """Capability ``durables``."""

    def has_durable_cursors(self) -> bool:
        """Whether one of the cursors is durable."""


ActiveCursorsFactory = Callable[[ActiveCursorsConfig, Clock], Any]
"""Makes an :class:`ActiveCursors`, which may be :class:`Ranks`, :class:`Versions` and :class:`Durables` as well."""
