"""What a walk does next: operations chosen with the model's state in view.

Time moves to where trackers differ: to the armed deadline and one millisecond beside it, by a bucket, by a poll, by a
delay. Messages are few, so that they meet again in one bucket and in others.
"""

from __future__ import annotations

from collections.abc import Iterator

from broker_tck.model.negative_acks.clock import MS
from broker_tck.model.negative_acks.specification import NegativeAcks
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
    Stale,
)
from broker_tck.properties.engine.choices import Choices, one_of, weighted
from broker_tck.properties.engine.contract import Maker

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
MULTIPLIERS = (
    (100, 10_000, 2.0),
    (1_000, 8_000, 2.0),
    (250, 20_000, 3.0),
    (0, 1_000, 2.0),
    (700, 5_000, 1.5),
    (500, 500, 2.0),
)
BITS = (0, 1, 2, 4, 6, 8, 8, 8, 8, 10, 12, 14, 20, 40)
CLOCKS = (1_763_695_000_064, 1_763_695_000_064, 1_700_000_000_000, 1_700_000_000_255, 2**41 - 5_000)
ENTRY_BASES = (0, 0, 0, 0, 0, 250, 4_090, 65_530, 65_530, 2**31 - 4, 2**32 - 12, 2**48, 2**63 - 90)
LEDGER_BASES = (1, 1, 1, 1, 10_000, 2**31 - 2, 2**32 - 2, 2**63 - 5)
FILLS = weighted(
    [((1, 2, 5, 17, 64), 60), ((255, 256, 999, 1_000, 1_001, 2_500), 20), ((4_095, 4_096, 4_097), 6), ((65_536,), 1)]
)
MOST_STEP, POLLS = 600_000, 200
"""The longest step in milliseconds, and in polls where delays are short."""
MOST_DRAINS = 40


def draw_config(choices: Choices, capabilities: Capabilities) -> Config:
    """A configuration for a walk."""
    kind = choices.below(8) if capabilities.backoff else 0
    delay, bits, clock = one_of(choices, DELAYS), one_of(choices, BITS), one_of(choices, CLOCKS)
    if capabilities.precision_bits > 40 and choices.below(8) == 0:
        bits = 41 + choices.below(capabilities.precision_bits - 40)
    backoff = one_of(choices, [b for b in BACKOFFS if capabilities.no_delay or min(b)]) if 2 < kind < 7 else None
    multiplier = one_of(choices, [m for m in MULTIPLIERS if capabilities.no_delay or m[0]]) if kind == 7 else None
    return Config(delay, min(bits, capabilities.precision_bits), clock, backoff, multiplier)


def makers(model: NegativeAcks, choices: Choices, capabilities: Capabilities) -> list[Maker]:
    """The kinds of operations that this subject is asked for."""
    nacks, steps = Nacks(model, choices, capabilities), Steps(model, choices)
    fail, close, stale = Fail(), Close(), Stale()
    return [
        Maker("nack", (20, 40, 80), nacks.nack),
        Maker("id", (0, 4, 10), nacks.by_id),
        Maker("batch", (0, 3, 8), nacks.batch),
        Maker("chunked", (0, 0, 10), nacks.chunked),
        Maker("fill", (0,) * 11 + (1,), nacks.fill),
        Maker("adv", (20, 40, 60), steps.advance),
        Maker("jump", (0, 0, 0, 1, 3), steps.jump),
        Maker("inside", (0, 0, 2, 4), nacks.inside),
        Maker("stale", (0, 1, 3), lambda: stale),
        Maker("close", (0, 0, 1), lambda: close),
        Maker("fail", (0, 0, 1, 3), lambda: fail),
    ]


