"""Mutants that go wrong over the timer of a topic: what it aims at, and whom a firing asks to read."""

from __future__ import annotations

from contextlib import suppress

from broker_tck.implementations.interface import (
    Clock,
    Dispatcher,
    IllegalStateException,
    Position,
    Timer,
    TopicDeliveryConfig,
)
from broker_tck.implementations.mutants.mutant import mutant
from broker_tck.implementations.mutants.topic_delivery.parts import BRANCH
from broker_tck.implementations.topic_delivery.manager import SharedIndexManager
from broker_tck.implementations.topic_delivery.tracker import View


@mutant("TD-17", source=BRANCH + "T-04, T-05")
class FirstBucketHidesLater(SharedIndexManager):
    """The timer aims at the first bucket, though that is due and only held for a slow view."""

    def _update_timer(self) -> None:
        now, first = self._clock(), self._index.first_after(-1)
        if first is None:
            self._timer.disarm()
        elif (wake := self._buckets.wake(first)) != self._timer.target:
            self._timer.aim(wake, now, self._buckets.tick)


@mutant("TD-17", conditions=3)
class PutOffFiringIsLost(SharedIndexManager):
    """A bucket whose moment passes while its firing is put off is not told of, once anything happens meanwhile."""

    def _update_timer(self) -> None:
        now = self._clock()
        coming = self._index.first_after(self._buckets.last_woken(now))
        if coming is None:
            self._timer.disarm()
        elif (wake := self._buckets.wake(coming)) != self._timer.target:
            self._timer.aim(wake, now, self._buckets.tick)


@mutant("TD-18", source=BRANCH + "T-03")
class FiresOnce(SharedIndexManager):
    """A firing arms nothing: what comes later waits for a call."""

    def _fired(self) -> None:
        asked = [view for view in self._views.values() if self.is_available(view)]
        for view in asked:
            view.dispatcher.read_more_entries()


@mutant("TD-19")
class EverybodyIsAsked(SharedIndexManager):
    """A firing asks every dispatcher to read, whether there is anything for it or not."""

    def _fired(self) -> None:
        asked = [*self._views.values()]
        self._update_timer()
        for view in asked:
            view.dispatcher.read_more_entries()


@mutant("TD-26", source=BRANCH + "T-11")
class OldDispatcherIsAsked(SharedIndexManager):
    """A subscription's first dispatcher is asked to read, though it has got another one since."""

    def __init__(self, config: TopicDeliveryConfig, clock: Clock, timer: Timer) -> None:
        super().__init__(config, clock, timer)
        self._first: dict[str, FirstDispatcher] = {}

    def _made(self, dispatcher: Dispatcher) -> View:
        if dispatcher.name not in self._views:
            self._first[dispatcher.name] = FirstDispatcher(dispatcher)
        return super()._made(self._first[dispatcher.name])


class FirstDispatcher:
    """A dispatcher that is asked for others, too; its own view may refuse to be read by then."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher
        self.name = dispatcher.name

    @property
    def mark_delete_position(self) -> Position | None:
        """Where the subscription's cursor is."""
        return self._dispatcher.mark_delete_position

    def read_more_entries(self) -> None:
        """Ask it."""
        with suppress(IllegalStateException):
            self._dispatcher.read_more_entries()


@mutant("TD-14", conditions=2)
class NewTickLeavesTimer(SharedIndexManager):
    """A new tick leaves the timer as it is."""

    def reset_tick_time(self, tick: int) -> None:
        """Change the tick."""
        self._buckets.tick = tick


class TellsOtherwise(SharedIndexManager):
    """A manager that tells views in a way of its own whether anything is available, and itself goes by what is."""

    def is_available(self, view: View) -> bool:
        """What a view is told."""
        first = self._index.first_after(-1)
        return first is not None and first <= self._buckets.last_due(self._clock()) and self._tells(view, first)

    def _tells(self, view: View, first: int) -> bool:
        """What a view is told when the first bucket is due."""
        raise NotImplementedError

    def _fired(self) -> None:
        asked = [view for view in self._views.values() if super(TellsOtherwise, self).is_available(view)]
        self._update_timer()
        for view in asked:
            view.dispatcher.read_more_entries()


@mutant("TD-10", source=BRANCH + "T-09")
class AvailableToAll(TellsOtherwise):
    """A message that is due is available to every view, whoever is still to have it."""

    def _tells(self, view: View, first: int) -> bool:
        return True


@mutant("TD-10", source="PIP-448, the first draft", conditions=3)
class AvailableInFirstBucketAlone(TellsOtherwise):
    """Only the first bucket is looked at for a message that is available."""

    def _tells(self, view: View, first: int) -> bool:
        return any(view.sight.of(held) for _, sets in self._index.from_bucket(first, first) for held in sets)


@mutant("TD-19", conditions=2)
class FiringAsksOneView(SharedIndexManager):
    """A firing asks one dispatcher to read, and leaves the others waiting."""

    def _fired(self) -> None:
        asked = [view for view in self._views.values() if self.is_available(view)]
        self._update_timer()
        for view in asked[:1]:
            view.dispatcher.read_more_entries()
