"""What clients do otherwise than the specification of negative acks: a profile for each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from broker_tck.model.negative_acks.buckets import Buckets, Item, Position
from broker_tck.model.negative_acks.calls import Calls
from broker_tck.model.negative_acks.clock import MS, TwoClocks
from broker_tck.model.negative_acks.delays import Delays
from broker_tck.model.negative_acks.specification import Emission, NegativeAcks
from broker_tck.model.negative_acks.timer import NackTimer
from broker_tck.model.negative_acks.walked_tree import WalkedTree

# ---- Java


class LastChunk(Buckets):
    """Ids are rebuilt from ledger and entry, and so have lost their chunks."""

    def expanded(self, entry: int, chunks: int) -> list[int]:
        return [entry]


class BitsModulo64(LastChunk):
    """A shift of 64 bits takes its distance modulo 64."""

    def __init__(self, bits: int, scale: int) -> None:
        super().__init__(bits % 64, scale)


class HeedsCancelled(NackTimer):
    """A firing never looks whether its timeout was cancelled."""

    def heeds_cancelled(self) -> bool:
        return self.cancelled


class LeavesPending(HeedsCancelled):
    """A pending timeout is left alone, whatever is due sooner."""

    def is_sooner(self, deadline: int) -> bool:
        return False


class Pip393Java(NegativeAcks):
    """The Java client from 4.0.2 on, as recorded: a pending timer is left alone, whatever is due sooner.

    A firing never looks whether its timeout was cancelled: it arms a timer besides the one that is pending.
    """

    PROFILE = "pip-393-java"
    BREAKS: ClassVar[tuple[str, ...]] = ("NA-16", "P8", "P9", "P10")
    Buckets = BitsModulo64
    Timer = LeavesPending

    def ignores_after_close(self) -> bool:
        return False


class ChunksByEntry(BitsModulo64):
    """Chunks are noted by entry: the first bucket that fires takes them away from the others."""

    expanded = Buckets.expanded

    def noted(self, key: int, position: Position) -> tuple[int, Position]:
        return 0, position


class Pip393Java42(Pip393Java):
    """The Java client from 4.2 on (PR 25229; 4.2.4 and 5.0.0-M1 as recorded): all chunks, but only the first time.

    The later buckets have the last chunk alone, until the message is nacked again.
    """

    PROFILE = "pip-393-java-4.2"
    Buckets = ChunksByEntry


# ---- Clients that poll


class OnlyForward(TwoClocks):
    """Instants are of the clock that never jumps."""

    def reading(self) -> int:
        return self.now * self.scale // MS


class Polling(NegativeAcks):
    """What the clients have in common that poll, by a clock that only goes forward."""

    SCALE = MS
    BREAKS: ClassVar[tuple[str, ...]] = ("NA-16", "P6", "P8", "P14")
    MOOT: ClassVar[tuple[str, ...]] = ("NA-23", "NA-51")
    Clock: type[TwoClocks] = OnlyForward
    Buckets = LastChunk

    def first_wait(self, delay: int) -> int:
        return self.delays.interval()

    def deadline_after_firing(self, before: int) -> int | None:
        return self.clock.now + self.delays.interval() if before else None

    def ignores_after_close(self) -> bool:
        return False


class FlatMap(LastChunk):
    """A map from entry to instant, where the last nack of an entry counts."""

    def key(self, at: int) -> int:
        return at

    def due(self, key: int, now: int) -> bool:
        return key < now

    def superseded(self, item: Item, key: int) -> list[int]:
        return self.elsewhere(item, key)


class LegacyJava(Polling):
    """The Java client of 4.0.1: a flat map, where the last nack of an entry wins."""

    PROFILE = "legacy-java"
    MOOT: ClassVar[tuple[str, ...]] = ("NA-13", "NA-23", "NA-31", "NA-51", "P9", "P10", "P15")
    Buckets = FlatMap
    Timer: type[NackTimer] = HeedsCancelled


class MapOfIds(FlatMap):
    """A map from whole ids, with their chunks. Close drops the map itself; the next nack makes another."""

    expanded = Buckets.expanded

    def __init__(self, bits: int, scale: int) -> None:
        super().__init__(bits, scale)
        self.dropped = False

    def file(self, item: Item, key: int, chunks: int) -> bool:
        self.dropped = False
        return super().file(item, key, chunks)

    def clear(self) -> None:
        super().clear()
        self.dropped = True


class CallsBeforeItArms(Calls):
    """The timer is settled when all calls have returned."""

    def settles(self, failed: bool) -> bool:
        return not failed

    def calls_first(self) -> bool:
        return True


class LegacyJava30(LegacyJava):
    """The Java client up to 4.0.0 (3.0.7 as recorded): a map of whole ids, keeps chunks, and calls before it arms.

    What a request throws, or a firing after a close that no nack followed, leaves the timeout that has fired to be
    taken for pending: no nack arms another, until close.
    """

    PROFILE = "legacy-java-3.0"
    Buckets = MapOfIds
    Calls = CallsBeforeItArms
    buckets: MapOfIds

    def fire(self) -> list[Emission]:
        return [] if self.buckets.dropped else super().fire()


# ---- C++


class OneRequest(Calls):
    """All ids are in one request."""

    def requests(self, ids: list[Position]) -> list[int]:
        return [len(ids)]


class BitsOfUnits(LastChunk):
    """The bits that are cleared are those of the clock's own units."""

    def key(self, at: int) -> int:
        return at & -(1 << self.bits)


