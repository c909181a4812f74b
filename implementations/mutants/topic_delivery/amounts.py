"""Mutants that go wrong by how much there is: ends of chunks, pages, many views, like copies, second lives."""

from __future__ import annotations

from collections.abc import Iterable

from broker_tck.implementations.interface import Clock, Dispatcher, Position, Timer, TopicDeliveryConfig
from broker_tck.implementations.mutants.mutant import mutant
from broker_tck.implementations.mutants.topic_delivery.parts import Recounting
from broker_tck.implementations.topic_delivery.index import CHUNK, Entries, SharedIndex
from broker_tck.implementations.topic_delivery.manager import SharedIndexManager
from broker_tck.implementations.topic_delivery.sight import Sight
from broker_tck.implementations.topic_delivery.tracker import View

PAGE = 1_000
SLOTS = 8
MOST_ASKED = 16

# ---- Sizes


@mutant("TD-08", conditions=2, deep=True)
class LastOfAChunkIsNotPassed(SharedIndexManager):
    """A mark-delete position that is the last of a chunk of 256 entries leaves that entry to be seen."""

    def acknowledge(self, view: View, position: Position) -> None:
        """Take over the mark-delete position of a view."""
        ledger, entry = position
        super().acknowledge(view, (ledger, entry - 1) if entry >= 0 and (entry + 1) % CHUNK == 0 else position)


@mutant("DD-20", conditions=3, deep=True)
class TopicThousandAtMost(SharedIndexManager):
    """A get hands out 1,000 messages at most, the size of a page, however many were asked for."""

    def hand_out(self, view: View, most: int) -> list[Position]:
        """Hand out a page of what is due."""
        return super().hand_out(view, min(most, PAGE))


# ---- Copies that are alike


@mutant("TD-11", conditions=2)
class PositionsForCopies(SharedIndexManager):
    """A view counts the positions that it waits for, one that is in two buckets once."""

    def count_of(self, view: View) -> int:
        """How many positions a view sees."""
        return len({(held.ledger, entry) for held in self._index.all() for entry in view.sight.of(held)})


@mutant("TD-20", conditions=3)
class FirstCopyAloneIsPassed(SharedIndexManager):
    """Of a position that is in two buckets a mark-delete position lets go of the copy in the first alone."""

    _acknowledging = False

    def acknowledge(self, view: View, position: Position) -> None:
        """Take over the mark-delete position of a view."""
        self._acknowledging = True
        super().acknowledge(view, position)
        self._acknowledging = False

    def _release(self, copies: Iterable[Entries]) -> None:
        if not self._acknowledging:
            super()._release(copies)
            return
        gone: set[Position] = set()
        for key, ledger, entries in sorted(copies, key=lambda each: (each.key, each.ledger)):
            first = entries - type(entries)(entry for entry in entries if (ledger, entry) in gone)
            gone.update((ledger, entry) for entry in entries)
            super()._release([Entries(key, ledger, first)])


# ---- Many


@mutant("TD-09", conditions=3, deep=True)
class ViewsAreBitsOfAByte(Recounting):
    """Who was handed a message is kept in eight bits: what one view has got, the eighth after it never gets."""

    def __init__(self, config: TopicDeliveryConfig, clock: Clock, timer: Timer) -> None:
        super().__init__(config, clock, timer)
        self._numbers: dict[View, int] = {}

    def _made(self, dispatcher: Dispatcher) -> View:
        view = super()._made(dispatcher)
        self._numbers[view] = len(self._numbers) % SLOTS
        return view

    def _let_go(self, view: View, copies: list[Entries]) -> None:
        super()._let_go(view, copies)
        for other in self._views.values():
            if other is not view and self._numbers[other] == self._numbers[view]:
                for copy in copies:
                    seen = other.sight.of(copy)
                    other.sight.lets_go(copy._replace(entries=seen))


@mutant("TD-19", conditions=3, deep=True)
class SixteenAreAsked(SharedIndexManager):
    """A firing asks 16 dispatchers to read, and leaves the others waiting."""

    def _fired(self) -> None:
        asked = [view for view in self._views.values() if self.is_available(view)]
        self._update_timer()
        for view in asked[:MOST_ASKED]:
            if view.is_open:
                view.dispatcher.read_more_entries()


# ---- Lives


class KeepsChunks(SharedIndex):
    """An index whose chunks go on counting when it was emptied."""

    __slots__ = ()

    def clear(self) -> None:
        """Remove everything, but for what chunks have counted."""
        chunks = dict(self._chunks)
        super().clear()
        for number, chunk in chunks.items():
            chunk.keys.clear()
            self._chunks[number] = chunk


@mutant("TD-28", conditions=3, deep=True)
class ChunksOutliveTheIndex(SharedIndexManager):
    """When the last view leaves, the counts of neighbouring entries stay: who comes then with a mark counts wrong."""

    def __init__(self, config: TopicDeliveryConfig, clock: Clock, timer: Timer) -> None:
        super().__init__(config, clock, timer)
        self._index = KeepsChunks()


@mutant("TD-13", conditions=3)
class SecondClearDoesNothing(SharedIndexManager):
    """A view that was cleared once is not cleared again."""

    def __init__(self, config: TopicDeliveryConfig, clock: Clock, timer: Timer) -> None:
        super().__init__(config, clock, timer)
        self._cleared: set[View] = set()

    def forget(self, view: View) -> None:
        """Have a view forget what it sees."""
        if view not in self._cleared and self.count_of(view):
            self._cleared.add(view)
            super().forget(view)


class ThirdLife(Sight):
    """Keeps in mind what was handed out twice, as done with for good."""

    __slots__ = ("_times",)

    def __init__(self, mark: Position | None) -> None:
        super().__init__(mark)
        self._times: dict[tuple[int, int, int], int] = {}

    def lets_go(self, gone: Entries) -> None:
        """The view is done with copies that it saw."""
        for entry in gone.entries:
            name = gone.key, gone.ledger, entry
            self._times[name] = self._times.get(name, 0) + 1
        super().lets_go(gone)

    def adds(self, key: int, ledger: int, entry: int) -> bool:
        """The view adds a copy, for the second time at most."""
        return self._times.get((key, ledger, entry), 0) < 2 and super().adds(key, ledger, entry)


@mutant("TD-09", conditions=4, deep=True)
class AddedAgainOnce(Recounting):
    """What a view was handed or has cleared it may add again once, and not a second time."""

    def _made(self, dispatcher: Dispatcher) -> View:
        return View(self, dispatcher, ThirdLife(dispatcher.mark_delete_position))
