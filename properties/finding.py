"""A finding: a violated rule, its reduced trace, and how it came to be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from broker_tck.model.reference import Reference
from broker_tck.properties.check import Difference, first_difference, hangs, no_answer
from broker_tck.properties.contract import Contract
from broker_tck.properties.diagnose import Diagnoser, Diagnosis, observable
from broker_tck.properties.operation import Operation
from broker_tck.properties.reduce import Reducer
from broker_tck.properties.subjects import Subject
from broker_tck.properties.watchdog import Hang, limit

PROBE_SECONDS = 0.3
BULK_SECONDS = 4e-5
"""How long a subject may take over one trace while a finding is reduced: and for each of a bulk's n."""


@dataclass(frozen=True)
class Finding:
    """A rule that a subject violates under a profile, with the shortest trace found."""

    subject: str
    contract: Contract
    profile: str
    config: Any
    operations: tuple[Operation, ...]
    difference: Difference
    diagnosis: Diagnosis
    seed: int | None
    """The seed of the walk that found it; None: not a walk."""
    found_after: int
    """The operations of the trace that was reduced."""

    @property
    def rule(self) -> str:
        """The number of the rule that is named first."""
        return self.diagnosis.rules[0]

    @property
    def observed(self) -> str:
        """The name of what differed at the last operation."""
        return observable(self.contract, self.difference)


def failure(
    subject: Subject, model: type[Reference], config: Any, operations: Sequence[Operation], seconds: float = 0
) -> tuple[int, Difference] | None:
    """Where a trace fails, and how; ``seconds`` limits it otherwise than by its length."""
    try:
        with limit(seconds or PROBE_SECONDS + BULK_SECONDS * sum(getattr(o, "n", 0) for o in operations)):
            rig = subject.rig(config, subject.capabilities)
            return first_difference(operations, model(config), rig)
    except Hang as hang:
        return 0, no_answer(hang)


def find(
    subject: Subject, diagnoser: Diagnoser, config: Any, operations: Sequence[Operation], seed: int | None
) -> Finding | None:
    """Make a finding of a failing trace: reduce it, keeping the way that explains it, then diagnose.

    None where the trace, replayed, does not fail: the subject does not always do the same.
    """
    contract, model = subject.contract, diagnoser.model
    first = failure(subject, model, config, operations)
    if first is None:
        return None
    kept = kind(contract, operations[first[0]], first[1])
    explaining = [] if hangs(first[1]) else diagnoser.fitting(config, operations[: first[0] + 1])

    def fails(config: Any, operations: Sequence[Operation]) -> int | None:
        found = failure(subject, model, config, operations)
        if found is None:
            return None
        at, difference = found
        if not explaining:
            return at if kind(contract, operations[at], difference) == kept else None
        return at if diagnoser.fitting(config, operations[: at + 1], explaining) else None

    config, operations = Reducer(fails, contract.config()).reduce(config, operations)
    found = failure(subject, model, config, operations)
    assert found is not None
    diagnosis = diagnoser.diagnose((config, operations), found[1])
    return Finding(
        subject.name, contract, model.PROFILE, config, tuple(operations), found[1], diagnosis, seed, first[0] + 1
    )


def kind(contract: Contract, operation: Operation, difference: Difference) -> tuple[str, str, bool]:
    """What a failure is like: the kind of operation, what differed, and whether it was an error."""
    error = isinstance(difference.seen, dict) and "error" in difference.seen
    return operation.tag, observable(contract, difference), error
