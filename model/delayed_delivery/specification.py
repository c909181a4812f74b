"""Delayed delivery: how a tracker of one subscription's delayed messages behaves (profile ``timebucket-ideal``).

Read it from top to bottom. A method under ``@rule`` is a clause: its docstring is the rule, its body says the same in
code. The methods named as operations are flows: they say which clauses apply, and in which order. Times are absolute
milliseconds. Each release of the broker replaces the clauses in which it differs: see ``releases``.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from functools import partial
from itertools import chain, islice, repeat, takewhile
from operator import setitem
from typing import ClassVar, Protocol

from broker_tck.model.parts.tick import Tick
from broker_tck.model.parts.timer import TrackerTimer
from broker_tck.model.reference import UNDEFINED, Allowed, Reference, Undefined
from broker_tck.model.rules import Part, Rule, informative, invariant, rule

LAST = 2**63 - 1
"""The latest time."""
BYTES = 24
"""What the model estimates for a copy: three numbers of 64 bits."""
IN_MEMORY = "InMemoryDelayedDeliveryTracker"
ABSTRACT = "AbstractDelayedDeliveryTracker"

Position = tuple[int, int]
"""Ledger id and entry id."""
Placed = tuple[int, Position]
"""A copy of a position, with the key of its bucket."""


class Bucket(dict[Position, int]):
    """How often a bucket holds each position: once, except in releases that keep every copy."""

    def total(self) -> int:
        """The number of copies."""
        return sum(self.values())

    def elements(self) -> Iterable[Position]:
        """The positions, each as often as it is held."""
        return chain.from_iterable(map(repeat, self, self.values()))


class Config(Protocol):
    """How a tracker starts."""

    tick: int
    strict: bool
    lookahead: int
    clock: int


class Buckets(Tick):
    """How wide buckets are, which one a time falls into, and when one is due. A bucket is named by its key."""

    def __init__(self, tick: int, strict: bool) -> None:
        super().__init__(tick, strict)
        self.width = self.width_of(tick)

    @rule("DD-02", source=f"{IN_MEMORY}, PR 23611")
    def width_of(self, tick: int) -> int:
        """A bucket is as wide as the largest power of two that is not above the first tick, and at least 1 ms."""
        return 1 << (max(tick, 1).bit_length() - 1)

    @rule("DD-05", source=f"{IN_MEMORY}, PR 26012, issue 25996")
    def key(self, at: int) -> int:
        """A bucket's key is a time rounded down to a multiple of the width; in strict mode up, to the last at most."""
        return self.up(at) if self.strict else at & -self.width

    def up(self, at: int) -> int:
        """A time rounded up to a multiple of the width; the last multiple, if there is none above."""
        return min(at + self.width - 1, LAST) & -self.width

    @rule("DD-06", source=f"{IN_MEMORY}, PR 26188")
    def due(self, key: int, now: int) -> bool:
        """A bucket is due once the cut-off has reached the last time that the bucket may hold."""
        return key + (0 if self.strict else self.width - 1) <= self.cutoff(now)

    @rule("DD-33", source="follows from DD-06; no report upstream is known")
    def wake(self, key: int) -> int:
        """The timer aims at the moment when the first bucket becomes due, but never at one before its key."""
        return key if self.strict else max(key, key + self.width - 1 - self.tick)

    @rule("DD-03", source=IN_MEMORY, when=lambda b, tick: b.width_of(tick) != b.width)
    def reset_tick(self, tick: int) -> None:
        """A new tick leaves the width of the buckets as it is."""
        self.reset(tick)


