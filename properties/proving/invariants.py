"""Which known mistake breaks each invariant and metamorphic relation, if it runs alone."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from functools import partial
from itertools import repeat

from broker_tck.model.rules import rules_of
from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.engine.subjects import as_subject, contract_named
from broker_tck.properties.mistakes.book import mistakes_of
from broker_tck.properties.proving.proofs import stored
from broker_tck.properties.proving.prove import Proved, name_of
from broker_tck.properties.search.isolation.pool import processes
from broker_tck.properties.search.run import broken_invariants

WALKS = 24
"""Number of walks of the model that a mistake makes alone, to be judged by the invariants."""
BLOCK = 16
"""Number of mistakes that are judged before it is asked which invariants nothing has broken yet."""


def to_break(contract: Contract, profile: str) -> list[str]:
    """The invariants and relations that hold under a profile."""
    model = contract.model(profile)
    names = [invariant.number for invariant in contract.invariants] + [relation.name for relation in contract.relations]
    return sorted({*names} - {*model.BREAKS, *model.NOT_APPLICABLE})


def known_to_break(contract: Contract) -> dict[str, str]:
    """Each invariant, and the mistake that is stored as one that breaks it; empty if the search found none."""
    return {proof.invariant: proof.mistake for proof in stored() if proof.contract == contract.name and proof.invariant}


def invariants_broken(
    chosen: Sequence[tuple[Contract, str]], seed: int = 0, anew: bool = False
) -> list[dict[str, str]]:
    """What breaks each invariant: a table for each profile. ``anew`` ignores what is stored."""
    with processes(BLOCK) as pool:
        return [table(*one, seed, pool, {} if anew or seed else known_to_break(one[0])) for one in chosen]


def table(contract: Contract, profile: str, seed: int, pool: Executor, known: Mapping[str, str]) -> dict[str, str]:
    """Each invariant with a mistake that breaks it, run alone.

    The mistake that is known to break one is tried first. Nothing is searched for if the stored name is empty. Of the
    others, the mistakes of rules that are invariants come first.
    """
    mistakes = mistakes_of(contract.model(profile))
    left = {name for name in to_break(contract, profile) if known.get(name) != ""}
    work = partial(broken_by_mistake, contract=contract.name, profile=profile, seed=seed)
    numbers = {name_of(mistake): index for index, mistake in enumerate(mistakes)}
    again = {name: numbers[mistake] for name, mistake in known.items() if name in left and mistake in numbers}
    found = dict[str, str]()
    for name, broken in zip(again, pool.map(work, again.values(), ([name] for name in again)), strict=True):
        found |= {name: known[name]} if name in broken else {}
    order = sorted(range(len(mistakes)), key=lambda index: mistakes[index].rule.number not in left)
    for begin in range(0, len(order), BLOCK):
        block, wanted = order[begin : begin + BLOCK], frozenset(left - found.keys())
        if not wanted:
            break
        for index, names in zip(block, pool.map(work, block, repeat(wanted)), strict=True):
            found |= {name: name_of(mistakes[index]) for name in names if name not in found}
    return found


def broken_by_mistake(index: int, wanted: Collection[str], contract: str, profile: str, seed: int) -> list[str]:
    """The invariants, of those wanted, that a mistake breaks if it runs alone."""
    kit = contract_named(contract)
    model = kit.model(profile)
    mistake = mistakes_of(model)[index]
    subject = as_subject(str(mistake), kit, mistake.applied_to(model))
    return sorted(broken_invariants(subject, model, WALKS, seed, wanted))


def unproven(contract: Contract, profile: str, proved: Iterable[Proved], broken: Mapping[str, str]) -> list[str]:
    """The checkable rules without a mistake that is noticed, and the invariants that nothing breaks."""
    proven = {each.mistake.rule for each in proved if each.own} | {*broken}
    model = contract.model(profile)
    checkable = [
        r.number for r in rules_of(model) if r.checkable and r.number not in {*model.BREAKS, *model.NOT_APPLICABLE}
    ]
    return [name for name in [*checkable, *(v.name for v in contract.relations)] if name not in proven]
