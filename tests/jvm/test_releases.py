"""Every released class that is a subject: it does on walks what its profile says, and what was recorded of it."""

from __future__ import annotations

import pytest
from jvm.same import SAME, subjects

from broker_tck.implementations.released import KINDS
from broker_tck.properties.engine.subjects import resolve
from broker_tck.properties.search.replay import asked, golden_traces, on_subject
from broker_tck.properties.search.run import Run, checked

RELEASED = [subject for kind in SAME if KINDS[kind].lines for subject in subjects(kind)]
UNRECORDED = {"timebucket-4.0.1", "timebucket-4.0.4", "timebucket-5.0-M1"}
WALKS = 24
"""Each two profiles of what is released differ on one of so many."""


@pytest.mark.parametrize("name", RELEASED)
def test_walks_agree_with_the_profile_of_the_release(name: str) -> None:
    """A released class does on random walks what its profile says."""
    subject = resolve(name)
    run = Run(subject, subject.profiles[0], seed=0)
    failing = [done for done in checked(run, range(WALKS), WALKS) if done.difference]
    assert (failing, run.walks) == ([], WALKS)


@pytest.mark.parametrize("name", RELEASED)
def test_recorded_traces_are_done_as_recorded(name: str) -> None:
    """A released class does what was recorded of its profile."""
    subject = resolve(name)
    (profile,) = subject.profiles
    traces = [asked(trace, subject) for trace in golden_traces(subject.contract.name, profile)]
    assert bool(traces) is (profile not in UNRECORDED)
    assert [found for trace in traces if (found := on_subject(trace, subject, profile))] == []