class Index(Part):
    """The copies of positions that are held, by the keys of their buckets."""

    BUCKET: ClassVar[type[Bucket]] = Bucket

    def __init__(self) -> None:
        self.hold({})

    def hold(self, held: dict[int, Bucket]) -> None:
        """Hold these buckets, and nothing else."""
        self.held = held
        self.number = sum(bucket.total() for bucket in held.values())
        self.lowest = min(held, default=0)
        """No key is below it; if it is no key itself, its bucket has gone."""

    @rule("DD-28", source=f"{IN_MEMORY}, PRs 24429, 24430, 25681")
    def count(self) -> int:
        """The number of delayed messages is the number of copies held."""
        return self.number

    def first(self) -> int:
        """The key of the first bucket, if there is one."""
        if self.lowest not in self.held:
            self.lowest = min(self.held)
        return self.lowest

    # ---- Adding

    @rule("DD-13", source=f"{IN_MEMORY}, PR 25681", needs="entry_id_bits")
    def stored(self, ledger: int, entry: int) -> Position:
        """Ids are kept as they are: ledger ids of 64 bits, and entry ids of the width that the subject declares."""
        return ledger, entry

    @rule("DD-12", source=IN_MEMORY, when=lambda i, position, key: i.elsewhere(position, key))
    def insert(self, position: Position, key: int) -> bool:
        """A position may be in several buckets: an add leaves the copies in other buckets alone."""
        if key not in self.held:
            self.held[key] = self.BUCKET()
            self.lowest = min(self.lowest, key)
        new = self.put(position, self.held[key])
        self.number += new
        return new

    @rule("DD-11", source=f"{IN_MEMORY}, PR 25681, issue 25617")
    def put(self, position: Position, bucket: Bucket) -> bool:
        """If a bucket holds a position already, another add of it is accepted, and the position stays one copy."""
        new = position not in bucket
        bucket[position] = 1
        return new

    def elsewhere(self, position: Position, key: int) -> list[int]:
        """The other buckets that hold the position."""
        return [other for other, bucket in self.held.items() if other != key and position in bucket]

    # ---- Taking

    @rule("DD-20", source=f"{IN_MEMORY}, PRs 24035, 7731")
    def taken(self, due: list[int], most: int) -> list[Placed]:
        """A get takes copies of due buckets by bucket, ledger and entry, no more than it is asked for."""
        in_order = ((key, position) for key in due for position in sorted(self.held[key].elements()))
        return [*islice(in_order, max(most, 0))]

    @rule("DD-20")
    def handed_out(self, taken: list[Placed]) -> list[Position]:
        """A get hands positions out in ascending order, each once. No later call changes what was handed out."""
        return sorted({position for _, position in taken})

    @rule("DD-35", source=IN_MEMORY, when=lambda i, taken: taken)
    def removed(self, taken: list[Placed]) -> list[Placed]:
        """Exactly the copies that a get takes leave the index: no copy is lost, and no taken copy stays."""
        return taken

    def drop(self, copies: Iterable[Placed]) -> None:
        """Let go of copies."""
        for key, position in copies:
            bucket = self.held[key]
            bucket[position] -= 1
            if not bucket[position]:
                del bucket[position]
            self.number -= 1
            if not self.stays(bucket):
                del self.held[key]

    @rule("DD-01", source=IN_MEMORY)
    def stays(self, bucket: Bucket) -> bool:
        """A bucket leaves the index with its last message."""
        return bool(bucket)

    @rule("DD-30", source=f"{IN_MEMORY}, issue 8689, PR 14740", when=lambda i: i.held)
    def clear(self) -> None:
        """A clear empties the index. It may leave the timer armed."""
        self.hold({})


