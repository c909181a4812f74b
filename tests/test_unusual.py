"""Subjects that are right and unusual: the kit has nothing to say of any."""

from __future__ import annotations

import pytest
from unusual.ack_timeout import RestlessWheel
from unusual.active_cursors import ThreadedCursors, TombstoneCursors
from unusual.bucket_delivery import CostumedBuckets
from unusual.delayed_delivery import Hoarder, OneList, SqliteTracker, Watchful
from unusual.entry_cache import AnsweringCaches
from unusual.negative_acks import AsyncTracker, Heap, Silent, Stubborn
from unusual.topic_delivery import Backwards, ByMoment, CostumedTopic, Shares, WatchfulTopic

from broker_tck.properties.engine.registry import CONTRACTS
from broker_tck.properties.engine.subjects import declared
from broker_tck.properties.explain import checked as checking
from broker_tck.properties.explain.checked import check_subject
from broker_tck.properties.search.budget import Budget
from broker_tck.properties.search.replay import golden_traces
from broker_tck.properties.verdict import CONFORMS, NOT_ENOUGH

UNUSUAL = (
    SqliteTracker,
    OneList,
    Watchful,
    Hoarder,
    AsyncTracker,
    Heap,
    Stubborn,
    Silent,
    AnsweringCaches,
    TombstoneCursors,
    ThreadedCursors,
    CostumedBuckets,
    CostumedTopic,
    Shares,
    Backwards,
    ByMoment,
    RestlessWheel,
    WatchfulTopic,
)


def test_each_contract_has_one() -> None:
    assert {each.contract for each in UNUSUAL} == CONTRACTS.keys()


@pytest.mark.parametrize(
    ("walks", "examples"),
    [pytest.param(6, 1, marks=pytest.mark.slow), pytest.param(100, 10, marks=pytest.mark.deep)],
)
@pytest.mark.parametrize("unusual", UNUSUAL)
def test_correct_subject_passes(monkeypatch: pytest.MonkeyPatch, unusual: type, walks: int, examples: int) -> None:
    """Correct subjects of unusual form pass the check."""
    subject = declared(f"{unusual.__module__}:{unusual.__name__}", unusual)
    (profile,) = subject.profiles
    golden = golden_traces(subject.contract.name, profile)[:walks]
    monkeypatch.setattr(checking, "golden_traces", lambda *_: golden)
    checked = check_subject(subject, profile, Budget(0, walks, examples))
    assert (checked.findings, checked.complaints) == ([], [])
    assert checked.verdict in (CONFORMS, NOT_ENOUGH)
