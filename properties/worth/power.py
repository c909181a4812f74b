"""Power: each known wrong way of each rule, run as the subject, and what breaks each law."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import partial
from itertools import islice, repeat
from typing import NamedTuple

import msgspec

from broker_tck.model.rules import rules_of
from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.engine.run import laws_broken
from broker_tck.properties.engine.subjects import Subject, as_subject, contract_named
from broker_tck.properties.engine.trace import to_text
from broker_tck.properties.engine.walk import walks
from broker_tck.properties.findings.cheapest import cheapest
from broker_tck.properties.findings.diagnose import Diagnoser, wrong_models
from broker_tck.properties.findings.finding import Finding, find
from broker_tck.properties.isolation.pool import in_parallel, processes
from broker_tck.properties.mistakes.book import Way, ways_of
from broker_tck.properties.worth.known import Known, Proof, failed_again, found_again

POWER_WALKS = 10_000
"""How many walks a wrong way has to be killed in."""
LAW_WALKS = 24
"""How many walks of the model a wrong way makes alone, to be judged by the laws."""
BLOCK = 16
"""How many ways are judged before it is asked which laws are still to be broken."""

Profile = tuple[Contract, str]
"""A contract, and a profile of it by name."""


class Power(msgspec.Struct, frozen=True):
    """Whether a known wrong way was killed."""

    rule: str
    clause: str
    way: str
    killed: bool
    walks: int
    named: tuple[str, ...]
    trace: str = ""
    """The reduced trace on which these rules were named, as text."""
    searched: bool = True
    """Whether a failing walk was searched for, because none is stored or the stored one no longer fails."""


class Wanted(NamedTuple):
    """A wrong way that is to be run, and what is known of it."""

    contract: str
    profile: str
    number: int
    known: Proof | None = None


def power_of(wanted: Wanted, seed: int) -> Power:
    """Run one wrong way as the subject: on the stored walk and trace, or else from the first walk on.

    If the trace still shows the mistake and only the walk does not, the trace is not reduced again.
    """
    kit = contract_named(wanted.contract)
    model = kit.model(wanted.profile)
    way = ways_of(model)[wanted.number]
    wrong = dict(wrong_models(model))[way]
    subject = as_subject(str(way), kit, wrong)
    diagnoser = Diagnoser(kit, model, subject.rig, subject.capabilities, wrong)
    known = wanted.known
    found = found_again(known, way.rule.number, subject, model, wrong) if known else None
    again = known and found and failed_again(subject, model, seed, known.walk)
    number, finding = (known.walk + 1, found) if known and again else searched(subject, diagnoser, seed, found)
    return Power(
        rule=way.rule.number,
        clause=way.clause,
        way=way.name,
        killed=finding is not None,
        walks=number,
        named=finding.diagnosis.rules if finding else (),
        trace=to_text(kit, wanted.profile, finding.config, finding.operations) if finding else "",
        searched=not again,
    )


def searched(
    subject: Subject, diagnoser: Diagnoser, seed: int, found: Finding | None = None
) -> tuple[int, Finding | None]:
    """The number of the first failing walk, from 1, and its finding, or the one ``found``; else the number of walks."""
    number = 0
    made = range(POWER_WALKS)
    on = walks(subject.contract, seed, made, subject.rig, diagnoser.model, subject.capabilities, subject.seconds)
    for number, done in enumerate(on, 1):
        if done.difference:
            failed = done if found else cheapest(done, on)
            return number, found or find(subject, diagnoser, failed.config, failed.operations, failed.seed)
    return number, None


def name_of(way: Way) -> str:
    """A name that no other way of the model has; ``str(way)`` leaves out a clause that people need not know."""
    return f"{way.rule.number} {way.clause}: {way.name}"


def power_tables(
    chosen: Sequence[Profile],
    seed: int = 0,
    progress: Callable[[int, Power | None], None] | None = None,
    known: Mapping[str, Known] | None = None,
) -> list[list[Power]]:
    """Run every known wrong way of every rule as the subject: a table for each profile.

    ``known``, by contract, is of seed 0 and of the contract's own profile.
    """
    wanted, counts = list[Wanted](), []
    for contract, profile in chosen:
        ways = ways_of(contract.model(profile))
        told = known[contract.name].ways if known else {}
        wanted += [Wanted(contract.name, profile, n, told.get(name_of(way))) for n, way in enumerate(ways)]
        counts.append(len(ways))
    tables = iter(in_parallel(partial(power_of, seed=seed), wanted, progress))
    return [list(islice(tables, count)) for count in counts]


def law_tables(
    chosen: Sequence[Profile], seed: int = 0, known: Mapping[str, Known] | None = None
) -> list[dict[str, str]]:
    """What breaks each law and variation: a table for each profile. Where one waits, another uses the processes."""
    laws = [known[contract.name].laws if known else {} for contract, _ in chosen]
    with processes(BLOCK) as pool, ThreadPoolExecutor(len(chosen)) as each:
        return list(each.map(lambda one, known: law_table(one[0], one[1], seed, pool, known), chosen, laws))


def law_table(
    contract: Contract, profile: str, seed: int, pool: Executor, known: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Each law and variation with the first wrong way found that breaks it, run alone.

    The way that is ``known`` to break a law is tried first. If the empty name is known, no way is searched for. Of the
    others, those of rules that are laws as well come first. Each block of ways is tried on the laws that none before it
    has broken.
    """
    model = contract.model(profile)
    ways = ways_of(model)
    left = {*(law.number for law in contract.laws), *(variation.name for variation in contract.variations)}
    left -= {*model.BREAKS, *model.MOOT, *(law for law, way in (known or {}).items() if not way)}
    work = partial(laws_of, contract=contract.name, profile=profile, seed=seed)
    numbers = {name_of(way): index for index, way in enumerate(ways)}
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
            found |= {law: name_of(ways[index]) for law in broken if law not in found}
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
