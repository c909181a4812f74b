"""Races that a benchmark puts into released classes: the search finds them, and nothing that the class itself does."""

from __future__ import annotations

import pytest
import seeded_races
from racy_changes import Mutant
from seeded_races import Put, Subject, races_page

ADD = "ManagedCursorContainerImpl.add"
SIZE = "ManagedCursorContainerImpl.size"


@pytest.fixture(scope="module")
def heap() -> Subject:
    """The heap of cursors."""
    return Subject("pulsar-5.0.1/cursor-heap")


def put(subject: Subject, place: str, what: str) -> Put:
    """What the search makes of the change of a place."""
    return subject.put(next(each for each in subject.mutants() if seeded_races.named(each) == (place, what)))


@pytest.mark.parametrize(
    ("place", "what", "verdict"), [(ADD, "does not lock", "rest"), (SIZE, "does not validate", "")]
)
def test_a_race_that_was_put_in_is_found(
    heap: Subject, monkeypatch: pytest.MonkeyPatch, place: str, what: str, verdict: str
) -> None:
    monkeypatch.setattr(seeded_races, "PROGRAMS", 10)
    found = put(heap, place, what)
    assert found.verdict == verdict
    assert bool(found.why) == (not verdict)


def test_nothing_is_put_into_what_no_thread_reaches(heap: Subject) -> None:
    assert {each.name.rpartition(".")[2] for each in heap.mutants()} == {"ManagedCursorContainerImpl"}


def test_what_the_class_does_itself_is_no_race_that_was_put_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seeded_races, "PROGRAMS", 40)
    tracker = Subject("pulsar-4.2.4/ack-timeout")
    same = Mutant(tracker.mutants()[0].name, "same", "is the same", lambda _: None)
    assert tracker.put(same).verdict == ""
    found = tracker.searcher(tracker.plain.explorer)
    found.search(tracker.programs, lambda *_: None)
    assert found.found.failing


def test_the_page_tells_why_each_change_was_not_found() -> None:
    rows = [row for rows in races_page.known()["put in"].values() for row in rows]
    assert all(row["why"] for row in rows if not row["verdict"])
