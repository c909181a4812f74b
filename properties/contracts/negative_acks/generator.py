"""What a walk does next: operations chosen with the model's state in view.

Time moves to where trackers differ: to the armed deadline and one millisecond beside it, by a bucket, by a poll, by a
delay. Messages are few, so that they meet again in one bucket and in others.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count as count_from

from msgspec.structs import replace

from broker_tck.model.negative_acks.specification import MS, NegativeAcks
from broker_tck.properties.contracts.negative_acks.edges import CONTAINERS, MOST_FILLED, POLLS, left, noted, polled
from broker_tck.properties.contracts.negative_acks.operations import (
    Advance,
    AnyOperation,
    Batch,
    Capabilities,
    Chunked,
    Close,
    Config,
    Fail,
    Fill,
    Inside,
    Jump,
    Nack,
    NackId,
    Spread,
    Stale,
)
from broker_tck.properties.engine.choices import Choices, one_of, weighted
from broker_tck.properties.engine.contract import Maker
from broker_tck.properties.engine.sizes import FEW, Sizes

DELAYS = (0, 30_000, 99_999, 100_000, 100_999, 300_000, 1_000_000, 1_000_000, 3_000_000, 60_000_000)
BACKOFFS = (
    (300, 1_000, 5_000, 60_000),
    (1_000, 2_000, 4_000, 8_000),
    (60_000, 1_000),
    (5_000, 300, 1_000),
    (0, 100),
    (1_000, 0, 50),
    (400,),
    (50, 700),
)
FAR_BACKOFFS = (
    (2**31, 100),
    (100, 2**31 - 1, 2**32, 2**32 + 100),
    (1_000, 2**40),
    (1, 2**40, 1),
    (0, 2**16, 0, 2**31, 1),
    (*range(100, 60_100, 200),),
    (*range(1_000, 301_000, 1_000),),
    (*range(30_300, 300, -100),),
)
"""Delays that are wider than they mostly are, and many of them."""
MANY_DELAYS = 100
"""A table with more delays puts nacks into as many buckets at once; not with polls, which look at each bucket."""
MULTIPLIERS = (
    (100, 10_000, 2.0),
    (1_000, 8_000, 2.0),
    (250, 20_000, 3.0),
    (0, 1_000, 2.0),
    (700, 5_000, 1.5),
    (500, 500, 2.0),
    (333, 60_000, 1.7),
    (1_000, 3_000_000, 1.1),
    (100, 2_000_000, 1.15),
)
FAR_MULTIPLIERS = (
    (1, 2**40, 2.0),
    (1, 2**40, 100.0),
    (2**31, 2**33, 1.5),
    (0, 0, 2.0),
    (1, 1, 10.0),
    (3, 10_000, 10.0),
)
"""Multipliers that grow for long, or by a lot, or not at all."""
FAR = 8
"""One backoff in this number is a far one."""
BITS = (0, 1, 2, 4, 6, 8, 8, 8, 8, 10, 12, 14, 20, 40)
CLOCKS = (
    *(1_763_695_000_064,) * 3,
    *(1_700_000_000_000,) * 2,
    1_700_000_000_255,
    1_700_000_000_255,
    2**41 - 5_000,
    2_000,
    0,
)
EARLY = 10_000
"""Milliseconds: a wall clock below this may go back to before zero."""
ENTRY_BASES = (*(0,) * 8, 250, 4_090, 32_760, 65_530, 65_530, 2**31 - 4, 2**32 - 12, 2**48 - 4, 2**53 - 4, 2**63 - 90)
LEDGER_BASES = (*(1,) * 6, 254, 10_000, 65_534, 2**31 - 2, 2**32 - 2, 2**53 - 2, 2**63 - 5)
BELOW_ZERO = (-2, -90, -(2**31) - 2, -(2**32) - 2, -(2**63))
"""First ids of a walk, if the subject takes ids below 0."""
POOLS = weighted([((n, size), 3) for n in (1, 2, 3) for size in (3, 8, 12, 24)] + [((20, 60), 2), ((300, 400), 1)])
"""How many ledgers a walk has, and how many messages. Many are rare, as they do not meet again."""
TWINS = (0, 0, 0, 8, 10, 16, 20, 24, 31, 32, 40, 48, 53, 62)
"""A bit: some messages have a twin whose ledger or entry differs in it alone; 0: none has."""
TWINNED = 3
"""Number of messages that have twins."""
MOST_CHUNKS = (4, 4, 4, 15, 63)
APART = (1, 1, 2, 5)
"""How many entries each chunk is from the next."""
INDEXES = (4, 4, 4, 64, 2_000)
"""How many messages a batch has."""
MOST_IGNORED = 64
"""Maximum number of nacks at once if the tracker is closed."""
LEDGERS = (1, 1, 1, 2, 3, 17, 300)
"""How many ledgers many nacks go to."""
RISING = (0, 0, 0, 1, 1, 2, 7)
"""By how much redelivery counts rise from one of many nacks to the next."""
FEWEST_DIFFERENT, MOST_DIFFERENT = 7, 70
"""Number of different delays in a walk in which they grow: the least and the most."""
DAY = 86_400_000
MOST_STEP, MOST_POLLS = 600_000, 1_800
"""The longest step in milliseconds, unless delays are longer, and in polls."""
FEW_POLLS = 12
"""A step of more polls is long. A walk has few long steps, because most of their polls find nothing."""
POLLED = weighted([(100, 8), (400, 4), (MOST_POLLS, 1)])
"""A walk's budget of polls in long steps."""
MOST_DRAINS = 40


