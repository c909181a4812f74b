"""A run: many walks of one subject under one profile, with what they exercised, what laws said, and findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from time import perf_counter
from typing import Any

from broker_tck.implementations.interface import Hang
from broker_tck.model.reference import Fault, Reference
from broker_tck.model.rules import Rule, rules_of
from broker_tck.properties.engine.check import concrete, kept, record, recorder, unanswered
from broker_tck.properties.engine.choices import SeededChoices
from broker_tck.properties.engine.contract import Contract, Law
from broker_tck.properties.engine.operation import bulk
from broker_tck.properties.engine.subjects import Subject
from broker_tck.properties.engine.trace import Trace
from broker_tck.properties.engine.walk import LOOKED, Walk, walk, walks
from broker_tck.properties.findings.cheapest import cheapest
from broker_tck.properties.findings.diagnose import Diagnoser, back_models
from broker_tck.properties.findings.fickle import fickle
from broker_tck.properties.findings.finding import Finding, find, find_breach
from broker_tck.properties.findings.fitness import see_whole
from broker_tck.properties.findings.gathered import Gathered
from broker_tck.properties.findings.one_bug import told_once, with_laws
from broker_tck.properties.isolation.limit import Limit
from broker_tck.properties.mistakes.book import AS_SPECIFIED, deviations_of
from broker_tck.properties.verdict import BROKEN, CONFORMS, NOT_ENOUGH
from broker_tck.properties.worth.deviating import breaks, broken_by, happens, peeled
from broker_tck.properties.worth.exercised import Exercised, by_rule, deviating, unmet

COUNTED = 16
"""One walk in so many counts which rules it exercises, where there are many walks."""
SAMPLED = 4
"""One walk in so many does so in a check, and is judged by the laws, on the subject alone."""
MOST_COUNTED, MOST_JUDGED = 20_000, 2_000
"""A walk that does more in bulk is not counted, or judged: it is made once more for it, and for laws several times."""
MOST_ASKED = 64
"""Rules are not counted in bulk operations that do more: asked for each of many messages, some look at all others."""
MODEL_SECONDS = 10.0
"""How long a model may take that is judged by laws alone. With a rule done otherwise it may come to no end."""
MOST_FINDINGS = 12
"""A run ends after so many failing walks."""
Progress = Callable[["Run"], None]
State = tuple[str, tuple[int, ...]]
"""The kind of an operation, and the abstract state in which it was made."""


@dataclass
class Run:
    """What a run has seen so far. It is added to as the run goes on."""

    subject: Subject
    profile: str
    seed: int
    walks: int = 0
    operations: int = 0
    seconds: float = 0.0
    counted: int = 0
    met: Counter[str] = field(default_factory=Counter)
    met_in: Counter[str] = field(default_factory=Counter)
    """In how many of the walks that were counted."""
    states: Counter[State] = field(default_factory=Counter)
    """The abstract states in which operations were made, in the walks that were counted."""
    failing: list[Walk] = field(default_factory=list)
    complaints: list[tuple[int | None, str, str]] = field(default_factory=list)
    """Laws that the subject broke where model and subject agreed: the walk's seed, the law, what was wrong."""
    findings: list[Finding] = field(default_factory=list)
    fickle: list[str] = field(default_factory=list)
    """What became of walks that did not fail again, a sentence each."""
    notes: dict[str, str] = field(default_factory=dict)
    """Why the finding of a rule is not as findings are, if it is not."""
    looking: bool = False
    """Whether the walks are over, and those that failed are being looked at."""
    deviations: dict[str, bool] = field(default_factory=dict)
    """Each declared deviation, and whether it was seen to be one."""

    @property
    def model(self) -> type[Reference]:
        """The reference model that the subject is checked against."""
        return self.subject.contract.model(self.profile)

    @property
    def rules(self) -> list[Rule]:
        """The rules that a run has to exercise: all that are checkable at this interface."""
        return to_exercise(self.subject, self.model)

    @property
    def exercised(self) -> list[str]:
        """The rules of which every clause was exercised, or replaced by the profile."""
        counts, replaced = by_rule(self.model, self.met), deviating(self.model)
        return [r.number for r in self.rules if counts.get(r.number, r.number in replaced)]

    @property
    def vacuous(self) -> list[str]:
        """The rules that have to be exercised and were not."""
        return sorted({r.number for r in self.rules} - set(self.exercised))

    @property
    def gone(self) -> list[str]:
        """Declared deviations that no longer happen."""
        return [name for name, seen in self.deviations.items() if not seen]

    @property
    def unseen(self) -> list[str]:
        """What has to come up and did not, in words."""
        return [*map(self.unseen_part, self.vacuous), *self.gone_in_words]

    def unseen_part(self, number: str) -> str:
        """A rule that was not exercised, with the clauses that were not if others were."""
        clauses = unmet(self.model, self.met, number)
        return f"{number} ({', '.join(clauses)})" if clauses else number

    @property
    def gone_in_words(self) -> list[str]:
        """Declared deviations that no longer happen, in words."""
        return [f"{name} otherwise, as {self.profile} has it" for name in self.gone]

    @property
    def said(self) -> list[str]:
        """What there is to say besides findings, a sentence each."""
        found = {number for finding in self.findings for number in finding.numbers}
        first = dict[str, str]()
        for complaint in self.complaints:
            if complaint[1] not in found:
                first.setdefault(complaint[1], complaint_text(*complaint))
        return [*first.values()][:3] + self.fickle[:1]

    @property
    def residual(self) -> float:
        """With 95 % confidence, fewer than this share of walks fail, if none has."""
        return residual(self.walks)

    @property
    def verdict(self) -> str:
        """What the run comes to."""
        if self.findings or self.failing or self.complaints:
            return BROKEN
        return NOT_ENOUGH if self.vacuous or self.gone else CONFORMS

    @property
    def green(self) -> bool:
        """Whether there is nothing to report."""
        return self.verdict == CONFORMS