class FixedDelay(Part):
    """Whether all delays may be alike so far. If they are, messages become due in the order in which they come."""

    def __init__(self) -> None:
        self.fixed = True
        self.highest = 0

    @rule("DD-15", source=f"{IN_MEMORY}, PRs 16609, 17907", when=lambda d: d.fixed)
    def refused(self) -> None:
        """A refused message ends the fixed delay, even one without a time."""
        self.fixed = False

    def accepted(self, at: int, tick: int) -> None:
        """Look at the time of an accepted message."""
        self.fixed = self.still_fixed(at, tick)
        self.highest = self.highest_after(at)

    @rule("DD-14", source=f"{IN_MEMORY}, PRs 16609, 17907")
    def still_fixed(self, at: int, tick: int) -> bool:
        """A time that is more than a tick below the highest one ends the fixed delay."""
        return self.fixed and at >= self.highest - tick

    @rule("DD-14", when=lambda d, at: at < d.highest)
    def highest_after(self, at: int) -> int:
        """A lower time leaves the highest one as it is."""
        return max(self.highest, at)

    @rule("DD-16", source=IN_MEMORY)
    def starts_anew(self, taken: bool, empty: bool) -> bool:
        """Only a get that leaves the index empty starts the detection of a fixed delay anew."""
        return empty

    def left(self, taken: bool, empty: bool) -> None:
        """A get was made: whether it took something, and whether it left nothing."""
        if self.starts_anew(taken, empty):
            self.begin()

    @rule("DD-16", when=lambda d: d.highest)
    def begin(self) -> None:
        """A new start forgets the highest time."""
        self.fixed = True
        self.highest = 0


class MemoryEstimate(Part):
    """The last estimate, and whether the index grew or shrank since. An estimate must only be plausible."""

    def __init__(self) -> None:
        self.last = [0]
        """The last estimate, once it is known."""
        self.grew = self.shrank = False

    @rule("DD-29", source=f"{IN_MEMORY}, PR 25990", needs="memory_estimate")
    def bytes_for(self, count: int) -> int:
        """The memory estimate is 0 if and only if nothing is held; no add lowers it, and no get raises it."""
        return BYTES * count

    def permits(self, seen: object, count: int) -> bool:
        """Whether an estimate for this number of copies is plausible, given the estimate before it."""
        if not isinstance(seen, int):
            return False
        if not count:
            return seen == 0
        (last,) = self.last
        fell, rose = seen < last, seen > last
        return seen > 0 and not (fell and not self.shrank) and not (rose and not self.grew)

    def allowed(self, count: int) -> Allowed:
        """The estimates that a subject with this number of copies may answer."""
        now = copy(self)  # it judges the answer, however late that comes
        self.last, self.grew, self.shrank = [0], False, False
        says = "0 if nothing is held, else plausible"
        follow = partial(setitem, self.last, 0)
        return Allowed(lambda seen: now.permits(seen, count), follow, now.bytes_for(count), says, later=True)


WITHOUT_CLAUSE: tuple[Rule, ...] = (
    invariant(
        "DD-07",
        "With an unchanged tick, a message becomes available in [at, at + P - 1] in strict mode, else in "
        "[at - tick, at - tick + P - 1], where P is the width of a bucket.",
        source="follows from DD-04 to DD-06",
    ),
    invariant(
        "DD-08",
        "If a message that was handed out is offered again with its own time and no smaller tick, it is refused.",
        source="follows from DD-05, DD-06 and DD-09; PR 26188, issue 25996",
    ),
    informative(
        "DD-18",
        "Pausing bounds the index if all delays are alike.",
        source="PersistentDispatcherMultipleConsumers",
        why="it is the dispatcher that stops reading; the tracker only answers (DD-17)",
    ),
    informative(
        "DD-25",
        "Rescheduling arms a timeout after a delay, whatever was armed.",
        source=f"{ABSTRACT}, PR 26012",
        why="only the bucket tracker calls it, from inside",
    ),
    informative(
        "DD-26",
        "A timer that was never armed aims at no moment.",
        source=ABSTRACT,
        why="the released classes aim at 0, which shows only in those before PR 26012: their profiles begin so",
    ),
    informative(
        "DD-31",
        "A refused entry id leaves nothing behind.",
        source=f"{IN_MEMORY}, PR 25681",
        why="the empty bucket that stays is a residue of one class; the kit offers only ids that a subject takes",
    ),
    invariant(
        "DD-34",
        "While a message is held, the first bucket is due now or a timeout is armed.",
        source="follows from DD-21 to DD-24 and DD-33; issue 25996",
    ),
    invariant(
        "DD-39",
        "After an accepted add no timeout waits past the message's bucket, or a tick from now, by more than the clock "
        "was set forwards.",
        source="follows from DD-21, DD-22, DD-37 and DD-38; no report upstream is known",
        needs="jumps",
    ),
    invariant(
        "DD-40",
        "A tracker that holds no message, or was closed, keeps no id.",
        source="follows from DD-19, DD-30 and DD-32",
        needs="shows_kept",
    ),
    invariant(
        "DD-41",
        "No message waits for ever. The dispatcher asks after a firing and an add, and gets again while `has` says "
        "yes. In all other cases the timer must fire, but not twice in a row in vain.",
        source="follows from DD-20 and DD-21; PR 26236 and issue 21554 tell of a dispatcher that did not get again",
    ),
    informative(
        "DD-36",
        "The heap's segments grow by 16 MiB and shrink at half their load.",
        source="TripleLongPriorityQueue",
        why="capacity is one implementation's own; the benchmark `memory` measures it",
    ),
)
"""Invariants, and what cannot be checked at this interface."""


