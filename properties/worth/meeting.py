"""How often rules matter in walks, whatever the subject: seen on a model that is its own subject."""

from __future__ import annotations

from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.engine.run import Run, checked
from broker_tck.properties.engine.subjects import as_subject
from broker_tck.properties.worth.exercised import by_rule

WALKS = 50
"""So many walks tell how often rules matter."""


def met_in(contract: Contract, profile: str, seed: int) -> dict[str, int]:
    """In how many of :data:`WALKS` walks each rule matters that a subject can be seen to break, laws aside."""
    run = Run(as_subject(profile, contract, contract.model(profile)), profile, seed)
    for _ in checked(run, range(WALKS), counted=1):
        pass
    counts = by_rule(run.model, run.met_in)
    return {rule.number: counts[rule.number] for rule in run.rules if rule.number in counts and not rule.law}
