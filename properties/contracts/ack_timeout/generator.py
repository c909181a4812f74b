"""What a walk does next: operations chosen with the model's state in view.

Messages are few, so that they meet again in both stages. Time moves by ticks, to them and beside them.
"""

from __future__ import annotations

from collections.abc import Iterator

from broker_tck.model.ack_timeout.specification import AckTimeout, Id, base
from broker_tck.properties.contracts.ack_timeout.edges import CONTAINERS, MOST_FILLED, TICKS, left
from broker_tck.properties.contracts.ack_timeout.operations import (
    LAST_ID,
    Add,
    Advance,
    AnyOperation,
    Capabilities,
    Clear,
    Close,
    Config,
    Fail,
    Fill,
    Inside,
    Jump,
    Remove,
    RemoveTill,
    RemoveTopic,
    Stale,
)
from broker_tck.properties.engine.choices import Choices, one_of, weighted
from broker_tck.properties.engine.contract import Maker
from broker_tck.properties.engine.sizes import Sizes

TIMEOUTS = (
    (10_000, 1_000),
    (3_000, 1_000),
    (2_500, 1_000),
    (1_000, 1_000),
    (1_001, 1_000),
    (999, 1_000),
    (7, 3),
    (4, 1),
)
"""Ack timeouts, each with the duration of a tick."""
BACKOFFS = ((1_000, 2_000, 5_000), (0, 500, 1_000), (999,), (1_001, 0), (5_000, 1_000), (0,))
SHORT_BACKOFFS = ((2, 7, 20), (0, 3), (4, 1), (0,))
"""Those of a tick that is shorter than a few milliseconds."""
SHORT = 10
TOPICS = (
    ("t-1", "t-11", "u"),
    ("t-partition-0", "t-partition-1", "t-2"),
    ("a", "b"),
    ("t", "t-partition-10", "tt-partition-0"),
)
CLOCKS = (1_700_000_000_000, 1_700_000_000_000, 1_763_695_000_064, 0, 2**41 - 5_000)
BASES = (*(0,) * 6, 127, 255, 65_534, 2**31 - 2, 2**32 - 2, LAST_ID - 60)
SIZES = weighted([(2, 2), (4, 4), (8, 4), (30, 1)])
"""How many messages a walk has."""
IN_CHUNKS = 4
"""One message in this number is in chunks, if the consumer has one topic."""
IN_BATCHES = 3
"""One in this number is of a batch."""
MOST_CHUNKS = (2, 3, 9)
COUNTS = (0, 0, 0, 1, 1, 2, 3, 300, 2**31 - 1)
MOST_BEHIND = 1_000
"""How far behind the first of many messages one is that is asked for by itself."""
MOST_DRAINS = 3
HOUR = 3_600_000


def draw_config(choices: Choices, capabilities: Capabilities) -> Config:
    """A configuration for a walk."""
    timeout, tick = one_of(choices, TIMEOUTS)
    backoffs = SHORT_BACKOFFS if tick < SHORT else BACKOFFS
    backoff = one_of(choices, backoffs) if choices.below(2) and capabilities.backoff else None
    topics = one_of(choices, TOPICS) if choices.below(3) == 0 and capabilities.topics else ()
    return Config(timeout, tick, one_of(choices, CLOCKS), backoff, topics)


def makers(model: AckTimeout, choices: Choices, capabilities: Capabilities) -> list[Maker]:
    """The kinds of operations that this subject is asked for."""
    pool = Pool(model, choices)
    topics = (0, 4, 12) if model.config.topics else (0,)
    return [
        Maker("add", (30, 60), pool.add),
        Maker("fill", (0,) * 9 + (1,), pool.fill),
        Maker("adv", (20, 40), pool.advance),
        Maker("remove", (2, 8, 16), pool.remove),
        Maker("till", (0, 2, 8), pool.remove_till),
        Maker("leave", topics, pool.leave),
        Maker("jump", (0, 0, 1, 3), pool.jump),
        Maker("inside", (0, 2, 4), pool.inside),
        Maker("clear", (0, 0, 1), Clear),
        Maker("stale", (0, 1), Stale),
        Maker("fail", (0, 1, 3), Fail),
        Maker("close", (0, 0, 0, 1), Close),
    ]


