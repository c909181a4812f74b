"""Operations left out of a trace, where those that stay are to mean what they meant.

Some operations name a thing by a number that depends on what was done before them: the second of the calls that wait.
The model tells what that is, in the trace as it was, and by which number it goes in the shorter one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from typing import Any

from broker_tck.model.reference import Fault, Reference
from broker_tck.properties.engine.check import concrete
from broker_tck.properties.engine.contract import Contract, Names
from broker_tck.properties.engine.operation import Operation


def kept(operations: Sequence[Operation], gone: Collection[int]) -> list[Operation]:
    """The operations but some, as they are."""
    return [operation for i, operation in enumerate(operations) if i not in gone]


class Shorter:
    """Leaves operations out of the traces of a contract, under a profile."""

    def __init__(self, contract: Contract, model: type[Reference]) -> None:
        self.contract = contract
        self.model = model
        self.known: tuple[Any, Sequence[Operation], list[Any]] | None = None
        """The trace that was looked at last, and what each of its operations means."""

    def __call__(
        self, config: Any, operations: Sequence[Operation], gone: Collection[int]
    ) -> Iterator[list[Operation]]:
        """The operations but some: with other numbers that mean the same, if that differs, then as they are."""
        plain = kept(operations, gone)
        if self.contract.names is not None:
            named = self.named(config, plain, kept(self.meanings(config, operations), gone))
            if named != plain:
                yield named
        yield plain

    def meanings(self, config: Any, operations: Sequence[Operation]) -> list[Any]:
        """What each operation of a trace names by a number."""
        if self.known is None or self.known[:2] != (config, operations):
            model, names = self.fresh(config)
            self.known = config, [*operations], [self.met(model, names, operation) for operation in operations]
        return self.known[2]

    def met(self, model: Reference, names: Names, operation: Operation) -> Any:
        """What an operation names, which is done then."""
        meant = names.meant(operation)
        done(model, names, operation)
        return meant

    def named(self, config: Any, operations: Sequence[Operation], meanings: Sequence[Any]) -> list[Operation]:
        """The operations with other numbers for the same things; those whose things are not there are left out."""
        model, names = self.fresh(config)
        found = []
        for operation, meant in zip(operations, meanings, strict=True):
            again = operation if meant is None else names.named(operation, meant)
            if again is not None:
                done(model, names, again)
                found.append(again)
        return found

    def fresh(self, config: Any) -> tuple[Reference, Names]:
        """A model, and what numbers mean in it."""
        assert self.contract.names is not None
        model = self.model(config)
        return model, self.contract.names(model)


def done(model: Reference, names: Names, operation: Operation) -> None:
    """Do an operation on the model; a fault that it declares is an outcome."""
    with suppress(Fault):
        concrete(operation.on(model))
    names.done()
