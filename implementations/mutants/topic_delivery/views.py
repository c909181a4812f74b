"""Mutants that go wrong over views: what each sees, what it holds, what leaves the index, and who is asked."""

from __future__ import annotations

from collections.abc import Iterable

from broker_tck.implementations.interface import Clock, Dispatcher, Position, Timer, TopicDeliveryConfig
from broker_tck.implementations.mutants.mutant import mutant
from broker_tck.implementations.mutants.topic_delivery.parts import BRANCH, Recounting, around_sight
from broker_tck.implementations.topic_delivery.index import Entries
from broker_tck.implementations.topic_delivery.manager import SharedIndexManager
from broker_tck.implementations.topic_delivery.sight import Sight
from broker_tck.implementations.topic_delivery.tracker import View


@mutant("TD-15", shows="A ledger beyond 31 bits in a mark-delete position alone.", conditions=2)
class MarkLedgerCutShort(SharedIndexManager):
    """The ledger id of a mark-delete position is kept in 32 bits."""

    def acknowledge(self, view: View, position: Position) -> None:
        """Cut the ledger id short."""
        super().acknowledge(view, ((position[0] + 2**31) % 2**32 - 2**31, position[1]))


@mutant(
    "TD-15",
    shows="A mark-delete position that goes back behind what was handed out.",
    inside=around_sight,
    conditions=3,
)
class GoingBackHandsOutAgain(Sight):
    """Where the mark-delete position goes back, all that was handed out behind it is handed out again."""

    __slots__ = ()

    def move(self, position: Position) -> None:
        """Take it for a rewind."""
        if self.mark is not None and position < self.mark:
            self._done, self._below = None, 0
        super().move(position)


@mutant("TD-09", shows="A second add of what a view was handed.", inside=around_sight, conditions=2)
class AddedAgainStaysHidden(Sight):
    """What a view was handed, and adds again, is never handed to it again."""

    __slots__ = ()

    def adds(self, key: int, ledger: int, entry: int) -> bool:
        """Heed only what was passed."""
        behind = self.passed is None or (ledger, entry) > self.passed
        return False if behind else super().adds(key, ledger, entry)


# ---- What leaves


@mutant("TD-20", shows="Two views, of which the faster one decides for both.", conditions=2)
class FurthestMarkPrunes(SharedIndexManager):
    """What one view has acknowledged leaves the index, whatever others have."""

    def acknowledge(self, view: View, position: Position) -> None:
        """Have all others acknowledge nothing, but let go of it."""
        gone = self._up_to(view, position)
        super().acknowledge(view, position)
        for key, ledger, entries in gone:
            held = self._index.buckets.get(key, {}).get(ledger)
            left = entries & held if held else None
            if left:
                self._index.remove(Entries(key, ledger, left))
                self._pruned += len(left)
                for other in self._views.values():
                    other.hidden += len(left & other.sight.of(Entries(key, ledger, left)))
        self._update_timer()


@mutant("DD-29", shows="A running sum that drifts with each prune.", source=BRANCH + "T-10")
class MemoryDriftsWithPrunes(SharedIndexManager):
    """Each set that a prune drops takes a byte more off the estimate than it had added."""

    _drift = 0

    def _release(self, copies: Iterable[Entries]) -> None:
        before = self._index.sets
        super()._release(copies)
        self._drift += before - self._index.sets

    def get_buffer_memory_usage(self) -> int:
        """The estimate, as far as it was kept right."""
        return super().get_buffer_memory_usage() - self._drift


# ---- When


@mutant("TD-20", shows="A mark-delete position that jumps over a ledger.", conditions=2)
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


@mutant(
    "TD-20",
    shows="A view that has not told a position yet, in an order of views by position.",
    source="PIP-448, drafts before the last",
    conditions=2,
)
class ViewsWithoutMarkAreIgnored(Recounting):
    """A view that has no mark-delete position yet is not asked before a message leaves the index."""

    def _release(self, copies: Iterable[Entries]) -> None:
        ignored = [view for view in self._views.values() if not view.sight.mark]
        for view in ignored:
            self._order.remove(view)
        super()._release(copies)
        for view in ignored:
            self._order.place(view)


@mutant("TD-20", shows="A view that was replaced, and is asked all the same.", conditions=2)
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


# ---- The tick


@mutant("TD-14", shows="An operation that one view may make and another may not.", conditions=2)
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


@mutant("TD-19", shows="Several dispatchers that wait for one firing.", conditions=2)
class FiringAsksOneView(SharedIndexManager):
    """A firing asks one dispatcher to read, and leaves the others waiting."""

    def _fired(self) -> None:
        asked = [view for view in self._views.values() if self.is_available(view)]
        self._update_timer()
        for view in asked[:1]:
            view.dispatcher.read_more_entries()
