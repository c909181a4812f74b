"""Interleavings: scripts of calls, and all orders in which threads may take their steps, or orders drawn at random.

A contract whose calls can be begun and gone on with (see ``Scenario``) gives scripts, one a thread. An order of their
steps is a trace like any other: it is checked against the model, reduced, reported and replayed.
A step that waits for another call leaves things as they are, so an order in which one does is the same as an order
without it, and is not counted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from broker_tck.implementations.interface import NOT_ANSWERED, Hang
from broker_tck.model.reference import Reference
from broker_tck.properties.engine.blackbox import BOX
from broker_tck.properties.engine.check import HANG, Difference, asked, check, no_answer
from broker_tck.properties.engine.choices import Choices, SeededChoices
from broker_tck.properties.engine.contract import Scenario
from broker_tck.properties.engine.operation import Operation
from broker_tck.properties.engine.subjects import Subject
from broker_tck.properties.engine.walk import Walk, walk_seed

ENDS, WAITS = "ends", "waits"
"""The first word of a step's result if its call has ended, and if it must wait."""
MOST_STEPS = 1_000
"""No order has more."""

Choose = Callable[[Sequence[int]], int]
"""Picks one of the threads that can go on."""


@dataclass
class Explored:
    """The result of a scenario."""

    scenario: Scenario
    orders: int = 0
    """Orders that were tried; each another one, unless they were drawn."""
    waiting: int = 0
    """Orders that were left where a step waited."""
    operations: int = 0
    failing: list[Walk] = field(default_factory=list)

    @property
    def shortest(self) -> Walk | None:
        """The failing order that fails first."""
        return min(self.failing, key=lambda walk: len(walk.operations), default=None)


class Remembering:
    """An adapter that remembers its last answer."""

    def __init__(self, adapter: Any) -> None:
        self._adapter = adapter
        self.answer: Any = None

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._adapter, name)

        def ask(*arguments: Any) -> Any:
            self.answer = method(*arguments)
            return self.answer

        return ask

    def seen(self) -> Any:
        """What is seen of it."""
        return self._adapter.seen()


class Order:
    """One order, as it is made."""

    def __init__(self, scenario: Scenario, subject: Subject, model: type[Reference]) -> None:
        self.scenario = scenario
        self.subject = subject.adapter(scenario.config, subject.capabilities)
        self.adapter = Remembering(self.subject)
        self.model: Any = model(scenario.config)
        self.left = [list(script) for script in scenario.scripts]
        self.under_way = [False] * len(self.left)
        self.operations: list[Operation] = []
        self.difference: Difference | None = None

    def made(self, choose: Choose) -> bool:
        """Make the order that ``choose`` picks, and return whether it ended before any step had to wait."""
        self.perform(self.scenario.before)
        while self.difference is None and (able := self.able()):
            if len(self.operations) > MOST_STEPS:
                self.difference = no_answer(HANG, f"calls have not ended after {MOST_STEPS} steps")
            elif not self.go_on(able[choose(able)]):
                return False
        self.perform(self.scenario.after)
        return True

    def able(self) -> list[int]:
        """The threads that have something left to do."""
        return [thread for thread, script in enumerate(self.left) if script or self.under_way[thread]]

    def go_on(self, thread: int) -> bool:
        """Take the next step of a thread, or begin its first call, and return whether it did not wait."""
        if not self.under_way[thread]:
            operation = self.left[thread].pop(0)
            self.perform([operation])
            if "thread" not in operation.__struct_fields__:
                return True
        self.perform([self.scenario.step(thread)])
        answer = self.adapter.answer if self.difference is None else [ENDS]
        self.under_way[thread] = answer[0] != ENDS
        return bool(answer[0] != WAITS)

    def perform(self, operations: Sequence[Operation]) -> None:
        """Check operations, up to the first difference."""
        for operation in asked(operations, self.subject):
            if self.difference is None:
                self.operations.append(operation)
                self.difference = check(operation, self.model, self.adapter)


def tried(explored: Explored, subject: Subject, model: type[Reference], choose: Choose) -> None:
    """Try one order, and count it."""
    order, ended = Order(explored.scenario, subject, model), True
    try:
        ended = order.made(choose)
    except Hang:
        order.difference = no_answer(HANG, NOT_ANSWERED)
    BOX.rest()
    explored.orders += ended
    explored.waiting += not ended
    explored.operations += len(order.operations)
    if order.difference:
        explored.failing.append(Walk(None, explored.scenario.config, order.operations, order.difference))


def explore(scenario: Scenario, subject: Subject, model: type[Reference]) -> Explored:
    """Try every order of a scenario's steps, the first thread going first, then all other ways."""
    explored = Explored(scenario)
    path: list[int] = []
    while True:
        taken: list[tuple[int, int]] = []

        def choose(able: Sequence[int], path: list[int] = path, taken: list[tuple[int, int]] = taken) -> int:
            which = path[len(taken)] if len(taken) < len(path) else 0
            taken.append((which, len(able)))
            return which

        tried(explored, subject, model, choose)
        while taken and taken[-1][0] + 1 == taken[-1][1]:
            taken.pop()
        if not taken:
            return explored
        path = [which for which, _ in taken[:-1]] + [taken[-1][0] + 1]


def sample(scenario: Scenario, subject: Subject, model: type[Reference], count: int, seed: int) -> Explored:
    """Try ``count`` random orders; an order with a step that waits is given up there."""
    explored = Explored(scenario)
    for number in range(count):
        tried(explored, subject, model, drawn(SeededChoices(walk_seed(seed, number))))
    return explored


def drawn(choices: Choices) -> Choose:
    """Draws which thread goes on."""
    return lambda able: choices.below(len(able))
