"""What clients do otherwise than the specification of negative acks: a profile for each."""

from __future__ import annotations

from typing import ClassVar

from broker_tck.model.negative_acks.client_parts import (
    BitsModulo64,
    BitsOfUnits,
    ChunksByEntry,
    DeletedWhileWalked,
    FirstIdCounts,
    FirstNackCounts,
    GoDelays,
    LastChunk,
    LastNackCounts,
    LeavesPending,
    MapOfIds,
    OneRequest,
    OnlyForward,
    RestartedCountdown,
    Ticker,
)
from broker_tck.model.negative_acks.clock import MS, TwoClocks
from broker_tck.model.negative_acks.specification import Emission, NegativeAcks
from broker_tck.model.negative_acks.timer import NackTimer


def fires_all_the_same(model: NegativeAcks) -> list[Emission]:
    """A timeout that was cancelled fires nevertheless."""
    return model.fire() if model.timer.cancelled else []


# ---- Java


class Pip393Java(NegativeAcks):
    """The Java client from 4.0.2 on, as recorded: a pending timer is left alone, whatever is due sooner.

    A firing never looks whether its timeout was cancelled: it arms a timer besides the one that is pending.
    """

    PROFILE = "pip-393-java"
    BREAKS: ClassVar[tuple[str, ...]] = ("NA-16", "P8", "P9", "P10")
    Buckets = BitsModulo64
    Timer = LeavesPending
    stale = fires_all_the_same

    def ignores_after_close(self) -> bool:
        return False


class Pip393Java42(Pip393Java):
    """The Java client from 4.2 on (PR 25229; 4.2.4 and 5.0.0-M1 as recorded): all chunks, but only the first time.

    The later buckets have the last chunk alone, until the message is nacked again.
    """

    PROFILE = "pip-393-java-4.2"
    Buckets = ChunksByEntry


# ---- Clients that poll


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


class LegacyJava(Polling):
    """The Java client of 4.0.1: a flat map, where the last nack of an entry wins."""

    PROFILE = "legacy-java"
    MOOT: ClassVar[tuple[str, ...]] = ("NA-13", "NA-23", "NA-31", "NA-51", "P9", "P10", "P15", "buckets.noted")
    Buckets = LastNackCounts
    stale = fires_all_the_same


class LegacyJava30(LegacyJava):
    """The Java client up to 4.0.0 (3.0.7 as recorded): a map of whole ids, keeps chunks, and calls before it arms.

    What a request throws, or a firing after a close that no nack followed, leaves the timeout that has fired to be
    taken for pending: no nack arms another, until close.
    """

    PROFILE = "legacy-java-3.0"
    Buckets = MapOfIds
    buckets: MapOfIds

    def track(self, ledger: int, entry: int, batch_index: int, chunks: int, count: int) -> None:
        self.buckets.dropped = False
        super().track(ledger, entry, batch_index, chunks, count)

    def fire(self) -> list[Emission]:
        if self.buckets.dropped:
            return []
        before = len(self.buckets.held)
        emissions = self.emit(self.buckets.take(self.clock.reading()))
        if not emissions or emissions[0][2]:
            self.timer.settle(self.deadline_after_firing(before))
        return emissions


# ---- C++


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
    Calls = OneRequest
    stale = NegativeAcks.stale


# ---- Clients that tick


class Ticking(Polling):
    """What the clients have in common whose timer ticks from the beginning to the end."""

    Timer: type[NackTimer] = Ticker
    Calls = OneRequest

    def deadline_at_start(self) -> int | None:
        return self.clock.now + self.delays.interval()

    def deadline_after_firing(self, before: int) -> int | None:
        return self.clock.now + self.delays.interval()


class GoOld(Ticking):
    """The Go client up to v0.17.0: a map, where the first nack of an entry stays."""

    PROFILE = "go-old"
    BREAKS: ClassVar[tuple[str, ...]] = ("NA-14", "NA-16", "P5", "P6", "P8", "P14")
    MOOT: ClassVar[tuple[str, ...]] = ("NA-13", "NA-23", "NA-31", "NA-51", "P15", "buckets.noted")
    Delays = GoDelays
    Buckets = FirstNackCounts


class Go(Ticking):
    """The Go client from v0.18.0 on: a ticker, and buckets deleted from the tree that is walked through."""

    PROFILE = "go"
    SCALE = 1
    BREAKS: ClassVar[tuple[str, ...]] = ("NA-14", "NA-16", "P5", "P6", "P8", "P14")
    MOOT: ClassVar[tuple[str, ...]] = ("NA-23", "P9", "P10")
    Clock = TwoClocks
    Delays = GoDelays
    Buckets = DeletedWhileWalked


class FSharp(Ticking):
    """The F# client: as the old Go client, with whole ids as keys."""

    PROFILE = "fsharp"
    BREAKS: ClassVar[tuple[str, ...]] = ("NA-16", "P5", "P6", "P8", "P14")
    MOOT: ClassVar[tuple[str, ...]] = ("NA-13", "NA-23", "NA-51", "P15", "buckets.noted")
    Buckets = FirstIdCounts
    Timer = NackTimer
    ignores_after_close = NegativeAcks.ignores_after_close


PROFILES = {
    m.PROFILE: m
    for m in (NegativeAcks, Pip393Java, Pip393Java42, LegacyJava, LegacyJava30, Go, GoOld, Cpp, CppOld, FSharp)
}
"""Every profile of the contract; the first is the default."""
