"""The mutants, each with one seed; `broker-tck mutants` has the whole table."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import pytest

from broker_tck.implementations.mutants import MUTANTS
from broker_tck.model.rules import rules_of
from broker_tck.properties.contracts import CONTRACTS
from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.engine.subjects import Subject, mutants, resolve
from broker_tck.properties.findings.diagnose import Diagnoser, nearby
from broker_tck.properties.findings.finding import Finding, find
from broker_tck.properties.mistakes.book import ways_of
from broker_tck.properties.worth import killing
from broker_tck.properties.worth.killing import Kills, attempt, is_minimal, kills


@pytest.mark.parametrize("contract", CONTRACTS.values(), ids=lambda contract: contract.name)
def test_every_mutant_declares_a_rule_that_can_be_seen_broken(contract: Contract) -> None:
    checkable = {rule.number for rule in rules_of(contract.specification) if rule.checkable}
    assert {mutant.rule for mutant in mutants(contract)} <= checkable


@pytest.mark.parametrize("contract", CONTRACTS.values(), ids=lambda contract: contract.name)
def test_every_checkable_rule_has_something_that_breaks_it(contract: Contract) -> None:
    broken = {way.rule.number for way in ways_of(contract.specification)} | {law.number for law in contract.laws}
    broken |= {variation.name for variation in contract.variations}
    broken |= {mutant.rule for mutant in mutants(contract)}
    assert [r.number for r in rules_of(contract.specification) if r.checkable and r.number not in broken] == []


@pytest.mark.parametrize("contract", CONTRACTS.values(), ids=lambda contract: contract.name)
def test_there_are_enough_mutants(contract: Contract) -> None:
    chosen = mutants(contract)
    assert len(chosen) >= 25
    if contract.name == "delayed-delivery":
        assert sum(mutant.conditions >= 3 for mutant in chosen) >= 8
        assert sum(mutant.deep for mutant in chosen) >= 4


@pytest.mark.parametrize("name", MUTANTS)
def test_mutant_says_in_a_sentence_what_it_does(name: str) -> None:
    mutant = MUTANTS[name]
    assert mutant.name == name
    assert mutant.wrong[0].isupper()
    assert mutant.wrong.endswith(".")
    assert mutant.conditions >= (2 if mutant.deep else 1)


@pytest.fixture(scope="module")
def killed() -> Kills:
    """What two seeds of the walk make of a mutant."""
    return kills("duplicate-counted", "walk", 2)


def test_kills_are_counted_over_seeds(killed: Kills) -> None:
    result = killed
    assert (result.killed, result.named, result.needed, result.passed, result.minimal) == (2, 2, 2, True, True)
    assert (result.length, result.first) == (2, 2)
    for worse, fault in (
        ({"killed": 1, "named": 1}, "FAILED"),
        ({"named": 1}, "FAILED"),
        ({"minimal": False}, "NOT MINIMAL"),
        ({"length": 21}, "TOO LONG"),
    ):
        other = msgspec.structs.replace(result, **worse)
        assert (other.passed, other.fault) == (False, fault)


@pytest.mark.parametrize(("deep", "first", "longest"), [(False, 12, 20), (True, 18, 30)])
def test_traces_of_a_mutant_have_to_be_short(killed: Kills, deep: bool, first: int, longest: int) -> None:
    result = msgspec.structs.replace(killed, deep=deep, first=first, length=longest)
    assert result.passed
    assert not msgspec.structs.replace(result, length=longest + 1).passed
    too_long = msgspec.structs.replace(result, first=first + 1)
    assert not too_long.passed
    assert msgspec.structs.replace(too_long, driver="machine").passed


@pytest.mark.slow
@pytest.mark.parametrize(("first", "times"), [(12, 1), (0, 3)])
def test_more_walks_are_reduced_only_where_a_trace_stays_long(
    monkeypatch: pytest.MonkeyPatch, first: int, times: int
) -> None:
    walked: list[int | None] = []

    def found(subject: Subject, diagnoser: Diagnoser, config: Any, operations: Any, seed: int | None) -> Finding | None:
        walked.append(seed)
        return find(subject, diagnoser, config, operations, seed)

    monkeypatch.setattr(killing, "FIRST", first)
    monkeypatch.setattr(killing, "find", found)
    assert kills("duplicate-counted", "walk", 1).killed == 1
    assert len(walked) == len({*walked}) == times


@pytest.fixture(scope="module")
def found() -> tuple[Finding, Subject, Diagnoser]:
    """The finding of one seed of the walk, and what judges it."""
    subject = resolve("mutant:duplicate-counted")
    model = subject.contract.model(subject.profiles[0])
    diagnoser = Diagnoser(subject.contract, model, subject.rig, subject.capabilities)
    kill = attempt("walk", subject, model, 0)
    assert kill.failed is not None
    finding = find(subject, diagnoser, kill.failed.config, kill.failed.operations, kill.failed.seed)
    assert finding is not None
    return finding, subject, diagnoser


def test_trace_that_an_operation_can_be_left_out_of_is_not_minimal(found: tuple[Finding, Subject, Diagnoser]) -> None:
    finding, *judges = found
    assert is_minimal(finding, *judges)
    again = (finding.operations[0], *finding.operations)
    assert not is_minimal(replace(finding, operations=again), *judges)


def test_traces_near_a_long_one_are_few(found: tuple[Finding, Subject, Diagnoser]) -> None:
    finding, *_ = found
    assert len(nearby(finding.config, finding.operations)) > 20
    assert len(nearby(finding.config, [*finding.operations] * 100)) <= 40
