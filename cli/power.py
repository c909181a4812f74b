"""``power``: every known wrong way of every rule, run as the subject."""

from __future__ import annotations

import click
import msgspec

from broker_tck.cli.options import chosen_contract, contract_option, json_option, known_profile, seed_option
from broker_tck.cli.output import print_json, print_table, progress
from broker_tck.model.rules import ways_of
from broker_tck.properties.worth.killing import (
    Power,
    law_table,
    power_table,
    unproven,
)

POWER_EXAMPLES = "\b\nExamples:\n  broker-tck power\n  broker-tck power --json\n"


@click.command(epilog=POWER_EXAMPLES)
@contract_option
@click.option("--profile", metavar="P", help="The profile. Default: the contract's own.")
@seed_option
@json_option
def power(contract_name: str | None, profile: str | None, seed: int, as_json: bool) -> int:
    """Run every known wrong way of every rule as the subject, and see it killed.

    A way that survives shows a rule that nothing can violate, or a generator that does not get there. Exit status 1
    then, and where a checkable rule or a law has nothing that it kills.
    """
    contract = chosen_contract(contract_name)
    chosen = known_profile(contract, profile or contract.default)
    with progress(len(ways_of(contract.model(chosen))), "wrong ways") as tell:
        table = power_table(contract, chosen, seed, lambda done, p: tell(done, p.rule))
    with progress(len(contract.laws) + len(contract.variations), "laws") as tell:
        laws = law_table(contract, chosen, seed, tell)
    missing = unproven(contract, chosen, table, laws)
    alive = [p for p in table if not p.killed]
    named = sum(p.rule in p.named for p in table)
    if as_json:
        document = {"ways": msgspec.to_builtins(table), "laws": laws, "survived": len(alive), "unproven": missing}
        print_json({"contract": contract.name, "profile": chosen, **document})
    else:
        head = ["rule", "clause", "wrong way", "killed", "walks", "operations", "named"]
        rows = [power_row(p) for p in table]
        print_table("", head, rows, right=(4, 5))
        click.echo()
        print_table("", ["law", "broken by"], sorted(laws.items()))
        click.echo(f"\n{len(table) - len(alive)} of {len(table)} wrong ways killed, {named} named by their own rule")
        for number in missing:
            click.echo(f"NOT PROVEN {number}: nothing that breaks it was killed")
    return 1 if alive or missing or named < len(table) else 0


def power_row(p: Power) -> tuple[object, ...]:
    """A row of the table of wrong ways."""
    way, clause = p.way.replace("_", " "), p.clause.replace("_", " ")
    killed = "killed" if p.killed else "SURVIVED"
    return p.rule, clause, way, killed, f"{p.walks:,}", f"{p.operations:,}", ", ".join(p.named)
