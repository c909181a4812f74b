"""Shell completion for the names of contracts, subjects, profiles and rules."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import click

from broker_tck.properties.engine.registry import CONTRACTS
from broker_tck.properties.engine.subjects import bundled, plugged_in

Complete = Callable[[click.Context, click.Parameter, str], list[str]]


def offering(names: Callable[[], Iterable[str]]) -> Complete:
    """Offers the names that begin with the text so far, in upper or lower case."""

    def complete(_context: click.Context, _parameter: click.Parameter, written: str) -> list[str]:
        return [name for name in dict.fromkeys(names()) if name.lower().startswith(written.lower())]

    return complete


contracts = offering(lambda: CONTRACTS)
subjects = offering(lambda: [*(s.name for contract in CONTRACTS.values() for s in bundled(contract)), *plugged_in()])
profiles = offering(lambda: [profile for contract in CONTRACTS.values() for profile in contract.profiles])
rules = offering(lambda: [number for contract in CONTRACTS.values() for number in contract.rules])


def known_mutants() -> Iterable[str]:
    """The names of all mutants."""
    from broker_tck.properties.mistakes.implementations import MUTANTS

    return MUTANTS


mutants = offering(known_mutants)
