"""What kills a mutant: with which driver, after how many operations, named by which rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import starmap, takewhile
from statistics import median

import msgspec

from broker_tck.implementations.mutants.mutant import Mutant
from broker_tck.model.reference import Reference
from broker_tck.properties.engine.subjects import Subject, mutants, resolve
from broker_tck.properties.engine.trace import to_text
from broker_tck.properties.engine.walk import Walk, walks
from broker_tck.properties.explain.diagnose import Diagnoser
from broker_tck.properties.explain.failing_walks import cheapest
from broker_tck.properties.explain.finding import Finding, find
from broker_tck.properties.search.failing import failure, kind
from broker_tck.properties.search.isolation.pool import in_parallel
from broker_tck.properties.worth.known import Proof, failed_again, found_again

MOST_OPERATIONS = 1_000_000
"""How many operations a walk's seed has to kill a mutant."""
MOST_EXAMPLES = 2_000
"""How many examples a seed of the machine has."""
LONGEST = 20
LONGEST_DEEP = 30
"""How many operations a reduced trace may have, that of a deep mutant in the second place."""
FIRST = 12
FIRST_DEEP = 18
"""The same for the first seed of the walk."""
TRIED = 3
"""So many failing walks of a seed are reduced, as long as their traces stay longer than :data:`FIRST`."""


class Found(msgspec.Struct, frozen=True):
    """What a seed of the walk found of a mutant."""

    walk: int
    """The number of the walk that failed first."""
    operations: int
    """Operations until it failed."""
    trace: str
    """The reduced trace, as text."""


class Kills(msgspec.Struct, frozen=True):
    """How one mutant fared against one driver."""

    driver: str
    mutant: str
    rule: str
    """The rule that it is declared with."""
    deep: bool
    killed: int
    """By how many of the seeds it was killed."""
    seeds: int
    needed: int
    """How many of them have to kill it."""
    named: int
    """In how many findings its own rule was named, alone or with one other."""
    alone: int
    killed_by: dict[str, int]
    """The rules named, and how often."""
    operations: int
    """Operations until it was killed, the median; those of a seed that did not count as all that it made."""
    length: int
    """The longest reduced trace."""
    first: int
    """The reduced trace of the first seed; 0: that seed did not kill it."""
    minimal: bool
    """Whether no operation can be left out of any reduced trace."""
    found: tuple[Found, ...] = ()
    """What each seed of the walk found, if all of them found it."""
    searched: int = 0
    """For how many seeds a failing walk was searched for, because none is stored or the stored one no longer fails."""

    @property
    def passed(self) -> bool:
        """Whether enough seeds killed it, each by its own rule, and every trace is short and reduced to the end."""
        return not self.fault

    @property
    def fault(self) -> str:
        """What keeps it from passing, for the table; empty: nothing."""
        if self.killed < self.needed or self.named < self.killed:
            return "FAILED"
        if not self.minimal:
            return "NOT MINIMAL"
        return "" if self.short else "TOO LONG"

    @property
    def short(self) -> bool:
        """Whether no trace is longer than people like to read."""
        longest, first = (LONGEST_DEEP, FIRST_DEEP) if self.deep else (LONGEST, FIRST)
        return self.length <= longest and (self.driver == "machine" or self.first <= first)


@dataclass(frozen=True)
class Kill:
    """One seed's try at a mutant."""

    operations: int
    failed: Walk | None
    number: int = 0
    """The number of the walk that failed."""
    known: bool = False
    """Whether the walk was stored, and not searched for."""


def attempt(driver: str, subject: Subject, model: type[Reference], seed: int) -> Kill:
    """A seed's try to kill a subject."""
    if driver == "machine":
        from broker_tck.properties.engine.machine import run_machine  # which imports Hypothesis

        failed, made = run_machine(subject, model, MOST_EXAMPLES, seed)
    else:
        failed, made = walk_until_it_fails(subject, model, seed)
    number = made - len(failed.operations) if failed and driver == "walk" else 0
    return Kill(made, failed, number)


def walk_until_it_fails(subject: Subject, model: type[Reference], seed: int) -> tuple[Walk | None, int]:
    """The first walk that fails, if one does, and how many operations were made."""
    made = 0
    for done in walks_on(subject, model, seed, made):
        made += len(done.operations)
        if done.difference:
            return done, made
    return None, made


def walks_on(subject: Subject, model: type[Reference], seed: int, made: int) -> Iterator[Walk]:
    """The walks of a seed after so many operations. A walk's number is that of the operations made before it."""
    numbers = takewhile(lambda number: number < MOST_OPERATIONS, iter(lambda: made, None))
    for done in walks(subject.contract, seed, numbers, subject.rig, model, subject.capabilities):
        made += len(done.operations)
        yield done


