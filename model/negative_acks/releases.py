"""The clients that are released: each replaces the clauses of the specification in which it differs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil

from broker_tck.model.negative_acks.specification import (
    MS,
    SHORTEST,
    Buckets,
    Calls,
    Chunks,
    Clock,
    Delays,
    Emission,
    Item,
    NegativeAcks,
    Position,
    Timer,
)
from broker_tck.model.negative_acks.walked_tree import WalkedTree

# ---- What several clients have in place of a clause


def last_chunk(_: Buckets, position: Position, chunks: Chunks) -> Sequence[Position]:  # noqa: ARG001
    """Ids are rebuilt from ledger and entry, and so have lost their chunks."""
    return (position,)


def as_it_is(_: Buckets, at: int) -> int:
    """An instant is its own bucket: there is a map from entry to instant."""
    return at


def after_its_instant(_: Buckets, key: int, now: int) -> bool:
    """An item is due when its instant has passed."""
    return key < now


def leaves_chunks_noted(buckets: Buckets, keys: list[int]) -> list[Position]:
    """What a consumer noted of a message's chunks stays, although no emission has them."""
    noted = {**buckets.chunks}
    ids = Buckets.ids_with_chunks(buckets, keys)
    buckets.chunks = noted
    return ids


def last_counts(buckets: Buckets, item: Item, key: int, chunks: Chunks) -> bool:
    """An entry that is nacked again has the instant of that nack."""
    for other in buckets.elsewhere(item, key):
        buckets.drop(other, item)
    return Buckets.hold(buckets, item, key, chunks)


def first_counts(buckets: Buckets, item: Item, key: int, chunks: Chunks) -> bool:
    """An entry that is held keeps its instant, however often it is nacked."""
    return not buckets.elsewhere(item, key) and Buckets.hold(buckets, item, key, chunks)


def all_in_one(_: Calls, ids: list[Position]) -> list[int]:
    """All ids are in one request."""
    return [len(ids)]


def taken_after_close(_: NegativeAcks) -> bool:
    """What is added after a close is tracked."""
    return False


def fires_all_the_same(model: NegativeAcks) -> list[Emission]:
    """A timeout that was cancelled fires nevertheless."""
    return model.fire() if model.timer.cancelled else []


def at_next_poll(model: NegativeAcks, delay: int) -> int:  # noqa: ARG001
    """An idle timer is armed for a third of the delay."""
    return model.delays.interval()


def polls_on(model: NegativeAcks, before: int) -> int | None:
    """A timer that found something held polls again."""
    return model.clock.now + model.delays.interval() if before else None


def ticks_from_the_start(model: NegativeAcks) -> int | None:
    """The timer ticks before anything is nacked."""
    return model.clock.now + model.delays.interval()


def ticks_on(model: NegativeAcks, before: int) -> int | None:  # noqa: ARG001
    """The timer ticks to the end."""
    return model.clock.now + model.delays.interval()


def stops_its_timer(model: NegativeAcks) -> None:
    """Close stops the timer alone: what is held stays, and is never emitted."""
    model.timer.close()
    model.closed = True


# ---- Parts that several clients have


class OnlyForward(Clock):
    """Instants are of the clock that never jumps."""

    def reading(self) -> int:
        return self.now * self.scale // MS


class LastNackCounts(Buckets):
    """A map from entry to instant; the last nack counts."""

    key = as_it_is
    due = after_its_instant
    hold = last_counts
    expanded = last_chunk


class OneRequest(Calls):
    """All ids are in one request."""

    requests = all_in_one


class Ticker(Timer):
    """Ticks by itself; no nack arms it."""

    def arm_for(self, deadline: int) -> None:
        if self.deadline is not None:
            super().arm_for(deadline)


