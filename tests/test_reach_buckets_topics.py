"""How far walks go: what comes up in the first of them, seen on the specification's model alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from typing import Any

import pytest

from broker_tck.model.reference import Fault
from broker_tck.properties.contracts import CONTRACTS
from broker_tck.properties.contracts.bucket_delivery import operations as bucket
from broker_tck.properties.contracts.bucket_delivery.messages import within_a_ledger
from broker_tck.properties.contracts.topic_delivery import operations as topic
from broker_tck.properties.engine.choices import SeededChoices
from broker_tck.properties.engine.operation import Operation, valid
from broker_tck.properties.engine.walk import OPERATIONS, generated, walk_seed

WALKS = 300
DAY = 86_400_000


@dataclass
class Moment:
    """A walk after one of its operations."""

    model: Any
    config: Any
    operation: Operation | None = None
    result: Any = None
    most: int = 0
    """How much was held at most since it was empty, and was full before."""
    fillings: int = 0
    """How often ten messages or more were held after nothing was."""
    still: int = 0
    """So many operations ago the clock moved last."""
    done: Counter[type[Operation]] = field(default_factory=Counter)

    def after(self, operation: Operation, result: Any, held: int) -> None:
        """One more operation was done."""
        self.operation, self.result = operation, result
        self.done[type(operation)] += 1
        moved = isinstance(operation, bucket.Advance | topic.Advance) and operation.ms > 0
        self.still = 0 if moved else self.still + 1
        self.fillings += held >= 10 > self.most
        self.most = max(self.most, held) if held else 0


Reached = Callable[[Moment], bool]


def step(ms: int) -> Reached:
    """The clock jumps so far, or a millisecond less or more."""
    return lambda m: isinstance(m.operation, bucket.Advance | topic.Advance) and abs(m.operation.ms - ms) <= 1


def partly(m: Moment) -> bool:
    """Of many messages some are taken, and some are not."""
    return isinstance(m.operation, bucket.Fill | topic.Fill) and 0 < (m.result or 0) < m.operation.n


def differ(m: Moment) -> bool:
    """A hundred messages at once, all of different times."""
    return isinstance(m.operation, bucket.Fill | topic.Fill) and m.operation.n >= 100 and m.operation.apart != 0


def ahead(now: Callable[[Any], int], least: int) -> Reached:
    """A message is added for a time so far ahead."""
    adds = bucket.Add | topic.Add
    return lambda m: isinstance(m.operation, adds) and m.operation.at - now(m.model) >= least and bool(m.result)


# ---- Buckets


def in_buckets(of: Callable[[Any], bool]) -> Reached:
    """It is so of the tracker."""
    return lambda m: m.model.tracker is not None and of(m.model.tracker)


def twin_of_32_bits(m: Moment) -> bool:
    """A message is added while its twin is held, whose ledger is the same in 32 bits."""
    o, tracker = m.operation, m.model.tracker
    if not isinstance(o, bucket.Add) or tracker is None:
        return False
    return any((o.ledger - k * 2**32, o.entry) in tracker.held.positions for k in (1, 2, 3))


BUCKETS: dict[str, Reached] = {
    "a hundred buckets": in_buckets(lambda t: len(t.placed.pieces) >= 100),
    "a hundred calls under way": lambda m: len(m.model.durable.calls.waiting) >= 100,
    "a bucket of a hundred segments": in_buckets(lambda t: any(b.last >= 100 for b in t.placed.buckets())),
    "a bucket of 200 messages": in_buckets(lambda t: any(b.size >= 200 for b in t.placed.buckets())),
    "a hundred messages to be handed out": in_buckets(lambda t: len(t.shared) >= 100),
    "a growing bucket of a hundred": in_buckets(lambda t: len(t.mutable.queue) >= 100),
    "a merged bucket of a hundred": in_buckets(lambda t: any(b.sources and b.size >= 100 for b in t.placed.buckets())),
    "500 messages": in_buckets(lambda t: t.held.count() >= 500),
    "a recovery of 50 buckets": lambda m: (
        isinstance(m.operation, bucket.Crash | bucket.Reopen) and len(m.model.durable.keys) >= 50
    ),
    "20 trackers": lambda m: m.done[bucket.Crash] + m.done[bucket.Reopen] >= 20,
    "taken in part": partly,
    "times that differ": differ,
    "filled three times": lambda m: m.fillings >= 3,
    "a clock that stands still": lambda m: m.still >= 200,
    "a day at once": step(DAY),
    "31 bits of milliseconds at once": step(2**31),
    "32 bits of milliseconds at once": step(2**32),
    "a time 32 bits ahead": ahead(lambda model: model.now, 2**32),
    "twins in 32 bits": twin_of_32_bits,
    "a ledger of 62 bits": lambda m: isinstance(m.operation, bucket.Add) and m.operation.ledger >= 2**61,
    "an entry of 32 bits": lambda m: isinstance(m.operation, bucket.Add) and m.operation.entry >= 2**31,
    "a time step of more than 31 bits": lambda m: m.config.time_step >= 2**31,
    "a least number of hundreds": lambda m: m.config.min_index_count >= 200,
    "a hundred buckets before a merge": lambda m: m.config.max_buckets >= 100,
    "a clock at the beginning of time": lambda m: m.config.clock == 1,
}

# ---- Topics


def held_twin(m: Moment) -> bool:
    """A message is added while its twin is held, whose ledger is the same in 32 bits."""
    o = m.operation
    if not isinstance(o, topic.Add):
        return False
    held = {copy[:2] for copies in m.model.index.held.values() for copy in copies}
    return (o.ledger - 2**32, o.entry) in held or (o.ledger + 2**32, o.entry) in held


TOPICS: dict[str, Reached] = {
    "26 subscriptions": lambda m: len(m.model.registry.registered) == 26,
    "a hundred views of one subscription": lambda m: max(m.model.registry.opened.values(), default=0) >= 100,
    "a hundred buckets": lambda m: len(m.model.index.held) >= 100,
    "a thousand copies": lambda m: m.model.index.count() >= 1_000,
    "a hundred ledgers": lambda m: (
        m.model.index.count() >= 20
        and isinstance(m.operation, topic.Add)
        and len({copy[0] for copies in m.model.index.held.values() for copy in copies}) >= 20
    ),
    "taken in part": partly,
    "times that differ": differ,
    "filled three times": lambda m: m.fillings >= 3,
    "a clock that stands still": lambda m: m.still >= 200,
    "31 bits of milliseconds at once": step(2**31),
    "32 bits of milliseconds at once": step(2**32),
    "a time 40 bits ahead": ahead(lambda model: model.timer.now, 2**40),
    "twins in 32 bits": held_twin,
    "a tick of none": lambda m: m.config.tick == 0 or m.model.buckets.tick == 0,
    "a lookahead of hundreds": lambda m: m.config.lookahead >= 100,
}

CASES = [
    *(("bucket-delivery", name, reached) for name, reached in BUCKETS.items()),
    *(("topic-delivery", name, reached) for name, reached in TOPICS.items()),
]
HELD: dict[str, Callable[[Any], int]] = {
    "bucket-delivery": lambda model: model.tracker.held.count() if model.tracker else 0,
    "topic-delivery": lambda model: model.index.count(),
}


def moments(name: str, number: int) -> Iterator[Moment]:
    """A walk of the specification's model, after each of its operations."""
    contract = CONTRACTS[name]
    choices, capabilities = SeededChoices(walk_seed(0, number)), contract.capabilities()
    config = contract.configured(choices, capabilities)
    model: Any = contract.specification(config)
    moment, held = Moment(model, config), HELD[name]
    body = generated(contract, model, choices, capabilities, OPERATIONS)
    for operation in chain(body, contract.ending(model, choices, capabilities)):
        assert valid(operation), operation
        result = None
        with suppress(Fault):
            result = operation.on(model)
        moment.after(operation, result, held(model))
        yield moment


@cache
def found(name: str) -> dict[str, int]:
    """In how many walks each thing comes up."""
    counted: Counter[str] = Counter()
    for number in range(WALKS):
        wanted = {what: reached for contract, what, reached in CASES if contract == name}
        for moment in moments(name, number):
            met = [what for what, reached in wanted.items() if reached(moment)]
            counted.update(met)
            for what in met:
                del wanted[what]
    return counted


@pytest.mark.parametrize(("name", "what"), [(name, what) for name, what, _ in CASES])
def test_walks_go_as_far(name: str, what: str) -> None:
    assert found(name)[what] > 0


def test_entries_after_the_last_begin_anew() -> None:
    assert [within_a_ledger(entry) for entry in (0, 2**32 - 1, 2**32)] == [0, 2**32 - 1, 0]
