"""What an earlier run found, tried again: the walk that failed, and the reduced trace on which a rule was named."""

from __future__ import annotations

from broker_tck.model.reference import Reference
from broker_tck.properties.engine.subjects import Subject
from broker_tck.properties.engine.trace import from_text
from broker_tck.properties.engine.walk import walks
from broker_tck.properties.errors import BadInput
from broker_tck.properties.findings.diagnose import Diagnoser
from broker_tck.properties.findings.finding import Finding, failure


def fails_again(subject: Subject, model: type[Reference], seed: int, number: int) -> bool:
    """Whether the walk of this number fails."""
    (done,) = walks(subject.contract, seed, (number,), subject.rig, model, subject.capabilities, subject.seconds)
    return done.difference is not None


def found_again(text: str, subject: Subject, diagnoser: Diagnoser) -> Finding | None:
    """The finding that a reduced trace is; None where it no longer fails with its last operation."""
    try:
        trace = from_text(text)
    except BadInput:  # it is of other operations than there are now
        return None
    config, operations = trace.config, tuple(trace.operations)
    found = failure(subject, diagnoser.model, config, operations)
    if found is None or found[0] < len(operations) - 1:
        return None
    diagnosis = diagnoser.diagnose((config, operations), found[1])
    of, profile = subject.name, diagnoser.model.PROFILE
    return Finding(of, subject.contract, profile, config, operations, found[1], diagnosis, None, len(operations))
