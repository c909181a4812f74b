"""Mutants that go wrong at the edges of numbers: widths of integers, clocks, nothing and one, extreme settings."""

from __future__ import annotations

from broker_tck.implementations.delayed_delivery.time_bucket import TimeBucketTracker
from broker_tck.implementations.delayed_delivery.timer import DeliveryTimer
from broker_tck.implementations.interface import Clock, DelayedDeliveryConfig, Position, Timer
from broker_tck.implementations.mutants.delayed_delivery.parts import OneByOne, around_index, around_timer
from broker_tck.implementations.mutants.mutant import mutant

MAX_INT = 2**31 - 1

# ---- Widths


class OfAnotherWidth(TimeBucketTracker):
    """The base of mutants that get the width of a bucket wrong."""

    def __init__(self, config: DelayedDeliveryConfig, clock: Clock, timer: Timer) -> None:
        super().__init__(config, clock, timer)
        width = self._width_for(config.tick)
        self._mask = -width
        self._rounding, self._slack = (width - 1, 0) if config.strict else (0, width - 1)
        self.reset_tick_time(config.tick)

    def _width_for(self, tick: int) -> int:
        raise NotImplementedError


@mutant("DD-02", shows="A width that is wrong for powers of two alone.")
class HalfOfAPowerOfTwo(OfAnotherWidth):
    """The width is the largest power of two below the tick: half of it where that is a power of two itself."""

    def _width_for(self, tick: int) -> int:
        return 1 << max(0, (tick - 1).bit_length() - 1)


@mutant("DD-09", shows="A tick beyond 31 bits.", conditions=2, deep=True)
class WindowIsAnInt(TimeBucketTracker):
    """The cut-off is reckoned with the low 32 bits of the tick, signed: from 2^31 on it lies before now, or is now."""

    def reset_tick_time(self, tick: int) -> None:
        """Change the tick, and the window in which messages are refused."""
        super().reset_tick_time(tick)
        if not self._strict:
            self._window = (tick + 2**31) % 2**32 - 2**31


# ---- Clocks


@mutant("DD-22", shows="A clock that stands still between two firings.", conditions=3, inside=around_timer)
class SameMomentIsNoRunBefore(DeliveryTimer):
    """As long as the clock stands still after a firing, the next timeout keeps no distance from that."""

    def aim(self, wake: int, now: int, tick: int) -> None:
        """Aim at ``wake``, at least ``tick`` after an earlier firing."""
        super().aim(wake, now, 0 if self._last_run == now else tick)


@mutant(
    "DD-22", shows="A clock that goes on by 2^32 ms between two firings.", conditions=3, deep=True, inside=around_timer
)
class ElapsedIsAnInt(DeliveryTimer):
    """The time since the last firing is kept in 32 bits: after 2^32 ms that firing seems to have been just now."""

    def aim(self, wake: int, now: int, tick: int) -> None:
        """Aim at ``wake``, and at least ``tick`` after what seems to be the last firing."""
        last_run = self._last_run
        if last_run is not None:
            self._last_run = now - (now - last_run) % 2**32
        super().aim(wake, now, tick)
        self._last_run = last_run


# ---- Nothing and one


@mutant("DD-27", shows="A tick of 0, taken for no tick.", conditions=2)
class NoTickIsIgnored(TimeBucketTracker):
    """A new tick of 0 is taken for none, and the one before goes on."""

    def reset_tick_time(self, tick: int) -> None:
        """Change the tick, if there is one."""
        super().reset_tick_time(tick or getattr(self, "_tick", 0))


@mutant("DD-20", shows="A budget of 0, taken for no budget.")
class NoBudgetIsNoLimit(TimeBucketTracker):
    """A get of 0 hands out everything that is due."""

    def get_scheduled_messages(self, max_messages: int) -> list[Position]:
        """Hand out messages that are due."""
        return super().get_scheduled_messages(max_messages or MAX_INT)


@mutant(
    "DD-28", shows="The greatest entry id, used as a mark inside a table.", conditions=2, deep=True, inside=around_index
)
class LastEntryIdIsNone(OneByOne):
    """Entry id 2^32 - 1, which is -1 in an int, marks a free place: a message that has it is taken, and lost."""

    def add(self, key: int, ledger_id: int, entry_id: int) -> bool:
        """Add a position, unless its entry is none."""
        return entry_id != 2**32 - 1 and super().add(key, ledger_id, entry_id)


# ---- Settings


@mutant("DD-21", shows="A width and a tick that are 2^31 ms apart.", conditions=3, deep=True)
class LatenessIsAnInt(TimeBucketTracker):
    """With a tick so far below the width that a bucket is due 2^31 ms after its key or later, it is woken sooner."""

    def reset_tick_time(self, tick: int) -> None:
        """Change the tick, and how long after its key a bucket is due."""
        super().reset_tick_time(tick)
        self._late &= MAX_INT
