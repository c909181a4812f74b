"""One bug, one story: findings of one bug are one, the best explained first, and no other test tells it again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from kit import MODEL, first_failing, found, mistake_of, run_subject, wrong

from broker_tck.cli.formats import junit, sarif
from broker_tck.implementations.active_cursors.indexed_heap import OUTSIDE, CursorHeap
from broker_tck.implementations.active_cursors.sorted_cursors import SortedCursors
from broker_tck.implementations.delayed_delivery.time_bucket import TimeBucketTracker
from broker_tck.implementations.negative_acks.sorted_buckets import SortedBucketsTracker
from broker_tck.properties.engine.subjects import Subject, declared, resolve
from broker_tck.properties.explain.checked import check_subject
from broker_tck.properties.explain.diagnose import Diagnoser
from broker_tck.properties.explain.one_bug import order, told_once
from broker_tck.properties.report import parts
from broker_tck.properties.report.finding import story
from broker_tck.properties.report.made import finding_result, profile_result
from broker_tck.properties.report.parts import came_to, of_rule, once
from broker_tck.properties.report.result import ProfileResult, check_json, check_result
from broker_tck.properties.search.budget import Budget


class SiftsUpOnly(CursorHeap):
    """A heap that is never mended downwards."""

    def _mend(self, leaf: Any) -> None:
        self._sift_up(leaf, leaf.index)


class FillsGapsDownwards(CursorHeap):
    """A heap in which what fills the gap of a removal only moves down."""

    def _take_out(self, leaf: Any) -> None:
        last = self._heap.pop()
        if last is not leaf:
            last.index = leaf.index
            self._heap[last.index] = last
            self._sift_down(last, last.index)
        leaf.index = OUTSIDE


class NeverBack(SortedCursors):
    """A cursor never goes back."""

    def add(self, cursor: Any, position: Any) -> None:
        super().add(cursor, self._ahead(cursor, position))

    def update_cursor(self, cursor: Any, position: Any) -> None:
        super().update_cursor(cursor, self._ahead(cursor, position))

    def _ahead(self, cursor: Any, position: Any) -> Any:
        slot = self._by_name.get(cursor.name)
        own = slot.position if slot else None
        return max(own, position) if own is not None and position is not None else position


class NeverBackNorWarm(NeverBack):
    """The same with a second mistake: nothing is cached without a cursor."""

    def should_cache_added_entry(self) -> bool:
        return self.size() > 0


class WholeSeconds(TimeBucketTracker):
    """A time is taken for the whole second before it."""

    def add_message(self, ledger_id: int, entry_id: int, deliver_at: int) -> bool:
        return super().add_message(ledger_id, entry_id, max(deliver_at, -1) // 1000 * 1000)

    def add_messages(self, ledger_id: int, entry_ids: Any, deliver_at: Any) -> Any:
        return super().add_messages(ledger_id, entry_ids, [max(at, -1) // 1000 * 1000 for at in deliver_at])


class OneLess(TimeBucketTracker):
    """A get for several messages hands out one less."""

    def get_scheduled_messages(self, max_messages: int) -> Any:
        return super().get_scheduled_messages(max_messages - (max_messages > 1))


class FiresWhenClosed(SortedBucketsTracker):
    """A close lets nothing go."""

    def close(self) -> None:
        self._closed = True


JOINED = "a read can be joined while its listeners are told"
BUGS = [
    (SiftsUpOnly, "CC-02", ()),
    (FillsGapsDownwards, "CC-11", ()),
    (NeverBack, "CC-02", ()),
    (WholeSeconds, "DD-05", ("rounded down",)),
    (OneLess, "DD-20", ("one short",)),
    (FiresWhenClosed, "NA-40", ()),
    ("mutant:origin-is-no-position", "CC-02", ()),
    pytest.param("mutant:joins-what-has-come", "EC-53", (JOINED,), marks=pytest.mark.deep),
]
"""Mistakes that show under several rules, the rule to be told, and the ways that explain them, if any does."""


def named(bug: Any) -> Subject:
    """A bug as a subject."""
    return resolve(bug) if isinstance(bug, str) else declared(f"bug:{bug.__name__}", bug)


@pytest.mark.slow
@pytest.mark.parametrize(("bug", "rule", "ways"), BUGS, ids=lambda each: getattr(each, "__name__", None))
def test_one_bug_is_one_finding(bug: Any, rule: str, ways: tuple[str, ...]) -> None:
    """A bug that breaks several rules is one finding, by the right rule."""
    subject = named(bug)
    run = run_subject(subject, subject.contract.default, 0, 120)
    assert run.complaints == []
    (finding,) = run.findings
    assert finding.rule == rule
    assert tuple(way.name for way in finding.diagnosis.mistakes) == ways
    assert ("Mistake" in story(finding_result(finding))) is any(name != "absent" for name in ways)


def test_two_bugs_are_two_findings() -> None:
    run = run_subject(named(NeverBackNorWarm), "ideal", 1, 60)
    assert [finding.rule for finding in run.findings] == ["EC-58", "CC-02"]


def test_the_better_explained_comes_first_and_knows_the_other() -> None:
    way = "DD-28 index.count: of_buckets"
    subject = wrong(way)
    finding = found(subject, first_failing(subject))
    assert finding is not None
    guess = replace(finding.diagnosis, rules=("DD-20",), mistakes=(mistake_of("DD-20 absent"),), whole=False)
    worse = replace(finding, diagnosis=replace(guess, shown=12, telling=20))
    diagnoser = Diagnoser(subject, MODEL)
    assert told_once(diagnoser, [worse, finding]) == [replace(finding, also=(worse,))]
    unknown = replace(worse, diagnosis=replace(guess, mistakes=()))
    assert [*sorted([unknown, worse, finding], key=order)] == [finding, worse, unknown]


@pytest.mark.slow
def test_recorded_traces_and_every_format_tell_it_once() -> None:
    subject = named(SiftsUpOnly)
    checked = check_subject(subject, "ideal", Budget(1, 60, 0))
    assert checked.disagreements
    told = check_result([profile_result(checked)])
    (only,) = check_json(told)["subjects"]
    assert (len(only["findings"]), only["complaints"]) == (1, ())
    assert len(sarif(told)["runs"][0]["results"]) == 1
    (finding,) = only["findings"]
    also = [each["rule"] for each in finding["also"]]
    assert also
    assert all(f"Also seen   {rule}: " in finding["text"] for rule in also)
    assert junit(told).count('message="the same failure as in CC-02"') == len(also)


@pytest.mark.slow
def test_other_tests_refer_to_the_one_that_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "TOLD", {})
    subject, asked = named(NeverBack), Budget(walks=60, examples=30)

    def found(part: str) -> ProfileResult:
        came = came_to(subject, "ideal", part, asked)
        assert isinstance(came, tuple)
        return came[0]

    def said(part: str) -> str:
        (told,) = found(part).findings
        return once(subject, "ideal", part, told)

    assert "is broken by bug:NeverBack" in said("walks")
    line = "the same failure as in ideal-walks: Your container answers `"
    for again in (said("machine"), *of_rule(subject, "CC-02", found("walks"))):
        assert again.startswith(line)
        assert "\n" not in again
    assert "is broken by bug:NeverBack" in said("walks")
