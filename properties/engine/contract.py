"""A contract: one record with everything that the drivers need."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import islice
from typing import Any, NamedTuple, Protocol

import msgspec

from broker_tck.implementations.naming import unknown
from broker_tck.model.reference import Reference
from broker_tck.model.rules import Rule, rules_of
from broker_tck.properties.engine.choices import Choices
from broker_tck.properties.engine.concurrent import Concurrent
from broker_tck.properties.engine.edges import (
    NOTHING_TO_SAY,
    AtEdges,
    Edges,
    Number,
    edged_config,
    is_edged,
    numbers_of,
)
from broker_tck.properties.engine.operation import Operation, able, kinds_of, tag_of
from broker_tck.properties.engine.profiles import model_of
from broker_tck.properties.engine.units import Unit

MOST_DRAINED = 10_000
"""Maximum number of operations of a drain. An operation may add more to be taken out."""


class Maker(NamedTuple):
    """Makes one kind of operation; ``weights`` are those that a walk draws its own from."""

    name: str
    weights: tuple[int, ...]
    make: Callable[[], Operation]


class Fallback(NamedTuple):
    """The rule to name if no known mistake explains a difference: a row of a contract's table."""

    rule: str
    last: str = ""
    """The tags of the operations, with spaces between, at which a trace fails; empty: it may be any."""
    shows: str = ""
    """The observable that differs, or ``result``; empty: it may be either."""
    given: Callable[[Sequence[Any]], bool] | None = None
    """A condition on the operations of the reduced trace, each of which matters."""
    differs: Callable[[Sequence[Any], Any, Any], bool] | None = None
    """A condition on the operations, and on the expected and the actual value: two lists, texts or numbers."""
    error: str = ""
    """The names of errors, with spaces between, of which one is raised; empty: none need be."""

    def fits(self, operations: Sequence[Operation], observed: str, expected: Any, seen: Any) -> bool:
        """Whether the row is about a trace that fails at its end, and what differed there."""
        if self.last and operations[-1].tag not in self.last.split():
            return False
        if self.shows not in ("", observed) or (self.given and not self.given(operations)):
            return False
        if self.error and not (isinstance(seen, dict) and seen.get("error") in self.error.split()):
            return False
        if self.differs is None:
            return True
        try:
            alike = type(expected) is type(seen) and isinstance(expected, list | str | int)
            return alike and self.differs(operations, expected, seen)
        except (LookupError, TypeError, ValueError):  # a list of anything may have been seen
            return False


class Step(NamedTuple):
    """An operation with its outcome: the result, and what was seen after it."""

    operation: Operation
    result: Any
    seen: tuple[Any, ...]


class Invariant(NamedTuple):
    """Something that holds of all that is observed, judged without the model."""

    number: str
    """The rule that the invariant is."""
    judge: Callable[[Any, Sequence[Step]], Iterator[tuple[int, str | None]]]
    """By configuration and steps: each step that meets the condition, with what is wrong there, None if nothing is."""
    part: Callable[[Sequence[Operation]], Sequence[Operation]] = tuple
    """What it makes of a trace before it is done: it may ask for what no operation of a trace does."""

    def check(self, config: Any, steps: Sequence[Step]) -> tuple[int, int | None, str]:
        """How often the condition was met, and the first step where it was not kept with what is wrong there."""
        met = 0
        for index, complaint in self.judge(config, steps):
            met += 1
            if complaint:
                return met, index, complaint
        return met, None, ""


@dataclass(frozen=True)
class Relation:
    """A change of a trace that changes the outcomes in a known way."""

    name: str
    sentence: str
    vary: Callable[[Any, Sequence[Operation], Choices], tuple[Any, list[Operation]] | None]
    """The configuration and operations varied; None if the trace leaves nothing to vary."""
    equal: Callable[[Any, Sequence[Step], Any, Sequence[Step]], bool]
    """Whether the outcomes of both match."""
    part: Callable[[Sequence[Operation]], Sequence[Operation]] = tuple
    """Prepares a trace before it is varied, for example by selecting operations."""


class Names(Protocol):
    """What the operations of a trace name by numbers that depend on what was done before them: a call that waits, say.

    It is made for a fresh model, on which the operations are done then.
    """

    def meant(self, operation: Operation) -> Any:
        """What an operation, done now, names by a number; None: nothing."""

    def named(self, operation: Operation, meant: Any) -> Operation | None:
        """The operation with the number by which it names that now; None: it is not there."""

    def done(self) -> None:
        """An operation was done."""


@dataclass(frozen=True)
class Scenario:
    """Scripts of calls whose steps may come in any order, see :mod:`~broker_tck.properties.search.interleaving`."""

    name: str
    sentence: str
    """The calls that overlap, in a sentence."""
    config: Any
    before: tuple[Operation, ...]
    """Done first, one after the other."""
    scripts: tuple[tuple[Operation, ...], ...]
    """One a thread, by number: calls that are begun on it, which have a field ``thread``, and other operations."""
    after: tuple[Operation, ...]
    """Done when all have ended."""
    step: Callable[[int], Operation]
    """Goes on with the call of a thread; the result's first word is ``ends`` or ``waits`` where it does."""


