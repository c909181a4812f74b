"""What a dispatcher reads: the messages of one walk, and the times for which they are to be delivered."""

from __future__ import annotations

from collections.abc import Sequence

from broker_tck.model.bucket_delivery.specification import BucketDelivery
from broker_tck.model.bucket_delivery.stored import Position
from broker_tck.model.bucket_delivery.tracker import Config
from broker_tck.properties.contracts.bucket_delivery.operations import Add, Clear, Contains, Fill, Mark
from broker_tck.properties.engine.choices import Choices, one_of, weighted
from broker_tck.properties.engine.sizes import Sizes
from broker_tck.properties.engine.timer import settable

FIRST_LEDGERS = (1, 1, 1, 5, 5, 20, 20, 0, 250, 65_530, 2**31 - 4, 2**32 - 4, 2**53, 2**62 - 2**54)
FIRST_ENTRIES = (0, 0, 0, 0, 0, 7, 250, 4_090, 65_534, 2**31 - 4, 2**32 - 1_000)
LAST_LEDGER, LAST_ENTRY = 2**62, 2**32 - 1
NEW_LEDGER = weighted([(1, 2), (2, 4), (3, 4), (5, 2), (12, 1)])
"""One message in how many is of a new ledger."""
NEXT_LEDGERS = weighted([(1, 12), (2**8, 1), (2**16, 1), (2**31, 1), (2**32, 2), (2**53 // 64, 1)])
"""How far on a walk's ledgers go now and then: two of them are one for whoever cuts a number short."""
NEXT_ENTRIES = weighted([(1, 12), (2**8, 1), (4_096, 1), (2**16, 2), (2**20, 1), (2**24, 1), (2**31, 1)])
"""How far on its entries go, likewise: into another container of a bitmap."""
FAR_OFF = weighted([(0, 16), (30, 2), (4, 1)])
"""One time in how many is far off, and one step of the clock; 0: none is."""
DISTANCES = (86_400_000, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**40)
BUDGETS = weighted([(129, 60), (257, 12), (1_025, 1)])
BUDGETS_UNMERGED = weighted([(129, 24), (513, 18), (4_097, 1)])
"""To how many messages a walk's operations in bulk come. What is held costs with each operation from then on."""
SEGMENTS = (4, 256, 1_000)
"""So many messages make a bucket, and a segment."""
LARGE = 60
"""Where so many make a bucket, there has to be much for one."""
MOST_LEDGERS = 300
"""Of so many ledgers these are at most: as many buckets may come of them, each with calls to be ended."""
MOST_TO_MERGE = 40
"""Of so many where buckets are merged: the same ones are merged again and again."""
FAR = 2**40
"""How far the clock moves to be past all times, in milliseconds."""
HOUR = 3_600_000


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
        self.far_off = one_of(choices, FAR_OFF)
        self.aparts = (0, 0, 1, 1, -1, step, -step, 7, min(self.spread, FAR))
        self.withins = (0, 0, min(self.spread, FAR), min(3 * step + 1, FAR))

    def at(self) -> int:
        """A deliver-at time."""
        now, below = self.model.now, self.below
        if self.far_off and below(self.far_off) == 0:
            return now + DISTANCES[below(len(DISTANCES))] + below(3) - 1
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
        if self.far_off and below(2 * self.far_off) == 0:
            return DISTANCES[below(len(DISTANCES))] + below(3) - 1
        if below(6) < 3 and ahead:
            return max(0, ahead + below(3) - 1)
        return (0, 1, self.model.config.tick, below(self.spread + 1), self.edges[2], self.edges[2] - 1)[below(6)]

    def jump(self) -> int:
        """How far the clock is set, forwards or back: by a step of time, or by an hour. It does not go below 0."""
        by = (self.step(), HOUR)[self.below(2)]
        by = -by if self.below(2) and by <= self.model.now else by
        return by if settable(by, self.model.now, armed(self.model)) else 0


def armed(model: BucketDelivery) -> Sequence[int]:
    """The deadlines of all timeouts that are armed."""
    return model.tracker.timer.armed if model.tracker else ()


class Messages:
    """What a dispatcher reads, and offers to the tracker."""

    def __init__(self, model: BucketDelivery, choices: Choices, times: Times) -> None:
        self.model = model
        self.choices = choices
        self.times = times
        self.ledger = one_of(choices, FIRST_LEDGERS)
        self.entry = self.first_entry = one_of(choices, FIRST_ENTRIES)
        self.new_ledger = one_of(choices, NEW_LEDGER)
        self.next_ledgers = (1, 1, 1, 2, 3, one_of(choices, NEXT_LEDGERS))
        self.next_entries = (1, one_of(choices, NEXT_ENTRIES))
        self.passed = 1
        """How far on the last ledger was."""
        merges = model.config.max_buckets > 0
        self.sizes = Sizes(
            choices, SEGMENTS, BUDGETS if merges and model.config.min_index_count < LARGE else BUDGETS_UNMERGED
        )
        self.many_of_one = model.config.min_index_count >= LARGE or choices.below(3) == 0
        self.read: list[Add | Fill] = []
        """What was read, in this order."""
        self.unread: list[Add | Fill] = []
        """What is read once more, the next one last."""

    def add(self) -> Add | Fill:
        """The next message; now and then one of a ledger that was passed over."""
        if self.unread and self.choices.below(20):
            read = self.unread.pop()
            if isinstance(read, Add) or self.may_add(read.n):
                return read
        if self.choices.below(self.new_ledger) == 0:
            self.go_on()
        late = self.read and self.choices.below(12) == 0
        ledger = self.ledger - self.passed * (1 + self.choices.below(6)) if late else self.ledger
        return self.of(max(0, ledger))

    def next_ledger(self) -> Add:
        """The first message of a new ledger."""
        self.go_on()
        return self.of(self.ledger)

    def go_on(self) -> int:
        """A new ledger begins; answers with its number."""
        passed = one_of(self.choices, self.next_ledgers)
        if self.ledger + passed <= LAST_LEDGER - MOST_LEDGERS:
            self.passed = passed
            self.ledger += passed
        self.entry = self.first_entry
        return self.ledger

    def of(self, ledger: int) -> Add:
        """A new message of a ledger."""
        add = Add(ledger, self.entry, self.times.at())
        self.entry = within_a_ledger(self.entry + one_of(self.choices, self.next_entries))
        self.read.append(add)
        return add

    def many(self) -> Add | Fill:
        """Many new messages: of one ledger, or of many, one after the other."""
        below, times = self.choices.below, self.times
        if self.sizes.left <= 0:
            return self.next_ledger()
        n = max(self.sizes.next(), 1)
        each = max(
            one_of(self.choices, (n, n, n, 7) if self.many_of_one else (1, 1, 2, 3)),
            -(-n // most_ledgers(self.model.config)),
        )
        self.go_on()
        entry = min(self.first_entry, LAST_ENTRY + 1 - each)
        apart, within = one_of(self.choices, times.aparts), one_of(self.choices, times.withins)
        middle = self.model.now + self.model.config.tick - n // 2 * apart
        at = (times.at(), times.at(), self.model.now + times.spread, middle)[below(4)]
        if min(at, at + n * apart) < 0:
            at, apart = max(at, 0), 0
        fill = Fill(self.ledger, entry, each, n, at, apart, within)
        self.ledger, self.entry = last_ledger(fill), within_a_ledger(entry + each)
        self.read.append(fill)
        return fill

    def all_of_one(self, n: int, apart: int) -> Fill:
        """So many messages of a new ledger, all for one time or ``apart``."""
        self.go_on()
        entry = min(self.first_entry, LAST_ENTRY + 1 - n)
        at = self.model.now + self.model.config.tick + 1 + self.times.spread
        fill = Fill(self.ledger, entry, n, n, at, apart)
        self.entry = within_a_ledger(entry + n)
        self.read.append(fill)
        return fill

    def may_add(self, n: int) -> bool:
        """Whether so many may be added at once; if so, they are counted."""
        if self.sizes.left <= 0:
            return False
        self.sizes.left -= n
        return True

    def again(self) -> Add | Fill:
        """One that was read before, now and then for another time."""
        if not self.read:
            return self.add()
        read = self.read[-1 - self.choices.below(min(len(self.read), 12))]
        if isinstance(read, Fill) and self.choices.below(4) == 0 and self.may_add(read.n):
            return read
        add = one_read(read, self.choices)
        return Add(add.ledger, add.entry, self.times.at()) if self.choices.below(3) == 0 else add

    def position(self) -> Position:
        """The position of one that was read, or of the next one."""
        if not self.read:
            return self.ledger, self.entry
        add = one_read(one_of(self.choices, self.read), self.choices)
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
        self.unread = [read for read in reversed(self.read) if last_ledger(read) >= mark]
        if self.choices.below(4) == 0:
            self.unread = []


def within_a_ledger(entry: int) -> int:
    """An entry, if there can be one so far; else the first."""
    return entry if entry <= LAST_ENTRY else 0


# ---- Many at once


def most_ledgers(config: Config) -> int:
    """Of how many ledgers messages are added at once."""
    return MOST_TO_MERGE if config.max_buckets > 0 else MOST_LEDGERS


def last_ledger(read: Add | Fill) -> int:
    """The last ledger of what was read."""
    return read.ledger + (max(read.n, 1) - 1) // read.each if isinstance(read, Fill) else read.ledger


def one_read(read: Add | Fill, choices: Choices) -> Add:
    """A message, or one of many that were read at once."""
    return nth(read, choices.below(max(read.n, 1))) if isinstance(read, Fill) else read


def nth(fill: Fill, i: int) -> Add:
    """One of many messages, which are counted from 0."""
    ms = i * fill.apart % fill.within if fill.within else i * fill.apart
    return Add(fill.ledger + i // fill.each, fill.entry + i % fill.each, fill.at + ms)
