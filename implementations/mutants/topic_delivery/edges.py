"""Mutants that go wrong at the edges of numbers: widths of integers, clocks, nothing and one."""

from __future__ import annotations

from collections.abc import Iterable

from broker_tck.implementations.interface import Clock, Position, Timer, TopicDeliveryConfig
from broker_tck.implementations.mutants.mutant import mutant
from broker_tck.implementations.topic_delivery.clock import Buckets, TopicTimer
from broker_tck.implementations.topic_delivery.index import MAX_ENTRY, Entries
from broker_tck.implementations.topic_delivery.manager import SharedIndexManager
from broker_tck.implementations.topic_delivery.tracker import View

MAX_INT = 2**31 - 1

# ---- Widths


@mutant("TD-08", conditions=2, deep=True)
class MarkEntryIsCut(SharedIndexManager):
    """Of the entry id of a mark-delete position the low 32 bits are kept: 2^32 acknowledges up to entry 0."""

    def acknowledge(self, view: View, position: Position) -> None:
        """Take over the mark-delete position of a view."""
        ledger, entry = position
        super().acknowledge(view, (ledger, entry & MAX_ENTRY if entry > 0 else entry))


@mutant("TD-08", conditions=2, deep=True)
class MarkBeforeTheFirstIsAll(SharedIndexManager):
    """A mark-delete position before the first entry of a ledger, at -1, is read as 2^32 - 1: all is acknowledged."""

    def acknowledge(self, view: View, position: Position) -> None:
        """Take over the mark-delete position of a view."""
        super().acknowledge(view, (position[0], position[1] & MAX_ENTRY if position[1] < 0 else position[1]))


class KeysInDoubles(Buckets):
    """Buckets whose keys are reckoned in floating point."""

    __slots__ = ()

    def key(self, deliver_at: int) -> int:
        """The bucket of a time, to 53 bits."""
        return min(int(float(super().key(deliver_at))), 2**63 - 1)


@mutant("DD-05", conditions=2, deep=True)
class TopicKeysAreDoubles(SharedIndexManager):
    """Buckets are reckoned in floating point: beyond 2^53 their keys are those of their neighbours."""

    def __init__(self, config: TopicDeliveryConfig, clock: Clock, timer: Timer) -> None:
        super().__init__(config, clock, timer)
        self._buckets = KeysInDoubles(config.tick, bool(config.strict))


@mutant("DD-02", conditions=2, deep=True)
class TopicWidthIsShiftedAsAnInt(SharedIndexManager):
    """The width is shifted in an int, whose shifts go by five bits: with a tick from 2^32 on it starts from 1 again."""

    def __init__(self, config: TopicDeliveryConfig, clock: Clock, timer: Timer) -> None:
        super().__init__(config, clock, timer)
        width = 1 << max(0, config.tick.bit_length() - 1) % 32
        self._buckets.mask = -width
        self._buckets.rounding, self._buckets.slack = (width - 1, 0) if config.strict else (0, width - 1)


# ---- Clocks


class ShortSighted(TopicTimer):
    """A timer that is armed as far ahead as an int of milliseconds reaches."""

    __slots__ = ()

    def aim(self, wake: int, now: int, tick: int) -> None:
        """Aim at ``wake``, if that is not too far."""
        super().aim(min(wake, now + MAX_INT), now, tick)
        self.target = wake


@mutant("DD-21", conditions=2)
class TopicDelayIsAnInt(SharedIndexManager):
    """The timer is armed for 2^31 - 1 ms ahead at most, 24 days, and fires for nothing then."""

    def __init__(self, config: TopicDeliveryConfig, clock: Clock, timer: Timer) -> None:
        super().__init__(config, clock, timer)
        self._timer = ShortSighted(clock, timer, self._fired)


@mutant("TD-20", source="PIP-448, TD-21", conditions=3)
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


@mutant("DD-27", conditions=2)
class TopicNoTickIsIgnored(SharedIndexManager):
    """A new tick of 0 is taken for none, and the one before goes on."""

    def reset_tick_time(self, tick: int) -> None:
        """Change the tick, if there is one."""
        super().reset_tick_time(tick or self._buckets.tick)


@mutant("DD-20", conditions=2)
class TopicNoBudgetIsNoLimit(SharedIndexManager):
    """A get of 0 hands out everything that is due."""

    def hand_out(self, view: View, most: int) -> list[Position]:
        """Hand out to a view what is due."""
        return super().hand_out(view, most or MAX_INT)
