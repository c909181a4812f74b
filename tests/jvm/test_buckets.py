"""The broker's own bucket trackers: each release does what was recorded, and keeps to its profile."""

from __future__ import annotations

from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from rare_turns import RARE

from broker_tck.properties.engine.check import first_difference
from broker_tck.properties.engine.subjects import Subject, resolve
from broker_tck.properties.engine.trace import from_text
from broker_tck.properties.explain.diagnose import Diagnoser
from broker_tck.properties.explain.finding import find
from broker_tck.properties.mistakes.book import deviations_of
from broker_tck.properties.search.replay import on_subject

SEAL_TWICE = "min_index_count=1; add 0 0 +1; add 1 0 +1; clear; add 0 0 +1; add 1 0 +1"
DEFECTS = [
    # the subject, a trace, a rule that is named, the operations that are left of it
    pytest.param(
        "pulsar-5.0.1/bucket",
        "min_index_count=2; add 1 0 +1; add 1 1 +1; add 2 0 +1; complete 0; complete 0; crash; add 0 0 +1; add 2 0 +1",
        "BD-41",
        8,
        id="5.0.1: a bucket is placed over another one, which nobody reads any more",
    ),
    pytest.param(
        "pulsar-5.0.1/bucket",
        f"{SEAL_TWICE}; complete 1; complete 1; fail 0; fail 0; fail 0; fail 0",
        "BD-15",
        11,
        id="5.0.1: a creation that fails after a clear takes the new bucket along",
    ),
    pytest.param(
        "pulsar-5.0.1/bucket",
        "min_index_count=1; add 0 0 +1; add 1 0 +1; complete 0; complete 0; adv 1; get 1; clear; add 2 0 +9",
        "BD-31",
        7,
        id="5.0.1: a clear waits for a load, and wipes what is added meanwhile",
    ),
    pytest.param(
        "pulsar-5.0.1/bucket",
        "min_index_count=1; add 0 0 +1; add 1 0 +1; mark 1 0; get 1",
        "BD-29",
        4,
        id="5.0.1: what is acknowledged leaves before the next segment is there",
    ),
    pytest.param(
        "pulsar-4.2.4/bucket",
        "min_index_count=2; add 0 0 +1; add 0 0 +0",
        "BD-04",
        2,
        id="4.2.4: a message that is refused stays tracked",
    ),
]


@pytest.mark.parametrize(("name", "text", "rule", "most"), DEFECTS)
def test_a_known_defect_is_found_by_its_rule(name: str, text: str, rule: str, most: int) -> None:
    subject = resolve(name)
    contract, trace = subject.contract, from_text(f"bucket-delivery ideal {text}")
    diagnoser = Diagnoser(subject, contract.model("ideal"))
    finding = find(diagnoser, trace.walk)
    assert finding is not None
    assert rule in finding.diagnosis.rules
    assert len(finding.operations) <= most


@pytest.fixture
def defects(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Those of the page of defects."""
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "docs")
    return [*chain.from_iterable(import_module("bucket_defects").BUCKET_DEFECTS.groups.values())]


LITERAL = {
    "pulsar-4.0.8/bucket": "bucket-2025",
    "pulsar-4.2.4/bucket": "bucket-4.2",
    "pulsar-5.0.1/bucket": "bucket-5.0",
}
"""The profile whose model does as a class does, without Java."""


@pytest.mark.parametrize("name", LITERAL)
def test_rare_turns_are_true_of_the_class(name: str) -> None:
    subject, profile = resolve(name), LITERAL[name]
    traces = [trace for text in RARE.values() if (trace := from_text(f"bucket-delivery {text}")).profile == profile]
    assert traces
    assert [found for trace in traces if (found := on_subject(trace, subject, profile))] == []


@pytest.mark.parametrize("name", LITERAL)
def test_traces_of_the_page_of_defects_are_true_of_the_class(name: str, defects: list[Any]) -> None:
    subject, profile = resolve(name), LITERAL[name]
    traces = [from_text(f"bucket-delivery {profile} {defect.text}") for defect in defects]
    assert [found for trace in traces if (found := on_subject(trace, subject, profile))] == []
    assert len(traces) > 20


@pytest.mark.parametrize(("name", "literal"), LITERAL.items())
def test_traces_of_the_page_of_defects_break_their_rule_alone(name: str, literal: str, defects: list[Any]) -> None:
    broken = departures(resolve(name), LITERAL[name], defects)
    assert broken == departures(resolve(literal), LITERAL[name], defects)
    assert len(broken) > 10


def departures(subject: Subject, profile: str, defects: list[Any]) -> dict[str, tuple[int, int]]:
    """Where a subject leaves a profile with the rule of each defect kept as specified: operation, and what is seen."""
    contract = subject.contract
    deviating = {mistake.rule.number for mistake in deviations_of(contract.model(profile))}
    found = {}
    for defect in defects:
        if defect.rule in deviating:
            trace = from_text(f"bucket-delivery {profile}+{defect.rule} {defect.text}")
            adapter = subject.adapter(trace.config, subject.capabilities)
            departure = first_difference(trace.operations, contract.model(trace.profile)(trace.config), adapter)
            if departure:
                found[defect.title] = departure[0], departure[1].observed
    return found
