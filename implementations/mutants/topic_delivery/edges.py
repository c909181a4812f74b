"""Mutants that go wrong at the edges of numbers: widths of integers, clocks, nothing and one."""

from __future__ import annotations

from collections.abc import Iterable

from broker_tck.implementations.interface import Clock, Position, Timer, TopicDeliveryConfig
from broker_tck.implementations.mutants.mutant import mutant
from broker_tck.implementations.topic_delivery.index import MAX_ENTRY, Entries
from broker_tck.implementations.topic_delivery.manager import SharedIndexManager
from broker_tck.implementations.topic_delivery.tracker import View

MAX_INT = 2**31 - 1

# ---- Widths


@mutant("TD-08", shows="An entry beyond 32 bits in a mark-delete position alone.", conditions=2, deep=True)
class MarkEntryIsCut(SharedIndexManager):
    """Of the entry id of a mark-delete position the low 32 bits are kept: 2^32 acknowledges up to entry 0."""

    def acknowledge(self, view: View, position: Position) -> None:
        """Take over the mark-delete position of a view."""
        ledger, entry = position
        super().acknowledge(view, (ledger, entry & MAX_ENTRY if entry > 0 else entry))


@mutant("TD-08", shows="An entry of -1, read without its sign.", conditions=2, deep=True)
class MarkBeforeTheFirstIsAll(SharedIndexManager):
    """A mark-delete position before the first entry of a ledger, at -1, is read as 2^32 - 1: all is acknowledged."""

    def acknowledge(self, view: View, position: Position) -> None:
        """Take over the mark-delete position of a view."""
        super().acknowledge(view, (position[0], position[1] & MAX_ENTRY if position[1] < 0 else position[1]))


# ---- Clocks


@mutant("TD-20", shows="A clock that stands still between two prunes.", source="PIP-448, TD-21", conditions=3)
class PrunesAreThrottled(SharedIndexManager):
    """As long as the clock stands still after a prune, nothing else leaves the index."""

    def __init__(self, config: TopicDeliveryConfig, clock: Clock, timer: Timer) -> None:
        super().__init__(config, clock, timer)
        self._pruned_at = 0

    def _release(self, copies: Iterable[Entries]) -> None:
        before = self._index.count
        if self._clock() != self._pruned_at:
            super()._release(copies)
        if self._index.count < before:
            self._pruned_at = self._clock()


# ---- Nothing and one


@mutant("DD-27", shows="A tick of 0, taken for no tick.", conditions=2)
class TopicNoTickIsIgnored(SharedIndexManager):
    """A new tick of 0 is taken for none, and the one before goes on."""

    def reset_tick_time(self, tick: int) -> None:
        """Change the tick, if there is one."""
        super().reset_tick_time(tick or self._buckets.tick)


@mutant("DD-20", shows="A budget of 0, taken for no budget.", conditions=2)
class TopicNoBudgetIsNoLimit(SharedIndexManager):
    """A get of 0 hands out everything that is due."""

    def hand_out(self, view: View, most: int) -> list[Position]:
        """Hand out to a view what is due."""
        return super().hand_out(view, most or MAX_INT)