def draw_config(choices: Choices, capabilities: Capabilities) -> Config:
    """A configuration for a walk."""
    kind = choices.below(8) if capabilities.backoff else 0
    far = kind > 2 and choices.below(FAR) == 0
    backoffs, multipliers = (FAR_BACKOFFS, FAR_MULTIPLIERS) if far else (BACKOFFS, MULTIPLIERS)
    delay, bits, clock = one_of(choices, DELAYS), one_of(choices, BITS), one_of(choices, CLOCKS)
    if capabilities.precision_bits > 40 and choices.below(8) == 0:
        bits = 41 + choices.below(capabilities.precision_bits - 40)
    backoff = one_of(choices, [b for b in backoffs if capabilities.no_delay or min(b)]) if 2 < kind < 7 else None
    multiplier = one_of(choices, [m for m in multipliers if capabilities.no_delay or m[0]]) if kind == 7 else None
    return Config(delay, min(bits, capabilities.precision_bits), clock, backoff, multiplier)


def makers(model: NegativeAcks, choices: Choices, capabilities: Capabilities) -> list[Maker]:
    """The kinds of operations that this subject is asked for."""
    nacks, steps = Nacks(model, choices, capabilities), Steps(model, choices)
    return [
        Maker("nack", (20, 40, 80), nacks.nack),
        Maker("id", (0, 4, 10), nacks.by_id),
        Maker("batch", (0, 3, 8), nacks.batch),
        Maker("chunked", (0, 0, 10), nacks.chunked),
        Maker("fill", (2, 3) if nacks.many_delays else (0,) * 4 + (1,), nacks.fill),
        Maker("adv", (20, 40, 60), steps.advance),
        Maker("jump", (0, 0, 1, 3), steps.jump),
        Maker("inside", (0, 0, 0, 1) if nacks.many_delays else (0, 0, 2, 4), nacks.inside),
        Maker("stale", (0, 1, 3), Stale),
        Maker("close", (0, 0, 0, 0, 0, 1) if nacks.many_delays else (0, 0, 1), Close),
        Maker("fail", (0, 0, 1, 3), Fail),
    ]


