"""Programs drawn at random: by a contract's generator, with the model's state before the threads start in view."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from broker_tck.model.reference import Fault, Reference
from broker_tck.properties.engine.check import concrete
from broker_tck.properties.engine.choices import Choices, one_of
from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.engine.operation import Operation, able, bulk, tag_of
from broker_tck.properties.threads.program import Program, promised

READY = 4
"""All programs but one in so many are made ready."""
LAST = 8
"""One program in so many ends the object."""
TRIES = 20
"""How often another operation is made in place of one that does not fit."""


class Drawing:
    """Draws the operations of one program for a subject with some capabilities."""

    def __init__(self, contract: Contract, reference: Any, capabilities: Any, choices: Choices) -> None:
        self.reference, self.capabilities, self.choices = reference, capabilities, choices
        self.makers = contract.makers(reference, choices, capabilities)
        self.happens = promised(contract).happens

    def some(
        self,
        number: int,
        kinds: Sequence[type[Operation]],
        fits: Callable[[Operation, Any, Any], bool],
        do: bool = False,
    ) -> Iterator[Operation]:
        """So many operations of some kinds, each kind as likely, as far as they come up.

        If ``do`` is true, each is done on the model before the next is made.
        """
        makers = [[m for m in self.makers if m.name.partition("_")[0] == tag_of(k)] for k in kinds if self.able(k)]
        makers = [*filter(None, makers)]
        for _ in range(TRIES):
            if not number:
                return
            made = one_of(self.choices, one_of(self.choices, makers)).make()
            able = type(made) in kinds and not bulk([made]) and self.happens(made)
            if able and fits(made, self.reference, self.capabilities):
                number -= 1
                if do:
                    self.done(made)
                yield made

    def all(self, operations: Iterable[Operation]) -> Iterator[Operation]:
        """Operations, each done on the model before the next is made."""
        for operation in operations:
            self.done(operation)
            yield operation

    def able(self, kind: type[Operation]) -> bool:
        """Whether the subject can be asked for a kind of operations."""
        return able(kind, self.capabilities)

    def done(self, operation: Operation) -> None:
        """Do an operation on the model; where that leaves a choice, it picks itself."""
        with suppress(Fault):
            concrete(operation.on(self.reference))


def drawn(
    contract: Contract, model: type[Reference], capabilities: Any, choices: Choices, apart: Sequence[str] = ()
) -> Program:
    """A program for a subject with some capabilities. A thread without calls is left out.

    Threads make no operation whose name is in ``apart``.
    """
    concurrent = promised(contract)
    config = concurrent.config(contract.draw_config(choices, capabilities))
    reference: Any = model(config)
    drawing = Drawing(contract, reference, capabilities, choices)
    fits, below = concurrent.fits, choices.below
    most_fills, most_before = concurrent.most
    for operation in concurrent.opening:
        drawing.done(operation)
    before = [
        *concurrent.opening,
        *drawing.some(1 + below(most_fills), concurrent.fills, fits, do=True),
        *(drawing.all(concurrent.ready(reference)) if concurrent.ready and below(READY) else ()),
        *drawing.some(below(most_before + 1), concurrent.before, fits, do=True),
    ]
    number, most = one_of(choices, concurrent.threads)
    ending = [concurrent.last] if concurrent.last and not below(LAST) else []
    calls = [kind for kind in concurrent.calls if tag_of(kind) not in apart]
    shared = [kind for kind in calls if kind not in concurrent.of_one]
    kinds = [concurrent.beside, shared] if ending else [calls, *[shared] * (number - 1)]
    threads = [(*drawing.some(1 + below(most), of, fits),) for of in kinds]
    threads[-1] += (*ending,)
    asked = concurrent.rest(reference, [*before, *(operation for calls in threads for operation in calls)])
    after = tuple(operation for operation in asked if able(operation, capabilities))
    return Program(contract, model.PROFILE, config, (*before,), (*filter(None, threads),), after)
