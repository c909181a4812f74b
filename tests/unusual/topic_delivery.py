"""Right but unusual managers of a topic's delayed messages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar

from broker_tck.implementations.interface import (
    Clock,
    Dispatcher,
    IllegalStateException,
    Position,
    Timeout,
    Timer,
    TopicDeliveryConfig,
)
from broker_tck.implementations.topic_delivery.manager import SharedIndexManager
from broker_tck.implementations.topic_delivery.tracker import View


class ViewIsGone(IllegalStateException):
    """What a view raises that is closed or stale: more than an IllegalStateException, by its name."""


class Handle:
    """A view without a method of its own: whatever is asked of it, its manager is asked, with the view."""

    __slots__ = ("_ask", "_view")

    def __init__(self, ask: Callable[..., Any], view: View) -> None:
        self._ask, self._view = ask, view

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return partial(self._ask, name, self._view)

    def __bool__(self) -> bool:
        return False


class CostumedTopic(SharedIndexManager):
    """Views are proxies without methods, and false. They answer with keys of dictionaries; an estimate is 1 or 0."""

    profiles: ClassVar = ("ideal",)

    def create_or_get_tracker(self, dispatcher: Dispatcher) -> Any:
        return Handle(self.ask, super().create_or_get_tracker(dispatcher))

    def ask(self, name: str, view: View, *arguments: Any) -> Any:
        """What a view is asked."""
        try:
            return getattr(view, name)(*arguments)
        except IllegalStateException as error:
            raise ViewIsGone from error

    def hand_out(self, view: View, most: int) -> Any:
        positions: list[Position] = super().hand_out(view, most)
        return dict.fromkeys(positions).keys()

    def get_buffer_memory_usage(self) -> int:
        return int(self._index.count > 0)


Copy = tuple[int, Position]
"""The key of a bucket, and a position in it."""
NOWHERE: Position = (-(2**63), -1)


class Share:
    """A view that has what it waits for: each add puts a copy there, each take removes it."""

    def __init__(self, topic: Shares, dispatcher: Dispatcher) -> None:
        self.topic, self.dispatcher = topic, dispatcher
        self.mark = self.furthest = dispatcher.mark_delete_position or NOWHERE
        self.waits = {copy for copy in topic.held() if copy[1] > self.mark}
        self.done: set[Copy] = set()
        self.alike, self.highest = True, 0

    def __getattribute__(self, name: str) -> Any:
        """Every call but a close is refused by a view that is not the one of its name."""
        if name.startswith(("add", "has", "get", "should", "reset", "clear", "update")):
            topic, dispatcher = self.topic, self.dispatcher
            if topic.views.get(dispatcher.name) is not self:
                raise IllegalStateException(name)
        return super().__getattribute__(name)

    def due(self) -> list[Copy]:
        return sorted(copy for copy in self.waits if self.topic.is_due(copy[0]))

    def add_message(self, ledger_id: int, entry_id: int, deliver_at: int) -> bool:
        topic = self.topic
        if deliver_at <= topic.cutoff():
            self.alike = False
            return False
        late = min(deliver_at + topic.width - 1, 2**63 - 1) if topic.strict else deliver_at
        copy = late - late % topic.width, (ledger_id, entry_id)
        self.done.discard(copy)
        for view in topic.views.values():
            if copy[1] > (self.mark if view is self else view.furthest) and copy not in view.done:
                view.waits.add(copy)
        self.alike = self.alike and deliver_at >= self.highest - topic.tick
        self.highest = max(self.highest, deliver_at)
        topic.update()
        return True

    def has_message_available(self) -> bool:
        if not (due := self.due()) and self.topic.aim is None:
            self.topic.update()
        return bool(due)

    def get_scheduled_messages(self, max_messages: int) -> Sequence[Position]:
        taken = self.due()[: max(max_messages, 0)]
        self.done.update(taken)
        self.waits.difference_update(taken)
        if not self.waits:
            self.alike, self.highest = True, 0
        self.topic.update()
        return sorted({position for _, position in taken})

    def clear(self) -> None:
        self.done |= self.waits
        self.waits = set()

    def update_mark_delete_position(self, position: Position) -> None:
        self.mark, self.furthest = position, max(self.furthest, position)
        self.waits = {copy for copy in self.waits if copy[1] > position}
        self.topic.update()

    def get_number_of_delayed_messages(self) -> int:
        return len(self.waits)

    def should_pause_all_deliveries(self) -> bool:
        return 0 < self.topic.lookahead <= len(self.waits) and self.alike and not self.due()

    def get_buffer_memory_usage(self) -> int:
        return self.topic.get_buffer_memory_usage()

    def reset_tick_time(self, tick: int) -> None:
        self.topic.new_tick(tick)

    def close(self) -> None:
        if self.topic.views.get(self.dispatcher.name) is self:
            del self.topic.views[self.dispatcher.name]
            self.topic.update()


class Shares:
    """A topic that holds nothing: its index is what its views wait for, put together whenever it is asked."""

    contract: ClassVar = "topic-delivery"
    profiles: ClassVar = ("ideal",)

    def __init__(self, config: TopicDeliveryConfig, clock: Clock, timer: Timer) -> None:
        self.clock, self.timer, self.tick, self.strict = clock, timer, config.tick, bool(config.strict)
        self.lookahead = config.lookahead
        self.width = 2 ** max(config.tick.bit_length() - 1, 0)
        self.views: dict[str, Share] = {}
        self.is_open = True
        self.timeout: Timeout | None = None
        self.aim: int | None = None
        self.run: int | None = None
        self.begin()

    def cutoff(self) -> int:
        return self.clock() + (0 if self.strict else self.tick)

    def is_due(self, key: int) -> bool:
        return key + (0 if self.strict else self.width - 1) <= self.cutoff()

    def moment(self, key: int) -> int:
        return key if self.strict else max(key, key + self.width - 1 - self.tick)

    def held(self) -> set[Copy]:
        return set[Copy]().union(*(view.waits for view in self.views.values()))

    def create_or_get_tracker(self, dispatcher: Dispatcher) -> Any:
        if not self.is_open:
            raise IllegalStateException
        self.views[dispatcher.name] = Share(self, dispatcher)
        return self.views[dispatcher.name]

    def get_number_of_delayed_messages(self) -> int:
        return len(self.held())

    def get_buffer_memory_usage(self) -> int:
        return len(self.held()) << 40

    def get_index_sizes(self) -> tuple[int, int]:
        held = self.held()
        return len({key for key, _ in held}), len({(key, ledger) for key, (ledger, _) in held})

    def new_tick(self, tick: int) -> None:
        if tick != self.tick:
            self.tick = tick
            self.begin()
            self.update()

    def close(self) -> None:
        self.views, self.is_open = {}, False
        self.update()

    def begin(self) -> None:
        """Nothing is announced."""
        self.announced: set[int] = set()

    def coming(self) -> set[int]:
        """The buckets that no firing has announced. One that comes again is not announced, nor one still to come."""
        keys = {key for key, _ in self.held()}
        self.announced &= {key for key in keys if self.moment(key) <= self.clock()}
        return keys - self.announced

    def update(self) -> None:
        first = min(map(self.moment, self.coming()), default=None)
        if first is not None and first != self.aim:
            first = max(first, self.clock() + 1)
        if first != self.aim:
            if self.timeout:
                self.timeout.cancel()
            self.aim = first
            earliest = 0 if self.run is None or self.run > self.clock() else self.run + self.tick
            self.timeout = None if first is None else self.timer.new_timeout(max(first, earliest), self.fired)

    def fired(self, timeout: Timeout) -> bool:
        if timeout is self.timeout:
            self.timeout, self.aim, self.run = None, None, self.clock()
            self.announced = {key for key, _ in self.held() if self.moment(key) <= self.run}
            asked = [view for view in self.views.values() if view.due()]
            self.update()
            for view in self.in_turn(asked):
                view.dispatcher.read_more_entries()
        return False

    def in_turn(self, asked: list[Share]) -> list[Share]:
        return asked


class Backwards(Shares):
    """The view that came last is asked first. The estimate is that of the most that was held since it was empty."""

    most = 0

    def in_turn(self, asked: list[Share]) -> list[Share]:
        return asked[::-1]

    def get_buffer_memory_usage(self) -> int:
        self.most = max(self.most, len(self.held())) if self.held() else 0
        return self.most


class ByMoment(Shares):
    """Knows up to which moment its firings have announced, and no bucket."""

    until = -1

    def begin(self) -> None:
        self.until = -1

    def coming(self) -> set[int]:
        self.until = min(self.until, self.clock())
        return {key for key, _ in self.held() if self.moment(key) > self.until}

    def fired(self, timeout: Timeout) -> bool:
        if timeout is self.timeout:
            self.until = self.clock()
        return super().fired(timeout)


class WatchfulTopic(SharedIndexManager):
    """Compares its clock with the time before at each question, and updates its timer at once if it was set back."""

    profiles: ClassVar = ("ideal",)

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.latest = 0

    def is_available(self, view: View) -> bool:
        now = self._clock()
        was_set_back, self.latest = now < self.latest, now
        if was_set_back:
            self._update_timer()
        return super().is_available(view)
