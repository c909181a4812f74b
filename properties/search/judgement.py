"""What a law, or a variation, says of a subject on one trace."""

from __future__ import annotations

from functools import partial
from typing import Any

import msgspec

from broker_tck.implementations.interface import NOT_ANSWERED, Hang
from broker_tck.implementations.naming import unknown
from broker_tck.properties.engine.subjects import Subject
from broker_tck.properties.engine.trace import Trace
from broker_tck.properties.errors import BadInput
from broker_tck.properties.search.failing import breach_of
from broker_tck.properties.search.isolation.apart import does_in_bulk, limits_of
from broker_tck.properties.search.isolation.guard import End, can_fork, guarded
from broker_tck.properties.search.isolation.unloaded import loaded


class Judgement(msgspec.Struct, frozen=True):
    """What a law, or a variation, says of a subject on a trace."""

    where: str
    subject: str
    law: str
    step: int | None
    """The operation where it was broken, counted from 1; None: it was kept."""
    complaint: str


def judged_apart(trace: Trace, subject: Subject, law: str) -> Judgement:
    """Have a law judge a trace on a subject in a process of its own; one that ends the process breaks it there."""
    if not can_fork(subject.forks):
        return judgement(trace, subject, law)
    bulk = partial(does_in_bulk, subject.contract)
    found = guarded(
        lambda tell: judgement(trace, loaded(subject), law), limits_of(subject), bulk=bulk, name=subject.name
    )
    if isinstance(found, End):
        return Judgement(trace.where, subject.name, law, max(1, len(found.trace) - 1), found.message)
    return found


def judgement(trace: Trace, subject: Subject, law: str) -> Judgement:
    """Have a law judge a trace on a subject alone. BadInput where the contract has no such law."""
    known = [*(each.number for each in trace.contract.laws), *(each.name for each in trace.contract.variations)]
    law = next((name for name in known if name.lower() == law.lower()), law)
    if law not in known:
        raise BadInput(unknown("law", law, known, of=trace.contract.name))

    def rigged(config: Any) -> Any:
        return subject.rig(config, subject.capabilities)

    try:
        at, complaint = breach_of(trace.contract, rigged, law, trace.config, tuple(trace.operations))
    except Hang:
        at, complaint = 0, NOT_ANSWERED
    return Judgement(trace.where, subject.name, law, None if at is None else at + 1, complaint)
