"""What is stored of mutants and wrong ways: for each a walk that fails, and its reduced trace. Both are tried again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from broker_tck.fixtures import kills
from broker_tck.model.reference import Reference
from broker_tck.properties.engine.subjects import Subject
from broker_tck.properties.engine.trace import from_text
from broker_tck.properties.engine.walk import Walk, walks
from broker_tck.properties.errors import BadInput
from broker_tck.properties.explain.diagnose import WALKS, Diagnoser
from broker_tck.properties.explain.finding import Finding
from broker_tck.properties.search.failing import failure

FEW = 3
"""How many whole walks the first diagnosis of a stored trace has; a second one, if need be, has the usual number."""


class Proof(msgspec.Struct, frozen=True, array_like=True):
    """What kills a subject."""

    walk: int
    """The number of the walk of seed 0 that fails first."""
    trace: str
    """The reduced trace on which the subject's own rule was named, as text."""


class Known(msgspec.Struct, frozen=True):
    """What is known of a contract."""

    mutants: dict[str, Proof] = {}
    """By the mutant's name."""
    ways: dict[str, Proof] = {}
    """By rule, clause and name of the wrong way, for the contract's own profile."""
    laws: dict[str, str] = {}
    """Each law and variation, and the way that breaks it; an empty name if the search found none."""


def stored(contract: str) -> Known:
    """What is stored of a contract; nothing if it has no file yet."""
    file = kills(contract)
    return msgspec.json.decode(file.read_bytes(), type=Known) if file.exists() else Known()


def store(file: Path, known: Known) -> None:
    """Write what is known, one row a line."""
    tables = ((name, msgspec.to_builtins(getattr(known, name))) for name in known.__struct_fields__)
    text = ",\n".join(f'"{name}": {{\n{rows(table)}\n}}' for name, table in tables)
    file.write_text(f"{{\n{text}\n}}\n", encoding="utf-8")


def rows(table: Mapping[str, object]) -> str:
    """The members of a JSON object, one a line."""
    encoded = (msgspec.json.encode({name: value}).decode()[1:-1] for name, value in table.items())
    return ",\n".join(encoded)


def failed_again(subject: Subject, model: type[Reference], seed: int, number: int) -> Walk | None:
    """The walk of this number, if it fails."""
    (done,) = walks(subject.contract, seed, (number,), subject.rig, model, subject.capabilities, subject.seconds)
    return done if done.difference else None


def found_again(
    proof: Proof, rule: str, subject: Subject, model: type[Reference], itself: type[Reference] | None = None
) -> Finding | None:
    """The finding of a stored trace. None if the trace does not fail with its last operation, or the rule is not named.

    ``itself`` is the model that is the subject, if one is.
    """
    try:
        trace = from_text(proof.trace)
    except BadInput:  # operations have changed since
        return None
    config, operations = trace.config, tuple(trace.operations)
    found = failure(subject, model, config, operations)
    if found is None or found[0] < len(operations) - 1:
        return None
    for count in (FEW, WALKS):
        diagnoser = Diagnoser(subject.contract, model, subject.rig, subject.capabilities, itself, count)
        diagnosis = diagnoser.diagnose((config, operations), found[1])
        if rule in diagnosis.rules:
            of, profile = subject.name, model.PROFILE
            return Finding(
                of, subject.contract, profile, config, operations, found[1], diagnosis, None, len(operations)
            )
    return None
