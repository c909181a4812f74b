"""Right but unusual managers of a topic's delayed messages."""

from __future__ import annotations

from bisect import bisect_right
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

LAST = 2**63 - 1
NOWHERE: Position = (-(2**63), -1)
Copy = tuple[int, int, int]
"""The key of a bucket, a ledger and an entry."""


class ViewIsGone(IllegalStateException):
    """What a view raises that is closed or stale: more than an IllegalStateException, by its name."""

    def __init__(self, view: str) -> None:
        super().__init__(f"{view} is gone")


class Watch:
    """A timer that is armed anew at each update, and what times and buckets have to do with each other."""

    def __init__(self, config: TopicDeliveryConfig, clock: Clock, timer: Timer, fired: Callable[[], None]) -> None:
        self.clock, self.timer, self.tick, self.fired = clock, timer, config.tick, fired
        self.early = not config.strict
        self.width = 1 << max(config.tick, 1).bit_length() - 1
        self.timeout: Timeout | None = None
        self.target = self.deadline = -1
        self.last_run: int | None = None

    def cutoff(self) -> int:
        """The last time that is due."""
        return self.clock() + self.tick * self.early

    def last_due(self) -> int:
        """The last key that is due."""
        return self.cutoff() - (self.width - 1) * self.early

    def key(self, at: int) -> int:
        """The bucket of a time."""
        return (at if self.early else min(at + self.width - 1, LAST)) // self.width * self.width

    def wake(self, key: int) -> int:
        """When a bucket is due."""
        return key + max(0, self.width - 1 - self.tick) * self.early

    def __call__(self, timeout: Timeout) -> bool:
        if timeout is self.timeout:
            self.timeout, self.target, self.last_run = None, -1, self.clock()
            self.fired()
        return False

    def update(self, keys: Sequence[int]) -> None:
        """Aim at the first bucket of which no firing has told; of ascending keys."""
        at = 0 if self.last_run is None else bisect_right(keys, self.last_run, key=self.wake)
        if self.timeout is not None:
            self.timeout.cancel()
            self.timeout = None
        if at == len(keys):
            self.target = -1
            return
        wake = self.wake(keys[at])
        if wake != self.target:
            wake = max(wake, self.clock() + 1)
        if wake != self.target:
            earliest = wake if self.last_run is None else self.last_run + self.tick
            self.target, self.deadline = wake, max(wake, earliest)
        self.timeout = self.timer.new_timeout(self.deadline, self)


class Delay:
    """Whether all messages of a view are delayed alike."""

    def __init__(self) -> None:
        self.fixed, self.highest = True, 0

    def took(self, at: int, tick: int) -> None:
        """A message was taken."""
        self.fixed = self.fixed and at >= self.highest - tick
        self.highest = max(self.highest, at)


class Handle:
    """A view that is no more than a number: whatever is asked of it, its manager is asked, with the number."""

    __slots__ = ("_ask", "_number")

    def __init__(self, ask: Callable[..., Any], number: int) -> None:
        self._ask, self._number = ask, number

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return partial(self._ask, name, self._number)

    def __bool__(self) -> bool:
        return False


