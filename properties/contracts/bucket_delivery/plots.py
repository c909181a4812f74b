"""Short runs of operations that chance seldom strings together: what is under way when something else happens."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from msgspec.structs import replace

from broker_tck.model.bucket_delivery.ranges import Placed
from broker_tck.model.bucket_delivery.specification import BucketDelivery
from broker_tck.properties.contracts.bucket_delivery.messages import Messages, last_ledger, nth, until_next
from broker_tck.properties.contracts.bucket_delivery.operations import (
    AT_ONCE,
    WAITS,
    Add,
    Advance,
    Capabilities,
    Clear,
    Complete,
    Conflict,
    Crash,
    Fail,
    Fill,
    Get,
    Mark,
    Reopen,
    Spoil,
    Storage,
)
from broker_tck.properties.engine import plots
from broker_tck.properties.engine.choices import Choices, one_of, weighted
from broker_tck.properties.engine.operation import Operation

MOST_ADDED = 40
"""So many messages are added at most until something is sealed."""
MOST_ENDED = 40
"""So many calls end at most."""
LIVES = (1, 1, 2, 2, 2, 3, 8, 30)
"""So many trackers come one after the other."""
RARE = 12
"""One plot in so many is one of those that take longest."""
MANY_BUCKETS = 50
"""Where so many lie, they are recovered."""
LARGE_SEGMENTS = (1_025, 1_030, 1_100)
"""So many positions of one ledger make a segment."""
MANY_SEGMENTS = (501, 520)
"""So many segments make a bucket."""
LARGE_BUDGETS = (4_097, 4_100, 5_000)
"""So many messages are handed out at once."""


class Plots(plots.Plots):
    """The plots of a tracker, its storage and its cursor."""

    def __init__(self, model: BucketDelivery, choices: Choices, messages: Messages, capabilities: Capabilities) -> None:
        super().__init__()
        self.model = model
        self.choices = choices
        self.messages = messages
        self.calls_wait = capabilities.calls_under_way
        self.floods = weighted([(self.all_at_once, 30), (self.large_bucket, 4), (self.one_answer, 2)])

    def begin(self) -> Operation:
        """Begin a plot; if it has nothing to do, a message is added."""
        rare = self.choices.below(RARE) == 0
        calls = self.failure, self.late_load, self.failure, self.late_load, self.sealed_again, self.merged_again
        usual = *calls, self.many, self.lives, self.gap, self.gap, self.read_again, self.worn
        chosen = (self.refused, self.sooner, self.ended) if rare else usual
        return self.play(one_of(self.choices, chosen), self.messages.add)

    def flood(self) -> Operation:
        """Begin a plot of many messages at once."""
        return self.play(one_of(self.choices, self.floods), self.messages.add)

    # ---- Calls

    def place_of(self, label: str) -> int | None:
        """Where a call waits; None: it does not."""
        labels = [call.label for call in self.model.durable.calls.waiting]
        return labels.index(label) if label in labels else None

    def until_it_gives_up(self, label: str, end: type[Fail] | type[Conflict] = Fail) -> Iterator[Operation]:
        """Have a call fail as often as it is made."""
        while (place := self.place_of(label)) is not None:
            yield end(place)

    def failure(self) -> Iterator[Operation]:
        """A call fails for good."""
        waiting = self.model.durable.calls.waiting
        if waiting:
            call = one_of(self.choices, waiting)
            yield from self.until_it_gives_up(call.label, Conflict if call.updates_key else Fail)

    def late_load(self) -> Iterator[Operation]:
        """A load is under way while something else happens; then it ends, well or not."""
        tracker = self.model.tracker
        if tracker is None or not tracker.held.count():
            return
        yield Advance(until_next(self.model))
        yield Get(100)
        load = next((call.label for call in self.model.durable.calls.waiting if call.reads), None)
        if load is None:
            return
        yield from self.meanwhile(load)
        if self.choices.below(3) == 0:
            yield from self.all_but(load)
        if self.choices.below(3) == 0:
            yield from self.until_it_gives_up(load)
        elif (place := self.place_of(load)) is not None:
            yield Complete(place)
        yield Get(100)

    def all_but(self, label: str) -> Iterator[Operation]:
        """All calls end, and those that follow, but for one."""
        for _ in range(MOST_ENDED):
            others = [i for i, call in enumerate(self.model.durable.calls.waiting) if call.label != label]
            if not others:
                return
            yield Complete(others[0])

    def meanwhile(self, load: str) -> Iterator[Operation]:
        """What may happen while a load is under way."""
        kind = self.choices.below(8)
        if kind == 0:
            yield Clear()
        elif kind == 7:
            buckets = self.model.tracker.placed.buckets() if self.model.tracker else []
            for bucket in [bucket for bucket in buckets if load.startswith(f"load:{bucket.id}:")]:
                yield from self.cleared_and_sealed(*bucket.ledgers)
        elif kind == 1:
            yield from self.many()
        elif kind == 2:
            yield Mark(*self.messages.position())
            yield from self.many()
        elif kind == 3:
            yield self.messages.again()
        elif kind == 4:
            self.messages.rewind()
            yield one_of(self.choices, (Crash(), Reopen()))
        elif kind == 5:
            yield self.messages.add()

    # ---- Seals

    def sealed_again(self) -> Iterator[Operation]:
        """After a clear the same ledgers are sealed once more, while the first creation has not ended."""
        creation = next((c.label for c in self.model.durable.calls.waiting if c.label.startswith("create")), None)
        if creation is None:
            return
        first, last = map(int, creation.split(":")[1].split("-"))
        yield from self.cleared_and_sealed(first, last)
        for _ in range(self.choices.below(4)):
            yield Complete(max(0, len(self.model.durable.calls.waiting) - 1))
        yield from self.until_it_gives_up(creation)

    def merged_again(self) -> Iterator[Operation]:
        """While a merge or a trim is under way all is cleared, and the same ledgers are sealed again."""
        yield from self.many()
        tracker = self.model.tracker
        if tracker is None or not tracker.busy() or not tracker.placed.pieces:
            return
        pieces = tracker.placed.pieces
        yield from self.cleared_and_sealed(pieces[0].ledgers[0], pieces[-1].ledgers[1])
        yield from self.all_but("")

    def cleared_and_sealed(self, first: int, last: int) -> Iterator[Operation]:
        """After a clear, some ledgers are sealed once more."""
        read = [*islice(self.read_between(first, last), MOST_ADDED)]
        yield Clear()
        for add in read:
            yield Add(add.ledger, add.entry, max(add.at, self.model.now + self.model.config.tick + 1))
        yield Add(last + 1, self.messages.first_entry, self.messages.times.at())

    def refused(self) -> Iterator[Operation]:
        """What was taken is refused, and is taken for a later time when another bucket was sealed."""
        if self.choices.below(4) == 0:
            self.messages.rewind()
            yield Spoil(max(1, self.model.durable.made))
            yield Crash()
        tracker = self.model.tracker
        if tracker is None:
            return
        grown, now = tracker.mutable.ledgers, self.model.now
        before = grown[0] - 1 - self.choices.below(3) if grown else 0
        soon = now + self.model.config.tick + 1 + self.messages.times.spread
        taken = replace(self.messages.of(before if before > 0 else self.messages.ledger), at=soon)
        yield taken
        yield replace(taken, at=one_of(self.choices, (-1, now)))
        yield from self.until_sealed()
        yield replace(taken, at=soon + self.messages.times.spread)
        for _ in range(2):
            yield Advance(until_next(self.model))
            yield Get(100)

    def sooner(self) -> Iterator[Operation]:
        """A message of a bucket is refused, then taken for an earlier time, and handed out before its bucket is due."""
        tracker, now, first = self.model.tracker, self.model.now, self.model.now + self.model.config.tick + 1
        placed = tracker.placed.pieces if tracker else []
        waiting = [read for read in self.messages.read if isinstance(read, Add) and read.at > first]
        sealed = [read for read in waiting if any(p.ledgers[0] <= read.ledger <= p.ledgers[1] for p in placed)]
        if not sealed:
            return
        taken = one_of(self.choices, sealed)
        soon = first + self.choices.below(taken.at - first)
        yield replace(taken, at=one_of(self.choices, (-1, now)))
        yield replace(taken, at=soon)
        yield Advance(soon - now)
        yield Get(100)
        yield Advance(until_next(self.model))
        yield Get(100)

    def read_again(self) -> Iterator[Operation]:
        """A bucket is trimmed, and its ledgers are read once more, for later times; then the times before pass."""
        tracker = self.model.tracker
        if tracker is None or not tracker.placed.pieces:
            return
        first, last = one_of(self.choices, tracker.placed.pieces).ledgers
        read = [*islice(self.read_between(first, last), MOST_ADDED)]
        yield Mark(last + 1, -1)
        yield from self.many()
        if self.choices.below(4):
            yield from self.all_but("")
        yield Mark(first, -1)
        later = self.model.now + self.model.config.tick + 1 + 2 * self.messages.times.spread
        for add in read[: 1 + self.choices.below(3)]:
            yield replace(add, at=later)
        yield Advance(until_next(self.model))
        yield Get(100)

    def worn(self) -> Iterator[Operation]:
        """Buckets that were handed out in part are recovered, and others are sealed until there are too many."""
        tracker = self.model.tracker
        if tracker is None or not tracker.placed.pieces:
            return
        for _ in range(1 + self.choices.below(3)):
            yield Advance(until_next(self.model))
            yield Get(1 + self.choices.below(3))
            yield from self.all_but("")
        yield Crash()
        yield from self.many()
        yield from self.all_but("")

    def ended(self) -> Iterator[Operation]:
        """A bucket is recovered, and ends; its ledger has messages before that and after."""
        yield Crash()
        tracker = self.model.tracker
        if tracker is None or not tracker.placed.pieces:
            return
        piece = one_of(self.choices, tracker.placed.pieces)
        ledger = one_of(self.choices, piece.ledgers)
        yield self.messages.of(ledger)
        for _ in range(MOST_ENDED):
            if tracker is not self.model.tracker or not tracker.placed.has(piece.bucket):
                break
            yield Advance(until_next(self.model))
            yield Get(100)
            yield from self.all_but("")
        yield self.messages.of(ledger)
        yield self.messages.next_ledger()

    def until_sealed(self) -> Iterator[Operation]:
        """Ledger after ledger, until there is a bucket more."""
        tracker = self.model.tracker
        buckets = len(tracker.placed.pieces) if tracker else 0
        for _ in range(MOST_ADDED):
            if tracker is None or tracker is not self.model.tracker or len(tracker.placed.pieces) > buckets:
                return
            yield self.messages.next_ledger()

    def many(self) -> Iterator[Operation]:
        """Ledger after ledger, until there are more buckets than the limit allows."""
        tracker = self.model.tracker
        for _ in range(MOST_ADDED):
            yield self.messages.next_ledger() if self.choices.below(2) else self.messages.add()
            if tracker is not self.model.tracker or tracker is None or tracker.busy():
                return

    def gap(self) -> Iterator[Operation]:
        """Two ledgers that were passed over are read, so that one is sealed; then mostly all calls end, merges too."""
        tracker = self.model.tracker
        if tracker is None or (ledger := self.passed_over(tracker.placed)) is None:
            return
        for _ in range(min(max(self.model.config.min_index_count, 1), MOST_ADDED)):
            yield self.messages.of(ledger)
        yield self.messages.of(ledger + 1)
        if self.choices.below(4):
            yield from self.all_but("")
        yield self.messages.of(ledger + 1) if self.choices.below(2) else self.messages.next_ledger()

    def passed_over(self, placed: Placed) -> int | None:
        """A ledger of two between buckets, or below them all, that no bucket has; None: there are none."""
        ends = [-1, *(piece.ledgers[1] for piece in placed.pieces)]
        begins = [piece.ledgers[0] for piece in placed.pieces]
        free = [begin - 2 for end, begin in zip(ends, begins, strict=False) if begin - end > 2]
        return one_of(self.choices, free) if free else None

    def read_between(self, first: int, last: int) -> Iterator[Add]:
        """What was read of some ledgers."""
        for read in self.messages.read:
            if read.ledger <= last and first <= last_ledger(read):
                adds = (nth(read, i) for i in range(read.n)) if isinstance(read, Fill) else [read]
                yield from (add for add in adds if first <= add.ledger <= last)

    # ---- Many of something

    def all_at_once(self) -> Iterator[Operation]:
        """Many messages at once, whose calls wait or end as they are made; then mostly something happens to all."""
        at_once = self.choices.below(3) > 0
        if at_once:  # key updates come one after the other: one that waits has all others wait
            yield from self.all_but("")
            yield Storage(AT_ONCE)
        yield self.messages.many()
        if at_once and self.calls_wait:
            yield Storage(WAITS)
        tracker = self.model.tracker
        many, kind = tracker is not None and len(tracker.placed.pieces) >= MANY_BUCKETS, self.choices.below(6)
        if kind == 2 or (many and kind > 3):
            yield Mark(*self.messages.position())
            yield from self.many()
        if kind < 2 or many:
            yield from self.lives()
        elif kind == 3:
            yield Clear()
        elif kind == 4:
            yield Advance(until_next(self.model) + self.messages.times.spread)
            yield Get(one_of(self.choices, (1, 100, 1_000, 2**31 - 1)))

    def large_bucket(self) -> Iterator[Operation]:
        """A bucket of one ledger has a large segment, or many small ones, and is mostly loaded by another tracker."""
        config, step = self.model.config, 0 if self.choices.below(3) else max(self.model.config.time_step, 1)
        n = one_of(self.choices, MANY_SEGMENTS if step else LARGE_SEGMENTS)
        cut = not step and (config.time_step < 1 or -1 < config.max_indexes < n)
        if cut or config.min_index_count > n:
            return
        yield Storage(AT_ONCE)
        yield from self.messages.all_of_one(n, step)
        yield self.messages.next_ledger()
        if self.choices.below(2):
            yield from self.all_but("")
        yield from self.lives()
        if self.choices.below(2):
            yield Mark(*self.messages.position())
        yield Advance(until_next(self.model) + self.choices.below(n) * step)
        yield Get(one_of(self.choices, (100, 2_000)))

    def one_answer(self) -> Iterator[Operation]:
        """Thousands of messages are handed out at once."""
        n = one_of(self.choices, LARGE_BUDGETS)
        yield from self.messages.all_of_one(n)
        yield Advance(until_next(self.model))
        yield Get(n + self.choices.below(3) - 1)

    def lives(self) -> Iterator[Operation]:
        """One tracker after another, each with a message or two, or with what the one before it had."""
        for _ in range(one_of(self.choices, LIVES)):
            if self.choices.below(2):
                self.messages.rewind()
            yield one_of(self.choices, (Crash(), Reopen()))
            if self.choices.below(2):
                yield self.messages.add()
