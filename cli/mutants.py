"""``mutants``: what kills each mutant, and by which rule."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from itertools import chain
from typing import Any

import click
import msgspec

from broker_tck.cli import completion
from broker_tck.cli.known import known_in, known_option
from broker_tck.cli.options import Choice, chosen_contracts, contracts_option, json_option
from broker_tck.cli.output import one_or_all, print_json, print_table, progress
from broker_tck.implementations.mutants import MUTANTS
from broker_tck.implementations.mutants.mutant import Mutant
from broker_tck.implementations.naming import unknown
from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.engine.subjects import LISTED, declared, mutants
from broker_tck.properties.errors import BadInput
from broker_tck.properties.worth.killing import MACHINE_SEEDS, SEEDS, Kills, kill_table

MUTANTS_EXAMPLES = """\b
Examples:
  broker-tck mutants --list
  broker-tck mutants --contract delayed-delivery --json
  broker-tck mutants --driver machine --seeds 1 --part 2/3
  broker-tck mutants --driver walk --mutant duplicate-counted
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
@click.option("--driver", type=Choice(["walk", "machine", "both"]), default="both", show_default=True)
@click.option(
    "--mutant",
    "names",
    multiple=True,
    metavar="NAME",
    shell_complete=completion.mutants,
    help="One mutant. Repeatable. Default: all.",
)
@click.option("--seeds", type=click.IntRange(1, 1000), help=f"Seeds. Default: {SEEDS} walks, {MACHINE_SEEDS} machines.")
@click.option("--part", type=Part(), metavar="K/N", default="1/1", help="Of these the K-th, and each N-th from there.")
@known_option("Begin with what an earlier `mutants --json` told: each seed's walk that failed, and its reduced trace.")
@click.option("--list", "listed", is_flag=True, help="Only list the mutants.")
@json_option
def mutants_command(
    contract_names: tuple[str, ...],
    driver: str,
    names: tuple[str, ...],
    seeds: int | None,
    part: tuple[int, int],
    known: str | None,
    listed: bool,
    as_json: bool,
) -> int:
    """Set walk and machine on every mutant: each has to be killed, by its own rule.

    Each seed of the walk has 1,000,000 operations, each of the machine 2,000 examples; the machine is not asked
    for the deep mutants. Exit status 1 if one survives, is not named by its own rule, or has a trace of more
    than 20 operations (30 if it is deep; 12 and 18 for the walk's first seed), or one that an operation can be
    left out of. Where the trace of a walk is longer than 12 operations, the shortest of three walks that fail counts.

    With --known a seed of the walk kills a mutant where the known walk fails, and the known trace is named by the
    mutant's own rule and still minimal. Where that is not so, or nothing is known of it, it is searched for.
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
    told = [row for each in known_in(known, Told, "mutants") for row in each.mutants] if known else []
    table: list[Kills] = []
    for each, default in (("walk", SEEDS), ("machine", MACHINE_SEEDS)):
        if driver in (each, "both"):
            with progress(len(every), each, "mutants") as tell:
                table += kill_table(
                    every, each, seeds or default, lambda done, k: tell(done, k.mutant if k else ""), told
                )
    if as_json:
        home = {m.name: contract for contract, of in chosen.items() for m in of}
        rows_of = {c: [kills_json(k) for k in table if home[k.mutant] == c] for c in chosen}
        print_json(one_or_all([document(c, rows) for c, rows in rows_of.items()]))
    else:
        print_kills(table)
    return 0 if table and all(k.passed for k in table) else 1


class Told(msgspec.Struct):
    """What `mutants --json` told of a contract."""

    mutants: list[Kills]


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
            f"{k.seconds:.2f}",
            k.length,
            k.fault,
        )
        for k in table
    ]
    head = ["mutant", "rule", "driver", "killed", "rules named", "alone", "operations", "seconds", "longest", ""]
    print_table("", head, rows, right=(5, 6, 7, 8))
    killed, alone = sum(k.killed for k in table), sum(k.alone for k in table)
    click.echo(
        f"\n{sum(k.passed for k in table)} of {len(table)} rows passed; {killed} findings, own rule alone in {alone}"
    )
