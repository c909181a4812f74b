"""``prove``: every known mistake runs as the subject, and must be noticed by its own rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click

from broker_tck.cli import completion
from broker_tck.cli.options import chosen_contracts, chosen_profile, contracts_option, json_option, seed_option
from broker_tck.cli.output import print_json, print_table, progress
from broker_tck.implementations.naming import unknown
from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.errors import BadInput
from broker_tck.properties.proving.invariants import invariants_broken, to_break, unproven
from broker_tck.properties.proving.proofs import BY_TRACE_ALONE, Proof, store
from broker_tck.properties.proving.prove import WALKS, Candidate, Proved, mistakes, proofs_of, prove_all

PROVE_EXAMPLES = """\b
Examples:
  broker-tck prove
  broker-tck prove --contract negative-acks --list
  broker-tck prove --mistake duplicate-counted --anew --seed 7
  broker-tck prove --rule DD-05 --rule DD-06 --json
"""


class Proofs(NamedTuple):
    """The results of the mistakes of a profile."""

    contract: Contract
    profile: str
    proved: list[Proved]
    broken: dict[str, str]
    """Each invariant and relation, with a mistake that breaks it."""
    missing: list[str]
    """The rules and invariants that nothing proves; empty if only some mistakes were chosen."""

    @property
    def failed(self) -> list[Proved]:
        """The mistakes that no walk notices, or not by their own rule."""
        return [each for each in self.proved if not each.own]


@click.command(epilog=PROVE_EXAMPLES)
@contracts_option
@click.option(
    "--profile", metavar="P", shell_complete=completion.profiles, help="The profile. Default: the contract's own."
)
@click.option("--rule", "rules", multiple=True, metavar="R", help="Only the mistakes in this rule. Repeatable.")
@click.option(
    "--mistake",
    "names",
    multiple=True,
    metavar="NAME",
    shell_complete=completion.mutants,
    help="One mistake, as --list names it. Repeatable.",
)
@seed_option
@click.option("--anew", is_flag=True, help="Ignore the stored walks and traces; search for new ones.")
@click.option("--list", "listed", is_flag=True, help="Only list the mistakes.")
@click.option("--write", type=click.Path(path_type=Path, dir_okay=False), help="Write the proofs of all contracts.")
@json_option
def prove_command(
    contract_names: tuple[str, ...],
    profile: str | None,
    rules: tuple[str, ...],
    names: tuple[str, ...],
    seed: int,
    anew: bool,
    listed: bool,
    write: Path | None,
    as_json: bool,
) -> int:
    """Run every known mistake as the subject: a walk must notice it, and its own rule must be named.

    A mistake is a wrong clause of a model, or a broken implementation. For each mistake, the kit has stored a walk that
    fails and the reduced trace of that walk. The command runs both. If one of them no longer fails, it makes up to
    1,000 walks. If none of these walks fails, a stored trace that fails is enough, and the output names the mistake.
    The command also looks for a mistake that breaks each invariant.

    The exit status is 1 if a mistake is not noticed, if its own rule is not named, or if a rule has no mistake that
    is noticed.
    """
    if write and (contract_names or profile or rules or names or seed or listed):
        raise BadInput("--write writes all proofs of seed 0; only --anew and --json go with it")
    profiles = [(contract, chosen_profile(contract, profile)) for contract in chosen_contracts(contract_names, profile)]
    chosen = {each: of for each in profiles if (of := picked(*each, rules, names))}
    every = [mistake for of in chosen.values() for mistake in of]
    if not every:
        raise BadInput(nothing_chosen(rules, names))
    if listed:
        print_list(every, as_json)
        return 0
    with progress(len(every), "proving", "mistakes") as tell:
        proved = prove_all(every, seed, anew, lambda done, last: tell(done, last.mistake.rule if last else ""))
    results = results_of(chosen, proved, seed, anew, whole=not (rules or names))
    if write:
        store(write, [proof for each in results for proof in lines(each)])
    if as_json:
        documents = [as_document(each) for each in results]
        print_json(documents[0] if len(documents) == 1 else {"contracts": documents})
    else:
        for each in results:
            print_proofs(each)
    return 1 if any(each.failed or each.missing for each in results) else 0


def results_of(
    chosen: Mapping[tuple[Contract, str], list[Candidate]], proved: Sequence[Proved], seed: int, anew: bool, whole: bool
) -> list[Proofs]:
    """The results of the mistakes of each profile; if all mistakes were chosen, of its invariants too."""
    broken = invariants_broken([*chosen], seed, anew) if whole else [{} for _ in chosen]
    results = []
    for ((contract, profile), wanted), invariants in zip(chosen.items(), broken, strict=True):
        mine = [each for each in proved if each.mistake in wanted]
        missing = unproven(contract, profile, mine, invariants) if whole else []
        results.append(Proofs(contract, profile, mine, invariants, missing))
    return results


def picked(contract: Contract, profile: str, rules: Sequence[str], names: Sequence[str]) -> list[Candidate]:
    """The mistakes of a profile that are in these rules and have these names; without rules or names, any."""
    wanted = {plain(name) for name in names}
    found = (each for each in mistakes(contract, profile) if not rules or each.rule in rules)
    return [each for each in found if not wanted or plain(each.name) in wanted]


def plain(name: str) -> str:
    """A name in which each underscore is a space."""
    return name.replace("_", " ")


def nothing_chosen(rules: Sequence[str], names: Sequence[str]) -> str:
    """Why nothing was chosen."""
    if names:
        every = [each.name for contract in chosen_contracts(()) for each in mistakes(contract, contract.default)]
        return unknown("mistake", names[0], every, told="`broker-tck prove --list` names them")
    return f"no known mistake is in {', '.join(rules)}"


def lines(of: Proofs) -> list[Proof]:
    """The lines of the file of proofs for one contract."""
    invariants = to_break(of.contract, of.profile)
    return [
        *proofs_of(of.proved),
        *(Proof(of.contract.name, of.broken.get(name, ""), invariant=name) for name in invariants),
    ]


def print_list(every: Sequence[Candidate], as_json: bool) -> None:
    """Print mistakes: rule, name, where each was seen, and what it does."""
    if as_json:
        print_json({"mistakes": [each._asdict() for each in every]})
        return
    print_table("", ["rule", "mistake", "seen", "says"], [(m.rule, m.name, m.seen or "-", m.says) for m in every])


def as_document(of: Proofs) -> dict[str, Any]:
    """The results of the mistakes of a profile, as a JSON object."""
    return {
        "contract": of.contract.name,
        "profile": of.profile,
        "mistakes": [
            {
                "rule": each.mistake.rule,
                "mistake": each.mistake.name,
                "noticed": each.proof is not None,
                "walk": each.walk,
                "named": each.proof.rules if each.proof else (),
                "trace": each.proof.trace if each.proof else "",
                "searched": each.searched,
            }
            for each in of.proved
        ],
        "invariants": of.broken,
        "failed": len(of.failed),
        "unproven": of.missing,
    }


def print_proofs(of: Proofs) -> None:
    """Print the mistakes that failed, and the number of the others."""
    rows = [(each.mistake.rule, each.mistake.name, fault(each)) for each in of.failed]
    if rows:
        print_table(f"{of.contract.name}, {of.profile}", ["rule", "mistake", ""], rows)
    noticed, own = len(of.proved) - len(of.failed), sum(each.alone for each in of.proved)
    searched = sum(each.searched for each in of.proved)
    click.echo(
        f"{of.contract.name}, {of.profile}: {noticed} of {len(of.proved)} mistakes proved by their own rule, "
        f"{own} of them by no other rule; {len(of.broken)} invariants broken"
    )
    if by_trace := [each.mistake.name for each in of.proved if each.proof and each.walk == BY_TRACE_ALONE]:
        click.echo(
            f"{len(by_trace)} proved only by stored traces, as none of {WALKS:,} walks fails: {'; '.join(by_trace)}"
        )
    if searched:
        click.echo(f"{searched} searched anew, because no failing walk is stored or the stored walk no longer fails")
    for number in of.missing:
        click.echo(f"NOT PROVEN {number}: no known mistake proves that this rule is checked")


def fault(failed: Proved) -> str:
    """Why a mistake is not proved."""
    return f"named {', '.join(failed.proof.rules)}" if failed.proof else "not noticed"
