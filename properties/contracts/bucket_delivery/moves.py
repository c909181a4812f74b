"""Short runs of operations of which plots are made: until a call has failed for good, until something is sealed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from broker_tck.model.bucket_delivery.parts import Placed
from broker_tck.model.bucket_delivery.specification import BucketDelivery
from broker_tck.properties.contracts.bucket_delivery.messages import Messages, last_ledger, nth
from broker_tck.properties.contracts.bucket_delivery.operations import (
    Add,
    Clear,
    Complete,
    Conflict,
    Crash,
    Fail,
    Fill,
    Reopen,
)
from broker_tck.properties.engine.choices import Choices, one_of
from broker_tck.properties.engine.operation import Operation

MOST_ADDED = 40
"""So many messages are added at most until something is sealed."""
MOST_ENDED = 40
"""So many calls end at most."""
LIVES = (1, 1, 2, 2, 2, 3, 8, 30)
"""So many trackers come one after the other."""


class Moves:
    """What is done with a tracker, its storage and its cursor."""

    def __init__(self, model: BucketDelivery, choices: Choices, messages: Messages) -> None:
        self.model = model
        self.choices = choices
        self.messages = messages

    def place_of(self, label: str) -> int | None:
        """Where a call waits; None: it does not."""
        labels = [call.label for call in self.model.durable.calls.waiting]
        return labels.index(label) if label in labels else None

    def until_it_gives_up(self, label: str, end: type[Fail] | type[Conflict] = Fail) -> Iterator[Operation]:
        """Have a call fail as often as it is made."""
        while (place := self.place_of(label)) is not None:
            yield end(place)

    def all_but(self, label: str) -> Iterator[Operation]:
        """All calls end, and those that follow, but for one."""
        for _ in range(MOST_ENDED):
            others = [i for i, call in enumerate(self.model.durable.calls.waiting) if call.label != label]
            if not others:
                return
            yield Complete(others[0])

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
            if tracker is not self.model.tracker or tracker is None or tracker.maintenance.busy():
                return

    def cleared_and_sealed(self, first: int, last: int) -> Iterator[Operation]:
        """After a clear, some ledgers are sealed once more."""
        read = [*islice(self.read_between(first, last), MOST_ADDED)]
        yield Clear()
        for add in read:
            yield Add(add.ledger, add.entry, max(add.at, self.model.now + self.model.config.tick + 1))
        yield Add(last + 1, self.messages.first_entry, self.messages.times.at())

    def lives(self) -> Iterator[Operation]:
        """One tracker after another, each with a message or two, or with what the one before it had."""
        for _ in range(one_of(self.choices, LIVES)):
            if self.choices.below(2):
                self.messages.rewind()
            yield one_of(self.choices, (Crash(), Reopen()))
            if self.choices.below(2):
                yield self.messages.add()

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
