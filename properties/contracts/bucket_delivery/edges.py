"""What is to be said of the numbers that a bucket tracker takes, so that walks can draw them at their edges."""

from __future__ import annotations

from broker_tck.model.bucket_delivery.specification import BucketDelivery
from broker_tck.properties.contracts.bucket_delivery.messages import (
    LAST_ENTRY,
    LAST_LEDGER,
    SEGMENTS,
    armed,
    last_ledger,
    most_ledgers,
)
from broker_tck.properties.contracts.bucket_delivery.operations import AnyOperation, Capabilities, Config, Fill, Jump
from broker_tck.properties.engine.edges import Edge, Edges
from broker_tck.properties.engine.timer import settable

LAST = 2**63 - 2**41
"""The latest time: with a time step, or a tick, it is one still that has 64 bits."""
ALL_THERE = "those that there are, which the generator knows"


def numbers(capabilities: Capabilities) -> dict[str, Edge]:
    """What there is to say of the numbers that this subject is asked for."""
    entries = Edge((4_096, 65_536), "BD-13: the containers of a bitmap")
    times = Edge((LAST,), "BD-12: where a segment ends is a time as well", low=-1, high=LAST)
    snapshots = Edge(why=ALL_THERE, left=True)
    calls = Edge(why="calls are counted round and round", left=True)
    return {
        "add.entry": entries,
        "fill.entry": entries,
        "mark.entry": entries,
        "contains.entry": entries,
        "add.at": times,
        "fill.at": times,
        "fill.n": Edge(SEGMENTS, "BD-08, BD-12: what makes a bucket, and a segment", high=4_100),
        "fill.apart": Edge((1, 10), "BD-12: the time step"),
        "adv.ms": Edge(high=2**45, why="the clock is to have times ahead of it"),
        "get.most": Edge((100, 1_000), "BD-19: a dispatcher's batch"),
        "crash.failing": Edge((4,), "BD-15: so many attempts"),
        "complete.call": calls,
        "fail.call": calls,
        "conflict.call": calls,
        "stored.call": calls,
        "storage.mode": Edge(why="a subject that cannot wait is not asked to", left=True),
        "vanish.number": snapshots,
        "spoil.number": snapshots,
        "config.min_index_count": Edge((2, 5), "BD-08"),
        "config.time_step": Edge((10,), "BD-12"),
        "config.max_indexes": Edge((5,), "BD-12"),
        "config.max_buckets": Edge((4,), "BD-27: so many are merged"),
    }


def may(model: BucketDelivery, operation: AnyOperation, capabilities: Capabilities) -> bool:
    """Whether all positions and times of an operation are there, and not too many ledgers."""
    if isinstance(operation, Jump):
        return settable(operation.by, model.now, armed(model))
    if not isinstance(operation, Fill):
        return True
    ends = operation.at, operation.at + operation.n * operation.apart
    ledgers = last_ledger(operation) - operation.ledger
    each = min(operation.each, operation.n)
    there = last_ledger(operation) <= LAST_LEDGER and operation.entry + each <= LAST_ENTRY + 1
    return there and ledgers < most_ledgers(model.config) and min(ends) >= -1 and max(ends) + operation.within <= LAST


def may_start(config: Config, capabilities: Capabilities) -> bool:
    """Whether there is no limit of buckets where a subject merges nothing."""
    return capabilities.maintenance or config.max_buckets <= 0


EDGES = Edges(numbers, now=lambda model: model.now, may=may, may_start=may_start)
