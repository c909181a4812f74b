"""What a subject does that gets a rule wrong, in words: each mistake's own, or made of its rule's."""

from __future__ import annotations

import re

import pytest
from kit import CONTRACT, MODEL

from broker_tck.properties.engine.registry import CONTRACTS
from broker_tck.properties.explain.diagnose import WALKS, Diagnosis
from broker_tck.properties.mistakes.book import AS_SPECIFIED, Mistake, deviations_of, mistakes_of
from broker_tck.properties.report.words import how_sure, in_words

EVERY = [
    (contract, model, mistake)
    for contract in CONTRACTS.values()
    for model in contract.profiles.values()
    for mistake in [*mistakes_of(model), *deviations_of(model)]
]


def mistake_of(name: str) -> Mistake:
    return next(mistake for mistake in mistakes_of(MODEL) if str(mistake) == name)


def test_every_way_is_told_in_a_sentence() -> None:
    for contract, model, mistake in EVERY:
        told = in_words(mistake, contract.thing, model)
        assert re.fullmatch(r"[A-Z].*\.", told), told
        assert "_" not in told.replace("mark_delete", "").replace(mistake.rule.sentence, ""), told
        assert "  " not in told, told


def test_every_way_that_is_a_clause_has_words_of_its_own() -> None:
    """The name of a class that is a mistake reads as a sentence; that of a clause's mistake is for those who know
    it."""
    mistakes = [mistake for _, _, mistake in EVERY if not mistake.stands_before and mistake.name != AS_SPECIFIED]
    assert [str(mistake) for mistake in mistakes if not mistake.says] == []


@pytest.mark.parametrize(
    ("mistake", "told"),
    [
        ("DD-02 absent", "Your tracker gives every millisecond a bucket of its own; "),
        ("DD-02 buckets.width_of: always_ten_bits", "Your tracker makes all buckets 1024 ms wide; "),
        ("DD-27 reset_tick: disarms", "A new tick disarms your tracker's timer; "),
        ("DD-24 a firing asks for a read while something is due", "If nothing is due, your tracker asks for nothing "),
    ],
)
def test_words_are_its_own(mistake: str, told: str) -> None:
    assert in_words(mistake_of(mistake), "tracker", MODEL).startswith(told)


def test_way_back_says_what_the_profile_does() -> None:
    model = CONTRACT.profiles["timebucket-2026"]
    (mistake, *_) = [mistake for mistake in deviations_of(model) if mistake.rule.number == "DD-33"]
    assert in_words(mistake, "tracker", model).startswith(
        "Your tracker keeps DD-33, from which this profile deviates: "
    )


FIRST, SECOND = mistake_of("DD-01 absent"), mistake_of("DD-02 absent")


@pytest.mark.parametrize(
    ("diagnosis", "told"),
    [
        (
            Diagnosis(("DD-01",), ()),
            "unknown: no known mistake explains this trace; DD-01 is a guess from ",
        ),
        (Diagnosis(("DD-07",), (), invariant=True), "certain: judged by what was observed"),
        (
            Diagnosis(("DD-01",), (FIRST,), 160, whole=True),
            "certain: a model with this mistake agrees with your tracker on this trace and on 160 whole walks",
        ),
        (
            Diagnosis(("DD-01", "DD-02"), (FIRST,), 3, 3, 20),
            "But it explains the first failure only on 3 of 20 other failing walks. It may be DD-02 instead, ",
        ),
        (Diagnosis(("DD-01", "DD-02"), (FIRST, SECOND), 3, 3, 20), "walks. So does a model that breaks DD-02 instead"),
        (Diagnosis(("DD-01",), (FIRST,), 8, 15, 20), "likely: a model with this mistake agrees with your tracker "),
        (
            Diagnosis(("DD-01",), (FIRST,), 8, 15, 20),
            ", and explains the first failure on 15 of 20 other",
        ),
        (Diagnosis(("DD-01",), (FIRST,), 19, 3, 4), " first failure on 3 of 4 other failing walks"),
        (Diagnosis(("DD-01",), (FIRST,), 19, 14, 20), "a guess from this trace: your tracker "),
        (Diagnosis(("DD-01",), (FIRST,), WALKS, 4, 4), "likely: "),
        (
            Diagnosis(("DD-01",), (FIRST,), WALKS, 4, 4),
            ", but not on some traces that differ from this one",
        ),
    ],
)
def test_it_is_said_how_sure_a_diagnosis_is(diagnosis: Diagnosis, told: str) -> None:
    assert told in how_sure(diagnosis, CONTRACT, ["Your tracker keeps it."])
