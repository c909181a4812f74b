"""Rules as data: all of them, each declared once, with its known mistakes."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest
from kit import CONTRACT, MODEL

from broker_tck.model.delayed_delivery import PROFILES
from broker_tck.model.delayed_delivery.releases import (
    Heap,
    TimeBucket50,
    TimeBucket50M1,
    TimeBucket401,
    TimeBucket404,
    TimeBucket2025,
    TimeBucket2026,
)
from broker_tck.model.delayed_delivery.specification import DelayedDelivery
from broker_tck.model.parts.timer import Timer
from broker_tck.model.rules import Part, clauses_of, method_of, replaced, rules_of, tree_of
from broker_tck.model.rules import rule as declare
from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.engine.registry import CONTRACTS
from broker_tck.properties.mistakes.book import deviations_of, look, mistakes_of, of, standing_before
from broker_tck.properties.proving.prove import name_of
from broker_tck.properties.search.exercised import Exercised, by_rule, deviating, situations_of, unmet

NUMBERS = [f"DD-{number:02}" for number in range(1, 42)]


def test_every_rule_is_declared_once() -> None:
    assert [rule.number for rule in rules_of(MODEL)] == NUMBERS
    embodied = Counter({clause.number: 1 for clause in clauses_of(MODEL)})
    without = Counter(rule.number for rule in MODEL.WITHOUT_CLAUSE)
    assert max((embodied + without).values()) == 1


def test_rules_are_written_out() -> None:
    for rule in rules_of(MODEL):
        assert rule.sentence.endswith(".")
        assert rule.source
        where = look(rule.number) if rule.checkable else rule.why
        assert where
        assert not where.endswith(".")


@pytest.mark.parametrize("contract", CONTRACTS.values(), ids=lambda contract: contract.name)
def test_every_clause_has_a_sentence_of_its_own(contract: Contract) -> None:
    for model in contract.profiles.values():
        clauses = [*clauses_of(model)]
        assert [clause.path for clause in clauses if not re.fullmatch(r"[A-Z].*\.", clause.sentence)] == []
        sentences = Counter((clause.number, clause.sentence) for clause in clauses)
        assert [sentence for sentence, count in sentences.items() if count > 1] == []


def test_mistakes_of_a_rule_have_names_of_their_own() -> None:
    mistakes = mistakes_of(MODEL)
    assert len({name_of(mistake) for mistake in mistakes}) == len(mistakes)


def test_way_replaces_its_clause_alone() -> None:
    for mistake in mistakes_of(MODEL):
        wrong = mistake.applied_to(MODEL)
        assert issubclass(wrong, MODEL)
        assert str(mistake) in wrong.__name__
        assert mistake.rule.number in str(mistake)
        paths = {clause.path for clause in clauses_of(MODEL)} | {mistake.clause}
        if mistake.stands_before:
            assert any(mistake.instead in part.__mro__ for _, part in tree_of(wrong))
        else:
            assert {path for path in paths if method_of(wrong, path) is not method_of(MODEL, path)} == {mistake.clause}
            assert mistake.surrounds or method_of(wrong, mistake.clause) is mistake.instead


DEVIATIONS = {
    DelayedDelivery: set(),
    TimeBucket2026: {"DD-22", "DD-33", "DD-38"},
    TimeBucket50: {"DD-16", "DD-22", "DD-33", "DD-38"},
    TimeBucket50M1: {"DD-06", "DD-22", "DD-33", "DD-38"},
    TimeBucket2025: {"DD-05", "DD-06", "DD-11", "DD-21", "DD-22", "DD-33", "DD-38"},
    TimeBucket404: {"DD-05", "DD-06", "DD-21", "DD-22", "DD-33", "DD-38"},
    TimeBucket401: {"DD-05", "DD-06", "DD-20", "DD-21", "DD-22", "DD-33", "DD-38"},
    Heap: {"DD-02", "DD-11", "DD-21", "DD-22", "DD-32", "DD-38"},
}


@pytest.mark.parametrize("model", PROFILES.values(), ids=list(PROFILES))
def test_deviations_lead_back_to_the_specification(model: type[DelayedDelivery]) -> None:
    mistakes = deviations_of(model)
    assert {mistake.rule.number for mistake in mistakes} == DEVIATIONS[model] == deviating(model)
    for mistake in mistakes:
        assert mistake.name == "as specified"
        assert method_of(mistake.applied_to(model), mistake.clause) is method_of(MODEL, mistake.clause)
    replacing = {mistake.clause for mistake in mistakes}
    assert replacing.isdisjoint(mistake.clause for mistake in mistakes_of(model) if not mistake.surrounds)


class Door(Part):
    """A part with a clause of each kind."""

    @declare("XX-01", source="made up")
    def opens(self, knocks: int) -> bool:
        """A door opens at the third knock."""
        return knocks > 2

    @declare("XX-01", when=lambda door, knocks: knocks > 5)
    def creaks(self, knocks: int) -> bool:
        """A door that is knocked at too often creaks."""
        return True

    @declare("XX-02", source="made up")
    def width(self) -> int:
        """A door is one metre wide."""
        return 1


class House:
    """A whole of one part."""

    Door = Door


def test_clause_is_exercised_by_both_answers_by_its_condition_or_by_a_call() -> None:
    model: Any = House
    counting = Exercised(model)
    door = counting.model.Door()  # type: ignore[attr-defined]
    assert situations_of(model) == {
        "XX-01 door.opens yes": "XX-01",
        "XX-01 door.opens no": "XX-01",
        "XX-01 door.creaks": "XX-01",
        "XX-02 door.width": "XX-02",
    }
    assert not door.opens(1)
    assert door.creaks(1)
    assert by_rule(model, counting.met) == {"XX-01": 0, "XX-02": 0}
    assert unmet(model, counting.met, "XX-01") == ["door.opens yes", "door.creaks"]
    assert unmet(model, counting.met, "XX-02") == [], "none of the rule has come up, so the rule says it"
    assert door.opens(3)
    assert door.creaks(6)
    assert door.width() == 1
    assert by_rule(model, counting.met) == {"XX-01": 1, "XX-02": 1}
    assert by_rule(model, {"XX-01": 7}) == {"XX-01": 7, "XX-02": 0}, "counts of earlier versions are by rule"
    assert rules_of(model)[0].sentence == "A door opens at the third knock. A door that is knocked at too often creaks."


def test_mistakes_in_a_method_that_is_no_clause_must_name_a_rule() -> None:
    with pytest.raises(TypeError, match="advance is no clause: say which rule its mistakes break"):
        of(Timer.advance)


@pytest.mark.parametrize("path", ["setled", "timer.setled", "clock.settled"])
def test_clause_that_is_not_there_cannot_be_replaced(path: str) -> None:
    with pytest.raises(LookupError, match="has no"):
        replaced(MODEL, {path: lambda *asked: True}, "Nothing")


def test_clause_of_a_part_is_named_by_its_path() -> None:
    assert method_of(MODEL, "timer.settled") is Timer.settled
    other = replaced(MODEL, {"timer.settled": lambda timer, wake: True}, "Settled")
    model = other(CONTRACT.config())
    assert model.add(1, 0, model.timer.now + 5000)
    assert model.timer.armed == []
    assert method_of(MODEL, "timer.settled") is Timer.settled
    parts = {"timer.", "buckets.", "fixed_delay.", "index.", "memory_estimate."}
    assert {path for path, _ in tree_of(Heap)} == {"", *parts}


def test_way_that_stands_before_is_left_out_where_the_profile_changes_the_same() -> None:
    class Silent(DelayedDelivery):
        def advance(self, ms: int) -> list[int]:
            return []

    names = {mistake.name for mistake in standing_before(MODEL)} - {mistake.name for mistake in standing_before(Silent)}
    assert names == {"a firing asks for a read while something is due"}
