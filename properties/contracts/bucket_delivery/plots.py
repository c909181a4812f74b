"""Short runs of operations that chance seldom strings together: what is under way meanwhile, and much at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from broker_tck.model.bucket_delivery.specification import BucketDelivery
from broker_tck.model.bucket_delivery.stored import Call
from broker_tck.properties.contracts.bucket_delivery.messages import Messages, until_next
from broker_tck.properties.contracts.bucket_delivery.operations import (
    AT_ONCE,
    WAITS,
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
    Storage,
)
from broker_tck.properties.engine import plots
from broker_tck.properties.engine.choices import Choices, one_of, weighted
from broker_tck.properties.engine.operation import Operation

MOST_ADDED = 40
"""So many messages are added at most until something is sealed."""
MOST_ENDED = 40
"""So many calls end at most."""
MOST_OF_TWO = 5
"""Two buckets are made to be merged if so many messages at most make one."""
LIVES = (1, 1, 2, 2, 2, 3, 8, 30)
"""So many trackers come one after the other."""


class Plots(plots.Plots):
    """The plots of a tracker, its storage and its cursor."""

    def __init__(self, model: BucketDelivery, choices: Choices, messages: Messages, capabilities: Capabilities) -> None:
        super().__init__()
        self.model = model
        self.choices = choices
        self.messages = messages
        self.calls_wait = capabilities.calls_under_way
        self.floods = weighted([(self.all_at_once, 5), (self.one_ledger, 1)])

    def begin(self) -> Operation:
        """Begin a plot; if it has nothing to do, a message is added."""
        chosen = self.failure, self.late_load, self.more_than_the_limit, self.between_two, self.lives
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
        yield from self.meanwhile()
        if self.choices.below(3) == 0:
            yield from self.all_but(load)
        if self.choices.below(3) == 0:
            yield from self.until_it_gives_up(load)
        elif (place := self.place_of(load)) is not None:
            yield Complete(place)
        yield Get(100)

    def meanwhile(self) -> Iterator[Operation]:
        """What may happen while a load is under way."""
        kind = self.choices.below(6)
        if kind == 0:
            yield Clear()
        elif kind == 1:
            yield from self.more_than_the_limit()
        elif kind == 2:
            yield Mark(*self.messages.position())
            yield from self.more_than_the_limit()
        elif kind == 3:
            yield self.messages.again()
        elif kind == 4:
            self.messages.rewind()
            yield one_of(self.choices, (Crash(), Reopen()))
        elif kind == 5:
            yield self.messages.add()

    def between_two(self) -> Iterator[Operation]:
        """A bucket begins to grow between two that are merged meanwhile, and is sealed when they are one.

        For this there are two buckets with a ledger between them and one below; then another tracker recovers.
        """
        least, config = max(self.model.config.min_index_count, 2), self.model.config
        if not self.calls_wait or config.max_buckets <= 0 or least > MOST_OF_TWO:
            return
        yield from self.all_but("")
        if self.model.durable.answers_at_once:
            yield Storage(WAITS)
        passed_over = []
        for _ in range(2):
            passed_over.append(self.messages.go_on())
            yield self.messages.all_of_one(least, max(config.time_step, 1))
        yield self.messages.next_ledger()
        yield from self.ended(lambda call: not call.reads)
        self.messages.rewind()
        yield Crash()
        for ledger in passed_over:
            yield self.messages.of(ledger)
        yield from self.all_but("")
        yield self.messages.next_ledger()

    # ---- Many messages

    def all_at_once(self) -> Iterator[Operation]:
        """Many messages at once, whose calls wait or end as they are made; then mostly something happens to all."""
        at_once = self.choices.below(3) > 0
        if at_once:  # key updates come one after the other: one that waits has all others wait
            yield from self.all_but("")
            yield Storage(AT_ONCE)
        yield self.messages.many()
        if at_once and self.calls_wait:
            yield Storage(WAITS)
        kind = self.choices.below(6)
        if kind == 2:
            yield Mark(*self.messages.position())
            yield from self.more_than_the_limit()
        if kind < 2:
            yield from self.lives()
        elif kind == 3:
            yield Clear()
        elif kind == 4:
            yield Advance(until_next(self.model) + self.messages.times.spread)
            yield Get(one_of(self.choices, (1, 100, 1_000, 2**31 - 1)))

    def one_ledger(self) -> Iterator[Operation]:
        """A bucket of one ledger has one segment or many; mostly another tracker loads it, and all is handed out."""
        step = 0 if self.choices.below(3) else max(self.model.config.time_step, 1)
        n = max(self.messages.sizes.next(), 1)
        if self.model.config.min_index_count > n:
            return
        yield Storage(AT_ONCE)
        yield self.messages.all_of_one(n, step)
        yield self.messages.next_ledger()
        if self.choices.below(2):
            yield from self.all_but("")
        if self.choices.below(4):
            yield from self.lives()
        if self.choices.below(2):
            yield Mark(*self.messages.position())
        yield Advance(until_next(self.model) + self.choices.below(n + 1) * step)
        yield Get(one_of(self.choices, (100, n, n + 1)))

    # ---- What plots are made of

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
        return self.ended(lambda call: call.label != label)

    def ended(self, ends: Callable[[Call], bool]) -> Iterator[Operation]:
        """Some calls end, and those that follow."""
        for _ in range(MOST_ENDED):
            place = next((i for i, call in enumerate(self.model.durable.calls.waiting) if ends(call)), None)
            if place is None:
                return
            yield Complete(place)

    def more_than_the_limit(self) -> Iterator[Operation]:
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
