"""A finding: a broken rule with its reduced trace, and how both are found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from broker_tck.implementations.interface import Hang
from broker_tck.model.reference import Reference
from broker_tck.properties.engine.check import (
    Difference,
    observable,
    unanswered,
)
from broker_tck.properties.engine.contract import Contract, Step
from broker_tck.properties.engine.limit import Limit
from broker_tck.properties.engine.operation import Operation, bulk
from broker_tck.properties.engine.subjects import Subject
from broker_tck.properties.engine.walk import Walk
from broker_tck.properties.explain.diagnose import Diagnoser, Diagnosis, KnownMistake, fallback_rule
from broker_tck.properties.search.failing import (
    Failure,
    Judge,
    answered,
    breach_of,
    breach_told,
    can_try,
    erred,
    fails_unasked,
    failure,
    kind,
)
from broker_tck.properties.search.fitness import raised_at
from broker_tck.properties.search.reduction.prober import Fails
from broker_tck.properties.search.reduction.reducer import Reducer
from broker_tck.properties.search.reduction.shorter import Shorter

LONG = 10
"""A reduced trace of more operations is reduced further, to one that only the same mistakes explain."""
MOST_BULK = 1_000
"""A trace with more in bulk is not compared with every mistake."""


@dataclass(frozen=True)
class Finding:
    """A rule that a subject violates under a profile, with the shortest trace found."""

    subject: str
    contract: Contract
    profile: str
    config: Any
    operations: tuple[Operation, ...]
    difference: Difference
    diagnosis: Diagnosis
    seed: int | None
    """The seed of the walk that found it; None if no walk did."""
    found_after: int
    """The operations of the trace that was reduced."""
    answers: tuple[Step, ...] = ()
    """What the subject answered to each operation and showed then, where that was asked."""
    traceback: tuple[str, ...] = ()
    """The lines of the subject's own traceback, if it raised at the last operation."""
    spent: bool = False
    """Whether its reduction ended early, so that a shorter trace may exist."""
    work: int = 0
    """How many operations were replayed to reduce it."""
    unasked: bool = False
    """Whether it fails only if some observables are not asked for after each operation."""
    also: tuple[Finding, ...] = ()
    """Other findings of the same bug."""
    invariants: tuple[str, ...] = ()
    """The invariants and relations, of those that walks broke, that its trace breaks as well."""
    note: str = ""
    """A note on what is unusual about it, such as a trace that was not reduced; usually empty."""

    @property
    def rule(self) -> str:
        """The number of the rule that is named first."""
        return self.diagnosis.rules[0]

    @property
    def numbers(self) -> tuple[str, ...]:
        """The rules and invariants for which a test fails because of the bug."""
        return tuple(dict.fromkeys([*self.diagnosis.rules, *(each.rule for each in self.also), *self.invariants]))

    @property
    def observed(self) -> str:
        """The name of what differed at the last operation."""
        return observable(self.contract, self.difference)


Keeps = Callable[[Any, Sequence[Operation], Difference], bool]
"""Whether a shorter trace, which fails with its last operation, still is what is looked for."""


def reducer(contract: Contract, model: type[Reference], fails: Fails) -> Reducer:
    """A reducer of a contract's traces, which knows their numbers as a profile does."""
    return Reducer(fails, contract.config(), contract.rewrites, Shorter(contract, model))


def find(
    diagnoser: Diagnoser, failed: Walk, elsewhere: Judge | None = None, known: Diagnosis | None = None
) -> Finding | None:
    """Make a finding of a failing trace: reduce it to one that fails in the same way, then diagnose, unless ``known``.

    If no mistake explains the subject everywhere, several things may be wrong with it. Then the trace is reduced once
    more, to one that the same mistakes explain, and the shorter trace is taken. A trace that is still long is treated
    likewise, because a trace with the same explanation may fail sooner, in another way.

    None if the replayed trace does not fail, so the subject is not deterministic. ``elsewhere`` replays in another
    process, for a subject that ends its own; the subject's answers are unknown then.
    """
    first = (elsewhere or failure)(diagnoser.subject, diagnoser.model, failed.config, failed.operations)
    if first is None:
        return None
    failing = [*failed.operations[: first[0] + 1]]
    reduction = Reduction(diagnoser, replace(failed, operations=failing), elsewhere, known)
    own = kind(diagnoser.contract, failing[-1], first[1])
    finding = reduction.finding(lambda _, operations, found: kind(diagnoser.contract, operations[-1], found) == own)
    if unanswered(first[1]) or finding is None or bulk(failing) > MOST_BULK:
        return finding
    return reduction.of_same_ways(finding)


