"""What kills a mutant, and a wrong way: with which driver, after how many operations, named by which rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import islice, repeat, takewhile
from statistics import median
from time import perf_counter
from typing import NamedTuple, TypeVar

import msgspec

from broker_tck.implementations.mutants.mutant import Mutant
from broker_tck.model.reference import Reference
from broker_tck.model.rules import rules_of, ways_of
from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.engine.machine import run_machine
from broker_tck.properties.engine.run import laws_broken
from broker_tck.properties.engine.subjects import Subject, as_subject, contract_named, mutants, resolve
from broker_tck.properties.engine.trace import from_text, to_text
from broker_tck.properties.engine.walk import Walk, walks
from broker_tck.properties.errors import BadInput
from broker_tck.properties.findings.cheapest import cheapest
from broker_tck.properties.findings.diagnose import Diagnoser, wrong_models
from broker_tck.properties.findings.finding import Finding, confirmed, failure, find, kind
from broker_tck.properties.isolation.pool import processes

SEEDS = 20
MOST_OPERATIONS = 1_000_000
"""How many operations a walk's seed has to kill a mutant."""
MACHINE_SEEDS = 5
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
POWER_WALKS = 10_000
"""How many walks a wrong way has to be killed in."""
LAW_WALKS = 24
"""How many walks of the model a wrong way makes alone, to be judged by the laws."""
BLOCK = 16
"""How many ways are judged before it is asked which laws are still to be broken."""

Profile = tuple[Contract, str]
"""A contract, and a profile of it by name."""
T = TypeVar("T")
R = TypeVar("R")


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
    seconds: float
    length: int
    """The longest reduced trace."""
    first: int
    """The reduced trace of the first seed; 0: that seed did not kill it."""
    minimal: bool
    """Whether no operation can be left out of any reduced trace."""

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
    seconds: float
    failed: Walk | None


def tries(driver: str, subject: Subject, model: type[Reference], seeds: int) -> Iterator[Kill]:
    """Each seed's try to kill a subject."""
    for seed in range(seeds):
        began = perf_counter()
        if driver == "machine":
            failed, made = run_machine(subject, model, MOST_EXAMPLES, seed)
        else:
            failed, made = walk_until_it_fails(subject, model, seed)
        yield Kill(made, perf_counter() - began, failed)


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


def kills(name: str, driver: str, seeds: int) -> Kills:
    """Let a driver loose on a mutant, under the first profile that it declares."""
    subject = resolve(f"mutant:{name}")
    mutant = next(m for m in mutants(subject.contract) if m.name == name)
    model = subject.contract.model(subject.profiles[0])
    diagnoser = Diagnoser(subject.contract, model, subject.rig, subject.capabilities)
    done = list(tries(driver, subject, model, seeds))
    found = [reduced(subject, diagnoser, kill, seed, driver) for seed, kill in enumerate(done)]
    findings = [finding for finding in found if finding]
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
        seconds=round(median(kill.seconds for kill in done), 4),
        length=max((len(f.operations) for f in findings), default=0),
        first=len(found[0].operations) if found[0] else 0,
        minimal=all(is_minimal(f, subject, diagnoser) for f in findings),
    )


def is_minimal(finding: Finding, subject: Subject, diagnoser: Diagnoser) -> bool:
    """Whether the trace no longer fails when any one operation is left out, or only breaks other rules."""
    config, operations = finding.config, finding.operations
    own = kind(finding.contract, operations[-1], finding.difference)
    ways = [(way, way.applied_to(diagnoser.model)) for way in finding.diagnosis.ways]
    for i in range(len(operations) - 1):
        rest = operations[:i] + operations[i + 1 :]
        found = failure(subject, diagnoser.model, config, rest)
        if found is None or found[0] < len(rest) - 1 or kind(finding.contract, rest[-1], found[1]) != own:
            continue
        if not ways or diagnoser.fitting(config, rest, ways):
            return False
    return True


def kill_table(
    chosen: Iterable[Mutant], driver: str, seeds: int, progress: Callable[[int, Kills], None] | None = None
) -> list[Kills]:
    """Let a driver loose on every mutant; the machine is not asked for the deep ones."""
    names = [m.name for m in chosen if driver == "walk" or not m.deep]
    return in_parallel(partial(kills, driver=driver, seeds=seeds), names, progress)


def in_parallel(work: Callable[[T], R], items: list[T], progress: Callable[[int, R], None] | None = None) -> list[R]:
    """Work on every item, on all cores, the results in the items' order."""
    with processes(len(items)) as pool:
        results = []
        for result in pool.map(work, items):
            results.append(result)
            if progress:
                progress(len(results), result)
    return results


# ---- Power: each known wrong way of each rule, run as the subject


class Power(msgspec.Struct, frozen=True):
    """Whether a known wrong way was killed."""

    rule: str
    clause: str
    way: str
    killed: bool
    walks: int
    operations: int
    named: tuple[str, ...]
    trace: str = ""
    """The reduced trace on which these rules were named, as text."""


class Known(msgspec.Struct, frozen=True):
    """What is known of the wrong ways of a profile: what was found of them before."""

    contract: str
    profile: str
    ways: tuple[Power, ...]
    laws: dict[str, str]
    """Each law and variation, and the way that breaks it."""


class Wanted(NamedTuple):
    """A wrong way that is to be run, and what is known of it."""

    contract: str
    profile: str
    number: int
    known: Power | None = None


