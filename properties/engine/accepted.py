"""Accepted deviations: a subject declares them, or its profile is a class of the user's own."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import msgspec

from broker_tck.model.reference import Reference
from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.engine.mistakes import called
from broker_tck.properties.engine.profiles import base_of, imported
from broker_tck.properties.engine.subjects import Subject
from broker_tck.properties.mistakes.book import deviations_of


class AcceptedMistake(msgspec.Struct, frozen=True):
    """An accepted deviation: declared by the subject, in the profile's name, or by a class of the user's own."""

    rule: str
    mistake: str = msgspec.field(name="way")
    reason: str
    text: str
    """The deviation in a line."""


def accepted(subject: Subject, profile: str) -> list[AcceptedMistake]:
    """The accepted deviations of a subject under a profile."""
    reasons = {each.rule: each.reason for each in subject.accepts}
    mistakes = subject.contract.model(profile).ACCEPTS
    found = [
        (mistake.rule.number, str(mistake), reasons.get(mistake.rule.number, ""), called(mistake))
        for mistake in mistakes
    ]
    found += own(subject.contract, profile)
    return [
        AcceptedMistake(rule, mistake, reason, text_of(rule, name, reason)) for rule, mistake, reason, name in found
    ]


def text_of(rule: str, name: str, reason: str) -> str:
    """An accepted deviation in a line."""
    return f"accepted: deviates from {rule} ({name})" + (f": {reason}" if reason else "")


def own(contract: Contract, profile: str) -> Iterator[tuple[str, str, str, str]]:
    """The clauses that a class of the user's own replaces: rule, mistake, the class's own words, and its name."""
    name = base_of(profile)
    if name in contract.profiles:
        return
    model = contract.model(name)
    known = {mistake.clause for mistake in deviations_of(below(contract, model))}
    reason = (inspect.getdoc(imported(name)) or "").partition("\n")[0]
    for mistake in deviations_of(model):
        if mistake.clause not in known:
            yield (
                mistake.rule.number,
                f"{mistake.rule.number} {mistake.clause}: as {name}",
                reason,
                f"{mistake.clause} as {name}",
            )


def below(contract: Contract, model: type[Reference]) -> type[Reference]:
    """The contract's own model that a class of the user's own is below."""
    return next(base for base in model.__mro__ if base in contract.profiles.values())
