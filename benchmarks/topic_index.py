"""What one delayed index for all subscriptions of a topic costs, beside a tracker for each of them.

A million messages are in ledgers of 50,000, each for a random time within a day. Every subscription adds them, takes
what comes due, and acknowledges, all at one pace; half of the subscriptions leave; the last one takes all that is
left. Trackers hold each message once a subscription: only so many are filled as the limit allows, and more are
extrapolated. To the shared index the first subscription adds all; the others' adds, all takes, and the messages
acknowledged are a tenth of the limit each.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from random import Random
from statistics import median
from time import perf_counter
from typing import NamedTuple

import msgspec
from bucket_index import AHEAD, all_due
from measuring import BATCH, FIRST_LEDGER, START, Claim, Desk, Result, by_row, fresh, require, resident_bytes, timed

from broker_tck.implementations.interface import Position, SubscriptionTracker, TopicDeliveryFactory
from broker_tck.implementations.topic_delivery.manager import SharedIndexManager
from broker_tck.implementations.topic_delivery.tracker_each import TrackerEach

MESSAGES = 1_000_000
SUBSCRIPTIONS = (1, 10, 100, 1_000)
LIMIT = 10_000_000
"""Trackers hold so many messages at most, over all subscriptions."""
MOST_OF_ONE = 1.1
"""With more subscriptions, the shared index takes no more than this many times what it takes with one."""
SAMPLED = 0.1
"""The share of the limit that is sampled."""
LEDGER_ENTRIES = 50_000
SLICE = 88 * 1_024
"""A minute and a half in milliseconds: whole time buckets."""
SLICES = 960
SHARED, EACH = "shared-index", "tracker-each"
INDEXES: dict[str, TopicDeliveryFactory] = {SHARED: SharedIndexManager, EACH: TrackerEach}


class Config(msgspec.Struct, frozen=True):
    """What a topic is configured with."""

    tick: int = 1_000
    strict: bool = True
    lookahead: int = 0
    prune_ms: int = 0
    ratio: float = 0.5


class Cell(NamedTuple):
    """What an index costs with a number of subscriptions."""

    held: int
    """The growth of the process when everything is added."""
    some_taken: int
    """The growth when every subscription has taken what came due."""
    adding: float
    """Microseconds an add of the last subscription."""
    taking: float
    """Microseconds a message taken."""


class Reader:
    """A dispatcher that reads on its own."""

    mark_delete_position: Position | None = None

    def __init__(self, number: int) -> None:
        self.name = f"subscription {number}"

    def read_more_entries(self) -> None:
        """Read nothing."""


class Workload:
    """The messages of a topic by number, and how far each subscription gets with them."""

    def __init__(self, messages: int, subscriptions: int, limit: int) -> None:
        draw = Random(messages).random
        self.messages = messages
        self.times = array("q", (START + AHEAD + 1 + int(draw() * SLICES * SLICE) for _ in range(messages)))
        self.by_time = array("q", sorted(range(messages), key=self.times.__getitem__))
        part = min(0.5, SAMPLED * limit / (subscriptions * messages))
        self.slices = max(1, int(part * SLICES))
        self.added = min(messages, max(1, int(SAMPLED * limit / subscriptions / BATCH)) * BATCH)
        self.acknowledged = min(messages, max(1, int(part * messages / BATCH)) * BATCH)

    def position(self, number: int) -> Position:
        """Where a message is."""
        return FIRST_LEDGER + number // LEDGER_ENTRIES, number % LEDGER_ENTRIES

    def due(self, number: int, first: int) -> list[Position]:
        """The positions of what comes due in a slice, from one message on."""
        ends = (START + AHEAD + each * SLICE for each in (number, number + 1))
        start, end = (bisect_right(self.by_time, at, key=self.times.__getitem__) for at in ends)
        return sorted(self.position(number) for number in self.by_time[start:end] if number >= first)

    def batches(self) -> Iterator[list[tuple[int, int, int]]]:
        """Ledgers, entries and times, a thousand at once."""
        for start in range(0, self.messages, BATCH):
            numbers = range(start, min(start + BATCH, self.messages))
            yield [(*self.position(number), self.times[number]) for number in numbers]


def fill(views: Sequence[SubscriptionTracker], work: Workload, added: int) -> float:
    """Have the first view add all messages, the others the first so many; answers with the microseconds of an add.

    They are the median of the adds of those that come after the first, if there are any.
    """
    samples: list[list[float]] = [[], []]
    for number, batch in enumerate(work.batches()):
        for place, view in enumerate(views if number * BATCH < added else views[:1]):
            add, start = view.add_message, perf_counter()
            for ledger, entry, at in batch:
                add(ledger, entry, at)
            samples[place > 0].append(1e6 * (perf_counter() - start) / len(batch))
    return median(samples[1] or samples[0])


def take(views: Sequence[SubscriptionTracker], work: Workload, desk: Desk, slices: range, first: int = 0) -> float:
    """Have views take slice after slice what is due, from one message on; answers with the microseconds a message."""
    samples = []
    for number in slices:
        desk.now = START + AHEAD + (number + 1) * SLICE
        expected = work.due(number, first)
        for view in views:
            seconds, taken = timed(all_due, view.get_scheduled_messages)
            samples.append(1e6 * seconds / max(1, len(taken)))
            require(sorted(taken) == expected, f"slice {number}")
    return median(samples)


def cell(index: str, subscriptions: int, messages: int, limit: int) -> Cell:
    """Measure an index with so many subscriptions."""
    desk, work = Desk(), Workload(messages, subscriptions, limit)
    before = resident_bytes()
    manager = INDEXES[index](Config(), desk.clock, desk)
    views = [manager.create_or_get_tracker(Reader(number)) for number in range(subscriptions)]
    adding = fill(views, work, work.added if index == SHARED else messages)
    held = resident_bytes() - before
    require(all(view.get_number_of_delayed_messages() == messages for view in views), "all added")
    taking = take(views, work, desk, range(work.slices))
    some_taken = resident_bytes() - before
    for number in range(BATCH, work.acknowledged + BATCH, BATCH):
        for view in views:
            view.update_mark_delete_position(work.position(min(number, work.acknowledged) - 1))
    for view in views[: subscriptions // 2]:
        view.close()
    take(views[-1:], work, desk, range(work.slices, SLICES), work.acknowledged)
    require(views[-1].get_number_of_delayed_messages() == 0, "in the end")
    return Cell(held, some_taken, adding, taking)


def topic(messages: int = MESSAGES, subscriptions: Sequence[int] = SUBSCRIPTIONS, limit: int = LIMIT) -> Result:
    """What one index for all subscriptions costs, beside a tracker for each. Half an hour."""
    columns, claims = {}, []
    one, last = None, 0.0
    for number in subscriptions:
        ours = fresh(cell, SHARED, number, messages, limit)
        one = one or ours
        mine = fresh(cell, EACH, number, messages, limit) if number * messages <= limit else None
        last = mine.held / number if mine else last
        cells = {
            "bytes a message": ours.held / messages,
            "memory, times that with one subscription": ours.held / one.held,
            "memory, times that of the trackers": ours.held / (last * number),
        }
        if mine:
            cells["an add by the last subscription, times as long as a tracker's"] = ours.adding / mine.adding
            cells["taking a message, times as long as a tracker's"] = ours.taking / mine.taking
        columns[f"{number:,}"] = {row: [value] for row, value in cells.items()}
        for what, times in (("all added", ours.held / one.held), ("some taken", ours.some_taken / one.some_taken)):
            says = f"{number:,} subscriptions: {what}, memory is {times:.2f} times that of one, at most {MOST_OF_ONE}"
            claims.append(Claim(says, times <= MOST_OF_ONE))
    return Result(by_row(columns), claims)
