"""The file of proofs: a line for each known mistake, with a walk that notices it and its reduced trace."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path

import msgspec

from broker_tck import fixtures
from broker_tck.model.reference import Reference
from broker_tck.properties.engine.subjects import Subject
from broker_tck.properties.engine.trace import from_text
from broker_tck.properties.engine.walk import Walk, walks
from broker_tck.properties.errors import BadInput
from broker_tck.properties.explain.diagnose import WALKS, Diagnoser
from broker_tck.properties.explain.finding import Finding, finding_on
from broker_tck.properties.search.failing import failure

FEW = 3
"""Number of whole walks for the first diagnosis of a stored trace; if they do not suffice, it gets the usual number."""


BY_TRACE_ALONE = -1
"""In place of the number of a walk: only the stored trace shows the mistake, and walks seldom or never do."""


class Proof(msgspec.Struct, frozen=True, omit_defaults=True):
    """A line of the file: what notices a known mistake, or which mistake breaks an invariant."""

    contract: str
    mistake: str
    """Its rule, clause and name; or the name of a broken implementation. Empty if nothing breaks an invariant."""
    walk: int = 0
    """The number of the walk of seed 0 that fails; :data:`BY_TRACE_ALONE` if no walk was found that does."""
    trace: str = ""
    """The reduced trace, as text."""
    rules: tuple[str, ...] = ()
    """The rules that were named on the trace."""
    invariant: str = ""
    """The number of the invariant, or the name of the metamorphic relation, that the mistake breaks."""


@cache
def stored() -> tuple[Proof, ...]:
    """All proofs that the kit stores."""
    lines = fixtures.proofs().read_bytes().splitlines()
    return tuple(msgspec.json.decode(line, type=Proof) for line in lines)


def store(file: Path, proofs: Iterable[Proof]) -> None:
    """Write proofs, one a line."""
    file.write_bytes(b"".join(msgspec.json.encode(proof) + b"\n" for proof in proofs))


def failed_again(subject: Subject, model: type[Reference], number: int, seed: int = 0) -> Walk | None:
    """The walk of this number, if it fails."""
    (done,) = walks(subject.contract, seed, (number,), subject.adapter, model, subject.capabilities, subject.seconds)
    return done if done.difference else None


def found_again(
    text: str, rule: str, subject: Subject, model: type[Reference], itself: type[Reference] | None = None
) -> Finding | None:
    """The finding of a stored trace. None if the trace does not fail with its last operation, or the rule is not named.

    ``itself`` is the model that is the subject, if one is.
    """
    try:
        trace = from_text(text)
    except BadInput:  # operations have changed since
        return None
    found = failure(subject, model, trace.config, trace.operations)
    if found is None or found[0] < len(trace.operations) - 1:
        return None
    failed = replace(trace.walk, difference=found[1])
    for count in (FEW, WALKS):
        diagnosis = Diagnoser(subject, model, itself, count).diagnose((failed.config, failed.operations), found[1])
        if rule in diagnosis.rules:
            return finding_on(subject, model.PROFILE, failed, diagnosis)
    return None
