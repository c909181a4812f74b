"""The boundary values of negative acks, and how far time can go."""

from __future__ import annotations

from broker_tck.model.negative_acks.specification import MS, NegativeAcks
from broker_tck.properties.contracts.negative_acks.operations import (
    Advance,
    AnyOperation,
    Capabilities,
    Chunks,
    Config,
    Fill,
    Jump,
    Spread,
)
from broker_tck.properties.engine.edges import Edge, Edges

LAST = 3 * 2**41
"""The last time of both clocks, in milliseconds. Clients count nanoseconds in 64 bits: instants stay below 2^63, even
with the longest delay, and moved by a relation."""
POLLS = 200
"""A client that polls does so no more often in a step of the clock, at which nothing is aimed."""
SHORTEST_POLLED = 3_000
"""Microseconds: of a shorter delay a third is less than a millisecond, and the clock moves by milliseconds."""
CONTAINERS = (25, 256, 338, 675, 1_000, 4_096)
"""Sizes at which a container of entries changes, or a request is full."""
MOST_FILLED = 70_000


def left(model: NegativeAcks) -> int:
    """How many milliseconds are left until both clocks are at their end."""
    return max(0, LAST - max(model.clock.now // MS, model.clock.wall))


def polled(model: NegativeAcks, polls: int) -> int:
    """The milliseconds that some polls take; for a client that does not poll, all the time that is left."""
    return max(1, polls * model.delays.interval() // MS) if model.POLLS else left(model)


def noted(model: NegativeAcks, nack: Spread) -> Chunks:
    """The chunks that the bucket of a nack has of the message already; none if it does not have the message.

    Walks then nack it with these alone, because no rule says which chunks count if two nacks differ.
    """
    key = model.buckets.key(model.clock.reading() + model.delays.delay(nack.redelivery_count))
    return model.buckets.chunks.get(model.buckets.noted(key, (nack.ledger, nack.entry)), ())


def numbers(capabilities: Capabilities) -> dict[str, Edge]:
    """The boundary values of the numbers that this subject is asked for."""
    of_pool = Edge(left=True, why="NA-01, NA-06: an entry is in chunks, a batch or alone, for good, as the pool has it")
    positions = {f"{tag}.{field}": of_pool for tag in KINDS for field in ("ledger", "entry")}
    return positions | {
        **{f"{tag}.{field}": of_pool for tag in ("chunked", "spread") for field in ("chunks", "apart")},
        "spread.below": of_pool,
        "fill.ledgers": Edge(left=True, why="of the other ledgers only the entries behind all others are alone"),
        "fill.n": Edge(CONTAINERS, "NA-33: a request has 1,000 ids; the sizes of containers", high=MOST_FILLED),
        "fill.step": Edge((256, 4_096), "the containers of a bitmap"),
        "fill.turns": Edge(left=True, why="the generator takes turns through the delays that there are"),
        "fill.chunks": of_pool,
        "config.delay_us": Edge((100_000, 101_000, 60_000_000, 2**31 * 1_000, 2**32 * 1_000), "NA-12, NA-51; widths"),
        "config.precision_bits": Edge((8, 41, 64), "NA-13", high=capabilities.precision_bits),
        "config.clock": Edge(high=2**41, why="time is to be left"),
    }


KINDS = ("nack", "id", "batch", "chunked", "spread", "fill", "inside")
"""Operations that name a message."""


def may(model: NegativeAcks, operation: AnyOperation, _capabilities: Capabilities) -> bool:
    """Whether times and positions of an operation are there."""
    match operation:
        case Advance(ms):
            return ms <= min(left(model), polled(model, POLLS))
        case Jump(by):
            return by <= left(model) and model.clock.wall + by >= 0
        case Fill(_, entry, step, n, chunks=chunks):
            return entry + n * step < 2**63 and (chunks == 1 or step >= chunks)
        case Spread():
            return noted(model, operation) in ((), operation.each())
    return True


def may_start(config: Config, capabilities: Capabilities) -> bool:
    """Whether a client can be configured so. A ticker waits for a third of the delay, so no backoff may be 0."""
    backoffs = (*(config.backoff_ms or ()), *(config.multiplier or ())[:1])
    return capabilities.no_delay or (all(backoffs) and (config.delay_us == 0 or config.delay_us >= SHORTEST_POLLED))


EDGES = Edges(numbers, may=may, may_start=may_start)
