"""What ``bench topic`` measures of one cell: an index, and a number of subscriptions of one topic.

A cell is measured in a fresh process, which prints a line of JSON: ``python -m broker_tck.bench.topic_parts INDEX
SUBSCRIPTIONS MESSAGES LIMIT``. Messages are in ledgers of 50,000, each for a random time within a day. Every
subscription adds them, takes what comes due, and acknowledges, all at one pace. Trackers are filled. To the shared
index the first subscription adds all; the others' adds, all takes, and the messages acknowledged are a tenth of the
limit each. Growth is that of ``VmRSS``, read after a garbage collection and a ``malloc_trim``.
"""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from random import Random
from statistics import median
from time import perf_counter

import msgspec

from broker_tck.bench.bucket_parts import AHEAD, BATCH, FIRST_LEDGER, START, Desk
from broker_tck.bench.memory import resident_bytes
from broker_tck.implementations.interface import Position, SubscriptionTracker, TopicDeliveryFactory
from broker_tck.implementations.topic_delivery.manager import SharedIndexManager
from broker_tck.implementations.topic_delivery.tracker_each import TrackerEach

SHARED, EACH = "shared-index", "tracker-each"
INDEXES: dict[str, TopicDeliveryFactory] = {SHARED: SharedIndexManager, EACH: TrackerEach}
LEDGER_ENTRIES = 50_000
SLICE = 88 * 1_024
"""A minute and a half in milliseconds: whole time buckets."""
SLICES = 960
SAMPLED = 0.1
"""This share of the limit is sampled: so many adds of others than the first, takes, and messages acknowledged."""


class Config(msgspec.Struct, frozen=True):
    """What a topic is configured with; where it is not the bench's, the broker's defaults."""

    tick: int = 1_000
    strict: bool = True
    lookahead: int = 0
    prune_ms: int = 0
    ratio: float = 0.5


class Spread(msgspec.Struct, frozen=True):
    """The median of some measurements, the least and the most."""

    median: float
    least: float
    most: float


class Measured(msgspec.Struct, frozen=True):
    """What a cell costs. What it does not have is None."""

    held_bytes: int
    """The growth when everything is added."""
    taken_bytes: int
    """The growth when every subscription has taken what came due, and nothing is acknowledged."""
    first: Spread
    """Microseconds an add of the subscription that comes first; a sample is a thousand adds."""
    again: Spread | None
    """The same, of those that come after it."""
    take: Spread
    """Microseconds a message; a sample is what one subscription takes of a minute and a half."""
    mark: Spread
    """Milliseconds a move of the mark-delete position over a thousand messages."""
    leave: Spread | None
    """Milliseconds until a subscription has left, of the first half of them."""
    added: int
    """How many messages each of the others has added; the first one adds all."""
    taken: int
    """How many messages each has taken when it is weighed."""
    acknowledged: int
    """How many messages each has acknowledged before subscriptions leave."""
    content_verified: bool


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
        self.moves = max(1, int(part * messages / BATCH))
        self.added = min(messages, max(1, int(SAMPLED * limit / subscriptions / BATCH)) * BATCH)

    def acknowledged(self) -> int:
        """How many messages each subscription acknowledges."""
        return min(self.messages, self.moves * BATCH)

    def position(self, number: int) -> Position:
        """Where a message is."""
        return FIRST_LEDGER + number // LEDGER_ENTRIES, number % LEDGER_ENTRIES

    def due(self, since: int, until: int, first: int = 0) -> list[Position]:
        """The positions of what comes due in some slices, from one message on."""
        start, end = (
            bisect_right(self.by_time, START + AHEAD + each * SLICE, key=self.times.__getitem__)
            for each in (since, until)
        )
        return sorted(self.position(number) for number in self.by_time[start:end] if number >= first)

    def batches(self) -> Iterator[list[tuple[int, int, int]]]:
        """Ledgers, entries and times, a thousand at once."""
        for start in range(0, self.messages, BATCH):
            numbers = range(start, min(start + BATCH, self.messages))
            yield [(*self.position(number), self.times[number]) for number in numbers]


def spread(samples: Sequence[float]) -> Spread | None:
    """The spread of some samples; None if there are none."""
    return Spread(median(samples), min(samples), max(samples)) if samples else None


