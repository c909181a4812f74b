"""Stores what kills each mutant and wrong way: ``python tests/known_kills.py``, after a change of walks or rules."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from broker_tck import fixtures
from broker_tck.properties.contracts import CONTRACTS
from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.engine.subjects import mutants
from broker_tck.properties.mistakes.book import ways_of
from broker_tck.properties.worth.killing import Kills, kill_table
from broker_tck.properties.worth.known import Known, Proof, store, stored
from broker_tck.properties.worth.power import Power, law_tables, name_of, power_tables


@click.command()
@click.argument("names", nargs=-1, metavar="[CONTRACT]...", type=click.Choice([*CONTRACTS]))
@click.option("--anew", is_flag=True, help="Search for everything and reduce it again, which takes longer.")
def main(names: Sequence[str], anew: bool) -> None:
    """Store what kills each mutant and wrong way, of all contracts or those that are named.

    What still holds is kept, and the rest searched for. If a trace still shows the mistake and only the walk no longer
    fails, the trace is kept as well.
    """
    for name in names or CONTRACTS:
        file = fixtures.kills(name)
        file.parent.mkdir(exist_ok=True)
        store(file, known_of(CONTRACTS[name], Known() if anew else stored(name)))


def known_of(contract: Contract, before: Known) -> Known:
    """What kills a contract's mutants and wrong ways. Those that nothing kills are printed, and left out.

    A law that no way broke is searched for again: a new way may break it.
    """
    profile = contract.specification.PROFILE
    kills = kill_table(mutants(contract), "walk", 1, known=before.mutants)
    (table,) = power_tables([(contract, profile)], known={contract.name: before})
    broken = Known(laws={law: way for law, way in before.laws.items() if way})
    (laws,) = law_tables([(contract, profile)], known={contract.name: broken})
    ways = zip(map(name_of, ways_of(contract.specification)), table, strict=True)
    known = Known(
        {k.mutant: Proof(k.found[0].walk, k.found[0].trace) for k in kills if tell(k.mutant, k, k.passed)},
        {name: Proof(p.walks - 1, p.trace) for name, p in ways if tell(name, p, p.killed and p.rule in p.named)},
        {law: laws.get(law, "") for law in sorted(laws_of(contract))},
    )
    sys.stdout.write(f"{contract.name}: {len(known.mutants)} mutants, {len(known.ways)} ways, {len(laws)} laws\n")
    return known


def laws_of(contract: Contract) -> set[str]:
    """The laws and variations that something may break."""
    names = {law.number for law in contract.laws} | {variation.name for variation in contract.variations}
    return names - {*contract.specification.BREAKS, *contract.specification.MOOT}


def tell(name: str, row: Kills | Power, good: bool) -> bool:
    """Print the name if it was searched for, or if nothing kills it as it should; answers with ``good``."""
    if row.searched or not good:
        sys.stdout.write(f"{name}: {'searched for' if good else 'NOT KILLED by its own rule, with a short trace'}\n")
        sys.stdout.flush()
    return good


if __name__ == "__main__":
    main()
