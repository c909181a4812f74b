"""Short runs of operations that chance seldom strings together: what is under way when something else happens."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from msgspec.structs import replace

from broker_tck.model.bucket_delivery.specification import BucketDelivery
from broker_tck.properties.contracts.bucket_delivery.floods import Floods
from broker_tck.properties.contracts.bucket_delivery.messages import Messages, until_next
from broker_tck.properties.contracts.bucket_delivery.moves import MOST_ADDED, MOST_ENDED, Moves
from broker_tck.properties.contracts.bucket_delivery.operations import (
    Add,
    Advance,
    Capabilities,
    Clear,
    Complete,
    Conflict,
    Crash,
    Fail,
    Get,
    Mark,
    Reopen,
    Spoil,
)
from broker_tck.properties.engine import plots
from broker_tck.properties.engine.choices import Choices, one_of, weighted
from broker_tck.properties.engine.operation import Operation

RARE = 12
"""One plot in so many is one of those that take longest."""


class Plots(plots.Plots):
    """The plots of a tracker, its storage and its cursor."""

    def __init__(self, model: BucketDelivery, choices: Choices, messages: Messages, capabilities: Capabilities) -> None:
        super().__init__()
        self.model = model
        self.choices = choices
        self.messages = messages
        self.moves = moves = Moves(model, choices, messages)
        floods = Floods(moves, capabilities.calls_under_way)
        self.floods = weighted([(floods.all_at_once, 30), (floods.large_bucket, 4), (floods.one_answer, 2)])

    def begin(self) -> Operation:
        """Begin a plot; if it has nothing to do, a message is added."""
        rare = self.choices.below(RARE) == 0
        calls = self.failure, self.late_load, self.failure, self.late_load, self.sealed_again, self.merged_again
        usual = *calls, self.moves.many, self.moves.lives, self.gap, self.gap, self.read_again, self.worn
        chosen = (self.refused, self.sooner, self.ended) if rare else usual
        return self.play(one_of(self.choices, chosen), self.messages.add)

    def flood(self) -> Operation:
        """Begin a plot of many messages at once."""
        return self.play(one_of(self.choices, self.floods), self.messages.add)

    # ---- Calls

    def failure(self) -> Iterator[Operation]:
        """A call fails for good."""
        waiting = self.model.durable.calls.waiting
        if waiting:
            call = one_of(self.choices, waiting)
            yield from self.moves.until_it_gives_up(call.label, Conflict if call.updates_key else Fail)

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
            yield from self.moves.all_but(load)
        if self.choices.below(3) == 0:
            yield from self.moves.until_it_gives_up(load)
        elif (place := self.moves.place_of(load)) is not None:
            yield Complete(place)
        yield Get(100)

    def meanwhile(self, load: str) -> Iterator[Operation]:
        """What may happen while a load is under way."""
        kind = self.choices.below(8)
        if kind == 0:
            yield Clear()
        elif kind == 7:
            buckets = self.model.tracker.placed.buckets() if self.model.tracker else []
            for bucket in [bucket for bucket in buckets if load.startswith(f"load:{bucket.id}:")]:
                yield from self.moves.cleared_and_sealed(*bucket.ledgers)
        elif kind == 1:
            yield from self.moves.many()
        elif kind == 2:
            yield Mark(*self.messages.position())
            yield from self.moves.many()
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
        yield from self.moves.cleared_and_sealed(first, last)
        for _ in range(self.choices.below(4)):
            yield Complete(max(0, len(self.model.durable.calls.waiting) - 1))
        yield from self.moves.until_it_gives_up(creation)

    def merged_again(self) -> Iterator[Operation]:
        """While a merge or a trim is under way all is cleared, and the same ledgers are sealed again."""
        yield from self.moves.many()
        tracker = self.model.tracker
        if tracker is None or not tracker.maintenance.busy() or not tracker.placed.pieces:
            return
        pieces = tracker.placed.pieces
        yield from self.moves.cleared_and_sealed(pieces[0].ledgers[0], pieces[-1].ledgers[1])
        yield from self.moves.all_but("")

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
        yield from self.moves.until_sealed()
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
        read = [*islice(self.moves.read_between(first, last), MOST_ADDED)]
        yield Mark(last + 1, -1)
        yield from self.moves.many()
        if self.choices.below(4):
            yield from self.moves.all_but("")
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
            yield from self.moves.all_but("")
        yield Crash()
        yield from self.moves.many()
        yield from self.moves.all_but("")

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
            yield from self.moves.all_but("")
        yield self.messages.of(ledger)
        yield self.messages.next_ledger()

    def gap(self) -> Iterator[Operation]:
        """Two ledgers that were passed over are read, so that one is sealed; then mostly all calls end, merges too."""
        tracker = self.model.tracker
        if tracker is None or (ledger := self.moves.passed_over(tracker.placed)) is None:
            return
        for _ in range(min(max(self.model.config.min_index_count, 1), MOST_ADDED)):
            yield self.messages.of(ledger)
        yield self.messages.of(ledger + 1)
        if self.choices.below(4):
            yield from self.moves.all_but("")
        yield self.messages.of(ledger + 1) if self.choices.below(2) else self.messages.next_ledger()
