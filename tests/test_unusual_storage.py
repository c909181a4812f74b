"""Subjects of unusual structure, lazy and eager, keep every sentence: walks find nothing."""

from __future__ import annotations

import pytest
from kit import run_subject
from unusual.ack_timeout import DeadlineHeap, Lives, Recounted
from unusual.active_cursors import EagerCursors, LoggedCursors, Rows, Treap
from unusual.bucket_delivery import ArmingBuckets, Errands, OneShelf
from unusual.delayed_delivery import Eager
from unusual.entry_cache import CopyingCaches, HalvingCaches, PassingCaches, SegmentedCaches, TableCaches

from broker_tck.properties.engine.subjects import declared

UNUSUAL = (
    DeadlineHeap,
    Recounted,
    Lives,
    LoggedCursors,
    EagerCursors,
    Rows,
    Treap,
    CopyingCaches,
    HalvingCaches,
    PassingCaches,
    SegmentedCaches,
    TableCaches,
    Eager,
    ArmingBuckets,
    OneShelf,
    Errands,
)


@pytest.mark.parametrize("walks", [12, pytest.param(1000, marks=pytest.mark.deep)])
@pytest.mark.parametrize("unusual", UNUSUAL)
def test_walks_find_nothing(unusual: type, walks: int) -> None:
    """Walks find nothing in subjects that do all at the question, or all at once."""
    subject = declared(f"{unusual.__module__}:{unusual.__name__}", unusual)
    (profile,) = subject.profiles
    checked = run_subject(subject, profile, seed=0, count=walks)
    assert checked.findings == []
