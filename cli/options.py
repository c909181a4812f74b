"""Options that several commands have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from broker_tck.properties.contract import Contract
from broker_tck.properties.contracts import CONTRACTS
from broker_tck.properties.errors import BadInput
from broker_tck.properties.subjects import Subject, bundled, contract_named, resolve

F = TypeVar("F", bound=Callable[..., Any])

contract_option = click.option(
    "--contract",
    "contract_name",
    metavar="C",
    help=f"The contract. Default: that of the subjects or rules that are named, else {next(iter(CONTRACTS))}.",
)
subject_option = click.option(
    "--subject",
    "subject_names",
    multiple=True,
    metavar="S",
    help="A bundled subject, an entry point, pkg.module:Factory or mutant:NAME. Repeatable. Default: all bundled.",
)
one_subject_option = click.option(
    "--subject",
    "subject_name",
    required=True,
    metavar="S",
    help="The subject: a name, pkg.module:Factory, mutant:NAME.",
)
profile_option = click.option("--profile", metavar="P", help="The profile. Default: those that the subject declares.")
seed_option = click.option("--seed", default=0, show_default=True, type=click.IntRange(0, 2**31 - 1), help="The seed.")
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document on standard output.")


def chosen_subjects(contract: Contract, names: Sequence[str]) -> list[Subject]:
    """The subjects that were named, else all bundled ones of the contract."""
    subjects = [resolve(name) for name in names] or bundled(contract)
    for subject in subjects:
        if subject.contract is not contract:
            raise BadInput(f"{subject.name} is a subject of {subject.contract.name}, not of {contract.name}")
    return subjects


def chosen_profiles(subject: Subject, profile: str | None) -> tuple[str, ...]:
    """The profile that was named, else those that the subject declares."""
    if profile is not None:
        known_profile(subject.contract, profile)
    return (profile,) if profile else subject.profiles


def known_profile(contract: Contract, profile: str) -> str:
    """A profile of the contract."""
    try:
        contract.model(profile)
    except ValueError as error:
        raise BadInput(str(error)) from None
    return profile


def chosen_contract(name: str | None, subjects: Sequence[str] = (), rules: Sequence[str] = ()) -> Contract:
    """The contract that was named, else that of the first subject or rule, else the first of all."""
    if name:
        return contract_named(name)
    if subjects:
        return resolve(subjects[0]).contract
    having = (c for c in CONTRACTS.values() if {*rules} & c.rules.keys())
    return next(having, next(iter(CONTRACTS.values())))
