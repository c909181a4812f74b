"""Subjects that do not always do the same: what a walk saw, and what its replay sees."""

from __future__ import annotations

from broker_tck.model.reference import Reference
from broker_tck.properties.engine.check import observable
from broker_tck.properties.engine.operation import clock_of
from broker_tck.properties.engine.subjects import Subject
from broker_tck.properties.engine.walk import Walk
from broker_tck.properties.engine.written import named_text, value_text
from broker_tck.properties.search.failing import failure

REPLAYS = 3


def flaky(subject: Subject, model: type[Reference], failed: Walk) -> str:
    """In what a failing walk, replayed, differs from itself, as a sentence."""
    assert failed.difference
    first = len(failed.operations) - 1, failed.difference
    replays = (failure(subject, model, failed.config, failed.operations) for _ in range(REPLAYS))
    other = next((found for found in replays if found != first), first)
    if other == first:
        return "the subject does not always do the same: a walk fails again, and its shorter traces not always"
    at, difference = min((found for found in (first, other) if found), key=lambda found: found[0])
    both = (found[1].seen if found and found[0] == at else difference.expected for found in (first, other))
    clock = clock_of(failed.config)
    told = " and then ".join(value_text(value, clock) for value in both)
    of = "answered" if (name := observable(subject.contract, difference)) == "result" else f"showed {name}"
    operation = named_text(failed.operations[at], clock)
    walk = "" if failed.seed is None else f" of walk {failed.seed}"
    return f"the subject does not always do the same: at operation {at + 1}{walk}, `{operation}`, it {of} {told}"
