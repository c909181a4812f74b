"""What the first walks of a run get to, of contracts ``negative-acks`` and ``active-cursors``: sizes, widths, times.

A walk that never has hundreds of something, or a number that needs 33 bits, finds nobody who cannot do with them. So
this is promised of few walks already; it is asked of the specification's model alone, without a subject.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import chain
from typing import Any, NamedTuple

import pytest

from broker_tck.properties.contracts import CONTRACTS
from broker_tck.properties.contracts.active_cursors import operations as cursors
from broker_tck.properties.contracts.negative_acks import operations as nacks
from broker_tck.properties.engine.choices import SeededChoices
from broker_tck.properties.engine.walk import OPERATIONS, generated, walk_seed

WALKS = 300
HIGH_BITS = (8, 16, 31, 32, 48, 53, 62)
LOWEST, HIGHEST = -(2**63), 2**63 - 2


class Walked:
    """A walk as far as it has come: what it has done, and how the model is after it."""

    def __init__(self, model: Any, config: Any) -> None:
        self.model, self.config = model, config
        self.done: Any = None
        self.result: Any = None
        self.still = 0
        """How many operations there were since time moved."""
        self.refilled = 0
        """How often there was something again after nothing was left of at least three."""
        self.most = 0
        self.named: set[Any] = set()
        """Positions, or names, that were used."""

    def take(self, operation: Any, held: int) -> None:
        """Do an operation; ``held`` tells how much there was before it."""
        self.done = operation
        self.result = operation.on(self.model)
        moves = getattr(operation, "ms", 0) or getattr(operation, "by", 0)
        self.still = 0 if moves else self.still + 1
        self.most = max(self.most, held)

    def fills(self, held: int) -> None:
        """Note how much there is now."""
        if held == 0 and self.most > 2:
            self.refilled, self.most = self.refilled + 1, 0


class Promise(NamedTuple):
    """What some of the first walks get to."""

    name: str
    kept: Callable[[Walked], Any]
    """Whether a walk has got there with what it has just done."""


def is_a(walked: Walked, *kinds: Any) -> bool:
    """Whether what was just done is of some kind."""
    return isinstance(walked.done, kinds)


# ---- Negative acks

NACK = nacks.Nack | nacks.NackId


def items(walked: Walked) -> set[tuple[int, int]]:
    """The positions that are held."""
    return {item[:2] for bucket in walked.model.buckets.held.values() for item in bucket}


def has_twin(walked: Walked) -> bool:
    """Whether one is held that differs from the one just nacked in one high bit alone."""
    if not is_a(walked, nacks.Nack, nacks.NackId):
        return False
    ledger, entry, held = walked.done.ledger, walked.done.entry, items(walked)
    return any({(ledger ^ 1 << bit, entry), (ledger, entry ^ 1 << bit)} & held for bit in HIGH_BITS)


def longest_delay(walked: Walked) -> int:
    """The longest delay that is configured, in milliseconds."""
    config = walked.config
    return int(max([config.delay_us // 1_000, *(config.backoff_ms or ()), *(config.multiplier or ())[:2]]))


def emitted(walked: Walked) -> int:
    """How many ids were emitted at once."""
    return int(max((len(ids) for _, ids, _ in walked.result), default=0)) if is_a(walked, nacks.Advance) else 0


NEGATIVE_ACKS = (
    Promise("ids of 32 bits and one", lambda w: is_a(w, nacks.Nack) and abs(w.done.ledger) >= 2**31),
    Promise("entries beyond what a double holds", lambda w: is_a(w, nacks.Nack) and w.done.entry > 2**53),
    Promise("the lowest of all ids", lambda w: is_a(w, nacks.Nack) and w.done.ledger == -(2**63)),
    Promise("ids that are equal where a bit is cut", has_twin),
    Promise("a thousand items and more", lambda w: w.model.buckets.count() > 1_000),
    Promise("more items than a container has", lambda w: w.model.buckets.count() > 4_096),
    Promise("hundreds of buckets", lambda w: len(w.model.buckets.held) > 256),
    Promise("hundreds of ledgers", lambda w: is_a(w, nacks.Fill) and len({at[0] for at in items(w)}) > 256),
    Promise("several requests for one firing", lambda w: emitted(w) > 2_000),
    Promise("many nacks of which each has another delay", lambda w: is_a(w, nacks.Fill) and spread(w) > 3),
    Promise("no nacks at once", lambda w: is_a(w, nacks.Fill) and w.done.n == 0),
    Promise("a message in many chunks", lambda w: is_a(w, nacks.Chunked) and w.done.chunks > 16),
    Promise("a batch of hundreds", lambda w: is_a(w, nacks.Batch) and w.done.index > 255),
    Promise("counts of 31 bits", lambda w: getattr(w.done, "redelivery_count", 0) >= 2**31 - 2),
    Promise("a delay of 32 bits", lambda w: longest_delay(w) > 2**32),
    Promise("a delay of a microsecond", lambda w: w.config.delay_us == 1),
    Promise("a delay that a bit of 32 more makes", lambda w: is_a(w, NACK) and longest_delay(w) in (2**31, 2**31 - 1)),
    Promise("the finest buckets with much in them", lambda w: w.config.precision_bits == 0 and emitted(w) > 100),
    Promise("the widest buckets", lambda w: w.config.precision_bits == 40),
    Promise("a clock that starts at nothing", lambda w: w.config.clock == 0),
    Promise("a step of a month", lambda w: is_a(w, nacks.Advance) and w.done.ms >= 2**31),
    Promise("a jump of a month, and back", lambda w: is_a(w, nacks.Jump) and w.done.by <= -(2**31)),
    Promise("hundreds of operations at one moment", lambda w: w.still > 200),
    Promise("emptied and filled again, often", lambda w: w.refilled > 8),
)


def spread(walked: Walked) -> int:
    """Into how many buckets the nacks go that were just made, at least."""
    fill = walked.done
    return len({walked.model.delays.delay(count) for _, _, count in fill.each()}) if fill.rising and fill.n < 300 else 0


# ---- Active cursors


def places(walked: Walked) -> set[tuple[int, int]]:
    """Where cursors are."""
    return set(walked.model.order.positions.values())


def moves(walked: Walked) -> bool:
    """Whether a cursor came to a position just now."""
    return is_a(walked, cursors.Add, cursors.Update, cursors.Durable) and walked.done.at is not None


def at_both_ends(walked: Walked) -> bool:
    """Whether positions are compared that are further apart than 64 bits hold."""
    if not moves(walked):
        return False
    numbers = [at[i] for at in places(walked) for i in (0, 1)]
    return bool(numbers) and max(numbers) - min(numbers) >= 2**63


def has_higher_twin(walked: Walked) -> bool:
    """Whether a cursor is where only one high bit differs from where one has just come to."""
    if not moves(walked):
        return False
    (ledger, entry), there = walked.done.at, places(walked)
    return any({(ledger ^ 1 << bit, entry), (ledger, entry ^ 1 << bit)} & there for bit in HIGH_BITS)


def named_alike(walked: Walked) -> bool:
    """Whether two cursors have names of one spelling."""
    names = [*walked.model.objects] if is_a(walked, cursors.Add) else []
    return len({name.lower() for name in names}) < len(names)


def are_durable(walked: Walked) -> int:
    """How many cursors are durable, after many were added."""
    return sum(c.durable for c in walked.model.objects.values()) if is_a(walked, cursors.Crowd) else 0


ACTIVE_CURSORS = (
    Promise("hundreds of cursors", lambda w: len(w.model.objects) > 256),
    Promise("no cursors at once", lambda w: is_a(w, cursors.Crowd) and w.done.n == 0),
    Promise("dozens of durable ones", lambda w: are_durable(w) > 64),
    Promise("many added the other way round", lambda w: is_a(w, cursors.Crowd) and w.done.n > 16 and w.done.step < 0),
    Promise("many added in no order", lambda w: is_a(w, cursors.Crowd) and w.done.n > 16 and w.done.within > 0),
    Promise("dozens moved in no order", lambda w: is_a(w, cursors.March) and w.done.n > 60 and w.done.within > 0),
    Promise("positions at both ends of the numbers", at_both_ends),
    Promise("positions that are equal where a bit is cut", has_higher_twin),
    Promise("positions beyond what a double holds", lambda w: moves(w) and w.done.at[1] > 2**53),
    Promise("the lowest of all positions", lambda w: moves(w) and w.done.at[0] == LOWEST),
    Promise("names that differ in their case", named_alike),
    Promise("names that differ in their 56th letter", lambda w: is_a(w, cursors.Add) and len(w.done.name) > 55),
    Promise("names of one hash in Java", lambda w: is_a(w, cursors.Add) and {"Aa", "BB"} <= {*w.model.objects}),
    Promise("versions of more than 8 bits", lambda w: is_a(w, cursors.Oldest) and w.model.version.number > 256),
    Promise("emptied and filled again, often", lambda w: w.refilled > 4),
    Promise("no grace time", lambda w: is_a(w, cursors.Caches) and w.config.grace == 0),
    Promise("a grace time of a millisecond", lambda w: is_a(w, cursors.Caches) and w.config.grace == 1),
    Promise("a grace time of 32 bits", lambda w: is_a(w, cursors.Caches) and w.config.grace >= 2**31),
    Promise("a step of a month", lambda w: is_a(w, cursors.Advance) and w.done.ms >= 2**31),
    Promise("hundreds of operations at one moment", lambda w: w.still > 300),
)

PROMISES = {"negative-acks": NEGATIVE_ACKS, "active-cursors": ACTIVE_CURSORS}


def held_by(model: Any) -> int:
    """How much a model holds."""
    return int(model.buckets.count() if hasattr(model, "buckets") else len(model.objects))


def steps(contract: Any, number: int) -> Iterator[Walked]:
    """A walk of the default run, step by step, on the model alone."""
    choices, capabilities = SeededChoices(walk_seed(0, number)), contract.capabilities()
    config = contract.configured(choices, capabilities)
    model = contract.specification(config)
    walked = Walked(model, config)
    made = generated(contract, model, choices, capabilities, OPERATIONS)
    for operation in chain(made, contract.ending(model, choices, capabilities)):
        walked.take(operation, held_by(model))
        walked.fills(held_by(model))
        yield walked


@cache
def kept(name: str) -> frozenset[str]:
    """The promises that the first walks of a contract keep."""
    open_ = dict(PROMISES[name])
    for number in range(WALKS):
        for walked in steps(CONTRACTS[name], number):
            for promise in [promise for promise, is_kept in open_.items() if is_kept(walked)]:
                del open_[promise]
    return frozenset(promise.name for promise in PROMISES[name]) - frozenset(open_)


@pytest.mark.parametrize(
    ("contract", "promise"), [(name, promise.name) for name, promises in PROMISES.items() for promise in promises]
)
def test_first_walks_get_there(contract: str, promise: str) -> None:
    assert promise in kept(contract)