class RestartedCountdown(NackTimer):
    """Every nack restarts the countdown; from idle none does once the tracker is closed."""

    def __init__(self, deadline: int | None) -> None:
        super().__init__(deadline)
        self.closed = False

    def restarts(self, deadline: int) -> bool:
        return True

    def arms_from_idle(self) -> bool:
        return not self.closed

    def close(self) -> None:
        super().close()
        self.closed = True


class Cpp(Polling):
    """The C++ client from v3.8.0 on: every nack restarts the countdown; the bits are those of nanoseconds."""

    PROFILE = "cpp"
    BREAKS: ClassVar[tuple[str, ...]] = ("NA-16", "P5", "P6", "P8", "P9", "P14")
    MOOT: ClassVar[tuple[str, ...]] = ("NA-23", "NA-51", "P10")
    Buckets = BitsOfUnits
    Timer = RestartedCountdown
    Calls = OneRequest


class CppOld(LegacyJava):
    """The C++ client before v3.3.0: a map of entries, polled."""

    PROFILE = "cpp-old"
    Timer = NackTimer
    Calls = OneRequest


# ---- Clients that tick


class Ticker(NackTimer):
    """Ticks by itself; no nack arms it."""

    def arms_from_idle(self) -> bool:
        return False


class Ticking(Polling):
    """What the clients have in common whose timer ticks from the beginning to the end."""

    Timer: type[NackTimer] = Ticker
    Calls = OneRequest

    def deadline_at_start(self) -> int | None:
        return self.clock.now + self.delays.interval()

    def deadline_after_firing(self, before: int) -> int | None:
        return self.clock.now + self.delays.interval()


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


class FirstNackCounts(LastChunk):
    """A map from entry to instant, where the first nack of an entry counts."""

    def key(self, at: int) -> int:
        return at

    def due(self, key: int, now: int) -> bool:
        return key < now

    def files(self, item: Item, key: int) -> bool:
        return not self.elsewhere(item, key)


class GoOld(Ticking):
    """The Go client up to v0.17.0: a map, where the first nack of an entry stays."""

    PROFILE = "go-old"
    BREAKS: ClassVar[tuple[str, ...]] = ("NA-14", "NA-16", "P5", "P6", "P8", "P14")
    MOOT: ClassVar[tuple[str, ...]] = ("NA-13", "NA-23", "NA-31", "NA-51", "P15")
    Delays = GoDelays
    Buckets = FirstNackCounts


class DeletedWhileWalked(LastChunk):
    """Buckets are deleted from the tree that is walked through, and their ids are put in one list."""

    def __init__(self, bits: int, scale: int) -> None:
        super().__init__(bits, scale)
        self.tree = WalkedTree()

    def selected(self, due: list[int]) -> list[int]:
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


class Go(Ticking):
    """The Go client from v0.18.0 on: a ticker, and buckets deleted from the tree that is walked through."""

    PROFILE = "go"
    SCALE = 1
    BREAKS: ClassVar[tuple[str, ...]] = ("NA-14", "NA-16", "P5", "P6", "P8", "P14")
    MOOT: ClassVar[tuple[str, ...]] = ("NA-23", "P9", "P10")
    Clock = TwoClocks
    Delays = GoDelays
    Buckets = DeletedWhileWalked


class FirstIdCounts(FirstNackCounts):
    """A map from whole id to instant."""

    def item(self, ledger: int, entry: int, batch_index: int) -> Item:
        return ledger, entry, batch_index + 1


class FSharp(Ticking):
    """The F# client: as the old Go client, with whole ids as keys."""

    PROFILE = "fsharp"
    BREAKS: ClassVar[tuple[str, ...]] = ("NA-16", "P5", "P6", "P8", "P14")
    MOOT: ClassVar[tuple[str, ...]] = ("NA-13", "NA-23", "NA-51", "P15")
    Buckets = FirstIdCounts
    Timer = NackTimer
    ignores_after_close = NegativeAcks.ignores_after_close


PROFILES = {
    m.PROFILE: m
    for m in (NegativeAcks, Pip393Java, Pip393Java42, LegacyJava, LegacyJava30, Go, GoOld, Cpp, CppOld, FSharp)
}
"""Every profile of the contract; the first is the default."""