class Nacks:
    """Messages and redelivery counts of one walk.

    As in a topic, an entry is the last of so many chunks, a batch, or a message by itself, once and for all, and an
    earlier chunk is nothing else. Messages by themselves are behind all others of their ledger: many may follow on one.
    """

    def __init__(self, model: NegativeAcks, choices: Choices, capabilities: Capabilities) -> None:
        self.choices = choices
        below_zero = (-2, -90) if capabilities.negative_ids else ()
        base, ledger = one_of(choices, (*ENTRY_BASES, *below_zero)), one_of(choices, (*LEDGER_BASES, *below_zero))
        ledgers, size = one_of(choices, (1, 2, 3)), one_of(choices, (3, 8, 12, 24))
        chunked, batches = (max(1, one_of(choices, (1, size // 4))) for _ in range(2))
        chunks = [2 + choices.below(4) if i < chunked else 1 for i in range(size)]
        entries = [base + sum(chunks[i % ledgers : i + 1 : ledgers]) - 1 for i in range(size)]
        positions = [(ledger + i % ledgers, entry) for i, entry in enumerate(entries)]
        self.in_chunks = [*zip(positions, chunks, strict=True)][:chunked]
        self.in_batches = positions[chunked : chunked + batches]
        self.alone = positions[chunked + batches :]
        table = model.delays.table
        self.counts = weighted([(0, 3), (1, 2), (len(table) if table else 7, 1), (2, 1), (3, 1)])

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
        return Batch(*one_of(self.choices, self.in_batches), self.choices.below(4), self.count())

    def chunked(self) -> Chunked:
        """A nack of a message in chunks."""
        position, chunks = one_of(self.choices, self.in_chunks)
        return Chunked(*position, chunks, self.count())

    def fill(self) -> Fill:
        """Many nacks. The large ones are rare, as each costs as much as whole walks do."""
        ledger, entry = self.position()
        n, step = one_of(self.choices, one_of(self.choices, FILLS)), one_of(self.choices, (1, 1, 1, 2, 16))
        return Fill(ledger, 0 if entry + n * step >= 2**63 else entry, step, n, self.count())

    def inside(self) -> Inside:
        """A nack or a close inside the next callback."""
        return Inside("close" if self.choices.below(6) == 0 else "nack", *self.position(), self.count())


class Steps:
    """How time moves in one walk."""

    def __init__(self, model: NegativeAcks, choices: Choices) -> None:
        self.model = model
        self.below = choices.below
        width = (1 << min(model.buckets.bits, 20)) * MS // (model.SCALE * MS) or 1
        poll = model.delays.interval() // MS
        delays = [model.delays.delay(count) // model.SCALE for count in range(4)]
        near = [0, 1, 1, 2, width - 1, width, width + 1, poll, poll + 1, *delays, *(d + width for d in delays)]
        most = min(max(3 * max(delays), POLLS * poll), MOST_STEP)
        self.near = [min(ms, most) for ms in near]
        self.far = min(3 * max(delays) + 2 * width, most)
        self.jumps = [0, 1, width - 1, width, delays[0], max(delays), 3_600_000 if max(delays) > 30_000 else 5_000]

    def advance(self) -> Advance:
        """A step of time: to the deadline, or by something that matters, or far."""
        kind, deadline = self.below(10), self.model.timer.deadline
        if kind < 4 and deadline is not None:
            to = -(-(deadline - self.model.clock.now) // MS) + self.below(3) - 1
            return Advance(min(max(0, to), MOST_STEP))
        return Advance(self.far if kind == 9 else self.near[self.below(len(self.near))])

    def jump(self) -> Jump:
        """A jump of the wall clock."""
        by = self.jumps[self.below(len(self.jumps))]
        back = self.below(2) and by < self.model.clock.wall
        return Jump(-by if back else by)


def drain(model: NegativeAcks, choices: Choices, capabilities: Capabilities) -> Iterator[AnyOperation]:
    """How a walk ends: all that is held comes out, and the tracker is closed, now and then twice."""
    for _ in range(MOST_DRAINS):
        held, deadline = model.buckets.held, model.timer.deadline
        if not held or deadline is None:
            break
        last = max(model.clock.until(max(held)), deadline) - model.clock.now
        yield Advance(min(last // MS + 1, MOST_STEP))
    yield Close()
    if choices.below(4) == 0:
        yield Close()
    yield Stale()
    yield Advance(1_000)
