"""Subjects that are right and unusual: the kit has nothing to say of any."""

from __future__ import annotations

import pytest
from unusual.active_cursors import ThreadedCursors, TombstoneCursors
from unusual.bucket_delivery import CostumedBuckets
from unusual.delayed_delivery import CalendarTracker, SqliteTracker
from unusual.entry_cache import BytesCaches
from unusual.negative_acks import AsyncTracker
from unusual.topic_delivery import MaskingTopic

from broker_tck.properties.conforming import check_subject, golden_traces
from broker_tck.properties.contracts import CONTRACTS
from broker_tck.properties.engine.subjects import declared
from broker_tck.properties.verdict import CONFORMS, NOT_ENOUGH

UNUSUAL = (
    SqliteTracker,
    CalendarTracker,
    AsyncTracker,
    BytesCaches,
    TombstoneCursors,
    ThreadedCursors,
    CostumedBuckets,
    MaskingTopic,
)


def test_each_contract_has_one() -> None:
    assert {each.contract for each in UNUSUAL} == CONTRACTS.keys()


@pytest.mark.parametrize(
    ("walks", "examples"),
    [pytest.param(12, 3, marks=pytest.mark.slow), pytest.param(100, 10, marks=pytest.mark.deep)],
)
@pytest.mark.parametrize("unusual", UNUSUAL)
def test_correct_subject_passes(unusual: type, walks: int, examples: int) -> None:
    """Correct subjects of unusual form pass the check."""
    subject = declared(f"{unusual.__module__}:{unusual.__name__}", unusual)
    (profile,) = subject.profiles
    golden = golden_traces(subject.contract.name, profile)[:walks]
    checked = check_subject(subject, profile, golden, 0, walks, examples)
    assert (checked.run.findings, checked.complaints) == ([], [])
    assert checked.verdict in (CONFORMS, NOT_ENOUGH)
