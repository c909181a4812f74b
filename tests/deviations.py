"""Write anew the traces that show deviations: ``python tests/deviations.py [CONTRACT ...]``, when a profile changes.

Of each deviation of a profile that bundled subjects declare, and that no recorded trace shows, the shortest of some
failing walks is kept, reduced. What is there already and still shows something stays.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from broker_tck.model.reference import Reference
from broker_tck.properties.engine.operation import Operation
from broker_tck.properties.engine.registry import CONTRACTS
from broker_tck.properties.engine.subjects import Subject, bundled
from broker_tck.properties.engine.trace import Trace, to_json
from broker_tck.properties.engine.walk import Walk
from broker_tck.properties.explain.deviating import failing, shortest, shows
from broker_tck.properties.explain.finding import Finding, find_breach, reducer
from broker_tck.properties.mistakes.book import deviations_of
from broker_tck.properties.search.failing import broken_by, failure
from broker_tck.properties.search.replay import asked, golden_traces, witnesses

FOLDER = Path(__file__).parent.parent / "fixtures" / "deviations"
SEED = 0
CANDIDATES = 3


def main(names: list[str]) -> None:
    """Write the file of each contract, of one profile after another."""
    FOLDER.mkdir(exist_ok=True)
    for contract in CONTRACTS.values():
        if names and contract.name not in names:
            continue
        found: list[Trace] = []
        for subject in bundled(contract):
            for profile in subject.profiles:
                found += of_profile(subject, profile)
        lines = dict.fromkeys(to_json(trace) for trace in found)
        if lines:
            text = "".join(f"{line}\n" for line in lines)
            FOLDER.joinpath(f"{contract.name}.jsonl").write_text(text, encoding="utf-8")


def of_profile(subject: Subject, profile: str) -> Iterator[Trace]:
    """The traces that show what a profile does otherwise, as far as the recorded ones do not."""
    contract, model = subject.contract, subject.contract.model(profile)
    golden = [asked(trace, subject) for trace in golden_traces(contract.name, profile)]
    known = witnesses(subject, profile)
    for mistake in deviations_of(model):
        specified = mistake.applied_to(model)
        if mistake.rule.number in subject.out_of_reach or any(shows(subject, specified, trace) for trace in golden):
            continue
        one = next((trace for trace in known if shows(subject, specified, trace)), None)
        one = one or shown_by(profile, subject, specified)
        tell(subject, profile, f"{mistake.rule.number} ({mistake.clause})", one)
        if one:
            known.append(one)
            yield one
    for name in model.BREAKS:
        if name in subject.out_of_reach or any(is_broken(subject, trace, name) for trace in golden):
            continue
        one = next((trace for trace in known if is_broken(subject, trace, name)), None)
        if one is None:
            candidates = islice(failing(subject, model, SEED, invariant=name), CANDIDATES)
            one = trace_of(profile, shortest(find_breach(subject, model, name, done) for done in candidates))
        tell(subject, profile, name, one)
        if one:
            known.append(one)
            yield one


def shown_by(profile: str, subject: Subject, specified: type[Reference]) -> Trace | None:
    """The first failing walk of a subject along a model, reduced; None: there is none."""
    contract = subject.contract
    failed = next(failing(subject, specified, SEED), None)
    if failed is None:
        return None

    def fails(config: Any, operations: Sequence[Operation]) -> int | None:
        if not contract.can_ask(operations, subject.capabilities):
            return None
        found = failure(subject, specified, config, operations)
        return found[0] if found else None

    config, operations = reducer(contract, specified, fails).reduce(failed.config, failed.operations)
    return Trace(contract, profile, config, [*operations], [None] * len(operations))


def is_broken(subject: Subject, trace: Trace, name: str) -> bool:
    """Whether a subject breaks an invariant, or a relation, on a trace."""
    done = Walk(SEED, trace.config, [*trace.operations], None)
    return bool(broken_by(subject.contract, done, subject.adapter, subject.capabilities, {name}))


def trace_of(profile: str, found: Finding | None) -> Trace | None:
    """The trace of a finding, under a profile."""
    return found and Trace(found.contract, profile, found.config, [*found.operations], [None] * len(found.operations))


def tell(subject: Subject, profile: str, what: str, trace: Trace | None) -> None:
    """Say what was found."""
    n = len(trace.operations) if trace else None
    sys.stdout.write(f"{subject.name:20} {profile:18} {what:40} {'NOT SHOWN' if n is None else n}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
