"""Findings of subjects that end their process, or do not come back: each replay has a process of its own."""

from __future__ import annotations

from typing import Any

from broker_tck.model.reference import Reference
from broker_tck.properties.engine.check import HANG, unanswered
from broker_tck.properties.engine.subjects import Subject
from broker_tck.properties.engine.walk import Walk
from broker_tck.properties.explain.diagnose import Diagnoser
from broker_tck.properties.explain.finding import Finding, find, unreduced
from broker_tck.properties.search.isolation.apart import Apart
from broker_tck.properties.search.isolation.guard import Limits

PROBE_SECONDS = 0.3
"""How long an operation may take while the trace of a hang is made shorter."""
MOST_UNANSWERED = 24
"""So many traces that are not answered a hang is reduced by: each costs its limit."""
MOST_STARTED = 24
"""So many replays a trace is reduced by if each starts much anew, as a Java."""
UNREPEATED = (
    "It did not fail again when it was replayed alone: the subject keeps something from walk to walk, or chance."
)
NOT_REDUCED = "It was not reduced: a shorter trace does not end in the same way."


def find_fatal(subject: Subject, model: type[Reference], failed: Walk, limits: Limits, parent: Any = None) -> Finding:
    """Make a finding of a trace on which a subject ends its process or does not come back, or does so near it.

    No known way is compared with the subject: its rule is that of the contract's table. Its note says why it was not
    reduced, if it was not.
    """
    judge = Apart(subject, limits, parent)
    hangs = subject.forks and failed.difference and unanswered(failed.difference) == HANG
    probing = Apart(subject, limits, parent, None if subject.forks else MOST_STARTED)
    if hangs:
        probing = Apart(subject, limits._replace(seconds=PROBE_SECONDS), parent, MOST_UNANSWERED)
    again = judge.failure(subject, model, failed.config, failed.operations)
    if again is None:
        return unreduced(subject, model.PROFILE, failed, note=UNREPEATED)
    diagnoser = Diagnoser(subject.contract, model, not_asked, subject.capabilities)
    upto = failed.operations[: again[0] + 1]
    finding = find(subject, diagnoser, failed.config, upto, failed.seed, probing.failure)
    if finding:
        last = judge.failure(subject, model, finding.config, finding.operations)
        if last and last[0] == len(finding.operations) - 1:
            return finding
    told = Walk(failed.seed, failed.config, [*upto], again[1])
    return unreduced(subject, model.PROFILE, told, note=NOT_REDUCED)


def not_asked(_config: Any, _capabilities: Any) -> Any:
    """Stands for a subject on its rig that is not asked in this process."""
    raise RuntimeError("the subject is asked for nothing in this process")
