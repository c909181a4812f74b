"""The adapter: the manager of a topic with clock, timer and dispatchers, behind the names of the operations."""

from __future__ import annotations

import gc
from collections.abc import Callable
from functools import partial
from typing import Any, cast
from weakref import ref

from broker_tck.implementations.interface.common import Position
from broker_tck.implementations.interface.topic_delivery import (
    IllegalStateException,
    ShowsIndex,
    SubscriptionTracker,
    TopicDeliveryFactory,
)
from broker_tck.properties.contracts.topic_delivery.operations import Capabilities, Config
from broker_tck.properties.engine.answers import HandedOut, listed, number, numbers, truth
from broker_tck.properties.engine.check import NOT_SHOWN
from broker_tck.properties.engine.following import lives_on
from broker_tck.properties.engine.threads import first_elsewhere
from broker_tck.properties.engine.timer import MOST_FIRINGS, ManualTimer


class Dispatcher:
    """The dispatcher of one handle."""

    def __init__(self, adapter: Adapter, name: str, handle: str) -> None:
        self.adapter = adapter
        self.name = name
        self.handle = handle
        self.reads = -1

    @property
    def mark_delete_position(self) -> Position | None:
        """Where the subscription's cursor is."""
        return self.adapter.marks.get(self.name)

    def read_more_entries(self) -> None:
        """Note that it was asked to read, and take messages at once where it does so."""
        self.adapter.asked.append(self.handle)
        tracker = self.adapter.trackers.get(self.handle)
        if self.reads >= 0 and tracker is not None:
            taken = next(self.adapter.calls)(partial(tracker.get_scheduled_messages, self.reads))
            self.adapter.took.append([self.handle, listed(taken)])


def asks(name: str) -> Callable[..., Any]:
    """An operation that asks a view by this method of its tracker; one that was never opened answers nothing."""

    def ask(adapter: Adapter, handle: str, *arguments: int) -> Any:
        tracker = adapter.trackers.get(handle)
        return None if tracker is None else getattr(tracker, name)(*arguments)

    return ask