class Pool:
    """The messages of one walk, and how time moves in it."""

    def __init__(self, model: AckTimeout, choices: Choices) -> None:
        self.model, self.choices, self.below = model, choices, choices.below
        topics = model.config.topics
        ledger, entry = one_of(choices, BASES), one_of(choices, BASES)
        ledgers = max(2, len(topics))
        chunks = one_of(choices, MOST_CHUNKS)
        self.messages: list[tuple[Id, int]] = []
        for _ in range(one_of(choices, SIZES)):
            made = chunks if choices.below(IN_CHUNKS) == 0 else 1
            index = choices.below(3) if made == 1 and choices.below(IN_BATCHES) == 0 else -1
            entry = min(entry + (choices.below(2) if index >= 0 and made == 1 else made), LAST_ID)
            if self.messages and made > 1 and entry - made < self.messages[-1][0][1]:
                made = 1
            self.messages.append(((ledger + choices.below(ledgers), entry, index), made))
        self.behind = min(max(message[1] for message, _ in self.messages) + 1, LAST_ID)
        """From here on entries are messages by themselves."""
        self.messages.append(((ledger, min(self.behind + choices.below(MOST_BEHIND), LAST_ID), -1), 1))
        entries = {message[:2]: made for message, made in self.messages}
        self.messages = [(message, entries[message[:2]]) for message, _ in self.messages]
        self.alone = [message for message, made in self.messages if made == 1] or [(ledger + ledgers, entry, -1)]
        self.names = sorted({*topics, *map(base, topics)} - {t for t in topics if base(t) != t}) or ["t"]
        tick = model.wheel.tick
        whole = tick * model.wheel.ticks
        delays = model.backoff.table or (0,)
        near = (0, 1, tick - 1, tick, tick, tick, tick + 1, whole, whole + tick, *delays[:3], 2 * whole + 2 * tick)
        self.sizes = Sizes(choices, CONTAINERS)
        self.near = [min(ms, TICKS * tick // 2) for ms in near]

    def message(self) -> tuple[Id, int]:
        """A message and the number of its chunks."""
        return one_of(self.choices, self.messages)

    def add(self) -> Add:
        """A message is received."""
        (ledger, entry, index), chunks = self.message()
        return Add(ledger, entry, one_of(self.choices, COUNTS), index, chunks)

    def fill(self) -> Fill:
        """Many messages are received."""
        n = min(self.sizes.next(), MOST_FILLED, LAST_ID - self.behind)
        return Fill(self.messages[-1][0][0], self.behind, n, one_of(self.choices, COUNTS))

    def remove(self) -> Remove:
        """A message is acknowledged; now and then its entry is."""
        (ledger, entry, index), _ = self.message()
        return Remove(ledger, entry, index if self.below(4) else -1)

    def remove_till(self) -> RemoveTill:
        """All messages up to one are acknowledged, or up to the one before or behind it."""
        (ledger, entry, index), _ = self.message()
        entry = min(max(entry + one_of(self.choices, (0, 0, 0, 1, -1)), 0), LAST_ID)
        return RemoveTill(ledger, entry, index if self.below(4) else -1)

    def leave(self) -> RemoveTopic:
        """A topic is left."""
        return RemoveTopic(one_of(self.choices, self.names))

    def inside(self) -> Inside:
        """Something is done inside the next callback."""
        ledger, entry, _ = one_of(self.choices, self.alone)
        return Inside(one_of(self.choices, ("add", "add", "remove", "close")), ledger, entry)

    def advance(self) -> Advance:
        """A step of time: to a tick and beside it, by a timeout or a delay, or a little."""
        model = self.model
        ms = one_of(self.choices, self.near)
        if self.below(3) == 0:
            ms = max(0, model.wheel.tick - (model.now - model.config.clock) % model.wheel.tick + self.below(3) - 1)
        return Advance(min(ms, left(model)))

    def jump(self) -> Jump:
        """The wall clock is set: by a timeout or a delay, or by an hour."""
        model = self.model
        by = min(one_of(self.choices, (*self.near, HOUR)), left(model))
        return Jump(-by if self.below(2) and by <= model.now + model.ahead else by)


def drain(model: AckTimeout, choices: Choices, capabilities: Capabilities) -> Iterator[AnyOperation]:
    """How a walk ends: all that is tracked comes back, and the tracker is closed, now and then twice."""
    yield from ebb(model, choices, capabilities)
    yield Close()
    if choices.below(4) == 0:
        yield Close()
    yield Stale()
    yield Advance(min(2 * model.wheel.tick, left(model)))


def ebb(model: AckTimeout, choices: Choices, capabilities: Capabilities) -> Iterator[AnyOperation]:
    """All that is tracked comes back, as far as ticks and time allow."""
    tick = model.wheel.tick
    for _ in range(MOST_DRAINS):
        if not model.size() or not model.timer.armed:
            break
        ticks = max([0, *model.wheel.held.values()]) - model.wheel.fired
        last = max([0, *model.backoff.waiting.values()])
        ms = max(ticks * tick, last - model.now + tick)
        yield Advance(min(max(ms, 0), TICKS * tick, left(model)))
