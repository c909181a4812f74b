"""Parts of clients that decide otherwise than those of the specification of negative acks."""

from __future__ import annotations

from collections.abc import Iterable

from broker_tck.model.negative_acks.buckets import Buckets, Item, Position
from broker_tck.model.negative_acks.calls import Calls
from broker_tck.model.negative_acks.clock import MS, TwoClocks
from broker_tck.model.negative_acks.delays import Delays
from broker_tck.model.negative_acks.timer import NackTimer
from broker_tck.model.negative_acks.walked_tree import WalkedTree

# ---- The clock and the delays


class OnlyForward(TwoClocks):
    """Instants are of the clock that never jumps."""

    def reading(self) -> int:
        return self.now * self.scale // MS


class GoDelays(Delays):
    """No delay stands for a minute, and an id alone for a message that was redelivered once."""

    def fixed(self) -> int:
        return self.in_units(self.delay_us or 60_000_000)

    def count_of_id(self) -> int:
        return 1

    def interval(self) -> int:
        us = (self.delay_us or 60_000_000) * 1_000
        delay = self.delay(self.count_of_id()) * MS // self.scale if self.backs_off() else us
        return max(delay // 3, 1)


# ---- The buckets


class LastChunk(Buckets):
    """Ids are rebuilt from ledger and entry, and so have lost their chunks."""

    def expanded(self, entry: int, chunks: int) -> list[int]:
        return [entry]


class BitsModulo64(LastChunk):
    """A shift of 64 bits takes its distance modulo 64."""

    def __init__(self, bits: int, scale: int) -> None:
        super().__init__(bits % 64, scale)


class ChunksByEntry(BitsModulo64):
    """Chunks are noted by entry: the first bucket that fires takes them away from the others."""

    expanded = Buckets.expanded

    def noted(self, key: int, position: Position) -> tuple[int, Position]:
        return 0, position


class BitsOfUnits(LastChunk):
    """The bits that are cleared are those of the clock's own units."""

    def key(self, at: int) -> int:
        return at & -(1 << self.bits)


class FlatMap(LastChunk):
    """A map from entry to instant, without buckets. An item is due when its instant has passed."""

    def key(self, at: int) -> int:
        return at

    def due(self, key: int, now: int) -> bool:
        return key < now


class LastNackCounts(FlatMap):
    """An entry that is nacked again has the instant of that nack."""

    def hold(self, item: Item, key: int, chunks: int) -> bool:
        for other in self.elsewhere(item, key):
            self.drop(other, item)
        return super().hold(item, key, chunks)


class MapOfIds(LastNackCounts):
    """A map from whole ids, with their chunks. Close drops the map itself, until a nack makes another."""

    expanded = Buckets.expanded

    def __init__(self, bits: int, scale: int) -> None:
        super().__init__(bits, scale)
        self.dropped = False

    def clear(self) -> None:
        super().clear()
        self.dropped = True


class FirstNackCounts(FlatMap):
    """An entry that is held keeps its instant, however often it is nacked."""

    def hold(self, item: Item, key: int, chunks: int) -> bool:
        return not self.elsewhere(item, key) and super().hold(item, key, chunks)


class FirstIdCounts(FirstNackCounts):
    """A map from whole ids."""

    def item(self, ledger: int, entry: int, batch_index: int) -> Item:
        return ledger, entry, batch_index + 1


class DeletedWhileWalked(LastChunk):
    """Buckets are deleted from the tree that is walked through, and their ids are put in one list."""

    def __init__(self, bits: int, scale: int) -> None:
        super().__init__(bits, scale)
        self.tree = WalkedTree()

    def selected(self, now: int) -> list[int]:
        due = super().selected(now)
        if not due:
            return []
        for key in self.held:
            self.tree.put(key)
        return [*self.tree.walk_off({*due}.__contains__)]

    def emitted(self, ids: Iterable[Position]) -> list[Position]:
        return sorted(ids)

    def clear(self) -> None:
        super().clear()
        self.tree = WalkedTree()


# ---- The timer


class LeavesPending(NackTimer):
    """A pending timeout is left alone, whatever is due sooner."""

    def is_sooner(self, deadline: int) -> bool:
        return False


class RestartedCountdown(NackTimer):
    """Every nack restarts the countdown; from idle none does once the tracker is closed."""

    def __init__(self, deadline: int | None) -> None:
        super().__init__(deadline)
        self.closed = False

    def restarts(self, deadline: int) -> bool:
        return True

    def arm_for(self, deadline: int) -> None:
        if self.deadline is not None or not self.closed:
            super().arm_for(deadline)

    def close(self) -> None:
        super().close()
        self.closed = True


class Ticker(NackTimer):
    """Ticks by itself; no nack arms it."""

    def arm_for(self, deadline: int) -> None:
        if self.deadline is not None:
            super().arm_for(deadline)


# ---- The calls


class OneRequest(Calls):
    """All ids are in one request."""

    def requests(self, ids: list[Position]) -> list[int]:
        return [len(ids)]
