"""Races that a benchmark puts into released classes: the search finds them, and nothing that the class itself does."""

from __future__ import annotations

from functools import cache

import pytest
import quiet_classes
import seeded_races
from racy_changes import Mutant
from seeded_races import Put, Subject, races_page

from broker_tck.properties.threads.program import parsed

ADD = "ManagedCursorContainerImpl.add"
SIZE = "ManagedCursorContainerImpl.size"
LIMITER = "InflightReadsLimiter"
LISTENS = "PendingReadsManager$PendingRead.addListener"


@cache
def subject(kind: str) -> Subject:
    """A class of 5.0.1."""
    return Subject(f"pulsar-5.0.1/{kind}")


def put(on: Subject, place: str, what: str) -> Put:
    """What the search makes of the change of a place."""
    return on.put(next(each for each in on.mutants() if seeded_races.named(each) == (place, what)))


@pytest.mark.parametrize(
    ("kind", "place", "what", "verdict"),
    [
        ("cursor-heap", ADD, "does not lock", "rest"),
        ("cursor-heap", SIZE, "does not validate", ""),
        ("reads-limiter", f"{LIMITER}.internalAcquire", "is not synchronized", "rest"),
        ("reads-limiter", f"{LIMITER}.internalRelease", "is not synchronized", "moment"),
        ("reads-limiter", f"{LIMITER}.updateMetrics", "is not synchronized", ""),
        ("pending-reads", LISTENS, "is not synchronized", "steps"),
    ],
)
def test_a_race_that_was_put_in_is_found(
    monkeypatch: pytest.MonkeyPatch, kind: str, place: str, what: str, verdict: str
) -> None:
    monkeypatch.setattr(seeded_races, "PROGRAMS", 10)
    found = put(subject(kind), place, what)
    assert found.verdict == verdict
    assert bool(found.why) == (not verdict)


def test_a_monitor_of_the_bucket_tracker_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sources of a merge are read while a get loads the next segment of one."""
    made = parsed(
        "bucket-delivery bucket-5.0 min_index_count=1 max_buckets=1; add 1 1 +100; add 1 2 +200; add 2 1 +300; "
        "add 2 2 +400; add 3 1 +500; complete 0; complete 0; complete 0; complete 0; complete 0; adv 100 "
        "| complete 0; complete 0; complete 0 | get 10; add 1 9 +120; has | has; get 100"
    )
    for name in ("PROGRAMS", "REACHING"):
        monkeypatch.setattr(seeded_races, name, 1)
    monkeypatch.setattr(seeded_races, "SURE", 2_000)
    monkeypatch.setattr(Subject, "program", lambda _subject, _number: made)
    found = put(subject("bucket"), "BucketDelayedDeliveryTracker.getScheduledMessages", "is not synchronized")
    assert found.verdict == "steps"


@pytest.mark.parametrize(
    ("method", "what", "program"),
    [
        (
            "triggerEvictionWhenNeeded",
            "AtomicReference.compareAndSet",
            "| put 0 0 1 60 0 | put 1 1 1 9 0 | background",
        ),
        ("entriesRemoved", "AtomicLong.addAndGet", "; put 0 0 1 9 0; put 1 1 1 8 0 | trim 0 0 | trim 1 1 | total"),
    ],
)
def test_a_manager_orders_one_pass_and_counts_in_one_go(
    monkeypatch: pytest.MonkeyPatch, method: str, what: str, program: str
) -> None:
    for name in ("PROGRAMS", "REACHING"):
        monkeypatch.setattr(seeded_races, name, 1)
    monkeypatch.setattr(seeded_races, "SURE", 2_000)
    made = parsed(f"entry-cache pip-430-5.0 max_size=60 {program}")
    monkeypatch.setattr(Subject, "program", lambda _subject, _number: made)
    on = Subject("pulsar-5.0.1/cache-manager")
    assert put(on, f"RangeEntryCacheManagerImpl.{method}", f"makes two calls of `{what}`").verdict == "rest"


def test_nothing_is_put_into_what_no_thread_reaches() -> None:
    assert {each.name.rpartition(".")[2] for each in subject("cursor-heap").mutants()} == {"ManagedCursorContainerImpl"}


def test_what_the_class_does_itself_is_no_race_that_was_put_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seeded_races, "PROGRAMS", 40)
    tracker = Subject("pulsar-4.2.4/ack-timeout")
    same = Mutant(tracker.mutants()[0].name, "same", "is the same", lambda _: None)
    assert tracker.put(same).verdict == ""
    found = tracker.searcher(tracker.plain.explorer)
    found.search(tracker.programs, lambda *_: None)
    assert found.found.failing


def test_a_class_is_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quiet_classes, "MOST", 1)
    row = quiet_classes.searched("pulsar-5.0.1/cursor-heap")
    assert row.histories
    assert not row.failing


def test_the_page_tells_why_each_change_was_not_found() -> None:
    rows = [row for rows in races_page.known()["put in"].values() for row in rows]
    assert all(row["why"] for row in rows if not row["verdict"])
