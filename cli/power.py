"""``power``: every known wrong way of every rule, run as the subject."""

from __future__ import annotations

from typing import Any, NamedTuple

import click
import msgspec

from broker_tck.cli import completion
from broker_tck.cli.known import anew_option, tell_searched
from broker_tck.cli.options import chosen_contracts, chosen_profile, contracts_option, json_option, seed_option
from broker_tck.cli.output import one_or_all, print_json, print_table, progress
from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.mistakes.book import ways_of
from broker_tck.properties.worth.known import Known, stored
from broker_tck.properties.worth.meeting import WALKS, met_in
from broker_tck.properties.worth.power import Power, law_tables, power_tables, unproven

LEAST = 5
"""So many of the rules that matter least often are named."""
POWER_EXAMPLES = """\b
Examples:
  broker-tck power
  broker-tck power --contract negative-acks --json
  broker-tck power --contract negative-acks --anew --seed 7
"""


@click.command(epilog=POWER_EXAMPLES)
@contracts_option
@click.option(
    "--profile", metavar="P", shell_complete=completion.profiles, help="The profile. Default: the contract's own."
)
@seed_option
@anew_option
@json_option
def power_command(contract_names: tuple[str, ...], profile: str | None, seed: int, anew: bool, as_json: bool) -> int:
    """Run every known wrong way of every rule as the subject, and see it killed.

    A way that survives shows a rule that nothing can violate, or a generator that does not get there. Exit status 1
    then, and where a checkable rule or a law has nothing that it kills. The last line says which rules matter least
    often in walks.

    For seed 0 and the contract's own profile, the kit stores a failing walk for each way, and the reduced trace on
    which its rule is named. It tries both first. If one no longer holds, it makes walks until one fails. With --anew,
    another seed or another profile it searches for all, which takes minutes.
    """
    chosen = [(contract, chosen_profile(contract, profile)) for contract in chosen_contracts(contract_names, profile)]
    known = {c.name: Known() if anew or seed or p != chosen_profile(c, None) else stored(c.name) for c, p in chosen}
    with progress(sum(len(ways_of(c.model(p))) for c, p in chosen), "running", "wrong ways") as tell:
        tables = power_tables(chosen, seed, lambda done, p: tell(done, p.rule if p else ""), known)
    laws = law_tables(chosen, seed, known)
    told = zip(chosen, tables, laws, strict=True)
    worth = [Worth(c, p, table, law, met_in(c, p, seed)) for (c, p), table, law in told]
    if as_json:
        print_json(one_or_all([worth_json(each) for each in worth]))
    else:
        for each in worth:
            print_worth(each)
        tell_searched(sum(p.searched for table in tables for p in table), not any(k.ways for k in known.values()))
    return 0 if all(each.proven for each in worth) else 1


class Worth(NamedTuple):
    """What the rules of a profile were found to be worth."""

    contract: Contract
    profile: str
    table: list[Power]
    laws: dict[str, str]
    met: dict[str, int]
    """In how many walks each rule mattered."""

    @property
    def alive(self) -> list[Power]:
        """The wrong ways that survived."""
        return [p for p in self.table if not p.killed]

    @property
    def named(self) -> int:
        """How many of them were named by their own rule."""
        return sum(p.rule in p.named for p in self.table)

    @property
    def missing(self) -> list[str]:
        """The rules and laws that nothing was killed by."""
        return unproven(self.contract, self.profile, self.table, self.laws)

    @property
    def proven(self) -> bool:
        """Whether everything was killed, by its own rule."""
        return not (self.alive or self.missing) and self.named == len(self.table)


def worth_json(worth: Worth) -> dict[str, Any]:
    """What a profile's rules are worth, as a JSON object."""
    document = {"ways": msgspec.to_builtins(worth.table), "laws": worth.laws, "met_in": worth.met}
    counts = {"survived": len(worth.alive), "unproven": worth.missing}
    return {"contract": worth.contract.name, "profile": worth.profile, **document, **counts}


def print_worth(worth: Worth) -> None:
    """Print what a profile's rules are worth."""
    head = ["rule", "clause", "wrong way", "killed", "walks", "named"]
    print_table(f"{worth.contract.name}, {worth.profile}", head, [power_row(p) for p in worth.table], right=(4,))
    click.echo()
    print_table("", ["law", "broken by"], sorted(worth.laws.items()))
    killed = len(worth.table) - len(worth.alive)
    click.echo(f"\n{killed} of {len(worth.table)} wrong ways killed, {worth.named} named by their own rule")
    click.echo(met_text(worth.met))
    for number in worth.missing:
        click.echo(f"NOT PROVEN {number}: nothing that breaks it was killed")


def met_text(met: dict[str, int]) -> str:
    """How often rules matter in walks, in a line."""
    least = ", ".join(f"{number} in {met[number]}" for number in sorted(met, key=lambda n: (met[n], n))[:LEAST])
    return f"{sum(map(bool, met.values()))} of {len(met)} rules mattered in some of {WALKS} walks; least often: {least}"


def power_row(p: Power) -> tuple[object, ...]:
    """A row of the table of wrong ways."""
    way, clause = p.way.replace("_", " "), p.clause.replace("_", " ")
    killed = "killed" if p.killed else "SURVIVED"
    return p.rule, clause, way, killed, f"{p.walks:,}", ", ".join(p.named)