class Nacks:
    """Messages and redelivery counts of one walk.

    As in a topic, an entry is the last of so many chunks, a batch, or a message by itself, once and for all, and an
    earlier chunk is nothing else. Messages by themselves are behind all others of their ledger: many may follow on one.
    """

    def __init__(self, model: NegativeAcks, choices: Choices, capabilities: Capabilities) -> None:
        self.model, self.choices = model, choices
        self.closes_inside = capabilities.closes_inside
        below_zero = BELOW_ZERO if capabilities.negative_ids else ()
        base, ledger = one_of(choices, (*ENTRY_BASES, *below_zero)), one_of(choices, (*LEDGER_BASES, *below_zero))
        ledgers, size = one_of(choices, POOLS)
        self.below = ledgers + 1 if capabilities.chunk_ledgers and choices.below(2) else 0
        """How many ledgers some chunks are below others: beyond all ledgers of the walk; 0: they are of one."""
        lowest = -(2**63) if capabilities.negative_ids else 0
        ledger = min(max(ledger, lowest + self.below * max(MOST_CHUNKS)), 2**63 - ledgers)
        chunked, batches = (max(1, one_of(choices, (1, min(size // 4, 6)))) for _ in range(2))
        most = one_of(choices, MOST_CHUNKS)
        chunks = [2 + choices.below(most) if i < chunked else 1 for i in range(size)]
        self.apart = one_of(choices, APART)
        spans = [(n - 1) * self.apart + 1 for n in chunks]
        entries = [sum(spans[i % ledgers : i + 1 : ledgers]) - 1 for i in range(size)]
        base = min(base, 2**63 - 1 - max(entries))
        entries = [base + entry for entry in entries]
        positions = [(ledger + i % ledgers, entry) for i, entry in enumerate(entries)]
        self.in_chunks = [*zip(positions, chunks, strict=True)][:chunked]
        self.in_batches = positions[chunked : chunked + batches]
        self.alone = positions[chunked + batches :]
        self.behind = max(entries) + 1
        self.before = min(ledger, 2**63 - max(LEDGERS)) - 1
        """A ledger in which all messages are in chunks: below all that many nacks go to."""
        self.alone += [twin for at in self.alone[:TWINNED] for twin in twins(at, one_of(choices, TWINS))]
        self.sizes = Sizes(choices, CONTAINERS)
        self.indexes = one_of(choices, INDEXES)
        self.chunks = 2 + choices.below(most)
        different = delays_of(model)
        many = model.delays.table and different > MANY_DELAYS and not model.POLLS
        self.many_delays = different if many else 0
        self.counts = weighted([(0, 3), (1, 2), (different, 1), (2, 1), (3, 1), (choices.below(different), 1)])

    def position(self) -> tuple[int, int]:
        """The position of a message by itself."""
        return one_of(self.choices, self.alone)

    def count(self) -> int:
        """A redelivery count."""
        return self.counts[self.choices.below(len(self.counts))]

    def nack(self) -> Nack:
        """A nack by message."""
        return Nack(*self.position(), self.count())

    def by_id(self) -> NackId:
        """A nack by id."""
        return NackId(*self.position())

    def batch(self) -> Batch:
        """A nack of one message of a batch."""
        return Batch(*one_of(self.choices, self.in_batches), self.choices.below(self.indexes), self.count())

    def chunked(self) -> Chunked:
        """A nack of a message in chunks."""
        position, chunks = one_of(self.choices, self.in_chunks)
        if not self.below:
            return Chunked(*position, chunks, self.count(), self.apart)
        spread = Spread(*position, chunks, self.count(), self.apart, self.below)
        fewer = 2 + self.choices.below(chunks - 1) if self.choices.below(2) else chunks
        return replace(spread, chunks=len(noted(self.model, spread)) or fewer)

    def fill(self) -> Fill:
        """Many nacks."""
        n = min(self.sizes.next(), MOST_IGNORED if self.model.closed else MOST_FILLED)
        if n <= FEW and self.choices.below(8) == 0 and self.before >= -(2**63):
            return Fill(self.before, self.chunks - 1, self.chunks, n, self.count(), chunks=self.chunks)
        ledger, entry = self.position()
        step, ledgers = one_of(self.choices, (1, 1, 1, 2, 16)), one_of(self.choices, LEDGERS)
        count, rising, turns = self.count(), one_of(self.choices, RISING), 0
        if self.many_delays and self.choices.below(2):
            count, rising, turns = 0, 1, self.many_delays
        elif self.choices.below(4) == 0:
            n = max(n - self.model.buckets.count(), 0)
        if ledgers > 1:
            ledger, entry = min(ledger, 2**63 - ledgers), self.behind
        return Fill(ledger, 0 if entry + n * step >= 2**63 else entry, step, n, count, ledgers, rising, turns)

    def inside(self) -> Inside:
        """A nack or a close inside the next callback."""
        closes = self.choices.below(6) == 0 and self.closes_inside
        return Inside("close" if closes else "nack", *self.position(), self.count())


def delays_of(model: NegativeAcks) -> int:
    """The number of redelivery counts with a delay of their own, or a number that is enough."""
    if model.delays.table:
        return len(model.delays.table)
    last = model.delays.delay(MOST_DIFFERENT)
    return max(FEWEST_DIFFERENT, next(count for count in count_from(0) if model.delays.delay(count) == last))


def twins(position: tuple[int, int], bit: int) -> list[tuple[int, int]]:
    """The positions whose ledger, or entry, is higher by one bit."""
    ledger, entry = position
    higher = [(ledger + (1 << bit), entry), (ledger, entry + (1 << bit))] if bit else []
    return [at for at in higher if max(at) < 2**63]


class Steps:
    """How time moves in one walk."""

    def __init__(self, model: NegativeAcks, choices: Choices) -> None:
        self.model = model
        self.below = choices.below
        width = (1 << min(model.buckets.bits, 20)) * MS // (model.SCALE * MS) or 1
        poll = model.delays.interval() // MS
        delays = [model.delays.delay(count) // model.SCALE for count in range(4)]
        near = [0, 1, 1, 2, width - 1, width, width + 1, poll, poll + 1, *delays, *(d + width for d in delays)]
        most = max(3 * max(delays), POLLS * poll)
        most = most if most <= polled(model, MOST_POLLS) else min(left(model), polled(model, POLLS))
        self.most = max(most, min(MOST_STEP, polled(model, MOST_POLLS)))
        self.near = [min(ms, most) for ms in near]
        self.far = min(3 * max(delays) + 2 * width, most)
        self.polls, self.poll = one_of(choices, POLLED), polled(model, 1)
        self.jumps = [0, 1, width - 1, width, delays[0], max(delays), 3_600_000 if max(delays) > 30_000 else 5_000, DAY]

    def advance(self) -> Advance:
        """A step of time: to the deadline, or by something that matters, or far."""
        kind, deadline = self.below(10), self.model.timer.deadline
        if kind < 4 and deadline is not None:
            to = -(-(deadline - self.model.clock.now) // MS) + self.below(3) - 1
            return Advance(self.polled(min(max(0, to), self.most, left(self.model))))
        ms = self.far if kind == 9 else self.near[self.below(len(self.near))]
        return Advance(self.polled(min(ms, left(self.model))))

    def polled(self, ms: int) -> int:
        """A step of time, or as much of it as there are polls left."""
        polls = ms // self.poll
        if polls <= FEW_POLLS:
            return ms
        polls = min(polls, max(self.polls, FEW_POLLS))
        self.polls -= polls
        return min(ms, polls * self.poll)

    def to_the_last(self) -> Jump:
        """A jump of the wall clock to a time at which all buckets are due, or to a little before."""
        last = max(self.model.buckets.held) // self.model.SCALE - self.model.clock.wall
        return Jump(min(max(0, last - self.below(2)), left(self.model)))

    def jump(self) -> Jump:
        """A jump of the wall clock."""
        kind = self.below(16) if self.model.buckets.held else 15
        if kind < 2:
            return self.to_the_last()
        by = min(self.jumps[self.below(len(self.jumps))], left(self.model))
        back = self.below(2) and (by < self.model.clock.wall or self.model.clock.wall < EARLY)
        return Jump(-by if back else by)


def drain(model: NegativeAcks, choices: Choices, capabilities: Capabilities) -> Iterator[AnyOperation]:
    """How a walk ends: all that is held comes out, and the tracker is closed, now and then twice."""
    yield from ebb(model, choices, capabilities)
    yield Close()
    if choices.below(4) == 0:
        yield Close()
    yield Stale()
    yield Advance(1_000)


def ebb(model: NegativeAcks, choices: Choices, capabilities: Capabilities) -> Iterator[AnyOperation]:
    """All that is held comes out, as far as time and the number of polls allow."""
    most = min(polled(model, MOST_POLLS), left(model))
    for _ in range(MOST_DRAINS):
        held, deadline = model.buckets.held, model.timer.deadline
        if not held or deadline is None or most == 0:
            break
        ms = (max(model.clock.until(max(held)), deadline) - model.clock.now) // MS + 1
        if ms > most:  # not all of it comes out
            yield Advance(min(most, polled(model, POLLS)))
            break
        most -= ms
        yield Advance(ms)
