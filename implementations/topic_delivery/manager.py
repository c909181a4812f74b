"""The manager of a topic's delayed messages: one index, which holds what any subscription waits for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from pyroaring import BitMap

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
from broker_tck.implementations.topic_delivery.sight import Sight, above, up_to
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
        self._pruned = 0
        """How many copies have left so far: none of them was seen by any view then."""
        self._furthest: Position | None = None
        """No view has passed, or was handed, anything behind it: what is new there is seen by all."""
        self._looked_at = 0
        """No view has looked at buckets from there on in vain."""
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
        self._views[dispatcher.name] = view
        self._passed(view.sight.passed)
        seen = sum(len(view.sight.of(held)) for held in self._index.all())
        view.hidden = self._pruned + self._index.count - seen
        return view

    def leave(self, view: View) -> None:
        """End a view; with it goes what only it saw (TD-28)."""
        view.is_open = False
        del self._views[view.dispatcher.name]
        if self._views:
            self._release(self._seen_by(view))
        else:
            self._index.clear()
        self._update_timer()

    def close(self) -> None:
        """Close every view and let go of everything (TD-31)."""
        self._is_open = False
        for view in self._views.values():
            view.is_open = False
        self._views.clear()
        self._index.clear()
        self._timer.disarm()

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
            view.nothing_before = min(view.nothing_before, key)
        if not view.sight.sees(key, ledger, entry):
            self._release([Entries(key, ledger, BitMap((entry,)))])
        self._update_timer()
        view.delays.accepted(deliver_at, self._buckets.tick)
        return True

    def is_available(self, view: View) -> bool:
        """Whether a view sees anything in a bucket that is due."""
        last = self._buckets.last_due(self._clock())
        for key, sets in self._index.from_bucket(view.nothing_before, last):
            if any(view.sight.of(held) for held in sets):
                return True
            view.nothing_before = key + 1
            self._looked_at = max(self._looked_at, key + 1)
        return False

    def hand_out(self, view: View, most: int) -> list[Position]:
        """Hand out to a view what is due."""
        taken = self._taken(view, most)
        for done in taken:
            view.sight.lets_go(done)
            view.hidden += len(done.entries)
            self._passed((done.ledger, done.entries.max()))
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
        view.sight.move(position)
        view.hidden += sum(len(each.entries) for each in gone)
        self._passed(position)
        self._release(gone)
        self._update_timer()

    def forget(self, view: View) -> None:
        """Have a view forget what it sees. The timer stays as it is, and so does what is known of the delays."""
        seen = self._seen_by(view)
        for done in seen:
            view.sight.lets_go(done)
            view.hidden += len(done.entries)
            self._passed((done.ledger, done.entries.max()))
        self._release(seen)

    def reset_tick_time(self, tick: int) -> None:
        """Change the tick time of the topic, in milliseconds."""
        if tick != self._buckets.tick:
            self._buckets.tick = tick
            self._update_timer()

    # ---- Inside

    def _made(self, dispatcher: Dispatcher) -> View:
        return View(self, dispatcher, Sight(dispatcher.mark_delete_position))

    def _came(self, key: int, ledger: int, entry: int) -> None:
        if key >= self._looked_at and (self._furthest is None or (ledger, entry) > self._furthest):
            return
        for view in self._views.values():
            view.nothing_before = min(view.nothing_before, key)
            view.hidden += not view.sight.sees(key, ledger, entry)
        self._looked_at = max(each.nothing_before for each in self._views.values())

    def _passed(self, position: Position | None) -> None:
        if position is not None and (self._furthest is None or position > self._furthest):
            self._furthest = position

    def _taken(self, view: View, most: int) -> list[Entries]:
        """The first copies that a view sees in buckets that are due, so many at most."""
        taken: list[Entries] = []
        if most <= 0 or not self.is_available(view):
            return taken
        last = self._buckets.last_due(self._clock())
        for _, sets in self._index.from_bucket(view.nothing_before, last):
            for held in sets:
                seen = view.sight.of(held)
                if seen:
                    taken.append(Entries(held.key, held.ledger, seen[:most]))
                    most -= len(taken[-1].entries)
                if not most:
                    return taken
        return taken

    def _seen_by(self, view: View) -> list[Entries]:
        """All that a view sees."""
        seen = (Entries(held.key, held.ledger, view.sight.of(held).copy()) for held in self._index.all())
        return [each for each in seen if each.entries]

    def _up_to(self, view: View, position: Position) -> list[Entries]:
        """What a view sees up to a position."""
        passed = view.sight.passed
        gone = view.sight.again_up_to(position)
        if passed is not None and position <= passed:
            return gone
        for held in self._index.between(None if passed is None else passed[0], position[0]):
            seen = view.sight.of(held)
            if passed is not None and held.ledger == passed[0]:
                seen = above(seen, passed[1])
            if held.ledger == position[0]:
                seen = up_to(seen, position[1])
            if seen:
                gone.append(Entries(held.key, held.ledger, seen.copy()))
        return gone

    def _release(self, copies: Iterable[Entries]) -> None:
        """Of copies that a view is done with, let go of those that no other sees."""
        for copy in copies:
            gone = copy
            for view in self._views.values():
                if not (seen := view.sight.of(gone)):
                    continue
                gone = gone._replace(entries=gone.entries - seen)
                if not gone.entries:
                    break
            else:
                self._index.remove(gone)
                self._pruned += len(gone.entries)

    def _fired(self) -> None:
        asked = [view for view in self._views.values() if self.is_available(view)]
        self._update_timer()
        for view in asked:
            if view.is_open:
                view.dispatcher.read_more_entries()

    def _update_timer(self) -> None:
        """Arm the timer for the first bucket of which no firing has told yet (TD-17)."""
        timer, buckets = self._timer, self._buckets
        coming = self._index.first_after(buckets.last_woken(timer.last_run))
        if coming is None:
            timer.disarm()
        elif (wake := buckets.wake(coming)) != timer.target:
            now = self._clock()
            wake = max(wake, now + 1)
            if wake != timer.target:
                timer.aim(wake, now, buckets.tick)
