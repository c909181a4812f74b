"""The manager of a topic's delayed messages: one index, which holds what any subscription waits for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar

from pyroaring import BitMap

from broker_tck.implementations.delayed_delivery.timer import NO_TARGET
from broker_tck.implementations.interface import (
    Clock,
    Dispatcher,
    IllegalStateException,
    Position,
    Timer,
    TopicDeliveryConfig,
)
from broker_tck.implementations.topic_delivery.clock import Buckets, TopicTimer
from broker_tck.implementations.topic_delivery.index import Entries, SharedIndex
from broker_tck.implementations.topic_delivery.order import Order
from broker_tck.implementations.topic_delivery.sight import Sight
from broker_tck.implementations.topic_delivery.tracker import View


class SharedIndexManager:
    """Views of one index. A copy leaves it as soon as no view sees it any more (TD-20)."""

    contract: ClassVar[str] = "topic-delivery"
    profiles: ClassVar[tuple[str, ...]] = ("ideal",)
    capabilities: ClassVar[dict[str, int]] = {"entry_id_bits": 32}

    def __init__(self, config: TopicDeliveryConfig, clock: Clock, timer: Timer) -> None:
        """Start without views. Prunes are not put off, so their interval and share have no say."""
        self._clock = clock
        self._lookahead = config.lookahead
        self._buckets = Buckets(config.tick, bool(config.strict))
        self._timer = TopicTimer(clock, timer, self._fired)
        self._index = SharedIndex()
        self._views: dict[str, View] = {}
        self._order = Order()
        self._passed: Position | None = None
        """No view has passed anything behind it."""
        self._pruned = 0
        """How many copies have left so far: none of them was seen by any view then."""
        self._handed: Position | None = None
        """No view was handed, or has cleared, anything behind it,"""
        self._last_handed = -1
        """nor anything in buckets behind this one."""
        self._told = -1
        """The last bucket of which a firing may have told since the tick is as it is."""
        self._told_at = -1
        self._is_open = True

    # ---- Views come and go

    def create_or_get_tracker(self, dispatcher: Dispatcher) -> View:
        """Give a new dispatcher its view; an earlier one of the same subscription is stale from now on (TD-26)."""
        if not self._is_open:
            raise IllegalStateException("the manager is closed")
        view = self._made(dispatcher)
        earlier = self._views.get(dispatcher.name)
        if earlier:
            earlier.is_open = False
            self._order.remove(earlier)
        self._views[dispatcher.name] = view
        self._order.place(view)
        passed = view.sight.passed
        view.hidden = self._pruned + (self._index.count_up_to(passed) if passed else 0)
        self._passed_up_to(passed)
        return view

    def leave(self, view: View) -> None:
        """End a view; with it goes what only it saw (TD-28)."""
        view.is_open = False
        del self._views[view.dispatcher.name]
        self._order.remove(view)
        if self._views:
            for copies in self._of_none_but(view, self._order.last()):
                self._release(copies)
        else:
            self._forget()
        self._update_timer()

    def close(self) -> None:
        """Close every view and let go of everything (TD-31)."""
        self._is_open = False
        for view in self._views.values():
            view.is_open = False
        self._views.clear()
        self._order.clear()
        self._forget()
        self._timer.disarm()

    def _forget(self) -> None:
        """Nobody is left: let go of what is held, and of where views have been."""
        self._index.clear()
        self._passed = self._handed = None
        self._last_handed = -1

    # ---- What the topic has

    def get_number_of_delayed_messages(self) -> int:
        """How many copies are held."""
        return self._index.count

    def get_buffer_memory_usage(self) -> int:
        """An estimate of the index's size in bytes, 0 when it is empty."""
        return self._index.memory

    def get_index_sizes(self) -> tuple[int, int]:
        """How many buckets there are, and how many sets of entries."""
        return len(self._index.buckets), self._index.sets

    # ---- What views ask

    def add(self, view: View, ledger: int, entry: int, deliver_at: int) -> bool:
        """Track a message for a view, and for all others that see it."""
        if deliver_at < 0 or deliver_at <= self._buckets.cutoff(self._clock()):
            view.delays.refused()
            return False
        key = self._buckets.key(deliver_at)
        if self._index.add(key, ledger, entry):
            self._came(key, ledger, entry)
        if view.sight.adds(key, ledger, entry):
            view.hidden -= 1
            self._sees_from(view, key)
        if not view.sight.sees(key, ledger, entry):
            self._release([Entries(key, ledger, BitMap((entry,)))])
        self._update_timer()
        view.delays.accepted(deliver_at, self._buckets.tick)
        return True

    def answers(self, view: View) -> bool:
        """Whether a message is available to a view; if not, and nothing is armed, the clock was set back (TD-39)."""
        available = self.is_available(view)
        if not available and self._timer.target == NO_TARGET:
            self._update_timer()
        return available

    def is_available(self, view: View) -> bool:
        """Whether a view sees anything in a bucket that is due."""
        available = self._look(view)
        self._order.place(view)
        return available

    def hand_out(self, view: View, most: int) -> list[Position]:
        """Hand out to a view what is due."""
        taken = self._taken(view, most)
        if taken:
            view.nothing_before = taken[-1].key
            self._settle(view)
            self._let_go(view, taken)
            self._look(view)
        self._order.place(view)
        if not self.count_of(view):
            view.delays.reset()
        self._release(taken)
        self._update_timer()
        return sorted({(ledger, entry) for _, ledger, entries in taken for entry in entries})

    def pauses(self, view: View) -> bool:
        """Whether the deliveries of a view should pause."""
        looks_ahead = self._lookahead > 0 and view.delays.fixed
        return looks_ahead and self.count_of(view) >= self._lookahead and not self.is_available(view)

    def count_of(self, view: View) -> int:
        """How many copies a view sees."""
        return self._index.count - (view.hidden - self._pruned)

    def acknowledge(self, view: View, position: Position) -> None:
        """Take over the mark-delete position of a view."""
        gone = self._up_to(view, position)
        view.hidden += sum(len(each.entries) for each in gone)
        view.sight.move(position)
        self._passed_up_to(position)
        self._order.place(view)
        self._release(gone)
        self._update_timer()

    def forget(self, view: View) -> None:
        """Have a view forget what it sees. The timer stays as it is, and so does what is known of the delays."""
        copies = self._seen_by(view)
        self._let_go(view, copies)
        self._release(copies)

    def reset_tick_time(self, tick: int) -> None:
        """Change the tick time of the topic, in milliseconds."""
        if tick != self._buckets.tick:
            self._buckets.tick = tick
            self._told = -1
            self._update_timer()

    # ---- Inside

    def _made(self, dispatcher: Dispatcher) -> View:
        return View(self, dispatcher, Sight(dispatcher.mark_delete_position))

    def _came(self, key: int, ledger: int, entry: int) -> None:
        """A copy is new: tell those who have been behind it in any way."""
        position = ledger, entry
        if self._passed is not None and position <= self._passed:
            for view in self._views.values():
                view.hidden += view.sight.has_passed(position)
        if key < self._order.furthest:
            for view in self._order.ahead(key):
                if view.sight.sees(key, ledger, entry):
                    self._sees_from(view, key)
        if key <= self._last_handed and self._handed is not None and position <= self._handed:
            for view in self._order.behind_position(position):
                view.hidden += view.sight.is_done_with(key, ledger, entry)

    def _passed_up_to(self, position: Position | None) -> None:
        """A view has passed a position."""
        if position is not None:
            self._passed = max(position, self._passed or position)

    def _sees_from(self, view: View, key: int) -> None:
        """A view may see something in a bucket, a settled one if the clock was set back."""
        view.nothing_before = min(view.nothing_before, key)
        view.sight.opens(key)
        self._order.place(view)

    def _look(self, view: View) -> bool:
        """Go through buckets that are due, up to one in which a view sees anything; answers whether there is one.

        The view is to be placed anew.
        """
        start, available = view.nothing_before, False
        last = self._buckets.last_due(self._clock())
        if self._index.first > last or start > last:
            return False
        for key, sets in self._index.from_bucket(start, last):
            available = any(map(view.sight.of, sets))
            if available:
                break
            view.nothing_before = key + 1
        if view.nothing_before > start:
            self._settle(view)
        return available

    def _settle(self, view: View) -> None:
        """A view has gone through buckets."""
        view.sight.settles(min(view.nothing_before, self._buckets.key(self._clock() + 1)))

    def _let_go(self, view: View, copies: list[Entries]) -> None:
        """A view is done with copies that it saw."""
        for done in copies:
            view.sight.lets_go(done)
            view.hidden += len(done.entries)
            self._last_handed = max(self._last_handed, done.key)
            last = done.ledger, done.entries.max()
            self._handed = max(last, self._handed or last)

    def _taken(self, view: View, most: int) -> list[Entries]:
        """The first copies that a view sees in buckets that are due, so many at most."""
        taken: list[Entries] = []
        if most <= 0 or not self._look(view):
            return taken
        last = self._buckets.last_due(self._clock())
        for _, sets in self._index.from_bucket(view.nothing_before, last):
            for held in seen(view, sets):
                if len(held.entries) >= most:
                    return [*taken, held._replace(entries=held.entries[:most])]
                taken.append(held)
                most -= len(held.entries)
        return taken

    def _seen_by(self, view: View) -> list[Entries]:
        """All that a view sees."""
        if not self.count_of(view):
            return []
        return [*view.sight.added_again(), *seen(view, self._index.between(view.sight.passed, None))]

    def _up_to(self, view: View, position: Position) -> list[Entries]:
        """What a view sees up to a position."""
        passed = view.sight.passed
        gone = view.sight.added_again(position)
        if passed is None or position > passed:
            gone += seen(view, self._index.between(passed, position))
        return gone

    def _of_none_but(self, view: View, other: View) -> Iterator[list[Entries]]:
        """What a view sees and another one does not, in parts; each is to be let go of before the next is asked for."""
        index, passed, bound = self._index, view.sight.passed, other.sight.passed
        yield view.sight.added_again()
        if bound is not None and (passed is None or passed < bound):
            yield seen(view, index.between(passed, bound))
        buckets = index.from_bucket(view.nothing_before, other.nothing_before - 1)
        yield seen(view, (held for _, sets in buckets for held in sets))
        done = other.sight.done_with()
        yield seen(view, (Entries(key, ledger, index.of(key, ledger) & some) for key, ledger, some in done))

    def _release(self, copies: Iterable[Entries]) -> None:
        """Of copies that a view is done with, let go of those that no other sees."""
        for copy in copies:
            if not copy.entries:
                continue
            gone = copy
            for view in self._order.behind(copy):
                if not (kept := view.sight.of(gone)):
                    continue
                gone = gone._replace(entries=gone.entries - kept)
                if not gone.entries:
                    break
            else:
                self._index.remove(gone)
                self._pruned += len(gone.entries)

    def _fired(self) -> None:
        asked = [view for view in self._views.values() if self.is_available(view)]
        self._told_at = self._clock()
        self._told = self._buckets.last_woken(self._told_at)
        self._update_timer()
        for view in asked:
            if view.is_open:
                view.dispatcher.read_more_entries()

    def _update_timer(self) -> None:
        """Arm the timer for the first bucket of which no firing has told yet (TD-17)."""
        timer, buckets = self._timer, self._buckets
        if self._told_at > self._clock():  # it was set back (TD-38)
            self._told = -1
        coming = self._index.first_after(self._told)
        if coming is None:
            timer.disarm()
        elif (wake := buckets.wake(coming)) != timer.target:
            now = self._clock()
            wake = max(wake, now + 1)
            if wake != timer.target:
                timer.aim(wake, now, buckets.tick)


def seen(view: View, held: Iterable[Entries]) -> list[Entries]:
    """What a view sees of what is held."""
    return [each._replace(entries=some) for each in held if (some := view.sight.of(each))]
