"""How far walks go: what comes up in the first of them, seen on the specification's model alone, without a subject.

A walk that never has hundreds of something, or a number that needs 33 bits, finds nobody who cannot do with them. So
it is said of each contract what comes up in few walks already.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from broker_tck.model.reference import Fault
from broker_tck.properties.engine.check import concrete
from broker_tck.properties.engine.choices import SeededChoices
from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.engine.operation import Operation, valid
from broker_tck.properties.engine.walk import OPERATIONS, generated, walk_seed

WALKS = 400


@dataclass
class Moment:
    """A walk after one of its operations, or before it."""

    model: Any
    config: Any
    operation: Any = None
    result: Any = None
    still: int = 0
    """So many operations ago time moved last."""
    most: int = 0
    """How much was held at most since there was nothing."""
    peaks: list[int] = field(default_factory=list)
    """How much that was each time until nothing was left."""
    done: Counter[type[Operation]] = field(default_factory=Counter)
    trail: list[Any] = field(default_factory=list)
    """The operations until now."""

    def after(self, operation: Any, result: Any, held: int) -> None:
        """One more operation was done, and so much is held now."""
        self.operation, self.result = operation, result
        self.done[type(operation)] += 1
        self.trail.append(operation)
        moved = getattr(operation, "ms", 0) or getattr(operation, "by", 0)
        self.still = 0 if moved else self.still + 1
        self.most = max(self.most, held)
        if held == 0 and self.most:
            self.peaks.append(self.most)
            self.most = 0

    def fillings(self, least: int) -> int:
        """How often so much was held at least after there was nothing."""
        return sum(peak >= least for peak in [*self.peaks, self.most])


Reached = Callable[[Moment], object]
"""Whether a walk has got there."""


def reached(
    contract: Contract,
    wanted: Mapping[str, Reached],
    held: Callable[[Any], int],
    capabilities: Any = None,
    before: bool = False,
) -> Counter[str]:
    """In how many of the first walks each thing comes up. ``held`` says how much a model holds.

    It is looked at after each operation, or ``before`` it.
    """
    found: Counter[str] = Counter()
    for number in range(WALKS):
        left = dict(wanted)
        for moment in moments(contract, number, held, capabilities or contract.capabilities(), before):
            met = [name for name, is_there in left.items() if is_there(moment)]
            found.update(met)
            for name in met:
                del left[name]
    return found


def moments(
    contract: Contract, number: int, held: Callable[[Any], int], capabilities: Any, before: bool
) -> Iterator[Moment]:
    """A walk of the default run after each of its operations, or before it."""
    choices = SeededChoices(walk_seed(0, number))
    config = contract.configured(choices, capabilities)
    assert valid(config), config
    model: Any = contract.specification(config)
    moment = Moment(model, config)
    body = generated(contract, model, choices, capabilities, OPERATIONS)
    for operation in chain(body, contract.ending(model, choices, capabilities)):
        assert valid(operation), operation
        if before:
            moment.operation = operation
            yield moment
        result = None
        with suppress(Fault):
            result = concrete(operation.on(model))
        moment.after(operation, result, held(model))
        if not before:
            yield moment