def spread_of(samples: Sequence[float]) -> Spread:
    """The spread of samples, of which there are some."""
    return Spread(median(samples), min(samples), max(samples))


def fill(views: Sequence[SubscriptionTracker], work: Workload, added: int) -> tuple[list[float], list[float]]:
    """Have the first subscription add all messages, and the others the first so many.

    Microseconds an add of each thousand: of the first subscription, and of the others.
    """
    first: list[float] = []
    again: list[float] = []
    for number, batch in enumerate(work.batches()):
        for place, view in enumerate(views if number * BATCH < added else views[:1]):
            add, start = view.add_message, perf_counter()
            for ledger, entry, at in batch:
                add(ledger, entry, at)
            (again if place else first).append(1e6 * (perf_counter() - start) / len(batch))
    return first, again


def take(view: SubscriptionTracker, expected: Sequence[Position]) -> tuple[float, bool]:
    """Have a subscription take what is due. Microseconds a message, and whether it was what was expected."""
    taken: list[Position] = []
    start = perf_counter()
    while given := view.get_scheduled_messages(BATCH):
        taken += given
    seconds = perf_counter() - start
    return 1e6 * seconds / max(1, len(taken)), sorted(taken) == expected


def take_all(
    views: Sequence[SubscriptionTracker], work: Workload, desk: Desk, pace: range, first: int = 0
) -> tuple[list[float], bool]:
    """Have subscriptions take slice after slice what is due, from one message on."""
    samples, exact = [], True
    for number in pace:
        desk.now = START + AHEAD + (number + 1) * SLICE
        expected = work.due(number, number + 1, first)
        for view in views:
            microseconds, right = take(view, expected)
            samples.append(microseconds)
            exact &= right
    return samples, exact


def acknowledge(views: Sequence[SubscriptionTracker], work: Workload) -> list[float]:
    """Move all mark-delete positions. Milliseconds of each move."""
    samples = []
    for number in range(work.moves):
        position = work.position(min(work.messages, (number + 1) * BATCH) - 1)
        for view in views:
            start = perf_counter()
            view.update_mark_delete_position(position)
            samples.append(1e3 * (perf_counter() - start))
    return samples


def leave(views: Sequence[SubscriptionTracker]) -> list[float]:
    """Close views. Milliseconds of each."""
    samples = []
    for view in views:
        start = perf_counter()
        view.close()
        samples.append(1e3 * (perf_counter() - start))
    return samples


def measure(index: str, subscriptions: int, messages: int, limit: int) -> Measured:
    """Measure a cell in this process."""
    desk, work = Desk(), Workload(messages, subscriptions, limit)
    before = resident_bytes()
    manager = INDEXES[index](Config(), desk.clock, desk)
    views = [manager.create_or_get_tracker(Reader(number)) for number in range(subscriptions)]
    added = work.added if index == SHARED else messages
    first, again = fill(views, work, added)
    held = resident_bytes() - before
    exact = all(view.get_number_of_delayed_messages() == messages for view in views)
    taking, right = take_all(views, work, desk, range(work.slices))
    taken = resident_bytes() - before
    marking = acknowledge(views, work)
    leaving = leave(views[: subscriptions // 2])
    exact &= right and drained([views[-1]] if subscriptions > 1 else views, work, desk)
    return Measured(
        held_bytes=held,
        taken_bytes=taken,
        first=spread_of(first),
        again=spread(again),
        take=spread_of(taking),
        mark=spread_of(marking),
        leave=spread(leaving),
        added=added,
        taken=len(work.due(0, work.slices)),
        acknowledged=work.acknowledged(),
        content_verified=exact,
    )


def drained(views: Sequence[SubscriptionTracker], work: Workload, desk: Desk) -> bool:
    """Have subscriptions take all that is left; answers whether it was exactly that."""
    _, exact = take_all(views, work, desk, range(work.slices, SLICES), work.acknowledged())
    return exact and all(view.get_number_of_delayed_messages() == 0 for view in views)


def main(index: str, subscriptions: str, messages: str, limit: str) -> None:
    """Measure a cell in this process and print it."""
    found = measure(index, int(subscriptions), int(messages), int(limit))
    sys.stdout.write(msgspec.json.encode(found).decode() + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
