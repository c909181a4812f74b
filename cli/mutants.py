"""``mutants``: what kills each mutant, and by which rule."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import click
import msgspec

from broker_tck.cli.options import chosen_contract, contract_option, json_option
from broker_tck.cli.output import print_json, print_table, progress
from broker_tck.implementations.mutants.mutant import Mutant
from broker_tck.properties.engine.subjects import mutants
from broker_tck.properties.errors import BadInput
from broker_tck.properties.worth.killing import (
    MACHINE_SEEDS,
    SEEDS,
    Kills,
    kill_table,
)

MUTANTS_EXAMPLES = """\b
Examples:
  broker-tck mutants --list
  broker-tck mutants --contract delayed-delivery --json
  broker-tck mutants --driver machine --seeds 1
  broker-tck mutants --driver walk --mutant duplicate-counted
"""


@click.command("mutants", epilog=MUTANTS_EXAMPLES)
@contract_option
@click.option("--driver", type=click.Choice(["walk", "machine", "both"]), default="both", show_default=True)
@click.option("--mutant", "names", multiple=True, metavar="NAME", help="One mutant. Repeatable. Default: all.")
@click.option("--seeds", type=click.IntRange(1, 1000), help=f"Seeds. Default: {SEEDS} walks, {MACHINE_SEEDS} machines.")
@click.option("--list", "listed", is_flag=True, help="Only list the mutants.")
@json_option
def mutants_command(
    contract_name: str | None, driver: str, names: tuple[str, ...], seeds: int | None, listed: bool, as_json: bool
) -> int:
    """Set walk and machine on every mutant: each has to be killed, by its own rule.

    Each seed of the walk has 1,000,000 operations, each of the machine 2,000 examples; the machine is not asked
    for the deep mutants. Exit status 1 if one survives, is not named by its own rule, or has a trace of more
    than 20 operations (30 if it is deep; 12 and 18 for the walk's first seed), or one that an operation can be
    left out of.
    """
    contract = chosen_contract(contract_name, [f"mutant:{name}" for name in names])
    chosen = [m for m in mutants(contract) if not names or m.name in names]
    for name in names:
        if name not in {m.name for m in chosen}:
            raise BadInput(f"unknown mutant {name!r}; `broker-tck mutants --list` names them")
    if listed and as_json:
        print_json({"contract": contract.name, "mutants": [mutant_json(m) for m in chosen]})
        return 0
    if listed:
        rows = [(m.name, m.rule, m.conditions, "deep" if m.deep else "", m.source or "-", m.wrong) for m in chosen]
        print_table("", ["mutant", "rule", "conditions", "", "source", "what it does wrong"], rows, right=(2,))
        return 0
    table: list[Kills] = []
    for each, default in (("walk", SEEDS), ("machine", MACHINE_SEEDS)):
        if driver in (each, "both"):
            with progress(len(chosen), each) as tell:
                table += kill_table(chosen, each, seeds or default, lambda done, k: tell(done, k.mutant))
    if as_json:
        print_json({"contract": contract.name, "mutants": [kills_json(k) for k in table]})
    else:
        print_kills(table)
    return 0 if table and all(k.passed for k in table) else 1


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