def complaint_text(seed: int | None, law: str, text: str) -> str:
    """What a law said of a walk, in a sentence."""
    return f"{law} does not hold: {text} (walk {seed})"


def to_exercise(subject: Subject, model: type[Reference]) -> list[Rule]:
    """The rules that a run has to exercise: the checkable ones of what profile and subject have."""
    skip = {*model.BREAKS, *model.MOOT, *subject.out_of_reach}
    return [rule for rule in rules_of(model) if rule.checkable and rule.number not in skip]


def residual(walks: float) -> float:
    """Where so many walks were made and none failed: with 95 % confidence, fewer than this share of walks fail."""
    return float(1 - 0.05 ** (1 / walks)) if walks else 1.0


def checked(run: Run, numbers: range, counted: int = COUNTED, judged: int = 0) -> Iterator[Walk]:
    """Make the walks of these numbers; every walk is handed out as it ends.

    Of one in ``counted`` it is counted what it exercises. Those that fail are kept. Of the others one in ``judged`` is
    judged by the laws; 0: none is. What does much in bulk is neither counted nor judged.
    """
    subject, model = run.subject, run.model
    counting: Exercised | None = None  # to make one takes as long as a walk
    made = walks(subject.contract, run.seed, numbers, subject.rig, model, subject.capabilities, marked=True)
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

    What is dear to ask is looked at where the walk did: a rule that nobody asked about was not exercised.
    """
    contract, model = run.subject.contract, counting.model(done.config)
    abstract, dear, glimpse = contract.abstract, contract.dear, False
    for number, operation in enumerate(done.operations, 1):
        run.states[operation.tag, counting.aside(abstract, model)] += 1
        with suppress(Fault), counting.but_for(bulk([operation]) > MOST_ASKED):
            concrete(operation.on(model))
        glimpse = dear and number % LOOKED > 0
        model.glimpsed() if glimpse else model.seen()
    if glimpse:
        model.seen()
    run.counted += 1
    run.met.update(counting.met)
    run.met_in.update(counting.met.keys())
    counting.met.clear()


def run_subject(
    subject: Subject,
    profile: str,
    seed: int,
    count: int,
    fail_fast: bool = False,
    progress: Progress | None = None,
    most: int = MOST_FINDINGS,
    known: Sequence[Trace] = (),
    reserve: int = 0,
    search: int | None = None,
) -> Run:
    """Check a subject under a profile with so many walks, its declared deviations included.

    ``known`` are traces of the profile, which may show them; it agrees with those that have outcomes. As many walks
    more as are in ``reserve`` are made while a rule has not come up. If the subject behaves as a known profile, each
    rule that this profile breaks is searched for in ``search`` walks; None: in the default number.
    """
    run = Run(subject, profile, seed)
    made = until_all_came_up(run, count, reserve)
    for done in made:
        if done.difference and (fail_fast or len(run.failing) >= most or unanswered(done.difference)):
            break
        if fail_fast and run.complaints:
            break
        if progress and run.walks % 8 == 1:
            progress(run)
    if fail_fast and run.failing:
        run.failing = [cheapest(run.failing[0], made)]
    run.looking = True
    if progress and run.failing:
        progress(run)
    run.findings = findings(run) if fail_fast else explained(run, search)
    run.findings = run.findings or breaches(run)
    if not (run.failing or subject.contract.life):  # not every deviation comes up in a life
        deviations(run, known)
    return run


def until_all_came_up(run: Run, count: int, reserve: int) -> Iterator[Walk]:
    """So many walks; then walks of a reserve, while a rule has not come up. They are judged where a law may show it."""
    yield from checked(run, range(count), SAMPLED, SAMPLED)
    contract = run.subject.contract
    of_laws = {law.number for law in contract.laws} | {variation.name for variation in contract.variations}
    for number in range(count, count + reserve):
        missing = run.vacuous
        if not missing:
            return
        yield from checked(run, range(number, number + 1), 1, judged=not of_laws.isdisjoint(missing))


def explained(run: Run, search: int | None) -> list[Finding]:
    """What the failing walks come to.

    A subject that breaks the specification as some profile does is told so, one finding for each of its deviations.
    """
    foreign = run.failing and run.profile == run.subject.contract.default
    if foreign and not any(unanswered(done.difference) for done in run.failing if done.difference):
        return peeled(run.subject, run.seed, search) or findings(run)
    return findings(run)


def findings(run: Run) -> list[Finding]:
    """One finding for each bug that failing walks show, the best explained first."""
    diagnoser = Diagnoser(run.subject.contract, run.model, run.subject.rig, run.subject.capabilities)
    gathered = Gathered(diagnoser)
    for failed in sorted(run.failing, key=lambda walk: walk.effort):
        if gathered.is_old(failed):
            continue
        finding = find(run.subject, diagnoser, failed.config, failed.operations, failed.seed)
        if finding:
            gathered.add(failed, finding)
        else:
            run.fickle.append(fickle(run.subject, run.model, failed))
    return with_laws(diagnoser, gathered.findings, laws_of(run))


def laws_of(run: Run) -> list[str]:
    """The laws and variations that walks break where model and subject agree."""
    return [name for _, name, _ in run.complaints]


def breaches(run: Run) -> list[Finding]:
    """The laws and variations that walks break where model and subject agree, each of the first such walk.

    Those that one trace breaks are one finding.
    """
    subject, model, first = run.subject, run.model, dict[str, int]()
    for seed, name, _ in run.complaints:
        if seed is not None:
            first.setdefault(name, seed)
    found = []
    for name, seed in sorted(first.items()):
        done = walk(subject.contract, seed, subject.rig, model, subject.capabilities)
        found.append(find_breach(subject, model, name, done))
    diagnoser = Diagnoser(subject.contract, model, subject.rig, subject.capabilities)
    return told_once(diagnoser, [finding for finding in found if finding])


# ---- Laws and variations: the subject alone


def judge(run: Run, done: Walk) -> None:
    """Judge a walk by the laws and by its variations, without the model."""
    contract, subject = run.subject.contract, run.subject
    exempt = {*run.model.BREAKS, *run.model.MOOT}
    recorded = recorder(lambda config: subject.rig(config, subject.capabilities))
    steps = recorded(done.config, done.operations)
    for law in contract.laws:
        met, _, complaint = law.check(done.config, steps)
        run.met[law.number] += met
        run.met_in[law.number] += bool(met)
        if complaint and law.number not in exempt and not itself(run.model, law, done):
            run.complaints.append((done.seed, law.number, complaint))
    choices = SeededChoices(done.seed or 0)
    for variation in contract.variations:
        held = kept(variation, done.config, done.operations, choices, recorded)
        run.met[variation.name] += held is not None
        if held is False and variation.name not in exempt and not run.model.ACCEPTS:
            run.complaints.append((done.seed, variation.name, variation.sentence))


def itself(model: type[Reference], law: Law, done: Walk) -> bool:
    """Whether a model breaks a law by what it accepts that a subject does otherwise."""
    return bool(model.ACCEPTS) and bool(law.check(done.config, record(done.operations, model(done.config)))[2])


# ---- Deviations: declared, and seen to be needed


def deviations(run: Run, known: Sequence[Trace] = ()) -> None:
    """See each deviation happen that the profile declares of what the subject has.

    Put back as specified, the model no longer agrees: on known traces, see :func:`run_subject`, or on walks.
    """
    back = [(way, way.applied_to(run.model)) for way in deviations_of(run.model)]
    back += [each for each in back_models(run.subject.contract, run.model) if each[0].name == AS_SPECIFIED]
    for way, specified in back:
        if way.rule.number not in run.subject.out_of_reach:
            run.deviations[f"{way.rule.number} ({way.clause})"] = happens(run.subject, specified, run.seed, known)
    for name in (law for law in run.model.BREAKS if law not in run.subject.out_of_reach):
        run.deviations[name] = breaks(run.subject, run.model, name, run.seed, known)


def laws_broken(
    contract: Contract,
    rigged: Any,
    model: type[Reference],
    capabilities: Any,
    count: int,
    seed: int,
    wanted: Collection[str] | None = None,
    until_all: bool = False,
) -> Counter[str]:
    """How many of so many traces, made with the model, break each law and variation on a subject that runs alone.

    ``wanted`` names those to be judged; None: all. ``until_all``: no more traces once each of them was broken. If the
    subject, a model, does not come to an end, a trace breaks none.
    """
    broken: Counter[str] = Counter()
    for done in walks_of_model(contract, model, capabilities, count, seed):
        if until_all and wanted is not None and len(broken) == len(wanted):
            break
        with suppress(Hang), Limit(MODEL_SECONDS):
            broken.update(broken_by(contract, done, rigged, capabilities, wanted))
    return broken


@cache
def walks_of_model(
    contract: Contract, model: type[Reference], capabilities: Any, count: int, seed: int
) -> tuple[Walk, ...]:
    """So many walks of the model beside itself; kept, as one subject after another is judged on the same."""
    return tuple(walks(contract, seed, range(count), lambda c, k: model(c), model, capabilities))