class DelayedDelivery(Reference):
    """Delayed delivery as specified: time buckets, and a timer that fires when the first bucket becomes due."""

    PROFILE = "timebucket-ideal"
    Timer = TrackerTimer
    Buckets = Buckets
    Index = Index
    MemoryEstimate = MemoryEstimate
    FixedDelay = FixedDelay
    WITHOUT_CLAUSE: ClassVar[tuple[Rule, ...]] = WITHOUT_CLAUSE
    ALIKE: ClassVar[bool] = True
    """Messages for one time fare alike, and the second changes the index alone. A subclass must say so for itself."""

    def __init__(self, config: Config) -> None:
        self.timer = self.Timer(config.clock)
        self.fixed_delay = self.FixedDelay()
        self.lookahead = config.lookahead
        self.buckets = self.Buckets(config.tick, config.strict)
        self.index = self.Index()
        self.memory_estimate = self.MemoryEstimate()
        self.closed = False
        self.start = config.clock

    # ---- Adding

    @rule("DD-10", source=IN_MEMORY)
    def add(self, ledger: int, entry: int, at: int) -> bool:
        """Every accepted add updates the timer; a refused one may do so."""
        if self.refuses(at):
            self.fixed_delay.refused()
            self.timer.may_update(self.update)
            return False
        self.memory_estimate.grew = True
        self.index.insert(self.index.stored(ledger, entry), self.buckets.key(at))
        self.update_timer()
        self.detect(at)
        return True

    @rule("DD-09", source=f"{ABSTRACT}; {IN_MEMORY}, PR 5498")
    def refuses(self, at: int) -> bool:
        """A message is refused if its time is negative or not after the cut-off."""
        return at < 0 or at <= self.buckets.cutoff(self.timer.reading())

    @rule("DD-10", when=lambda m, at: m.fixed_delay.fixed)
    def detect(self, at: int) -> None:
        """The detection of a fixed delay looks at the time as it was given, not at its bucket."""
        self.fixed_delay.accepted(at, self.buckets.tick)

    def fill(self, ledger: int, entry: int, step: int, n: int, at: int, apart: int) -> int:
        """Track n messages, every ``step``-th entry of a ledger, ``apart`` in time; answers how many were accepted."""
        if apart or not vars(type(self)).get("ALIKE"):
            return sum([self.add(ledger, entry + i * step, at + i * apart) for i in range(n)])
        if n == 0 or not self.add(ledger, entry, at):
            return 0
        key = self.buckets.key(at)
        for i in range(1, n):
            self.index.insert(self.index.stored(ledger, entry + i * step), key)
        return n

    # ---- Handing out

    @rule("DD-19", source=f"{ABSTRACT}, PR 10078")
    def has(self) -> bool:
        """The question whether a message is available updates the timer if the answer is no; if yes, it may do so."""
        available = self.available()
        if available:
            self.timer.may_update(self.update)
        else:
            self.update_timer()
        return available

    @rule("DD-19")
    def available(self) -> bool:
        """A message is available while the first bucket is due."""
        return bool(self.index.held) and self.buckets.due(self.index.first(), self.timer.reading())

    @rule("DD-20")
    def get(self, most: int) -> list[Position]:
        """Every get updates the timer."""
        taken = self.index.taken(self.due_keys(), most)
        self.memory_estimate.shrank |= bool(taken)
        self.index.drop(self.index.removed(taken))
        self.restart(bool(taken))
        self.update_timer()
        return self.index.handed_out(taken)

    def due_keys(self) -> list[int]:
        """The keys of the buckets that are due, in order."""
        now = self.timer.reading()
        return [*takewhile(lambda key: self.buckets.due(key, now), sorted(self.index.held))]

    def restart(self, taken: bool) -> None:
        """Start the detection of a fixed delay anew, if a get does."""
        self.fixed_delay.left(taken, not self.index.held)

    # ---- Pausing

    @rule("DD-17", source=f"{IN_MEMORY}, PRs 16609, 17907")
    def pause(self) -> bool:
        """Deliveries do not pause while a message is available; the tracker asks that last, as in DD-19."""
        return self.wants_pause() and not self.has()

    @rule("DD-17")
    def wants_pause(self) -> bool:
        """Deliveries pause if `lookahead` is not 0, the delay is fixed, and at least `lookahead` messages are held."""
        return self.lookahead > 0 and self.fixed_delay.fixed and self.count() >= self.lookahead

    def count(self) -> int:
        """The number of delayed messages."""
        return self.index.count()

    # ---- The timer

    def update_timer(self) -> None:
        """Bring the timer up to date with what is held."""
        self.timer.updated = None
        self.update(self.timer)

    def update(self, timer: TrackerTimer) -> None:
        """Bring a timer up to date."""
        timer.update(self.buckets.wake(self.index.first()) if self.index.held else None, self.buckets.tick)

    @rule("DD-24")
    def advance(self, ms: int) -> list[int] | Allowed:
        """A firing need not update the timer."""
        return self.timer.advance_and_may_update(ms, self.update)

    def jump(self, by: int) -> None:
        """Set the clock, forwards or back; no timer fires."""
        self.timer.jump(by)

    def stale(self) -> bool:
        """The timeout that was cancelled last fires nevertheless; answers whether it asked for a read."""
        return self.timer.stale()

    @rule("DD-27")
    def reset_tick(self, tick: int) -> None:
        """A new tick need not update the timer."""
        self.buckets.reset_tick(tick)
        self.timer.may_update(self.update)

    # ---- Memory, clear, close

    def memory(self) -> Allowed:
        """The memory estimate in bytes."""
        return self.memory_estimate.allowed(self.count())

    @rule("DD-16", when=lambda m: not m.fixed_delay.fixed or m.fixed_delay.highest)
    def clear(self) -> None:
        """A clear does not start the detection anew."""
        self.memory_estimate.shrank = True
        self.index.clear()
        self.timer.may_update(self.update)

    @rule("DD-32", source=f"{ABSTRACT}, PR 18000", when=lambda m: m.closed or m.timer.timeout is not None)
    def close(self) -> None:
        """A close disarms the timer, and may be repeated; the count after it is not specified."""
        self.timer.close()
        self.index.held = {}  # the number stays: some releases still tell it
        self.closed = True

    def count_after_close(self) -> int | Undefined:
        """The count that a closed tracker shows."""
        return UNDEFINED

    def seen(self) -> tuple[int | Undefined, list[int] | Allowed]:
        """The number of messages, and the times of all armed timeouts."""
        return self.count_after_close() if self.closed else self.count(), self.timer.allowed(self.start)
