"""A run: many walks of one subject under one profile, the rules that they exercised, and the broken invariants."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from time import perf_counter
from typing import Any

from broker_tck.implementations.interface import Hang
from broker_tck.model.reference import Fault, Reference
from broker_tck.model.rules import Rule, clauses_of, rules_of
from broker_tck.properties.engine.check import concrete
from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.engine.limit import Limit
from broker_tck.properties.engine.operation import bulk
from broker_tck.properties.engine.subjects import Subject
from broker_tck.properties.engine.walk import LOOKED, Walk, walks
from broker_tck.properties.search.exercised import Exercised, by_rule, deviating
from broker_tck.properties.search.failing import broken_by, judged
from broker_tck.properties.search.fitness import see_whole

COUNTED = 16
"""One walk out of this number counts the rules that it exercises, if there are many walks."""
SAMPLED = 4
"""The same in a check, where such a walk is judged by the invariants as well, on the subject alone."""
MOST_COUNTED, MOST_JUDGED = 20_000, 2_000
"""Maximum number of messages in bulk of a walk that is counted, and judged: both make the walk again."""
MOST_ASKED = 64
"""Maximum number of messages of a bulk operation in which rules are counted: some rules look at all others."""
MODEL_SECONDS = 10.0
"""Seconds for a model that is judged by invariants alone. A model with a changed rule may never end."""
Progress = Callable[["Run"], None]
State = tuple[str, tuple[int, ...]]
"""The kind of an operation, and the abstract state in which it was made."""


@dataclass
class Run:
    """The results of a run so far."""

    subject: Subject
    profile: str
    seed: int
    walks: int = 0
    operations: int = 0
    seconds: float = 0.0
    counted: int = 0
    met: Counter[str] = field(default_factory=Counter)
    met_in: Counter[str] = field(default_factory=Counter)
    """Number of counted walks in which each situation was met."""
    states: Counter[State] = field(default_factory=Counter)
    """The abstract states in which operations were made, in the walks that were counted."""
    failing: list[Walk] = field(default_factory=list)
    breaches: list[tuple[int | None, str, str]] = field(default_factory=list)
    """Invariants that the subject broke where model and subject agreed: the walk's seed, the invariant, what was
    wrong."""
    looking: bool = False
    """Whether the walks have ended, and the failing ones are being explained."""

    @property
    def model(self) -> type[Reference]:
        """The reference model that the subject is checked against."""
        return self.subject.contract.model(self.profile)

    @property
    def rules(self) -> list[Rule]:
        """The rules that a run must exercise: all that are checkable at this interface."""
        return to_exercise(self.subject, self.model)

    @property
    def exercised(self) -> list[str]:
        """The rules of which every clause was exercised, or replaced by the profile."""
        counts, replaced = by_rule(self.model, self.met, self.subject.lacked), deviating(self.model)
        return [r.number for r in self.rules if counts.get(r.number, r.number in replaced)]

    @property
    def vacuous(self) -> list[str]:
        """The required rules that were not exercised."""
        return sorted({r.number for r in self.rules} - set(self.exercised))

    @property
    def failure_bound(self) -> float:
        """With 95 % confidence, fewer than this share of walks fail, if none has."""
        return failure_bound(self.walks)


def to_exercise(subject: Subject, model: type[Reference]) -> list[Rule]:
    """The rules that a run must exercise: those that are checkable under the profile and on the subject.

    A rule is out of reach if each of its clauses needs something that the subject lacks, be it not the same.
    """
    clauses = [*clauses_of(model)]
    in_reach = {clause.number for clause in clauses if subject.lacked.isdisjoint(clause.needs.split())}
    out_of_reach = {clause.number for clause in clauses} - in_reach
    skip = {*model.BREAKS, *model.NOT_APPLICABLE, *subject.out_of_reach, *out_of_reach}
    return [rule for rule in rules_of(model) if rule.checkable and rule.number not in skip]


def failure_bound(walks: float) -> float:
    """With 95 % confidence, fewer than this share of walks fail, if this number of walks was made and none failed."""
    return float(1 - 0.05 ** (1 / walks)) if walks else 1.0


def checked(run: Run, numbers: range, counted: int = COUNTED, judged: int = 0) -> Iterator[Walk]:
    """Make the walks of these numbers; every walk is handed out as it ends.

    Of one in ``counted`` it is counted what it exercises. Those that fail are kept. Of the others one in ``judged`` is
    judged by the invariants; 0: none is. What does much in bulk is neither counted nor judged.
    """
    subject, model = run.subject, run.model
    counting: Exercised | None = None  # to make one takes as long as a walk
    made = walks(subject.contract, run.seed, numbers, subject.adapter, model, subject.capabilities, marked=True)
    for number in numbers:
        began = perf_counter()
        done = next(made)
        run.walks += 1
        run.operations += len(done.operations)
        if number % counted == 0 and bulk(done.operations) <= MOST_COUNTED:
            counting = counting or Exercised(model)
            count(run, counting, done)
        run.seconds += perf_counter() - began
        if done.difference:
            see_whole(subject, done.config, done.operations, done.difference)
            run.failing.append(done)
        elif judged and number % judged == 0 and bulk(done.operations) <= MOST_JUDGED:
            judge(run, done)
        yield done


def count(run: Run, counting: Exercised, done: Walk) -> None:
    """Count which rules a walk exercises, and in which states. The subject has no part in it, so nor has its limit.

    What is expensive to ask is looked at where the walk did: a rule that nobody asked about was not exercised.
    """
    contract, model = run.subject.contract, counting.model(done.config)
    abstract, expensive, glimpse = contract.abstract, contract.expensive, False
    for number, operation in enumerate(done.operations, 1):
        run.states[operation.tag, counting.aside(abstract, model)] += 1
        with suppress(Fault), counting.but_for(bulk([operation]) > MOST_ASKED):
            concrete(operation.on(model))
        glimpse = expensive and number % LOOKED > 0
        model.glimpsed() if glimpse else model.seen()
    if glimpse:
        model.seen()
    run.counted += 1
    run.met.update(counting.met)
    run.met_in.update(counting.met.keys())
    counting.met.clear()


def until_all_came_up(run: Run, count: int, reserve: int) -> Iterator[Walk]:
    """Make ``count`` walks, then walks of a reserve, until every rule has come up."""
    yield from checked(run, range(count), SAMPLED, SAMPLED)
    contract = run.subject.contract
    of_invariants = {invariant.number for invariant in contract.invariants} | {
        relation.name for relation in contract.relations
    }
    for number in range(count, count + reserve):
        missing = run.vacuous
        if not missing:
            return
        yield from checked(run, range(number, number + 1), 1, judged=not of_invariants.isdisjoint(missing))


# ---- Invariants and relations: the subject alone


def judge(run: Run, done: Walk) -> None:
    """Judge a walk by the invariants and by its relations, without the model."""
    subject, model, invariants = (
        run.subject,
        run.model,
        {invariant.number for invariant in run.subject.contract.invariants},
    )
    for each in judged(subject.contract, subject.fresh, done.config, done.operations, done.seed or 0):
        run.met[each.name] += each.met
        if each.name in invariants:
            run.met_in[each.name] += bool(each.met)
        if (
            each.complaint
            and each.name not in {*model.BREAKS, *model.NOT_APPLICABLE}
            and not itself(run, each.name, done)
        ):
            run.breaches.append((done.seed, each.name, each.complaint))


def itself(run: Run, name: str, done: Walk) -> bool:
    """Whether a model breaks an invariant, or a relation, because of its accepted deviations."""
    found = judged(run.subject.contract, run.model, done.config, done.operations, done.seed or 0, {name})
    return bool(run.model.ACCEPTS) and any(each.complaint for each in found)


def broken_invariants(
    subject: Subject, model: type[Reference], count: int, seed: int, wanted: Collection[str] | None = None
) -> Counter[str]:
    """How many of so many traces, made with the model, break each invariant and relation on a subject that runs alone.

    ``wanted`` names those to be judged, and no more traces are made once each of them was broken; None: all. If the
    subject, a model, does not come to an end, a trace breaks none.
    """
    contract, capabilities = subject.contract, subject.capabilities
    broken: Counter[str] = Counter()
    for done in walks_of_model(contract, model, capabilities, count, seed):
        if wanted is not None and len(broken) == len(wanted):
            break
        with suppress(Hang), Limit(MODEL_SECONDS):
            broken.update(broken_by(contract, done, subject.adapter, capabilities, wanted))
    return broken


@cache
def walks_of_model(
    contract: Contract, model: type[Reference], capabilities: Any, count: int, seed: int
) -> tuple[Walk, ...]:
    """So many walks of the model beside itself; kept, as one subject after another is judged on the same."""
    return tuple(walks(contract, seed, range(count), lambda c, k: model(c), model, capabilities))