@dataclass(frozen=True)
class Reduction:
    """Makes shorter traces of a failing one, as :func:`find` is given it."""

    diagnoser: Diagnoser
    failing: Walk
    """It ends with the operation at which it fails."""
    elsewhere: Judge | None
    known: Diagnosis | None

    def failure(self, config: Any, operations: Sequence[Operation]) -> Failure | None:
        """Where another trace fails, and how."""
        return (self.elsewhere or failure)(self.diagnoser.subject, self.diagnoser.model, config, operations)

    def finding(self, keeps: Keeps) -> Finding | None:
        """The finding with the shortest trace of the failure; None if the subject is not deterministic."""
        subject, model, failing = self.diagnoser.subject, self.diagnoser.model, self.failing

        def fails(config: Any, operations: Sequence[Operation]) -> int | None:
            if not can_try(subject, failing.config, config, operations):
                return None
            found = self.failure(config, operations)
            return found[0] if found and keeps(config, operations[: found[0] + 1], found[1]) else None

        reducing = reducer(subject.contract, model, fails)
        plain, short = reducing.reduce(failing.config, failing.operations)
        found = self.failure(plain, short)
        if found is None or found[0] != len(short) - 1:
            return None
        told = (
            {}
            if self.elsewhere
            else {
                "answers": answered(subject, plain, short),
                "traceback": raised_at(subject, plain, short) if erred(found[1]) else (),
                "unasked": fails_unasked(subject, model, plain, short),
            }
        )
        return finding_on(
            subject,
            model.PROFILE,
            Walk(failing.seed, plain, short, found[1]),
            self.known or self.diagnoser.diagnose((plain, short), found[1]),
            found_after=len(failing.operations),
            spent=reducing.is_spent(),
            work=reducing.work,
            **told,
        )

    def of_same_ways(self, finding: Finding) -> Finding:
        """A finding whose trace is no longer and only the same mistakes explain; else this one.

        Not all of them may be named in the end, so the trace is reduced again for those that are.
        """
        if not finding.diagnosis.whole:
            begun, explaining = self, self.diagnoser.fitting(self.failing.config, self.failing.operations)
        elif len(finding.operations) > LONG:
            begun, explaining = self.begun_with(finding), self.diagnoser.named(finding.diagnosis)
        else:
            return finding
        other = explaining and begun.finding(self.fit_by(explaining))
        if not other or len(other.operations) > len(finding.operations):
            return finding
        named = self.diagnoser.named(other.diagnosis)
        last = named and self.begun_with(other).finding(self.fit_by(named))
        return last if last and last.rule == other.rule else other

    def begun_with(self, finding: Finding) -> Reduction:
        """The same, begun with the trace of a finding."""
        return replace(self, failing=replace(self.failing, config=finding.config, operations=[*finding.operations]))

    def fit_by(self, ways: Sequence[KnownMistake]) -> Keeps:
        """Whether one of some mistakes explains a shorter trace."""
        return lambda config, operations, _: bool(self.diagnoser.fitting(config, operations, ways))


def finding_on(
    subject: Subject, profile: str, failed: Walk, diagnosis: Diagnosis, found_after: int = 0, **more: Any
) -> Finding:
    """The finding that a trace is, which fails with its last operation; ``more`` are other fields."""
    assert failed.difference
    operations = tuple(failed.operations)
    return Finding(
        subject.name,
        subject.contract,
        profile,
        failed.config,
        operations,
        failed.difference,
        diagnosis,
        failed.seed,
        found_after or len(operations),
        **more,
    )


def unreduced(subject: Subject, profile: str, failed: Walk, rule: str = "", note: str = "") -> Finding:
    """A failing walk as a finding, as it is; the rule is that of the contract's table, unless one is given."""
    assert failed.difference
    rules = (rule or fallback_rule(subject.contract, failed.operations, failed.difference),)
    return finding_on(subject, profile, failed, Diagnosis(rules, ()), note=note)


def find_breach(subject: Subject, model: type[Reference], name: str, done: Walk) -> Finding | None:
    """Make a finding of a walk on which a subject breaks an invariant or a relation."""

    def breach(config: Any, operations: Sequence[Operation]) -> tuple[int | None, str]:
        if not can_try(subject, done.config, config, operations):
            return None, ""
        try:
            with Limit(subject.seconds):
                return breach_of(subject.contract, subject.fresh, name, config, operations)
        except Hang:
            return None, ""

    if breach(done.config, done.operations)[0] is None:
        return None
    breaks = reducer(subject.contract, model, lambda config, operations: breach(config, operations)[0])
    plain, short = breaks.reduce(done.config, done.operations)
    broken = Walk(done.seed, plain, short, breach_told(subject.contract, name, breach(plain, short)[1]))
    diagnosis = Diagnosis((name,), (), invariant=True)
    return finding_on(subject, model.PROFILE, broken, diagnosis, len(done.operations), spent=breaks.is_spent())
