"""Diagnosis: which known wrong way of which rule makes the model agree with the subject.

A way *fits* a trace when the model with that way agrees with the subject on every step of it. A way that fits every
failing trace at hand, and whole walks besides, explains the subject. One that fits only the failing traces explains
it there: the subject breaks the rule under a condition of its own. Where none fits, the contract's table names a
rule by the operation and what differed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from broker_tck.model.reference import Reference
from broker_tck.model.rules import Way, deviations_of, ways_of
from broker_tck.properties.check import RESULT, Difference, first_difference
from broker_tck.properties.contract import Contract
from broker_tck.properties.operation import Operation
from broker_tck.properties.walk import walk, walk_seed
from broker_tck.properties.watchdog import Hang, limit

WALKS = 20
"""A way that agrees with the subject on so many whole walks explains it."""
MORE_WALKS = 160
"""Where ways of several rules do, so many walks tell them apart."""
SEED = 0xD1A6
SECONDS = 2.0

Trace = tuple[Any, Sequence[Operation]]
"""Configuration and operations."""
Rigged = Callable[[Any, Any], Any]
"""Puts a fresh subject on a rig."""


@dataclass(frozen=True)
class Diagnosis:
    """The rules to name, and the ways that explain the subject; ``walks`` of :data:`WALKS` agreed with the first."""

    rules: tuple[str, ...]
    ways: tuple[Way, ...]
    walks: int

    @property
    def whole(self) -> bool:
        """Whether the subject behaves so everywhere, as far as was walked."""
        return bool(self.ways) and self.walks == WALKS

    @property
    def sentence(self) -> str:
        """What the subject behaves like, in words."""
        if not self.ways:
            return "No known wrong way of a rule explains this."
        behaves = "Behaves" if self.whole else "Here, though not everywhere, it behaves"
        return f"{behaves} as if {' or '.join(map(in_words, self.ways))}."


def in_words(way: Way) -> str:
    """A way as the end of a sentence that begins with "behaves as if"."""
    if way.name == "absent":
        return f"{way.rule.number} were absent ({way.clause})"
    return f"{way.rule.number} were done otherwise ({way.clause}: {way.name.replace('_', ' ')})"


@cache
def wrong_models(model: type[Reference]) -> tuple[tuple[Way, type[Reference]], ...]:
    """The model with each of its known wrong ways, those that lead back from a deviation included."""
    return tuple((way, way.applied_to(model)) for way in [*ways_of(model), *deviations_of(model)])


class Diagnoser:
    """Explains what one subject does wrong under one model; what it learns of a way, it keeps."""

    def __init__(self, contract: Contract, model: type[Reference], rigged: Rigged, capabilities: Any) -> None:
        self.contract = contract
        self.model = model
        self.rigged = rigged
        self.capabilities = capabilities
        self._walks: dict[Way, int] = {}

    def agrees(self, model: type[Reference], config: Any, operations: Sequence[Operation]) -> bool:
        """Whether a model agrees with the subject on every step of a trace."""
        try:
            with limit(SECONDS):
                rig = self.rigged(config, self.capabilities)
                return first_difference(operations, model(config), rig) is None
        except (Hang, Exception):
            return False

    def fitting(self, *traces: Trace) -> list[tuple[Way, type[Reference]]]:
        """The ways that fit every one of the traces."""
        return [
            (way, wrong)
            for way, wrong in wrong_models(self.model)
            if all(self.agrees(wrong, config, operations) for config, operations in traces)
        ]

    def walks(self, way: Way, wrong: type[Reference]) -> int:
        """On how many walks, made with the model that has this way, the subject agrees with it."""
        if way not in self._walks:
            self._walks[way] = sum(self._walk_agrees(wrong, number) for number in range(WALKS))
        return self._walks[way]

    def _walk_agrees(self, wrong: type[Reference], number: int) -> bool:
        try:
            seed = walk_seed(SEED, number)
            done = walk(self.contract, seed, self.rigged, wrong, self.capabilities, seconds=SECONDS)
            return done.difference is None
        except Exception:
            return False

    def diagnose(self, trace: Trace, difference: Difference) -> Diagnosis:
        """Name the rules that the subject breaks on a failing trace."""
        blamed = self.contract.blame(trace[1][-1], observable(self.contract, difference))
        fits = self.fitting(trace)
        if not fits:
            return Diagnosis((blamed,), (), 0)
        ranked = sorted(fits, key=lambda fit: (-self.walks(*fit), fit[0].rule.number != blamed))
        best = self.walks(*ranked[0])
        ways = self.told_apart([fit for fit in ranked if self.walks(*fit) == best])
        rules = tuple(dict.fromkeys(way.rule.number for way in ways))[:2]
        return Diagnosis(rules, tuple(way for way in ways if way.rule.number in rules)[:3], best)

    def told_apart(self, tied: list[tuple[Way, type[Reference]]]) -> list[Way]:
        """Of ways of several rules that agree with the subject equally often, those that go on doing so for longest."""
        for number in range(WALKS, MORE_WALKS):
            if len({way.rule.number for way, _ in tied}) < 2:
                break
            tied = [fit for fit in tied if self._walk_agrees(fit[1], number)] or tied
        return [way for way, _ in tied]


def observable(contract: Contract, difference: Difference) -> str:
    """The name of what differed."""
    return RESULT if difference.observed == RESULT else contract.observables[int(difference.observed)]