class MaskingTopic:
    """Two integers for each copy: of the views that see it, a bit each, and of those that are done with it.

    Views are proxies without methods, and false. The estimate of the memory is 1 or 0.
    """

    contract: ClassVar = "topic-delivery"
    profiles: ClassVar = ("ideal",)

    def __init__(self, config: TopicDeliveryConfig, clock: Clock, timer: Timer) -> None:
        self.watch = Watch(config, clock, timer, self.fired)
        self.lookahead = config.lookahead
        self.seen: dict[Copy, int] = {}
        self.done: dict[Copy, int] = {}
        self.dispatchers: list[Dispatcher | None] = []
        """By the number of a view; None: it is gone."""
        self.marks: list[Position] = []
        self.passed: list[Position] = []
        self.delays: list[Delay] = []
        self.is_closed = False

    # ---- Bits

    def of(self, number: int) -> list[Copy]:
        """What a view sees, in order."""
        return sorted(copy for copy, mask in self.seen.items() if mask >> number & 1)

    def due(self, number: int) -> list[Copy]:
        """What of that is due, in order."""
        last = self.watch.last_due()
        return sorted(copy for copy, mask in self.seen.items() if copy[0] <= last and mask >> number & 1)

    def forget(self, number: int, copies: Sequence[Copy], done: bool) -> None:
        """A view sees some copies no longer."""
        for copy in copies:
            self.seen[copy] &= ~(1 << number)
            if not self.seen[copy]:
                del self.seen[copy]
            if done and copy[1:] > self.passed[number]:
                self.done[copy] = self.done.get(copy, 0) | 1 << number

    def undo(self, number: int, gone: Callable[[Copy], bool]) -> None:
        """A view need not know any more that it is done with some copies."""
        for copy in [copy for copy, mask in self.done.items() if mask >> number & 1 and gone(copy)]:
            self.done[copy] &= ~(1 << number)
            if not self.done[copy]:
                del self.done[copy]

    def update(self) -> None:
        """Aim the timer."""
        self.watch.update(sorted({copy[0] for copy in self.seen}))

    # ---- The manager

    def create_or_get_tracker(self, dispatcher: Dispatcher) -> Any:
        if self.is_closed:
            raise ViewIsGone("the topic")
        number, mark = len(self.dispatchers), dispatcher.mark_delete_position or NOWHERE
        earlier = [n for n, other in enumerate(self.dispatchers) if other and other.name == dispatcher.name]
        self.dispatchers.append(dispatcher)
        self.marks.append(mark)
        self.passed.append(mark)
        self.delays.append(Delay())
        for copy in self.seen:
            self.seen[copy] |= (copy[1:] > mark) << number
        for other in earlier:
            self.leave(other)
        return Handle(self.ask, number)

    def leave(self, number: int) -> None:
        """A view is gone."""
        self.dispatchers[number] = None
        self.forget(number, self.of(number), done=False)
        self.undo(number, lambda copy: True)

    def fired(self) -> None:
        """Ask those to read to whom a message is available."""
        asked = [dispatcher for number, dispatcher in enumerate(self.dispatchers) if dispatcher and self.due(number)]
        self.update()
        for dispatcher in asked:
            dispatcher.read_more_entries()

    def get_number_of_delayed_messages(self) -> int:
        return len(self.seen)

    def get_buffer_memory_usage(self) -> int:
        return int(bool(self.seen))

    def get_index_sizes(self) -> tuple[int, int]:
        return len({copy[0] for copy in self.seen}), len({copy[:2] for copy in self.seen})

    def close(self) -> None:
        self.is_closed = True
        for number, dispatcher in enumerate(self.dispatchers):
            if dispatcher:
                self.leave(number)
        self.update()

    # ---- The views

    def ask(self, name: str, number: int, *arguments: Any) -> Any:
        """What a view is asked."""
        if self.dispatchers[number] is None:
            if name == "close":
                return None
            raise ViewIsGone(str(number))
        return getattr(self, f"on_{name}")(number, *arguments)

    def on_close(self, number: int) -> None:
        self.leave(number)
        self.update()

    def on_add_message(self, number: int, ledger: int, entry: int, at: int) -> bool:
        delay, watch = self.delays[number], self.watch
        if at < 0 or at <= watch.cutoff():
            delay.fixed = False
            return False
        copy = watch.key(at), ledger, entry
        self.undo(number, copy.__eq__)
        bits = (copy[1:] > self.marks[number]) << number
        for other, dispatcher in enumerate(self.dispatchers):
            if dispatcher and copy[1:] > self.passed[other]:
                bits |= 1 << other
        bits &= ~self.done.get(copy, 0)
        if bits:
            self.seen[copy] = self.seen.get(copy, 0) | bits
        self.update()
        delay.took(at, watch.tick)
        return True

    def on_has_message_available(self, number: int) -> bool:
        return bool(self.due(number))

    def on_get_scheduled_messages(self, number: int, most: int) -> Any:
        taken = self.due(number)[: max(most, 0)]
        self.forget(number, taken, done=True)
        if not self.of(number):
            self.delays[number] = Delay()
        self.update()
        return {copy[1:]: copy for copy in sorted(taken, key=lambda copy: copy[1:])}.keys()

    def on_should_pause_all_deliveries(self, number: int) -> bool:
        enough = self.delays[number].fixed and 0 < self.lookahead <= len(self.of(number))
        return enough and not self.due(number)

    def on_reset_tick_time(self, number: int, tick: int) -> None:
        if tick != self.watch.tick:
            self.watch.tick = tick
            self.update()

    def on_get_number_of_delayed_messages(self, number: int) -> int:
        return len(self.of(number))

    def on_get_buffer_memory_usage(self, number: int) -> int:
        return self.get_buffer_memory_usage()

    def on_clear(self, number: int) -> None:
        self.forget(number, self.of(number), done=True)

    def on_update_mark_delete_position(self, number: int, position: Position) -> None:
        self.marks[number] = position
        self.passed[number] = max(self.passed[number], position)
        self.undo(number, lambda copy: copy[1:] <= self.passed[number])
        self.forget(number, [copy for copy in self.of(number) if copy[1:] <= position], done=False)
        self.update()
