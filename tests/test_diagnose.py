"""Diagnosis: which rule a finding names, and in which words."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from kit import CONTRACT, MODEL, first_failing, found, mistake_of, subject_of, trace_of, wrong

from broker_tck.implementations.delayed_delivery.time_bucket import TimeBucketTracker
from broker_tck.model.rules import rules_of
from broker_tck.properties.engine.registry import CONTRACTS
from broker_tck.properties.engine.subjects import as_subject
from broker_tck.properties.explain.diagnose import WALKS, Diagnoser, Diagnosis, in_words
from broker_tck.properties.report.made import finding_result
from broker_tck.properties.report.words import by_what_was_seen, explanations, what_went_wrong


def test_ways_in_words() -> None:
    assert in_words(mistake_of("DD-01 absent")) == "DD-01 were absent (index.stays)"
    assert in_words(mistake_of("DD-09 refuses: equality_accepted")) == (
        "DD-09 were done otherwise (refuses: equality accepted)"
    )
    way = mistake_of("DD-01 absent")
    assert Diagnosis(("DD-01",), ()).sentence == "No known mistake explains this."
    assert Diagnosis(("DD-01",), (way,), 20, whole=True).sentence == "Behaves as if DD-01 were absent (index.stays)."
    assert Diagnosis(("DD-01",), (way,), 5).sentence == (
        "On this trace, but not everywhere, it behaves as if DD-01 were absent (index.stays)."
    )


def test_way_explains_what_fails_because_of_it_and_nothing_else() -> None:
    counting, refusing = wrong("DD-28 index.count: of_buckets"), wrong("DD-09 refuses: equality_accepted")
    finding = found(counting, first_failing(counting))
    assert finding is not None
    assert finding.diagnosis.whole
    for subject, explained in ((counting, True), (refusing, False)):
        diagnoser = Diagnoser(subject, MODEL)
        done = first_failing(subject)
        assert diagnoser.explains(finding.diagnosis, done.config, done.operations) is explained
        unknown = replace(finding.diagnosis, mistakes=())
        assert not diagnoser.explains(unknown, done.config, done.operations)


def test_mistake_that_does_not_fit_a_trace_is_asked_about_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """If one fits them all; for another one may come to no end on each."""
    subject, missed, fits = wrong("DD-09 refuses: equality_accepted"), Counter[type](), Diagnoser.fits
    finding = found(subject, first_failing(subject))
    assert finding is not None

    def noting(diagnoser: Diagnoser, model: type, recording: Any) -> bool:
        fit = fits(diagnoser, model, recording)
        missed[model] += not fit
        return fit

    monkeypatch.setattr(Diagnoser, "fits", noting)
    assert Diagnoser(subject, MODEL).diagnose((finding.config, finding.operations), finding.difference).whole
    assert {*missed.values()} == {0, 1}


@pytest.mark.slow
def test_subject_that_is_wrong_now_and_then_is_not_explained_everywhere() -> None:
    class SometimesEarly(TimeBucketTracker):
        """Accepts the cut-off itself, for even entries."""

        def add_message(self, ledger_id: int, entry_id: int, deliver_at: int) -> bool:
            taken = super().add_message(ledger_id, entry_id, deliver_at)
            if not taken and not entry_id % 2 and 0 <= deliver_at == self._clock() + self._window:
                self._count += self._index.add((deliver_at + self._rounding) & self._mask, ledger_id, entry_id)
                return True
            return taken

    subject = subject_of(SometimesEarly)
    finding = found(subject, first_failing(subject))
    assert finding is not None
    assert not finding.diagnosis.whole
    assert "DD-09" in finding.diagnosis.rules


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("active-cursors; add c [0,0]; add c null; oldest", "CC-04"),
        ("active-cursors; add c [0,0]; update c null; slowest", "CC-14"),
        ("active-cursors; add c [0,0]; add d [0,0]; add c [0,1]; count d", "CC-04"),
        ("entry-cache; begin-get 0 0 0 0; put 0 0 0 0 0; step 0", "IL-3"),
        ("entry-cache; begin-get 0 0 0 0; begin-put 0 0 1 0 0 1; step 1; step 0", "IL-4"),
        ("entry-cache; begin-size 1 0; begin-clear 0 1; step 1; begin-put 0 0 0 0 0 1; step 1; pinned", "IL-2"),
    ],
)
def test_rule_falls_back_by_what_went_before(text: str, rule: str) -> None:
    trace = trace_of(text)
    assert trace.contract.fallback_rule(trace.operations, "result") == rule


@pytest.mark.parametrize(
    ("text", "observed", "expected", "seen", "rule"),
    [
        ("add 1 0 +5", "armed", [5], [5, 6], "DD-23"),
        ("adv 5; add 1 0 +5", "armed", [1005], [5], "DD-22"),
        ("add 1 0 +5; fill 2 4 3 2 +9; get 9", "result", [[1, 0], [2, 4], [2, 7]], [[1, 0], [2, 4], [2, 5]], "DD-13"),
        ("add 1 0 +5; get 1", "result", [[1, 0]], [], "DD-06"),
        ("negative-acks; nack 0 0 0; adv 9", "count", 0, 1, "NA-43"),
        ("negative-acks; nack 0 0 0; adv 9", "result", [[9, [[0, 0]], 1]], [[9, [[0, 0]], 0]], "NA-33"),
        ("negative-acks; nack 0 0 0; adv 9", "result", [[9, [[0, 0]], 1]], [[9, [[0, 0], [0, 0]], 1]], "NA-31"),
        ("negative-acks; nack 0 0 0; adv 9", "result", [[9, [[0, 0]], 1]], [[9, [[0, 1]], 1]], "NA-05"),
        ("negative-acks; chunked 0 5 2 0; adv 9", "result", [[9, [[0, 4], [0, 5]], 1]], [[9, [[0, 5]], 1]], "NA-06"),
        ("negative-acks; nack 0 0 0; close; adv 9", "result", [], [[9, [[0, 0]], 1]], "NA-40"),
        ("negative-acks; nack 0 0 0; batch 0 1 0 0", "armed", [8], [9], "NA-23"),
        ("active-cursors; add c [0,0]; remove c; oldest", "result", [2, [0, 0], 3], [2, [0, 0], 1], "CC-12"),
        (
            "active-cursors; add c [0,0]; add d [0,1]; remove c; oldest",
            "result",
            [2, [0, 1], 3],
            [1, [0, 0], 3],
            "CC-11",
        ),
        ("entry-cache; put 0 0 0 1 0; hold 0 0 0; free", "references", 1, 0, "EC-13"),
        ("bucket-delivery; add 0 0 +5; pause", "result", False, True, "BD-10"),
        ("bucket-delivery; get 1", "pending", ["load:0:1-1"], [], "BD-29"),
        ("bucket-delivery; mark 1 0", "count", 0, 1, "BD-22"),
        ("topic-delivery; open A; add A1 0 0 +5", "memory", 8, 9, "DD-29"),
        ("topic-delivery; open A; add A1 0 0 +5", "state", "p", "-", "TD-12"),
    ],
)
def test_rule_falls_back_by_what_was_expected_and_seen(
    text: str, observed: str, expected: Any, seen: Any, rule: str
) -> None:
    trace = trace_of(text)
    assert trace.contract.fallback_rule(trace.operations, observed, expected, seen) == rule


@pytest.mark.parametrize("contract", CONTRACTS.values(), ids=CONTRACTS)
def test_every_rule_of_a_table_is_one_of_its_contract(contract: Any) -> None:
    known = {rule.number for model in contract.profiles.values() for rule in rules_of(model)}
    assert {row.rule for row in contract.fallbacks} <= known


def test_walks_on_which_nothing_is_wrong_say_nothing() -> None:
    way = mistake_of("DD-28 index.count: of_buckets")
    model = way.applied_to(MODEL)
    right, counting = subject_of(TimeBucketTracker), wrong(str(way))
    of_right, of_counting = (Diagnoser(each, MODEL) for each in (right, counting))
    assert 0 < of_right.walks(way, model) < WALKS == of_counting.walks(way, model)
    agreeing = of_right.walks(way, model)
    assert of_right.borne_out(way, model) == (0, WALKS - agreeing)
    assert of_counting.borne_out(way, model) == (WALKS - agreeing, WALKS - agreeing)


def test_way_is_borne_out_where_a_subject_is_wrong_in_other_ways_as_well() -> None:
    way = mistake_of("DD-28 index.count: of_buckets")
    other = mistake_of("DD-09 refuses: equality_accepted")
    model = way.applied_to(MODEL)
    of_both = Diagnoser(as_subject("both", CONTRACT, other.applied_to(model)), MODEL)
    shown, telling = of_both.borne_out(way, model)
    assert of_both.walks(way, model) < shown < telling


def test_way_that_few_walks_bear_out_is_no_headline() -> None:
    subject = wrong("DD-09 refuses: equality_accepted")
    finding = found(subject, first_failing(subject))
    assert finding is not None
    (told,) = explanations(finding)
    assert what_went_wrong(finding, "") == told
    here = replace(finding, diagnosis=replace(finding.diagnosis, whole=False, walks=3, shown=14, telling=20))
    assert not here.diagnosis.likely
    assert what_went_wrong(here, "") == by_what_was_seen(here)
    assert told[1:-1] in finding_result(here).certainty
