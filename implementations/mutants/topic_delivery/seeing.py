"""Mutants that go wrong over what a view sees: its mark-delete position, and what it was handed or has cleared."""

from __future__ import annotations

from pyroaring import BitMap

from broker_tck.implementations.interface import Dispatcher, Position
from broker_tck.implementations.mutants.mutant import mutant
from broker_tck.implementations.mutants.topic_delivery.parts import BRANCH, Recounting, around_sight, around_view
from broker_tck.implementations.topic_delivery.index import Entries
from broker_tck.implementations.topic_delivery.manager import SharedIndexManager
from broker_tck.implementations.topic_delivery.sight import Sight
from broker_tck.implementations.topic_delivery.tracker import View


@mutant("DD-35", source=BRANCH + "T-01")
class HandsOutUntilAcknowledged(Recounting):
    """What was handed out is handed out again, until it is acknowledged."""

    def hand_out(self, view: View, most: int) -> list[Position]:
        """Hand out, and keep no record of it."""
        taken = self._taken(view, most)
        self._order.place(view)
        if sum(len(each.entries) for each in taken) == self.count_of(view):
            view.delays.reset()
        self._update_timer()
        return sorted({(ledger, entry) for _, ledger, entries in taken for entry in entries})


@mutant("TD-08")
class MarkItselfIsSeen(SharedIndexManager):
    """The message at the mark-delete position itself is taken for not acknowledged."""

    def _made(self, dispatcher: Dispatcher) -> View:
        mark = dispatcher.mark_delete_position
        return View(self, dispatcher, Sight(before(mark) if mark else None))

    def acknowledge(self, view: View, position: Position) -> None:
        """Stop before the position."""
        super().acknowledge(view, before(position))


def before(position: Position) -> Position:
    """The position before another one of its ledger."""
    return position[0], max(position[1] - 1, -1)


@mutant("TD-08")
class MarkComparesLedgersAlone(SharedIndexManager):
    """A mark-delete position acknowledges the whole of its ledger."""

    def acknowledge(self, view: View, position: Position) -> None:
        """Take it for the last of its ledger."""
        super().acknowledge(view, (position[0], 2**32 - 1))


@mutant("TD-15")
class MarkNeverGoesBack(SharedIndexManager):
    """A mark-delete position that lies before the last one is not taken over."""

    def acknowledge(self, view: View, position: Position) -> None:
        """Keep the furthest."""
        mark = view.sight.mark
        if mark is None or position > mark:
            super().acknowledge(view, position)


@mutant("TD-15", conditions=2)
class MarkLedgerCutShort(SharedIndexManager):
    """The ledger id of a mark-delete position is kept in 32 bits."""

    def acknowledge(self, view: View, position: Position) -> None:
        """Cut the ledger id short."""
        super().acknowledge(view, ((position[0] + 2**31) % 2**32 - 2**31, position[1]))


@mutant("TD-15", inside=around_sight, conditions=3)
class GoingBackHandsOutAgain(Sight):
    """Where the mark-delete position goes back, all that was handed out behind it is handed out again."""

    __slots__ = ()

    def move(self, position: Position) -> None:
        """Take it for a rewind."""
        if self.mark is not None and position < self.mark:
            self._done, self._below = None, 0
        super().move(position)


@mutant("TD-32", source=BRANCH + "T-16")
class ReopenedFromNothing(SharedIndexManager):
    """A subscription that is opened again sees what it had acknowledged."""

    def _made(self, dispatcher: Dispatcher) -> View:
        return View(self, dispatcher, Sight(None))


@mutant("TD-13", source=BRANCH + "T-17")
class ClearIsNoOp(SharedIndexManager):
    """A clear does nothing, as the index belongs to all."""

    def forget(self, view: View) -> None:
        """Do nothing."""


@mutant("TD-13")
class ClearIsForAll(SharedIndexManager):
    """A clear has every view forget its messages."""

    def forget(self, view: View) -> None:
        """Forget for all."""
        for each in self._views.values():
            super().forget(each)


@mutant("TD-11", source=BRANCH + "TD-11", inside=around_view)
class TotalsForOne(View):
    """A view tells how many messages the topic has, those among them that it does not see."""

    __slots__ = ()

    def get_number_of_delayed_messages(self) -> int:
        """The topic's number."""
        return self._asked().get_number_of_delayed_messages()


@mutant("TD-16", inside=around_view)
class AnswersAfterClose(View):
    """A view that was closed answers that it has no messages, where it should refuse."""

    __slots__ = ("_was_closed",)

    def close(self) -> None:
        """Leave."""
        self._was_closed = True
        super().close()

    def get_number_of_delayed_messages(self) -> int:
        """None, once closed."""
        return 0 if hasattr(self, "_was_closed") else super().get_number_of_delayed_messages()


@mutant("TD-09", inside=around_sight, conditions=2)
class AddedAgainStaysHidden(Sight):
    """What a view was handed, and adds again, is never handed to it again."""

    __slots__ = ()

    def adds(self, key: int, ledger: int, entry: int) -> bool:
        """Heed only what was passed."""
        behind = self.passed is None or (ledger, entry) > self.passed
        return False if behind else super().adds(key, ledger, entry)


@mutant("DD-35", conditions=2)
class WholeSetsAreDone(SharedIndexManager):
    """A get that ends inside a set of entries is done with all of the set."""

    def _taken(self, view: View, most: int) -> list[Entries]:
        taken = super()._taken(view, most)
        for key, ledger, _ in taken:
            held = Entries(key, ledger, self._index.buckets[key][ledger])
            rest = Entries(key, ledger, BitMap(view.sight.of(held)) - entries_of(taken, key, ledger))
            view.sight.lets_go(rest)
            view.hidden += len(rest.entries)
            self._release([rest])
        return taken


def entries_of(taken: list[Entries], key: int, ledger: int) -> BitMap:
    """What was taken from a set."""
    return next(each.entries for each in taken if (each.key, each.ledger) == (key, ledger))