class GoDelays(Delays):
    """A delay of 0 means a minute, and an id alone means a message that was redelivered once."""

    def fixed(self) -> int:
        return self.in_units(self.delay_us or 60_000_000)

    def count_of_id(self) -> int:
        return 1

    def interval(self) -> int:
        us = (self.delay_us or 60_000_000) * 1_000
        delay = self.delay(self.count_of_id()) * MS // self.scale if self.backs_off() else us
        return max(delay // 3, 1)


# ---- Java


class BitsModulo64(Buckets):
    """A shift of 64 bits takes its distance modulo 64."""

    expanded = last_chunk
    ids_with_chunks = leaves_chunks_noted

    def __init__(self, bits: int, scale: int) -> None:
        super().__init__(bits % 64, scale)


class LeavesPending(Timer):
    """A pending timeout is left alone, whatever is due sooner."""

    def is_sooner(self, deadline: int) -> bool:
        return False


class Pip393Java(NegativeAcks):
    """The Java client from 4.0.2 on, as recorded: a pending timer is left alone, whatever is due sooner.

    A firing never looks whether its timeout was cancelled: it arms a timer besides the one that is pending.
    """

    PROFILE = "pip-393-java"
    BREAKS = ("NA-16", "P8", "P9", "P10", "P16")
    Buckets = BitsModulo64
    Timer = LeavesPending
    stale = fires_all_the_same
    ignores_after_close = taken_after_close


class ChunksByEntry(Buckets):
    """Chunks are noted by entry: the first bucket that fires takes them away from the others."""

    def __init__(self, bits: int, scale: int) -> None:
        super().__init__(bits % 64, scale)

    def noted(self, key: int, position: Position) -> tuple[int, Position]:
        return 0, position


class Pip393Java42(NegativeAcks):
    """The Java client from 4.2 on (PR 25229; 4.2.4 and 5.0.0-M1 as recorded): all chunks, but only the first time.

    The later buckets have the last chunk alone, until the message is nacked again.
    """

    PROFILE = "pip-393-java-4.2"
    BREAKS = ("NA-16", "P8", "P9", "P10")
    Buckets = ChunksByEntry
    Timer = LeavesPending
    stale = fires_all_the_same
    ignores_after_close = taken_after_close


class LastNackCountsInJava(LastNackCounts):
    """The same, beside a consumer's notes of chunks."""

    ids_with_chunks = leaves_chunks_noted


class LegacyJava(NegativeAcks):
    """The Java client of 4.0.1: a flat map that is polled; the last nack of an entry counts."""

    PROFILE = "legacy-java"
    POLLS = True
    SCALE = MS
    BREAKS = ("NA-16", "P6", "P8", "P14", "P16")
    NOT_APPLICABLE = ("NA-13", "NA-23", "NA-31", "NA-51", "P9", "P10", "P15")
    Clock = OnlyForward
    Buckets = LastNackCountsInJava
    first_wait = at_next_poll
    deadline_after_firing = polls_on
    stale = fires_all_the_same
    ignores_after_close = taken_after_close


class MapOfIds(Buckets):
    """A map from whole ids, with their chunks. Close drops the map itself, until a nack makes another."""

    key = as_it_is
    due = after_its_instant
    hold = last_counts

    def __init__(self, bits: int, scale: int) -> None:
        super().__init__(bits, scale)
        self.dropped = False

    def clear(self) -> None:
        super().clear()
        self.dropped = True


class LegacyJava30(NegativeAcks):
    """The Java client up to 4.0.0 (3.0.7 as recorded): a map of whole ids, keeps chunks, and calls before it arms.

    If a request throws, or the timer fires after a close that no nack followed, the client takes the fired timeout for
    pending: no nack arms another until a close.
    """

    PROFILE = "legacy-java-3.0"
    POLLS = True
    SCALE = MS
    BREAKS = ("NA-16", "P6", "P8", "P14")
    NOT_APPLICABLE = ("NA-13", "NA-23", "NA-31", "NA-51", "P9", "P10", "P15")
    Clock = OnlyForward
    Buckets = MapOfIds
    buckets: MapOfIds
    first_wait = at_next_poll
    deadline_after_firing = polls_on
    stale = fires_all_the_same
    ignores_after_close = taken_after_close

    def track(self, ledger: int, entry: int, batch_index: int, chunks: Chunks, count: int) -> None:
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


def third_in_whole_ms(delays: Delays) -> int:
    """A third of the delay is cut to whole milliseconds."""
    return Delays.interval(delays) // MS * MS


class ThirdInWholeMs(Delays):
    """A third of the delay is cut to whole milliseconds."""

    interval = third_in_whole_ms


class DelayInWholeMs(Delays):
    """The delay is set in milliseconds, and a third of it is cut to whole ones."""

    interval = third_in_whole_ms

    def in_units(self, us: int) -> int:
        """Microseconds are cut before the clock's units are asked for."""
        return us // 1_000 * self.scale


class BitsOfUnits(Buckets):
    """The bits that are cleared are those of the clock's own units."""

    expanded = last_chunk

    def key(self, at: int) -> int:
        return at & -(1 << self.bits)


class RestartedCountdown(Timer):
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


def counts_down_after_its_calls(model: NegativeAcks) -> list[Emission]:
    """The countdown begins anew after the calls, unless the request throws."""
    before = len(model.buckets.held)
    ids = model.buckets.take(model.clock.reading())
    model.timer.settle(None)
    emissions = model.emit(ids)
    deadline = model.deadline_after_firing(before)
    if deadline is not None and not (emissions and emissions[0][2] == 0):
        model.timer.arm_for(deadline)
    return emissions


class Cpp(NegativeAcks):
    """The C++ client from v3.8.0 on: every nack restarts the countdown; the bits are those of nanoseconds."""

    PROFILE = "cpp"
    POLLS = True
    SCALE = MS
    BREAKS = ("NA-16", "P5", "P6", "P8", "P9", "P14")
    NOT_APPLICABLE = ("NA-23", "P10")
    Clock = OnlyForward
    Delays = DelayInWholeMs
    Buckets = BitsOfUnits
    Timer = RestartedCountdown
    Calls = OneRequest
    first_wait = at_next_poll
    deadline_after_firing = polls_on
    fire = counts_down_after_its_calls
    ignores_after_close = taken_after_close


class Cpp37(NegativeAcks):
    """The C++ client of v3.2.0 to v3.7.x: every nack restarts the countdown; a map, where the last nack counts."""

    PROFILE = "cpp-3.7"
    POLLS = True
    SCALE = MS
    BREAKS = ("NA-16", "P6", "P8", "P9", "P14")
    NOT_APPLICABLE = ("NA-13", "NA-23", "NA-31", "NA-51", "P10", "P15")
    Clock = OnlyForward
    Delays = ThirdInWholeMs
    Buckets = LastNackCounts
    Timer = RestartedCountdown
    Calls = OneRequest
    first_wait = at_next_poll
    deadline_after_firing = polls_on
    fire = counts_down_after_its_calls
    ignores_after_close = taken_after_close


class LeavesItsTimeout(Timer):
    """A close cancels the timeout and goes on taking it for pending."""

    def close(self) -> None:
        pending = self.deadline is not None or self.unsettled
        super().close()
        self.unsettled = pending


class CppOld(NegativeAcks):
    """The C++ client before v3.2.0: a map of entries, polled. A close drops nothing, and forgets no pending timeout."""

    PROFILE = "cpp-old"
    POLLS = True
    SCALE = MS
    BREAKS = ("NA-16", "P6", "P8", "P14")
    NOT_APPLICABLE = ("NA-13", "NA-23", "NA-31", "NA-51", "P9", "P10", "P15")
    Clock = OnlyForward
    Delays = ThirdInWholeMs
    Buckets = LastNackCounts
    Timer = LeavesItsTimeout
    Calls = OneRequest
    first_wait = at_next_poll
    deadline_after_firing = polls_on
    ignores_after_close = taken_after_close
    close = stops_its_timer


# ---- Clients that tick


class FirstNackCounts(Buckets):
    """A map from entry to instant; the first nack counts."""

    key = as_it_is
    due = after_its_instant
    hold = first_counts
    expanded = last_chunk


class GoOld(NegativeAcks):
    """The Go client up to v0.17.0: a map; the first nack of an entry counts."""

    PROFILE = "go-old"
    POLLS = True
    SCALE = MS
    BREAKS = ("NA-14", "NA-16", "P5", "P6", "P8", "P14")
    NOT_APPLICABLE = ("NA-13", "NA-23", "NA-31", "NA-51", "P15")
    Clock = OnlyForward
    Delays = GoDelays
    Buckets = FirstNackCounts
    Timer = Ticker
    Calls = OneRequest
    deadline_at_start = ticks_from_the_start
    first_wait = at_next_poll
    deadline_after_firing = ticks_on
    ignores_after_close = taken_after_close
    close = stops_its_timer


class DeletedWhileWalked(Buckets):
    """Buckets are deleted from the tree that is walked through, and their ids are put in one list."""

    expanded = last_chunk

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


class Go(NegativeAcks):
    """The Go client from v0.18.0 on: a ticker, and buckets deleted from the tree that is walked through."""

    PROFILE = "go"
    POLLS = True
    BREAKS = ("NA-14", "NA-16", "P5", "P6", "P8", "P14")
    NOT_APPLICABLE = ("NA-23", "P9", "P10")
    Delays = GoDelays
    Buckets = DeletedWhileWalked
    Timer = Ticker
    Calls = OneRequest
    deadline_at_start = ticks_from_the_start
    first_wait = at_next_poll
    deadline_after_firing = ticks_on
    ignores_after_close = taken_after_close
    close = stops_its_timer


class WholeMsUp(Delays):
    """A third of the delay is rounded up to whole milliseconds."""

    def interval(self) -> int:
        third = max(self.fixed(), SHORTEST * self.scale) * MS / self.scale / 3
        return ceil(third / MS) * MS


class FirstIdCounts(Buckets):
    """A map from whole ids to instants; the first nack counts."""

    key = as_it_is
    due = after_its_instant
    hold = first_counts

    def item(self, ledger: int, entry: int, batch_index: int) -> Item:
        return ledger, entry, batch_index + 1

    def emitted(self, ids: Iterable[Position]) -> list[Position]:
        return sorted(ids)


class FSharp(NegativeAcks):
    """The F# client: as the old Go client, with whole ids as keys."""

    PROFILE = "fsharp"
    POLLS = True
    SCALE = MS
    BREAKS = ("NA-16", "P5", "P6", "P8", "P14")
    NOT_APPLICABLE = ("NA-13", "NA-23", "NA-51", "P10", "P15")
    Clock = OnlyForward
    Delays = WholeMsUp
    Buckets = FirstIdCounts
    deadline_at_start = ticks_from_the_start
    deadline_after_firing = ticks_on


PROFILES = {
    m.PROFILE: m
    for m in (NegativeAcks, Pip393Java, Pip393Java42, LegacyJava, LegacyJava30, Go, GoOld, Cpp, Cpp37, CppOld, FSharp)
}
"""Every profile of the contract; the first is the default."""
