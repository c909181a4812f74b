"""A walk that is drawn to its end before its subject is asked for anything, and what the subject must answer.

A subject is compared by lines of JSON. Only an answer that is another line than the model's is read, and judged as in
any other walk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from broker_tck.model.reference import UNDEFINED, Allowed, Fault
from broker_tck.properties.engine.blackbox import BOX
from broker_tck.properties.engine.check import Difference, Recorded, check, concrete, failed
from broker_tck.properties.engine.contract import Step
from broker_tck.properties.engine.operation import Operation, Told

ANYTHING = repr(UNDEFINED)
"""What stands in a line for what the specification leaves open, or a program cannot show."""


def written(value: Any) -> str:
    """What JSON does not know, as a line has it. TypeError if that is nothing that a model answers."""
    if value is UNDEFINED:
        return ANYTHING
    raise TypeError(f"a model answered with {value!r}")


LINE = msgspec.json.Encoder(enc_hook=written).encode


def read(value: Any) -> Any:
    """What a line has, as a model answers it: the other way of :func:`written`."""
    if type(value) is list:
        return [read(each) for each in value]
    return UNDEFINED if value == ANYTHING else value


def outcome(operation: Operation, model: Any) -> tuple[Any, ...]:
    """What a model answers to an operation, and what is seen after it."""
    try:
        result = operation.on(model)
    except Fault as fault:
        result = failed(fault)
    return result, *model.seen()


class Foreseen:
    """The operations of a walk, each with the line that the model answers. ``fresh`` makes another such model."""

    def __init__(self, made: Iterable[Operation], model: Any, fresh: Callable[[], Any]) -> None:
        self.operations: list[Operation] = []
        self.lines: list[bytes] = []
        self.later: dict[int, Allowed] = {}
        """Results that leave a choice, and may be judged later, by the number of the operation."""
        self.choices: set[int] = set()
        """The numbers of the operations at which the model left a choice that must be judged at once."""
        self.fresh = fresh
        self.own: Any = None
        """The model that goes along with the subject, once that was needed."""
        for operation in made:
            BOX.alive()
            answer = outcome(operation, model)
            self.lines.append(LINE(self.settled(answer) if Allowed in map(type, answer) else answer))
            self.operations.append(operation)

    def settled(self, answer: tuple[Any, ...]) -> tuple[Any, ...]:
        """An answer that leaves a choice, as the model itself would choose."""
        result, *at_once = answer
        if type(result) is Allowed and result.later:
            self.later[len(self.lines)] = result
        else:
            at_once.append(result)
        if Allowed in map(type, at_once):
            self.choices.add(len(self.lines))
        return tuple(map(concrete, answer))

    def difference(self, adapter: Told, done: list[Operation]) -> Difference | None:
        """The first difference of a subject, None if there is none. ``done`` gets the operations up to there."""
        for operation in BOX.marked(iter(adapter.asked(self.operations)), done):
            number = len(done)
            done.append(operation)
            if self.own is None and adapter.answers(self.lines[number]):
                continue
            if found := check(operation, self.reference(number), adapter):
                return found
        return None

    def reference(self, number: int) -> Any:
        """What stands for the model at an operation that the subject answered otherwise than the model.

        Until the subject has chosen otherwise than the model, the lines stand for it.
        """
        if self.own is None and number not in self.choices:
            result, *seen = read(msgspec.json.decode(self.lines[number]))
            return Recorded([Step(self.operations[number], self.later.get(number, result), tuple(seen))])
        if self.own is None:
            self.own = self.fresh()
            for operation in self.operations[:number]:
                for each in outcome(operation, self.own):
                    concrete(each)
        return self.own
