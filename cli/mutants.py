"""``mutants``: what kills each mutant, and by which rule."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from itertools import chain
from typing import Any

import click
import msgspec

from broker_tck.cli import completion
from broker_tck.cli.known import anew_option, tell_searched
from broker_tck.cli.options import Choice, chosen_contracts, contracts_option, json_option
from broker_tck.cli.output import one_or_all, print_json, print_table, progress
from broker_tck.implementations.mutants import MUTANTS
from broker_tck.implementations.mutants.mutant import Mutant
from broker_tck.implementations.naming import unknown
from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.engine.subjects import LISTED, declared, mutants
from broker_tck.properties.errors import BadInput
from broker_tck.properties.worth.killing import Kills, kill_table
from broker_tck.properties.worth.known import stored

MUTANTS_EXAMPLES = """\b
Examples:
  broker-tck mutants --list
  broker-tck mutants --contract delayed-delivery
  broker-tck mutants --mutant duplicate-counted --anew --seeds 5
  broker-tck mutants --driver machine --contract negative-acks --part 2/3
"""


class Part(click.ParamType):  # type: ignore[type-arg] # older releases of click have no argument here
    """One of several parts, as in 2/3."""

    name = "part"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int]:
        """Which part, and of how many."""
        number, slash, count = str(value).partition("/")
        if not (slash and number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count)):
            self.fail(f"{value!r} is no part; 2/3 is the second of three", param, ctx)
        return int(number), int(count)


@click.command("mutants", epilog=MUTANTS_EXAMPLES)
@contracts_option
@click.option("--driver", type=Choice(["walk", "machine"]), default="walk", show_default=True)
@click.option(
    "--mutant",
    "names",
    multiple=True,
    metavar="NAME",
    shell_complete=completion.mutants,
    help="One mutant. Repeatable. Default: all.",
)
@click.option(
    "--seeds",
    type=click.IntRange(1, 1000),
    default=1,
    show_default=True,
    help="How many seeds.",
)
@click.option("--part", type=Part(), metavar="K/N", default="1/1", help="Of these the K-th, and each N-th from there.")
@anew_option
@click.option("--list", "listed", is_flag=True, help="Only list the mutants.")
@json_option
def mutants_command(
    contract_names: tuple[str, ...],
    driver: str,
    names: tuple[str, ...],
    seeds: int,
    part: tuple[int, int],
    anew: bool,
    listed: bool,
    as_json: bool,
) -> int:
    """Run a driver on every mutant: each must be killed by its own rule.

    The kit stores a failing walk for each mutant, and its reduced trace. It tries both first. If the walk no longer
    fails, or the trace no longer shows the mistake, it makes walks until one fails. --anew ignores what is stored.

    Each seed makes walks of 1,000,000 operations at most; walks are stored for the first seed only. --driver machine
    runs the state machine of Hypothesis with 2,000 examples a seed, without the deep mutants; it takes minutes.

    Exit status 1 if a mutant survives, if its own rule is not named, if its trace is too long, or if an operation can
    be left out of the trace. A trace may have 20 operations, that of a deep mutant 30; for the walk's first seed 12
    and 18. If a trace is longer than 12 operations, up to three failing walks are reduced, and the shortest trace
    counts.
    """
    chosen = part_of(chosen_mutants(chosen_contracts(contract_names), names), *part)
    every = list(chain.from_iterable(chosen.values()))
    if listed and as_json:
        print_json(one_or_all([document(c, map(mutant_json, of)) for c, of in chosen.items()]))
        return 0
    if listed:
        rows = [(m.name, m.rule, m.conditions, "deep" if m.deep else "", m.source or "-", m.wrong) for m in every]
        print_table("", ["mutant", "rule", "conditions", "", "source", "what it does wrong"], rows, right=(2,))
        return 0
    known = {} if anew else {name: proof for c in chosen for name, proof in stored(c).mutants.items()}
    with progress(len(every), driver, "mutants") as tell:
        table = kill_table(every, driver, seeds, lambda done, k: tell(done, k.mutant if k else ""), known)
    if as_json:
        home = {m.name: contract for contract, of in chosen.items() for m in of}
        rows_of = {c: [kills_json(k) for k in table if home[k.mutant] == c] for c in chosen}
        print_json(one_or_all([document(c, rows) for c, rows in rows_of.items()]))
    else:
        print_kills(table)
        if seeds == 1 and driver == "walk":
            tell_searched(sum(k.searched for k in table), anew)
    return 0 if table and all(k.passed for k in table) else 1


def chosen_mutants(contracts: Sequence[Contract], names: Sequence[str]) -> dict[str, list[Mutant]]:
    """The mutants that were named, else all, by contract. BadInput where there is none of a name."""
    known = {contract.name: mutants(contract) for contract in contracts}
    every = [mutant.name for of in known.values() for mutant in of]
    for name in names:
        if name in MUTANTS and name not in every:
            home = declared(name, MUTANTS[name].factory).contract.name
            raise BadInput(f"{name} is a mutant of {home}, not of {', '.join(known)}")
        if name not in every:
            raise BadInput(unknown("mutant", name, every, told=LISTED))
    chosen = {contract: [m for m in of if not names or m.name in names] for contract, of in known.items()}
    return {contract: of for contract, of in chosen.items() if of}


def part_of(chosen: dict[str, list[Mutant]], number: int, count: int) -> dict[str, list[Mutant]]:
    """Of each contract's mutants one in so many. BadInput where that is none."""
    part = {contract: of[number - 1 :: count] for contract, of in chosen.items()}
    if not any(part.values()):
        raise BadInput(f"part {number}/{count} has no mutant")
    return {contract: of for contract, of in part.items() if of}


def document(contract: str, rows: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """The mutants of a contract as a JSON object."""
    return {"contract": contract, "mutants": list(rows)}


def mutant_json(mutant: Mutant) -> dict[str, Any]:
    """A mutant as a JSON object."""
    return {f.name: getattr(mutant, f.name) for f in fields(mutant) if f.name != "factory"}


def kills_json(k: Kills) -> dict[str, Any]:
    """A row as a JSON object."""
    return {**msgspec.to_builtins(k), "passed": k.passed}


def print_kills(table: list[Kills]) -> None:
    """Print the kill table."""
    rows = [
        (
            k.mutant + (" (deep)" if k.deep else ""),
            k.rule,
            k.driver,
            f"{k.killed} of {k.seeds}",
            ", ".join(f"{rule} {n}" for rule, n in k.killed_by.items()),
            f"{k.alone}",
            f"{k.operations:,}",
            k.length,
            k.fault,
        )
        for k in table
    ]
    head = ["mutant", "rule", "driver", "killed", "rules named", "alone", "operations", "longest", ""]
    print_table("", head, rows, right=(5, 6, 7))
    killed, alone = sum(k.killed for k in table), sum(k.alone for k in table)
    click.echo(
        f"\n{sum(k.passed for k in table)} of {len(table)} rows passed; {killed} findings, own rule alone in {alone}"
    )
