"""Short runs of operations of which plots are made: until a call has failed for good, until something is sealed."""

from __future__ import annotations

from collections.abc import Iterator

from broker_tck.model.bucket_delivery.specification import BucketDelivery
from broker_tck.properties.contracts.bucket_delivery.messages import Messages
from broker_tck.properties.contracts.bucket_delivery.operations import (
    Complete,
    Conflict,
    Crash,
    Fail,
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

    def many(self) -> Iterator[Operation]:
        """Ledger after ledger, until there are more buckets than the limit allows."""
        tracker = self.model.tracker
        for _ in range(MOST_ADDED):
            yield self.messages.next_ledger() if self.choices.below(2) else self.messages.add()
            if tracker is not self.model.tracker or tracker is None or tracker.maintenance.busy():
                return

    def lives(self) -> Iterator[Operation]:
        """One tracker after another, each with a message or two, or with what the one before it had."""
        for _ in range(one_of(self.choices, LIVES)):
            if self.choices.below(2):
                self.messages.rewind()
            yield one_of(self.choices, (Crash(), Reopen()))
            if self.choices.below(2):
                yield self.messages.add()
