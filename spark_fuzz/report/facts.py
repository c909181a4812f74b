"""The rules that a pair must exercise, and the rules whose clauses its profile replaces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache

from broker_tck.properties.engine.registry import CONTRACTS
from broker_tck.properties.engine.subjects import Subject
from broker_tck.properties.errors import BadInput
from broker_tck.properties.search.exercised import by_rule, deviating, names_of
from broker_tck.properties.search.isolation.unloaded import resolve_unloaded
from broker_tck.properties.search.run import Run


@cache
def required(contract: str, subject: str, profile: str) -> tuple[str, ...]:
    """The rules that a pair must exercise, as in a run."""
    return tuple(rule.number for rule in Run(declaration(contract, subject), profile, 0).rules)


def replaced(contract: str, profile: str) -> frozenset[str]:
    """The rules whose clauses a profile replaces. These deviations have a check of their own."""
    return deviating(CONTRACTS[contract].model(profile))


def met(contract: str, subject: str, profile: str, counts: Mapping[str, int]) -> dict[str, int]:
    """How often each rule was met, by the counts of its clauses."""
    return by_rule(CONTRACTS[contract].model(profile), counts, declaration(contract, subject).lacked)


def names(contract: str, subject: str, profile: str, number: str) -> Sequence[str]:
    """The names under which a rule is counted: those of its clauses, or its number."""
    return names_of(CONTRACTS[contract].model(profile), declaration(contract, subject).lacked).get(number, [number])


def declaration(contract: str, subject: str) -> Subject:
    """The subject as it declares itself; one that is not installed here is taken to lack nothing."""
    about = CONTRACTS[contract]
    with suppress(BadInput):
        if (found := resolve_unloaded(subject)).contract is about:
            return found
    return Subject(subject, about, object, (about.default,), about.capabilities())
