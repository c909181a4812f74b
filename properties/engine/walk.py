"""The walk: a seeded random trace, made and checked by the fast driver."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from typing import Any

from broker_tck.implementations.interface import NOT_ANSWERED, Hang
from broker_tck.model.reference import Reference
from broker_tck.properties.engine.blackbox import BOX
from broker_tck.properties.engine.check import HANG, Difference, Look, check, no_answer
from broker_tck.properties.engine.choices import Choices, SeededChoices, one_of, weighted
from broker_tck.properties.engine.contract import Contract, Maker
from broker_tck.properties.engine.foreseen import Foreseen
from broker_tck.properties.engine.limit import Limit
from broker_tck.properties.engine.operation import Operation, Told, bulk

OPERATIONS = 400
"""How many operations a walk makes before its drain."""
NARROW = 6
"""In one walk out of this number, a third of all kinds of operations do not occur, so time may stand still."""
EBBING = 5
"""In one walk out of this number, everything is taken out now and then, and the walk goes on."""
MOST_EBBS = 3
LOOKED = 16
"""Expensive observables are read after one operation out of this number."""
COLLECTED = 100_000, 20, 100
"""The thresholds of the garbage collector during a walk, which makes many objects and few cycles."""


@dataclass(frozen=True)
class Walk:
    """The result of a walk: its operations, and where the subject left the specification."""

    seed: int | None
    """None: it was no seeded walk."""
    config: Any
    operations: list[Operation]
    difference: Difference | None

    @property
    def effort(self) -> int:
        """How much it does: its operations, and what they do in bulk."""
        return len(self.operations) + bulk(self.operations)


def walk_seed(seed: int, number: int) -> int:
    """The seed of one walk of a run.

    All have two words of 32 bits: ``Random`` does not tell the one word n from the words n and n - 1.
    """
    return (seed + 1 << 32) + number


def to_draw_from(makers: Sequence[Maker], choices: Choices) -> list[Callable[[], Operation]]:
    """What makes a walk's operations, each as often as a weight that is drawn for it says; all once, if none does."""
    narrow = choices.below(NARROW) == 1
    left = [narrow and choices.below(3) == 0 for _ in makers]
    makes = weighted((m.make, 0 if out else one_of(choices, m.weights)) for m, out in zip(makers, left, strict=True))
    return makes or [maker.make for maker in makers]


def ebbs(choices: Choices, steps: int) -> frozenset[int]:
    """Before which steps of a walk everything is taken out."""
    if choices.below(EBBING) < EBBING - 1:
        return frozenset()
    return frozenset(choices.below(steps) for _ in range(1 + choices.below(MOST_EBBS)))


def generated(contract: Contract, model: Any, choices: Choices, capabilities: Any, steps: int) -> Iterator[Operation]:
    """The operations of a walk, each made with the model's state as it is then."""
    makes = to_draw_from(contract.offered(model, choices, capabilities), choices)
    below, kinds = choices.below, len(makes)
    emptied = ebbs(choices, steps) if contract.ebb else frozenset()
    for step in range(steps):
        if step in emptied:
            yield from contract.emptying(model, choices, capabilities)
        if model.ended:
            return
        yield makes[below(kinds)]()


def along(
    made: Iterator[Operation], model: Any, adapter: Any, expensive: bool, done: list[Operation]
) -> Difference | None:
    """Perform operations on the model and on the subject, up to the first difference; None if there is none.

    ``done`` gets the operations that have begun. ``expensive`` says that some observables are read seldom.
    """
    glimpse = False
    if isinstance(adapter, Told):
        expensive = False
        made = iter(adapter.asked(made))
    for operation in BOX.marked(made, done):
        done.append(operation)
        if expensive:
            glimpse = len(done) % LOOKED > 0
        if difference := check(operation, model, adapter, glimpse):
            return difference
    return check(Look(), model, adapter) if glimpse else None


@contextmanager
def seldom_collected() -> Iterator[None]:
    """Garbage is collected seldom in this block."""
    before = gc.get_threshold()
    gc.set_threshold(*COLLECTED)
    try:
        yield
    finally:
        gc.set_threshold(*before)


@seldom_collected()
def walk(
    contract: Contract,
    seed: int,
    subject: Callable[[Any, Any], Any],
    model: type[Reference],
    capabilities: Any,
    steps: int = OPERATIONS,
    seconds: float = 0,
    marked: bool = False,
) -> Walk:
    """Walk a subject along its model. ``subject`` puts a fresh one on an adapter: ``subject(config, capabilities)``.

    ``seconds`` limits each operation of a subject that is a model; others have a guard. For this, each operation is
    written down, or, if ``marked``, the seed alone, which costs nothing.
    """
    if marked:
        BOX.walk(seed)
    choices = SeededChoices(seed)
    config = contract.configured(choices, capabilities)
    reference: Any = model(config)
    operations: list[Operation] = []
    difference: Difference | None = None
    try:
        with Limit(seconds, operations):
            adapter = subject(config, capabilities)
            body = generated(contract, reference, choices, capabilities, steps)
            made: Iterator[Operation] = chain(body, contract.ending(reference, choices, capabilities))
            if isinstance(adapter, Told) and adapter.ahead:
                foreseen = Foreseen(made, reference, lambda: model(config))
                difference = foreseen.difference(adapter, operations)
            else:
                difference = along(made, reference, adapter, contract.expensive, operations)
    except Hang:
        difference = no_answer(HANG, NOT_ANSWERED)
    BOX.rest()
    return Walk(seed, config, operations, difference)


def walks(
    contract: Contract,
    seed: int,
    numbers: Iterable[int],
    subject: Callable[[Any, Any], Any],
    model: type[Reference],
    capabilities: Any,
    seconds: float = 0,
    marked: bool = False,
) -> Iterator[Walk]:
    """The walks of a run that have these numbers, one after the other; see :func:`walk`."""
    for number in numbers:
        yield walk(contract, walk_seed(seed, number), subject, model, capabilities, seconds=seconds, marked=marked)
