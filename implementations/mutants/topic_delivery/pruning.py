"""Mutants that go wrong over prunes: when a copy leaves the index, who is asked before, and what is told of it."""

from __future__ import annotations

from collections.abc import Iterable

from broker_tck.implementations.interface import Clock, Dispatcher, Position, Timer, TopicDeliveryConfig
from broker_tck.implementations.mutants.mutant import mutant
from broker_tck.implementations.mutants.topic_delivery.parts import Recounting
from broker_tck.implementations.topic_delivery.index import NOTHING, Entries
from broker_tck.implementations.topic_delivery.manager import SharedIndexManager
from broker_tck.implementations.topic_delivery.sight import Sight, without
from broker_tck.implementations.topic_delivery.tracker import View

# ---- When


@mutant("TD-20", conditions=2)
class MarkPrunesItsLedgerAlone(SharedIndexManager):
    """A mark-delete position lets go of the messages of its own ledger alone, not of those of earlier ones."""

    _ledger: int | None = None

    def acknowledge(self, view: View, position: Position) -> None:
        """Note the ledger."""
        self._ledger = position[0]
        super().acknowledge(view, position)
        self._ledger = None

    def _release(self, copies: Iterable[Entries]) -> None:
        super()._release([each for each in copies if self._ledger in (None, each.ledger)])


# ---- Who is asked


@mutant("TD-20", source="PIP-448, drafts before the last", conditions=2)
class ViewsWithoutMarkAreIgnored(Recounting):
    """A view that has no mark-delete position yet is not asked before a message leaves the index."""

    def _release(self, copies: Iterable[Entries]) -> None:
        ignored = [view for view in self._views.values() if not view.sight.mark]
        for view in ignored:
            self._order.remove(view)
        super()._release(copies)
        for view in ignored:
            self._order.place(view)


@mutant("TD-20", conditions=2)
class StaleViewHoldsCopies(SharedIndexManager):
    """What a view saw when its subscription was opened again is held for it, though it is stale."""

    def __init__(self, config: TopicDeliveryConfig, clock: Clock, timer: Timer) -> None:
        super().__init__(config, clock, timer)
        self._stale: list[View] = []

    def create_or_get_tracker(self, dispatcher: Dispatcher) -> View:
        """Keep the earlier view in mind."""
        earlier = self._views.get(dispatcher.name)
        view = super().create_or_get_tracker(dispatcher)
        if earlier:
            self._stale.append(earlier)
        return view

    def _release(self, copies: Iterable[Entries]) -> None:
        for copy in copies:
            gone = copy
            for stale in self._stale:
                gone = gone._replace(entries=gone.entries - stale.sight.of(gone))
            if gone.entries:
                super()._release([gone])


# ---- What is told of it


@mutant("TD-17")
class MarkLeavesTimer(SharedIndexManager):
    """The timer stays armed for what a mark-delete position has let go of."""

    _acknowledging = False

    def acknowledge(self, view: View, position: Position) -> None:
        """Prune, and tell the timer nothing."""
        self._acknowledging = True
        super().acknowledge(view, position)
        self._acknowledging = False

    def _update_timer(self) -> None:
        if not self._acknowledging:
            super()._update_timer()


class ForgetsWithTheIndex(Sight):
    """Keeps in mind what it is done with only as long as that is held."""

    __slots__ = ()

    def forget(self, gone: Entries) -> None:
        """Have copies that are not held come as new ones."""
        if self._done and (done := self._done.of(gone.key, gone.ledger) & gone.entries):
            self._done = without(self._done, [gone._replace(entries=done)])


@mutant("TD-13", conditions=3, deep=True)
class PruneForgetsWhoWasDone(Recounting):
    """With a message that leaves the index goes what is known of it: added by another view, it is new to all."""

    def _made(self, dispatcher: Dispatcher) -> View:
        return View(self, dispatcher, ForgetsWithTheIndex(dispatcher.mark_delete_position))

    def _release(self, copies: Iterable[Entries]) -> None:
        copies = [*copies]
        super()._release(copies)
        for key, ledger, entries in copies:
            left = self._index.buckets.get(key, {}).get(ledger, NOTHING)
            for view in self._views.values():
                if isinstance(view.sight, ForgetsWithTheIndex):
                    view.sight.forget(Entries(key, ledger, entries - left))