def reduced(subject: Subject, diagnoser: Diagnoser, kill: Kill, seed: int, driver: str) -> Finding | None:
    """What a seed's kill comes to. Where a walk's trace stays long, others may be shorter: as many are tried as told.

    So it is where a subject is checked: the shortest trace of all the walks that fail is told there.
    """
    found, failed = None, kill.failed
    others = walks_on(subject, diagnoser.model, seed, kill.operations) if driver == "walk" else iter(())
    for _ in range(TRIED):
        failed = cheapest(failed, others) if failed else None
        other = find(subject, diagnoser, failed.config, failed.operations, failed.seed) if failed else None
        found = min((f for f in (found, other) if f), key=lambda f: len(f.operations), default=None)
        if found is None or len(found.operations) <= FIRST:
            break
        failed = next((other for other in others if other.difference), None)
    return found


def kills(name: str, driver: str, seeds: int, known: Mapping[str, Proof] | None = None) -> Kills:
    """Let a driver loose on a mutant, under the first profile that it declares.

    The first seed of the walk tries what is ``known`` before it searches.
    """
    subject = resolve(f"mutant:{name}")
    mutant = next(m for m in mutants(subject.contract) if m.name == name)
    model = subject.contract.model(subject.profiles[0])
    diagnoser = Diagnoser(subject.contract, model, subject.rig, subject.capabilities)
    proof = known.get(name) if known and driver == "walk" else None
    again = killed_again(proof, mutant.rule, subject, diagnoser) if proof else None
    killed = dict[int, tuple[Kill, Finding]]()
    done = []
    for seed in range(seeds):
        kill, finding = again if again and seed == 0 else searched(driver, subject, diagnoser, seed)
        done.append(kill)
        if finding:
            killed[seed] = kill, finding
    findings = [finding for _, finding in killed.values()]
    named = Counter(rule for f in findings for rule in f.diagnosis.rules)
    return Kills(
        driver=driver,
        mutant=name,
        rule=mutant.rule,
        deep=mutant.deep,
        killed=len(findings),
        seeds=seeds,
        needed=seeds if driver == "walk" else seeds - seeds // 5,
        named=named[mutant.rule],
        alone=sum(f.diagnosis.rules == (mutant.rule,) for f in findings),
        killed_by=dict(named.most_common()),
        operations=int(median(kill.operations for kill in done)),
        length=max((len(f.operations) for f in findings), default=0),
        first=len(killed[0][1].operations) if 0 in killed else 0,
        minimal=all(is_minimal(f, subject, diagnoser) for f in findings),
        found=tuple(starmap(found_by, killed.values())) if driver == "walk" and len(killed) == seeds else (),
        searched=sum(not kill.known for kill in done),
    )


def searched(driver: str, subject: Subject, diagnoser: Diagnoser, seed: int) -> tuple[Kill, Finding | None]:
    """A seed's try, and what it comes to."""
    kill = attempt(driver, subject, diagnoser.model, seed)
    return kill, reduced(subject, diagnoser, kill, seed, driver)


def killed_again(proof: Proof, rule: str, subject: Subject, diagnoser: Diagnoser) -> tuple[Kill, Finding] | None:
    """A stored walk and trace, tried again; None if no walk fails, or the rule is not named on a minimal trace.

    If the trace still shows the mistake and only the walk does not, the trace is not reduced again.
    """
    finding = found_again(proof, rule, subject, diagnoser.model)
    if finding is None or not is_minimal(finding, subject, diagnoser):
        return None
    failed = failed_again(subject, diagnoser.model, 0, proof.walk)
    if failed:
        return Kill(proof.walk + len(failed.operations), failed, proof.walk, known=True), finding
    kill = attempt("walk", subject, diagnoser.model, 0)
    return (kill, finding) if kill.failed else None


def found_by(kill: Kill, finding: Finding) -> Found:
    """What a seed found, to be tried again."""
    trace = to_text(finding.contract, finding.profile, finding.config, finding.operations)
    return Found(kill.number, kill.operations, trace)


def is_minimal(finding: Finding, subject: Subject, diagnoser: Diagnoser) -> bool:
    """Whether the trace no longer fails when any one operation is left out, or only breaks other rules."""
    config, operations = finding.config, finding.operations
    own = kind(finding.contract, operations[-1], finding.difference)
    ways = diagnoser.named(finding.diagnosis)
    for i in range(len(operations) - 1):
        rest = operations[:i] + operations[i + 1 :]
        found = failure(subject, diagnoser.model, config, rest)
        if found is None or found[0] < len(rest) - 1 or kind(finding.contract, rest[-1], found[1]) != own:
            continue
        if not ways or diagnoser.fitting(config, rest, ways):
            return False
    return True


def kill_table(
    chosen: Iterable[Mutant],
    driver: str,
    seeds: int,
    progress: Callable[[int, Kills | None], None] | None = None,
    known: Mapping[str, Proof] | None = None,
) -> list[Kills]:
    """Let a driver loose on every mutant; the machine is not asked for the deep ones."""
    names = [m.name for m in chosen if driver == "walk" or not m.deep]
    return in_parallel(partial(kills, driver=driver, seeds=seeds, known=known), names, progress)
