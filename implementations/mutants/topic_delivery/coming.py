"""Mutants that go wrong over views that come and go, and over what a view tells for all."""

from __future__ import annotations

from broker_tck.implementations.interface import Dispatcher
from broker_tck.implementations.mutants.mutant import mutant
from broker_tck.implementations.mutants.topic_delivery.parts import Recounting
from broker_tck.implementations.topic_delivery.manager import SharedIndexManager
from broker_tck.implementations.topic_delivery.tracker import View

# ---- Views come


@mutant("TD-32")
class BeginsAtTheEnd(Recounting):
    """A view sees nothing of what was held when it was opened."""

    def _made(self, dispatcher: Dispatcher) -> View:
        view = super()._made(dispatcher)
        for held in self._index.all():
            view.sight.lets_go(held)
        return view


# ---- Views go


@mutant("TD-31", conditions=2)
class TimerOutlivesShutdown(SharedIndexManager):
    """The timer stays armed when the manager is closed."""

    def close(self) -> None:
        """Close every view, and let go of everything but the timer."""
        self._is_open = False
        for view in self._views.values():
            view.is_open = False
        self._views.clear()
        self._index.clear()


# ---- The tick


@mutant("TD-14", conditions=2)
class OnlyFirstViewTellsTick(SharedIndexManager):
    """A tick that any view tells but the first one is not heeded."""

    def _made(self, dispatcher: Dispatcher) -> View:
        return TellsTick(self, dispatcher, super()._made(dispatcher).sight)

    def is_first(self, view: View) -> bool:
        """Whether its subscription was the first of those that are registered."""
        return next(iter(self._views.values())) is view


class TellsTick(View):
    """A view that may tell the tick of the topic."""

    __slots__ = ()

    def reset_tick_time(self, tick: int) -> None:
        """Tell it, if the view is the first."""
        manager = self._asked()
        if isinstance(manager, OnlyFirstViewTellsTick) and manager.is_first(self):
            super().reset_tick_time(tick)