def power_of(wanted: Wanted, seed: int) -> Power:
    """Run one wrong way as the subject: as it is known to be killed, if it is, else from the first walk on."""
    kit = contract_named(wanted.contract)
    model = kit.model(wanted.profile)
    way = ways_of(model)[wanted.number]
    wrong = dict(wrong_models(model))[way]
    subject = as_subject(str(way), kit, wrong)
    diagnoser = Diagnoser(kit, model, subject.rig, subject.capabilities, wrong)
    if wanted.known and killed_as_known(wanted.known, subject, diagnoser, seed):
        return wanted.known
    number, made, finding = 0, 0, None
    on = walks(kit, seed, range(POWER_WALKS), subject.rig, model, subject.capabilities)
    for done in on:
        number += 1
        made += len(done.operations)
        if done.difference:
            failed = cheapest(done, on)
            finding = find(subject, diagnoser, failed.config, failed.operations, failed.seed)
            break
    return Power(
        rule=way.rule.number,
        clause=way.clause,
        way=way.name,
        killed=finding is not None,
        walks=number,
        operations=made,
        named=finding.diagnosis.rules if finding else (),
        trace=to_text(kit, wanted.profile, finding.config, finding.operations) if finding else "",
    )


def killed_as_known(known: Power, subject: Subject, diagnoser: Diagnoser, seed: int) -> bool:
    """Whether a wrong way fails on the walk that is known to notice it, and is named as known on the known trace."""
    kit, model = diagnoser.contract, diagnoser.model
    (done,) = walks(kit, seed, (known.walks - 1,), subject.rig, model, subject.capabilities)
    if not (done.difference and known.trace):
        return False
    try:
        trace = from_text(known.trace)
    except BadInput:  # it is of other operations than there are now
        return False
    found = confirmed(subject, model, trace.config, trace.operations)
    if found is None or found[0] < len(trace.operations) - 1:
        return False
    return diagnoser.diagnose((trace.config, trace.operations), found[1]).rules == known.named


def power_tables(
    chosen: Sequence[Profile],
    seed: int = 0,
    progress: Callable[[int, Power], None] | None = None,
    known: Iterable[Known] = (),
) -> list[list[Power]]:
    """Run every known wrong way of every rule as the subject: a table for each profile."""
    told = {(k.contract, k.profile, p.rule, p.clause, p.way): p for k in known for p in k.ways}
    wanted, counts = list[Wanted](), []
    for contract, profile in chosen:
        ways = ways_of(contract.model(profile))
        names = ((contract.name, profile, way.rule.number, way.clause, way.name) for way in ways)
        wanted += [Wanted(contract.name, profile, number, told.get(name)) for number, name in enumerate(names)]
        counts.append(len(ways))
    tables = iter(in_parallel(partial(power_of, seed=seed), wanted, progress))
    return [list(islice(tables, count)) for count in counts]


def law_tables(chosen: Sequence[Profile], seed: int = 0, known: Iterable[Known] = ()) -> list[dict[str, str]]:
    """What breaks each law and variation: a table for each profile. Where one waits, another uses the processes."""
    told = {(k.contract, k.profile): k.laws for k in known}
    laws = [told.get((contract.name, profile), {}) for contract, profile in chosen]
    with processes(BLOCK) as pool, ThreadPoolExecutor(len(chosen)) as each:
        return list(each.map(lambda one, known: law_table(one[0], one[1], seed, pool, known), chosen, laws))


def law_table(
    contract: Contract, profile: str, seed: int, pool: Executor, known: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Each law and variation with the first wrong way found that breaks it, run alone.

    The way that is ``known`` to break it is tried first. Of the others those of rules that are laws as well come first.
    Each block of ways is judged by what none before it has broken.
    """
    model = contract.model(profile)
    ways = ways_of(model)
    left = {*(law.number for law in contract.laws), *(variation.name for variation in contract.variations)}
    left -= {*model.BREAKS, *model.MOOT}
    work = partial(laws_of, contract=contract.name, profile=profile, seed=seed)
    numbers = {str(way): index for index, way in enumerate(ways)}
    again = {law: way for law, way in (known or {}).items() if law in left and way in numbers}
    broken_again = pool.map(work, (numbers[way] for way in again.values()), ([law] for law in again))
    found = {law: again[law] for broken in broken_again for law in broken}
    order = sorted(range(len(ways)), key=lambda index: ways[index].rule.number not in left)
    for begin in range(0, len(order), BLOCK):
        block = order[begin : begin + BLOCK]
        wanted = frozenset(left - found.keys())
        if not wanted:
            break
        for index, broken in zip(block, pool.map(work, block, repeat(wanted)), strict=True):
            found |= {law: str(ways[index]) for law in broken if law not in found}
    return found


def laws_of(index: int, wanted: Collection[str], contract: str, profile: str, seed: int) -> list[str]:
    """The laws and variations, of those wanted, that a wrong way breaks where it runs alone."""
    kit = contract_named(contract)
    model = kit.model(profile)
    way = ways_of(model)[index]
    subject = as_subject(str(way), kit, way.applied_to(model))
    broken = laws_broken(kit, subject.rig, model, subject.capabilities, LAW_WALKS, seed, wanted, until_all=True)
    return sorted(broken)


def unproven(contract: Contract, profile: str, table: Iterable[Power], laws: Mapping[str, str]) -> list[str]:
    """The checkable rules, and the variations, that nothing in the tables was killed by."""
    proven = {p.rule for p in table if p.killed} | {*laws}
    model = contract.model(profile)
    checkable = [r.number for r in rules_of(model) if r.checkable and r.number not in {*model.BREAKS, *model.MOOT}]
    return [name for name in [*checkable, *(v.name for v in contract.variations)] if name not in proven]