@dataclass(frozen=True)
class Workload:
    """A restriction of a contract's traces to what happens in a broker."""

    name: str
    sentence: str
    """A sentence about it."""
    makers: Callable[[Any, Choices, Any], Sequence[Maker]]
    asks: Callable[[Sequence[Operation], Any], Iterator[bool]]
    """Which operations belong to the workload, as :attr:`Contract.asks` says it."""
    rewrites: Callable[[Sequence[Operation]], Iterator[list[Operation]]]
    """Shorter traces of the workload that one may be reduced to."""
    beyond: frozenset[str]
    """The rules that decide nothing in the workload."""

    def of(self, contract: Contract) -> Contract:
        """The contract whose walks are of the workload."""
        changed: dict[str, Any] = {name: getattr(self, name) for name in ("makers", "asks", "rewrites", "beyond")}
        return replace(contract, workload=self.name, **changed)


@dataclass(frozen=True, eq=False)
class Contract:
    """One kind of component."""

    name: str
    profiles: Mapping[str, type[Reference]]
    """The reference model of each profile; the first is the default."""
    config: type[msgspec.Struct]
    capabilities: type[msgspec.Struct]
    operations: Any
    """The union of the operations' types."""
    interface: type
    """The protocol that a subject implements."""
    call: str
    """How a subject's factory is called."""
    adapter: Callable[[Any, Any, Any], Any]
    """Puts a subject, made by a factory for a configuration, behind the names of the operations."""
    draw_config: Callable[[Choices, Any], Any]
    """Draws a configuration, given the capabilities; see :meth:`configured`."""
    makers: Callable[[Any, Choices, Any], Sequence[Maker]]
    drain: Callable[[Any, Choices, Any], Iterator[Operation]]
    abstract: Callable[[Any], tuple[int, ...]]
    """The abstract state of a model: a few small numbers, alike for states in which the same things can happen."""
    observables: Mapping[str, str]
    """What :meth:`Reference.seen` shows, in order: a name each, with a sentence that says what it is."""
    invariants: tuple[Invariant, ...]
    relations: tuple[Relation, ...]
    fallbacks: tuple[Fallback, ...]
    """What :meth:`fallback_rule` goes by: the first row that fits. The last one fits everything."""
    edges: Edges = NOTHING_TO_SAY
    """What is to be said of the numbers that it takes, so that walks can draw them at their edges."""
    ebb: Callable[[Any, Choices, Any], Iterator[Operation]] | None = None
    """Takes everything out, so that it can be filled once more; None: walks do not."""
    shown_with: Mapping[str, str] = field(default_factory=dict)
    """The capability that a subject lacks if it does not show an observable, by the name of the observable."""
    units: Mapping[str, Unit] = field(default_factory=dict)
    """The units of observables. Those of results are in :attr:`Operation.unit`."""
    thing: str = "tracker"
    """The word for a subject in messages, such as tracker."""
    rewrites: Callable[[Sequence[Operation]], Iterator[list[Operation]]] = lambda operations: iter(())
    """Shorter traces that a trace may be reduced to, besides those that every contract's can."""
    names: Callable[[Any], Names] | None = None
    """The meaning, for a model, of numbers that change if an operation is left out; None if there are none."""
    scenarios: tuple[Scenario, ...] = ()
    """Calls that can overlap, if the contract has such."""
    concurrent: Concurrent | None = None
    """What is promised of calls that threads make at the same time, if the contract has such."""
    concurrent_parts: Mapping[str, Concurrent] = field(default_factory=dict)
    """The same for a class that is only a part of what the contract is about, by the class's name."""
    asks: Callable[[Sequence[Operation], Any], Iterator[bool]] = lambda operations, c: (able(o, c) for o in operations)
    """Of each operation of a trace, whether a subject with some capabilities can be asked for it.

    Recorded traces know of no capabilities. An operation that is not asked for has not been there for those after it.
    """
    workloads: tuple[Workload, ...] = ()
    """Its workloads."""
    expensive: bool = False
    """Whether some observables are expensive to ask. Walks look at them now and then, and at the end: see
    :meth:`Reference.glimpsed`, which the adapter has as well."""
    wordy: bool = False
    """Whether its observables are long, so a failure report shows each only when it changes."""
    beyond: frozenset[str] = frozenset()
    """The rules that decide nothing in the walks of a workload."""
    workload: str = ""
    """The workload of its walks; empty: unrestricted."""

    def model(self, profile: str) -> type[Reference]:
        """The reference model of a profile, see :mod:`~broker_tck.properties.engine.profiles`.

        There is one, however the ways in the name are written. ValueError names the profiles, or the rules, or the
        ways, that there are, or says why a way cannot be accepted.
        """
        return _model(self, _model(self, profile).PROFILE)

    def with_workload(self, name: str) -> Contract:
        """The contract with the walks of one workload; ValueError names those that there are."""
        for workload in self.workloads:
            if workload.name == name:
                return workload.of(self)
        raise ValueError(unknown("workload", name, (workload.name for workload in self.workloads), of=self.name))

    def under_threads(self, kind: str) -> Contract:
        """The contract with what is promised of a class by the name of its kind."""
        return replace(self, concurrent=self.concurrent_parts.get(kind, self.concurrent))

    def can_ask(self, operations: Sequence[Operation], capabilities: Any) -> bool:
        """Whether a subject with some capabilities can be asked for a whole trace."""
        return all(asked for _, asked in zip(operations, self.asks(operations, capabilities), strict=False))

    def configured(self, choices: Choices, capabilities: Any) -> Any:
        """A configuration for a walk; in some walks with numbers at their edges."""
        config = self.draw_config(choices, capabilities)
        return edged_config(self.edges, config, choices, capabilities) if is_edged(choices) else config

    def offered(self, model: Any, choices: Choices, capabilities: Any) -> list[Maker]:
        """The makers of all that a subject with some capabilities can be asked for.

        In some walks numbers of what they make are at their edges.
        """
        lacked = self.lacked(capabilities)
        makers = [maker for maker in self.makers(model, choices, capabilities) if maker.name not in lacked]
        if not is_edged(choices):
            return makers
        edged = AtEdges(self.edges, model, choices, capabilities, self.drawn_at_edges(capabilities))
        return [Maker(maker.name, maker.weights, edged.makes(maker.make)) for maker in makers]

    @cache  # noqa: B019 - the contracts are few, and stay
    def lacked(self, capabilities: Any) -> frozenset[str]:
        """The tags of the operations that a subject with some capabilities cannot be asked for."""
        return frozenset(tag_of(kind) for kind in kinds_of(self.operations) if not able(kind, capabilities))

    @cache  # noqa: B019 - the contracts are few, and stay
    def drawn_at_edges(self, capabilities: Any) -> tuple[Number, ...]:
        """The numbers of operations that walks draw at their edges."""
        return tuple(number for number in self.numbers(capabilities) if not number.edge.left)

    def numbers(self, capabilities: Any) -> list[Number]:
        """The numbers of all operations that a subject with some capabilities can be asked for."""
        given = self.edges.numbers(capabilities)
        kinds = [kind for kind in kinds_of(self.operations) if able(kind, capabilities)]
        return [n for kind in kinds for n in numbers_of(kind, tag_of(kind), given)]

    def ending(self, model: Any, choices: Choices, capabilities: Any) -> Iterator[Operation]:
        """How a walk ends, as far as a subject with some capabilities can be asked for it, unless it has ended."""
        return until_ended(self.drain(model, choices, capabilities), model, capabilities)

    def emptying(self, model: Any, choices: Choices, capabilities: Any) -> Iterator[Operation]:
        """The operations that take everything out in the middle of a walk, likewise."""
        return until_ended(self.ebb(model, choices, capabilities), model, capabilities) if self.ebb else iter(())

    def fallback_rule(
        self, operations: Sequence[Operation], observed: str, expected: Any = None, seen: Any = None
    ) -> str:
        """The rule to name for a difference that no known mistake explains, at the end of a trace."""
        return next(row.rule for row in self.fallbacks if row.fits(operations, observed, expected, seen))

    @property
    def default(self) -> str:
        """The default profile."""
        return next(iter(self.profiles))

    @property
    def specification(self) -> type[Reference]:
        """The reference model of the default profile."""
        return self.profiles[self.default]

    @property
    def rules(self) -> dict[str, Rule]:
        """Every rule by its number: those of the specification, then those that only another profile has."""
        known: dict[str, Rule] = {}
        for model in (self.specification, *self.profiles.values()):
            for rule in rules_of(model):
                known.setdefault(rule.number, rule)
        return known

    def needing(self, capability: str) -> list[str]:
        """The rules that a subject cannot be seen to keep without a capability."""
        return [number for number, rule in self.rules.items() if capability in rule.needs.split()]

    def having(self, number: str) -> str:
        """The first profile, the contract's own before all others, that has a rule."""
        profiles = (self.default, *self.profiles)
        return next(name for name in profiles if number in {rule.number for rule in rules_of(self.profiles[name])})


def until_ended(operations: Iterator[Operation], model: Any, capabilities: Any) -> Iterator[Operation]:
    """Those operations, not too many, that a subject with some capabilities can be asked for, until the model ends."""
    for operation in islice(operations, MOST_DRAINED):
        if model.ended:
            return
        if able(operation, capabilities):
            yield operation


@cache
def _model(contract: Contract, profile: str) -> type[Reference]:
    return model_of(profile, contract.profiles, contract.name)
