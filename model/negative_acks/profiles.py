"""What clients do otherwise than the specification of negative acks: a profile for each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from broker_tck.model.negative_acks.specification import MS, Config, Emission, Item, NegativeAcks, Position
from broker_tck.model.negative_acks.walked_tree import WalkedTree


class Pip393Java(NegativeAcks):
    """The Java client from 4.0.2 on, as recorded: a pending timer is left alone, whatever is due sooner.

    A firing never looks whether its timeout was cancelled: it arms a timer besides the one that is pending.
    """

    PROFILE = "pip-393-java"
    BREAKS: ClassVar[tuple[str, ...]] = ("NA-16", "P8", "P9", "P10")

    def is_sooner(self, deadline: int) -> bool:
        return False

    def ignores_after_close(self) -> bool:
        return False

    def expanded(self, entry: int, chunks: int) -> list[int]:
        return [entry]

    def bits(self) -> int:
        return self.config.precision_bits % 64

    def heeds_cancelled(self) -> bool:
        return True


class Pip393Java42(Pip393Java):
    """The Java client from 4.2 on (PR 25229; 4.2.4 and 5.0.0-M1 as recorded): all chunks, but only the first time.

    The chunks are noted by entry. The first bucket that fires takes them away from the others, until the message is
    nacked again.
    """

    PROFILE = "pip-393-java-4.2"
    expanded = NegativeAcks.expanded

    def noted(self, key: int, position: Position) -> tuple[int, Position]:
        return 0, position


class Polling(NegativeAcks):
    """What the clients have in common that poll, by a clock that only goes forward."""

    SCALE = MS
    BREAKS: ClassVar[tuple[str, ...]] = ("NA-16", "P6", "P8", "P14")
    MOOT: ClassVar[tuple[str, ...]] = ("NA-23", "NA-51")

    def reading(self) -> int:
        return self.now * self.SCALE // MS

    def first_wait(self, delay: int) -> int:
        return self.interval()

    def deadline_after_firing(self, before: int) -> int | None:
        return self.now + self.interval() if before else None

    def ignores_after_close(self) -> bool:
        return False

    def expanded(self, entry: int, chunks: int) -> list[int]:
        return [entry]


class LegacyJava(Polling):
    """The Java client of 4.0.1: a flat map, where the last nack of an entry wins."""

    PROFILE = "legacy-java"
    MOOT: ClassVar[tuple[str, ...]] = ("NA-13", "NA-23", "NA-31", "NA-51", "P9", "P10", "P15")

    def key(self, at: int) -> int:
        return at

    def due(self, key: int) -> bool:
        return key < self.reading()

    def superseded(self, item: Item, key: int) -> list[int]:
        return self.elsewhere(item, key)

    def heeds_cancelled(self) -> bool:
        return True


class LegacyJava30(LegacyJava):
    """The Java client up to 4.0.0 (3.0.7 as recorded): a map of whole ids, keeps chunks, and calls before it arms.

    What a request throws, or a firing after a close that no nack followed, leaves the timeout that has fired to be
    taken for pending: no nack arms another, until close.
    """

    PROFILE = "legacy-java-3.0"
    expanded = NegativeAcks.expanded

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.dropped = False

    def settles(self) -> bool:
        return False

    def calls_first(self) -> bool:
        return True

    def track(self, ledger: int, entry: int, batch_index: int, chunks: int, count: int) -> None:
        self.dropped = False
        super().track(ledger, entry, batch_index, chunks, count)

    def close(self) -> None:
        super().close()
        self.dropped = True

    def fire(self) -> list[Emission]:
        return [] if self.dropped else super().fire()


class Cpp(Polling):
    """The C++ client from v3.8.0 on: every nack restarts the countdown; the bits are those of nanoseconds."""

    PROFILE = "cpp"
    BREAKS: ClassVar[tuple[str, ...]] = ("NA-16", "P5", "P6", "P8", "P9", "P14")
    MOOT: ClassVar[tuple[str, ...]] = ("NA-23", "NA-51", "P10")

    def key(self, at: int) -> int:
        return at & -(1 << self.bits())

    def restarts(self) -> bool:
        return True

    def arms_from_idle(self) -> bool:
        return not self.closed

    def requests(self, ids: list[Position]) -> list[int]:
        return [len(ids)]


class CppOld(LegacyJava):
    """The C++ client before v3.3.0: a map of entries, polled."""

    PROFILE = "cpp-old"
    heeds_cancelled = NegativeAcks.heeds_cancelled

    def requests(self, ids: list[Position]) -> list[int]:
        return [len(ids)]


class Ticking(Polling):
    """What the clients have in common whose timer ticks from the beginning to the end."""

    def arms_from_idle(self) -> bool:
        return False

    def deadline_at_start(self) -> int | None:
        return self.now + self.interval()

    def deadline_after_firing(self, before: int) -> int | None:
        return self.now + self.interval()

    def requests(self, ids: list[Position]) -> list[int]:
        return [len(ids)]


class GoOld(Ticking):
    """The Go client up to v0.17.0: a map, where the first nack of an entry stays."""

    PROFILE = "go-old"
    BREAKS: ClassVar[tuple[str, ...]] = ("NA-14", "NA-16", "P5", "P6", "P8", "P14")
    MOOT: ClassVar[tuple[str, ...]] = ("NA-13", "NA-23", "NA-31", "NA-51", "P15")

    def key(self, at: int) -> int:
        return at

    def due(self, key: int) -> bool:
        return key < self.reading()

    def files(self, item: Item, key: int) -> bool:
        return not self.elsewhere(item, key)

    def fixed(self) -> int:
        return self.in_units(self.config.delay_us or 60_000_000)

    def count_of_id(self) -> int:
        return 1

    def interval(self) -> int:
        return max(self.delay(self.count_of_id()) * MS // self.SCALE // 3, 1)


class Go(Ticking):
    """The Go client from v0.18.0 on: a ticker, and buckets deleted from the tree that is walked through."""

    PROFILE = "go"
    SCALE = 1
    BREAKS: ClassVar[tuple[str, ...]] = ("NA-14", "NA-16", "P5", "P6", "P8", "P14")
    MOOT: ClassVar[tuple[str, ...]] = ("NA-23", "P9", "P10")
    reading = NegativeAcks.reading

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.tree = WalkedTree()

    def selected(self, due: list[int]) -> list[int]:
        if not due:
            return []
        for key in self.held:
            self.tree.put(key)
        return [*self.tree.walk_off(self.due)]

    def emitted(self, ids: Iterable[Position]) -> list[Position]:
        return sorted(ids)

    def fixed(self) -> int:
        return self.in_units(self.config.delay_us or 60_000_000)

    def count_of_id(self) -> int:
        return 1

    def interval(self) -> int:
        delay = self.delay(self.count_of_id()) if self.backs_off() else (self.config.delay_us or 60_000_000) * 1_000
        return max(delay * (MS // self.SCALE if self.backs_off() else 1) // 3, 1)

    def close(self) -> None:
        super().close()
        self.tree = WalkedTree()


class FSharp(Ticking):
    """The F# client: as the old Go client, with whole ids as keys."""

    PROFILE = "fsharp"
    BREAKS: ClassVar[tuple[str, ...]] = ("NA-16", "P5", "P6", "P8", "P14")
    MOOT: ClassVar[tuple[str, ...]] = ("NA-13", "NA-23", "NA-51", "P15")
    ignores_after_close = NegativeAcks.ignores_after_close
    arms_from_idle = NegativeAcks.arms_from_idle

    def item(self, ledger: int, entry: int, batch_index: int) -> Item:
        return ledger, entry, batch_index + 1

    def key(self, at: int) -> int:
        return at

    def due(self, key: int) -> bool:
        return key < self.reading()

    def files(self, item: Item, key: int) -> bool:
        return not self.elsewhere(item, key)


PROFILES = {
    m.PROFILE: m
    for m in (NegativeAcks, Pip393Java, Pip393Java42, LegacyJava, LegacyJava30, Go, GoOld, Cpp, CppOld, FSharp)
}
"""Every profile of the contract; the first is the default."""
