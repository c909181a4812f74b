"""What a dispatcher reads: the messages of one walk, and the times for which they are to be delivered."""

from __future__ import annotations

from broker_tck.model.bucket_delivery.bucket import Position
from broker_tck.model.bucket_delivery.specification import BucketDelivery
from broker_tck.properties.contracts.bucket_delivery.operations import Add, Clear, Contains, Mark
from broker_tck.properties.engine.choices import Choices, one_of, weighted

FIRST_LEDGERS = (1, 1, 5, 20, 2**31 - 4, 2**53)
FIRST_ENTRIES = (0, 0, 0, 7, 65_534, 2**32 - 1_000)
NEW_LEDGER = weighted([(1, 2), (2, 4), (3, 4), (5, 2), (12, 1)])
"""One message in how many is of a new ledger."""
FAR = 2**40
"""How far the clock moves to be past all times, in milliseconds."""


def until_next(model: BucketDelivery) -> int:
    """How far ahead the first index in memory is, as far as that goes; 0 if it is due, or there is none."""
    tracker = model.tracker
    heads = [queue[0][0] for queue in (tracker.shared, tracker.mutable.queue) if queue] if tracker else []
    return max(0, min([*heads, model.now + FAR]) - model.now) if heads else 0


class Times:
    """Deliver-at times and clock steps of one walk."""

    def __init__(self, model: BucketDelivery, choices: Choices) -> None:
        self.model = model
        self.below = choices.below
        step = max(model.config.time_step, 1)
        self.edges = (1, step - 1, step, step + 1, 2 * step - 1, 2 * step, model.config.tick + 1)
        self.spread = one_of(choices, (2, 4, 20, 100)) * step
        self.recent = model.now + 1

    def at(self) -> int:
        """A deliver-at time."""
        now, below = self.model.now, self.below
        kind = below(40)
        if kind == 0:
            return (-1, 0, now - 1, now, now + self.model.config.tick)[below(5)]
        if kind < 12:
            at = self.recent + self.edges[below(len(self.edges))]
        elif kind < 18:
            at = self.recent
        else:
            at = now + self.model.config.tick + 1 + below(self.spread)
        self.recent = at if at < now + 4 * self.spread else now + 1
        return at

    def step(self) -> int:
        """How far the clock moves."""
        below, ahead = self.below, until_next(self.model)
        if below(6) < 3 and ahead:
            return max(0, ahead + below(3) - 1)
        return (0, 1, self.model.config.tick, below(self.spread + 1), self.edges[2], self.edges[2] - 1)[below(6)]


class Messages:
    """What a dispatcher reads, and offers to the tracker."""

    def __init__(self, model: BucketDelivery, choices: Choices, times: Times) -> None:
        self.model = model
        self.choices = choices
        self.times = times
        self.ledger = one_of(choices, FIRST_LEDGERS)
        self.entry = self.first_entry = one_of(choices, FIRST_ENTRIES)
        self.new_ledger = one_of(choices, NEW_LEDGER)
        self.read: list[Add] = []
        """What was read, in this order."""
        self.unread: list[Add] = []
        """What is read once more, the next one last."""

    def add(self) -> Add:
        """The next message; now and then one of a ledger that was passed over."""
        if self.unread and self.choices.below(20):
            return self.unread.pop()
        if self.choices.below(self.new_ledger) == 0:
            self.go_on()
        late = self.read and self.choices.below(12) == 0
        ledger = max(1, self.ledger - 1 - self.choices.below(6)) if late else self.ledger
        return self.of(ledger)

    def next_ledger(self) -> Add:
        """The first message of a new ledger."""
        self.go_on()
        return self.of(self.ledger)

    def go_on(self) -> None:
        """A new ledger begins."""
        self.ledger += one_of(self.choices, (1, 1, 1, 2, 3))
        self.entry = self.first_entry

    def of(self, ledger: int) -> Add:
        """A new message of a ledger."""
        add = Add(ledger, self.entry, self.times.at())
        self.entry += 1
        self.read.append(add)
        return add

    def again(self) -> Add:
        """One that was read before, now and then for another time."""
        if not self.read:
            return self.add()
        add = self.read[-1 - self.choices.below(min(len(self.read), 12))]
        return Add(add.ledger, add.entry, self.times.at()) if self.choices.below(3) == 0 else add

    def position(self) -> Position:
        """The position of one that was read, or of the next one."""
        if not self.read:
            return self.ledger, self.entry
        add = one_of(self.choices, self.read)
        return add.ledger, add.entry

    def contains(self) -> Contains:
        """Ask for a message."""
        return Contains(*self.position())

    def mark(self) -> Mark:
        """Move the mark-delete position, mostly on."""
        ledger, entry = self.position()
        return Mark(ledger + one_of(self.choices, (0, 0, 0, 1)), entry if self.choices.below(4) else -1)

    def cleared(self, clear: Clear) -> Clear:
        """After a clear, what was read may be read again: a cursor that is reset does so."""
        if self.choices.below(2):
            self.rewind()
        return clear

    def rewind(self) -> None:
        """Whatever is not acknowledged is read again."""
        mark = self.model.durable.first_live or 0
        self.unread = [add for add in reversed(self.read) if add.ledger >= mark]
        if self.choices.below(4) == 0:
            self.unread = []
