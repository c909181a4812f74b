"""Rules as data: all of them, each declared once, with its wrong ways; and which way imports go."""

from __future__ import annotations

import ast
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from kit import CONTRACT, MODEL, ROOT

from broker_tck.model.delayed_delivery import PROFILES
from broker_tck.model.delayed_delivery.profiles import (
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
from broker_tck.model.rules import Strength, clauses_of, deviates, method_of, replaced, rules_of, tree_of, wrong
from broker_tck.model.rules import rule as declare
from broker_tck.properties.contracts import CONTRACTS
from broker_tck.properties.mistakes.book import ABSENT, deviations_of, standing_before, ways_of
from broker_tck.properties.worth.exercised import Exercised, deviating

NUMBERS = [f"DD-{number:02}" for number in range(1, 37)]
ORDER = ("model", "implementations", "properties", "spark_fuzz", "bench", "cli")
FIXTURES = "fixtures"


def test_every_rule_is_declared_once() -> None:
    assert [rule.number for rule in rules_of(MODEL)] == NUMBERS
    embodied = Counter(rule.number for rule in {e.rule for e in clauses_of(MODEL)})
    unembodied = Counter(rule.number for rule in MODEL.UNEMBODIED)
    assert max((embodied + unembodied).values()) == 1


def test_number_means_one_rule_in_every_contract() -> None:
    rules = {rule for contract in CONTRACTS.values() for rule in rules_of(contract.specification)}
    assert max(Counter(rule.number for rule in rules).values()) == 1


@pytest.mark.parametrize("model", PROFILES.values(), ids=list(PROFILES))
def test_every_profile_has_the_same_rules(model: type[DelayedDelivery]) -> None:
    assert rules_of(model) == rules_of(MODEL)
    assert model.PROFILE in PROFILES
    assert {*model.BREAKS, *model.MOOT} <= {*NUMBERS, *(variation.name for variation in CONTRACT.variations)}
    assert {law.number for law in CONTRACT.laws} >= set(model.BREAKS)


def test_few_rules_cannot_be_checked() -> None:
    informative = [rule for rule in rules_of(MODEL) if rule.strength is Strength.INFORMATIVE]
    assert len(informative) <= 8
    assert all(not rule.checkable for rule in informative)


def test_checkable_rules_can_be_broken() -> None:
    ways = Counter(way.rule.number for way in ways_of(MODEL))
    laws = {law.number for law in CONTRACT.laws}
    for rule in rules_of(MODEL):
        if rule.checkable:
            assert ways[rule.number] or (rule.law and rule.number in laws), rule.number
        else:
            assert not ways[rule.number]


def test_rules_are_written_out() -> None:
    for rule in rules_of(MODEL):
        assert rule.sentence.endswith(".")
        assert not rule.look.endswith(".")
        assert rule.source
        assert rule.look


def test_every_clause_can_be_got_wrong() -> None:
    ways = ways_of(MODEL)
    wrong = {way.rule.number for way in ways}
    for embodiment in clauses_of(MODEL):
        assert next(iter(embodiment.ways), ABSENT) == ABSENT
        assert embodiment.ways or embodiment.rule.number in wrong
        assert all(map(callable, embodiment.ways.values()))
        assert callable(method_of(MODEL, embodiment.clause))
    assert len({str(way) for way in ways if way.name != ABSENT}) == sum(way.name != ABSENT for way in ways)


def test_way_replaces_its_clause_alone() -> None:
    for way in ways_of(MODEL):
        wrong = way.applied_to(MODEL)
        assert issubclass(wrong, MODEL)
        assert str(way) in wrong.__name__
        assert way.rule.number in str(way)
        clauses = {e.clause for e in clauses_of(MODEL)}
        changed = {clause for clause in clauses if method_of(wrong, clause) is not method_of(MODEL, clause)}
        if way.stands_before:
            assert any(way.instead in part.__mro__ for _, part in tree_of(wrong))
        else:
            assert changed == {way.clause}
            assert method_of(wrong, way.clause) is way.instead


DEVIATIONS = {
    DelayedDelivery: set(),
    TimeBucket2026: {"DD-22", "DD-33"},
    TimeBucket50: {"DD-16", "DD-22", "DD-33"},
    TimeBucket50M1: {"DD-06", "DD-22", "DD-33"},
    TimeBucket2025: {"DD-05", "DD-06", "DD-11", "DD-21", "DD-22", "DD-33"},
    TimeBucket404: {"DD-05", "DD-06", "DD-21", "DD-22", "DD-33"},
    TimeBucket401: {"DD-05", "DD-06", "DD-20", "DD-21", "DD-22", "DD-33"},
    Heap: {"DD-02", "DD-11", "DD-21", "DD-22", "DD-32"},
}


@pytest.mark.parametrize("model", PROFILES.values(), ids=list(PROFILES))
def test_deviations_lead_back_to_the_specification(model: type[DelayedDelivery]) -> None:
    ways = deviations_of(model)
    assert {way.rule.number for way in ways} == DEVIATIONS[model] == deviating(model)
    for way in ways:
        assert way.name == "as specified"
        assert method_of(way.applied_to(model), way.clause) is method_of(MODEL, way.clause)
    left = {e.clause for e in clauses_of(model) if not deviates(model, e)}
    assert left.isdisjoint(way.clause for way in ways)
    clauses = {way.clause for way in ways_of(model) if not way.stands_before}
    assert clauses == {e.clause for e in clauses_of(model) if e.clause in left and e.ways}


def test_rule_is_met_when_its_clause_answers_otherwise_than_none() -> None:
    counting = Exercised(MODEL)
    model: Any = counting.model(CONTRACT.config())
    assert not model.add(1, 0, model.timer.now)
    assert counting.met["DD-09"] == counting.met["DD-15"] == 1
    assert not counting.met["DD-11"]
    assert model.add(1, 0, model.timer.now + 5000)
    assert model.add(1, 0, model.timer.now + 5000)
    assert counting.met["DD-11"] >= 1


def test_replaced_model_says_so() -> None:
    other = replaced(MODEL, {"buckets.tick_after": lambda b, tick: 7}, "Seven")
    assert (other.__name__, other.__doc__) == ("Seven", "DelayedDelivery with other clauses.")
    assert other(CONTRACT.config()).buckets.tick_after(1) == 7


def test_rule_that_nothing_tells_when_it_is_met_is_an_error() -> None:
    with pytest.raises(TypeError, match="DD-99 says neither what its absence is like nor when it is met"):
        declare("DD-99", "Nothing.", source="made up", look="nowhere")


def test_wrong_way_of_a_rule_that_is_not_there_is_an_error() -> None:
    with pytest.raises(LookupError, match="Nowhere breaks DD-09, of which Timer has no clause"):
        wrong("DD-09", "nowhere")(type("Nowhere", (Timer,), {}))


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
    class Close(DelayedDelivery):
        def close(self) -> None:
            self.closed = True

    names = {way.name for way in standing_before(MODEL)} - {way.name for way in standing_before(Close)}
    assert names == {"the timer outlives its tracker", "the timer is disarmed while something is held"}


def test_rule_is_met_when_its_condition_says_so() -> None:
    counting = Exercised(MODEL)
    model: Any = counting.model(CONTRACT.config())
    assert model.stale() is False
    assert not counting.met["DD-24"]
    assert model.add(1, 0, model.timer.now + 5000)
    assert model.add(1, 1, model.timer.now + 3000)
    assert counting.met["DD-23"] == 1
    assert model.stale() is False
    assert counting.met["DD-24"] == 1


def test_unknown_profile_names_those_that_there_are() -> None:
    with pytest.raises(ValueError, match="unknown profile 'x' of delayed-delivery; there are: timebucket-ideal, "):
        CONTRACT.model("x")


# ---- Imports


def imported(file: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, file
            names |= {f"{node.module}.{alias.name}" for alias in node.names} if node.module else set()
    return names


def kit_folders(file: Path) -> set[str]:
    return {name.split(".")[1] for name in imported(file) if name.startswith("broker_tck.")}


def sources(folder: str) -> list[Path]:
    files = sorted((ROOT / folder).rglob("*.py"))
    assert files
    return files


def test_model_imports_the_standard_library_and_msgspec() -> None:
    for file in sources("model"):
        tops = {name.partition(".")[0] for name in imported(file)} - {"broker_tck"}
        assert tops <= {*sys.stdlib_module_names, "msgspec"}, file
        assert kit_folders(file) <= {"model"}, file


def test_implementations_share_nothing_with_the_model() -> None:
    for file in sources("implementations"):
        assert kit_folders(file) <= {"implementations"}, file


RIGS = ("*rig.py", "ledgers.py", "values.py")


def test_rigs_share_nothing_with_model_or_subjects() -> None:
    rooms = [file for name in RIGS for file in (ROOT / "properties" / "contracts").rglob(name)]
    assert len(rooms) >= len(CONTRACTS)
    for file in rooms:
        names = {name for name in imported(file) if name.startswith("broker_tck.")}
        assert "model" not in kit_folders(file), file
        subjects = {name for name in names if name.startswith("broker_tck.implementations.")}
        assert all(name.startswith("broker_tck.implementations.interface") for name in subjects), file


@pytest.mark.slow
@pytest.mark.parametrize("folder", ORDER)
def test_imports_go_one_way(folder: str) -> None:
    allowed = {*ORDER[: ORDER.index(folder) + 1], FIXTURES}
    for file in sources(folder):
        assert kit_folders(file) <= allowed, file


def test_fixtures_import_the_model_at_most() -> None:
    for file in sources(FIXTURES):
        assert kit_folders(file) <= {"model", FIXTURES}, file