class Adapter(ManualTimer):
    """A subject under test. Its methods are the operations; it knows nothing of the reference model."""

    def __init__(self, factory: TopicDeliveryFactory, config: Config, capabilities: Capabilities) -> None:
        super().__init__(config.clock)
        self.handed_out = HandedOut()
        self.capabilities = capabilities
        self.opened: dict[str, int] = {}
        self.trackers: dict[str, SubscriptionTracker] = {}
        """Every one that was ever given out, by its handle."""
        self.dispatchers: dict[str, Dispatcher] = {}
        self.open_handles: list[str] = []
        """Those that are not closed, by name and number."""
        self.marks: dict[str, Position] = {}
        """The mark-delete positions of the subscriptions' cursors."""
        self.asked: list[str] = []
        self.took: list[list[Any]] = []
        self.calls = first_elsewhere()
        self.manager = factory(config, lambda: self.now, self)

    # ---- Views come and go

    def open(self, name: str) -> str:
        """A dispatcher asks for a tracker; answers with the handle of both."""
        number = self.opened.get(name, 0) + 1
        dispatcher = Dispatcher(self, name, f"{name}{number}")
        self.trackers[dispatcher.handle] = self.manager.create_or_get_tracker(dispatcher)
        self.dispatchers[dispatcher.handle] = dispatcher
        self.opened[name] = number
        self.open_handles.append(dispatcher.handle)
        self.open_handles.sort(key=by_number)
        return dispatcher.handle

    def close(self, handle: str) -> None:
        """Close a view, once more as well."""
        if handle in self.trackers:
            self.trackers[handle].close()
            if handle in self.open_handles:
                self.open_handles.remove(handle)
            self.handed_out.compare_all()

    def shutdown(self) -> None:
        """Close the manager."""
        self.manager.close()
        self.handed_out.compare_all()

    # ---- Views are asked

    add = asks("add_message")
    has = asks("has_message_available")
    count = asks("get_number_of_delayed_messages")
    pause = asks("should_pause_all_deliveries")
    memory = asks("get_buffer_memory_usage")

    def fill(
        self, handle: str, ledger: int, entry: int, step: int, n: int, at: int, apart: int, each: int
    ) -> int | None:
        """A view adds n messages. If n is 0, the adapter makes another call, because a view may refuse calls."""
        tracker = self.trackers.get(handle)
        if tracker is None:
            return None
        tracker.has_message_available()
        each = each or n
        messages = [(ledger + i // each, entry + i % each * step, at + i * apart) for i in range(n)]
        return sum([tracker.add_message(*message) for message in messages])

    def get(self, handle: str, most: int) -> Any:
        """A view takes what is due."""
        tracker = self.trackers.get(handle)
        return None if tracker is None else self.handed_out.listed(tracker.get_scheduled_messages(most))

    def mark_delete(self, handle: str, ledger: int, entry: int) -> None:
        """A view's mark-delete position moves, and the cursor's where the view takes that over."""
        if handle in self.trackers:
            self.trackers[handle].update_mark_delete_position((ledger, entry))
            self.marks[self.dispatchers[handle].name] = ledger, entry

    def reset_tick(self, handle: str, tick: int) -> None:
        """A view tells the tick."""
        if handle in self.trackers:
            self.trackers[handle].reset_tick_time(tick)

    def clear(self, handle: str) -> None:
        """A view forgets every message. What the call returns is its own affair: the broker's answers with a future."""
        if handle in self.trackers:
            self.trackers[handle].clear()
            self.handed_out.compare_all()

    def reads(self, handle: str, most: int) -> None:
        """How much a dispatcher takes at once when asked to read. The view is asked something, as it may refuse."""
        if handle in self.trackers:
            self.trackers[handle].has_message_available()
            self.dispatchers[handle].reads = most

    # ---- The clock

    def advance(self, ms: int) -> list[list[Any]]:
        """Move the clock; timers fire on the way. Answers what came of each firing."""
        until = self.now + ms
        firings: list[list[Any]] = []
        while timeout := self.due(until):
            if len(firings) == MOST_FIRINGS:
                raise RuntimeError(f"the timer fired {MOST_FIRINGS} times in one step of the clock")
            self.asked, self.took = [], []
            timeout.fired(timeout)
            took = sorted(self.took, key=lambda each: by_number(each[0]))
            firings.append([self.now, sorted(self.asked, key=by_number), *([took] if took else [])])
        self.now = until
        return firings

    def stale(self) -> bool:
        """Let the timeout that was cancelled last fire all the same; answers whether anybody was asked to read."""
        self.asked = []
        if self.last_cancelled is not None:
            self.last_cancelled.fired(self.last_cancelled)
        return bool(self.asked)

    # ---- What is seen

    def letter(self, handle: str) -> str:
        """What a view answers, in a letter."""
        tracker = self.trackers[handle]
        try:
            if truth(tracker.has_message_available(), "has_message_available"):
                return "h"
            return "p" if truth(tracker.should_pause_all_deliveries(), "should_pause_all_deliveries") else "-"
        except IllegalStateException:
            return "x"

    def armed(self) -> list[int]:
        """The deadlines of all timeouts that are armed."""
        deadlines = [timeout.deadline for timeout in self.live]
        return sorted(deadlines) if len(deadlines) > 1 else deadlines

    def seen(self) -> tuple[Any, ...]:
        """Copies held, bytes, the times of all armed timeouts, what the index is made of, and the views' letters."""
        manager, can = self.manager, self.capabilities
        state = "".join(map(self.letter, self.open_handles))  # first, as a view that is asked may update the timer
        return (
            number(manager.get_number_of_delayed_messages()),
            number(manager.get_buffer_memory_usage()) if can.memory_estimate else NOT_SHOWN,
            self.armed(),
            numbers(cast(ShowsIndex, manager).get_index_sizes()) if can.shows_index else NOT_SHOWN,
            state,
        )

    def let_go(self) -> None:
        """Forget the views, and what dispatchers took; from then on the dispatchers are followed as ids are."""
        super().let_go()
        lives_on(self).given += map(ref, self.dispatchers.values())
        self.trackers, self.dispatchers, self.took = {}, {}, []
        self.handed_out = HandedOut()

    def collect_garbage(self) -> None:
        """Collect garbage; a manager outside of Python has a method of its own for that."""
        getattr(self.manager, "collect_garbage", gc.collect)()

    def glimpsed(self) -> tuple[Any, ...]:
        """The number of copies held, and the times of all armed timeouts."""
        return number(self.manager.get_number_of_delayed_messages()), None, self.armed(), None, None


def by_number(handle: str) -> tuple[str, int]:
    """Sorts handles: by the name of the subscription, then by the number."""
    return handle[0], int(handle[1:])
