"""The Hypothesis machine: the same generator, driven by Hypothesis."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any
from unittest import SkipTest

import hypothesis
import kit
import pytest
from hypothesis import Phase, settings
from hypothesis.database import InMemoryExampleDatabase
from hypothesis.stateful import RuleBasedStateMachine, rule
from kit import CONTRACT, MODEL, found, subject_of, wrong

from broker_tck.implementations.delayed_delivery.time_bucket import TimeBucketTracker
from broker_tck.properties.contracts.delayed_delivery.operations import Add
from broker_tck.properties.engine import machine as machines
from broker_tck.properties.engine.check import first_difference
from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.engine.machine import Broken, Machine, Outcome, fixed, machine_for, of_the_user, run_machine
from broker_tck.properties.engine.operation import Operation, by_tag
from broker_tck.properties.engine.registry import CONTRACTS
from broker_tck.properties.engine.subjects import Subject, bundled
from broker_tck.properties.engine.walk import Walk
from broker_tck.properties.report.parts import conformance

IDEAL = MODEL.PROFILE
EQUALITY = "DD-09 refuses: equality_accepted"


def run(subject: Subject, examples: int, profile: str = IDEAL) -> Outcome:
    """A run with the settings of a check."""
    return run_machine(machine_for(subject, profile), fixed(examples))


def like_a_user(**said: Any) -> settings:
    """What somebody has who gives no option: a database, and all phases but the one that traces each line."""
    phases = [phase for phase in Phase if phase is not Phase.explain]
    usual = settings(derandomize=False, database=InMemoryExampleDatabase(), phases=phases)
    return settings(usual, **said)


def seeded(subject: Subject) -> type[Machine]:
    """A machine that makes the same examples each time, whatever its settings are."""
    machine: type[Machine] = hypothesis.seed(1)(machine_for(subject, IDEAL))
    return machine


def told_by(machine: type[Machine]) -> str:
    """What the test says that users have of a machine."""
    machine.TestCase.settings = like_a_user()
    with pytest.raises(Broken) as raised:
        machine.TestCase("runTest").debug()
    return str(raised.value)


@pytest.mark.parametrize("contract", CONTRACTS.values(), ids=CONTRACTS)
def test_conforming_subject_passes(contract: Contract) -> None:
    subject = bundled(contract)[0]
    failed, performed, program = run(subject, 4, subject.profiles[0])
    assert (failed, program) == (None, "")
    assert performed > 100


@pytest.mark.parametrize("way", [EQUALITY, "DD-28 index.count: of_buckets"])
def test_known_mistake_is_found_the_same_each_time(way: str) -> None:
    subject = wrong(way)
    first, second = run(subject, 100), run(subject, 100)
    assert first.failed is not None
    assert second.failed is not None
    assert (first.failed.config, first.failed.operations) == (second.failed.config, second.failed.operations)
    finding = found(subject, first.failed)
    assert finding is not None
    assert finding.rule == way[:5]


def test_failure_is_shrunk_printed_kept_replayed_first_and_reproduced() -> None:
    machine, given = seeded(wrong(EQUALITY)), like_a_user(print_blob=True)
    failed, performed, program = run_machine(machine, given)
    assert failed is not None
    _, started, *done, ended = [line for line in program.splitlines() if line.startswith("state")]
    assert (started, ended) == (f"state.start(config={failed.config})", "state.teardown()")
    assert [line.removeprefix("state.perform(operation=").removesuffix(")") for line in done] == [
        *map(repr, failed.operations)
    ]
    finding = found(machine.subject, failed)
    assert finding is not None
    assert finding.rule == "DD-09"
    assert len(done) < 4
    assert performed > 100
    again = run_machine(machine, settings(given, phases=[Phase.reuse]))
    assert again.failed is not None
    assert again.failed.operations == failed.operations
    assert again.performed == 2 * len(done)  # the failure, and once more to print it
    with pytest.raises(SkipTest):  # nothing is kept of another subject
        run_machine(machine_for(subject_of(TimeBucketTracker), IDEAL), settings(given, phases=[Phase.reuse]))

    told = re.search(r"@reproduce_failure\('(.*)', (b'.*')\)", program)
    assert told is not None
    blob = told[2][2:-1].encode().decode("unicode_escape").encode("latin-1")
    other = hypothesis.reproduce_failure(told[1], blob)(machine_for(wrong(EQUALITY), IDEAL))
    reproduced, performed, _ = run_machine(other, like_a_user())
    assert (reproduced, performed) == (failed, len(failed.operations))


def test_failure_is_explained_once_and_not_while_it_is_shrunk() -> None:
    asked: list[Walk] = []

    def report(subject: Subject, profile: str, failed: Walk) -> str:
        asked.append(failed)
        return f"{profile}: so it is"

    machine = machine_for(wrong(EQUALITY), IDEAL, report)
    assert told_by(hypothesis.seed(1)(machine)) == f"{IDEAL}: so it is"
    assert asked == [machine.failed]
    assert machine.performed > 100


def test_users_add_rules() -> None:
    """A class that is handed to users says what the kit says, and goes on to do what they add."""
    base: Any = conformance("delayed-delivery", kit.OneTooMany).machine()

    class Twice(base):  # type: ignore[misc]
        @rule()
        def add_twice(self) -> None:
            for _ in range(2):
                self.perform(Add(1, 1, self.reference.timer.now + 10_000))

    assert issubclass(Twice, RuleBasedStateMachine)
    failed = run_machine(Twice, fixed(60)).failed
    assert failed is not None
    assert failed.operations[-1].tag == "get"
    assert Add(1, 1, failed.config.clock + 10_000) in failed.operations
    said = told_by(hypothesis.seed(1)(base))
    assert "is broken by kit:OneTooMany (timebucket-ideal; " in said
    assert "  broker-tck replay --subject kit:OneTooMany " in said
    assert conformance("delayed-delivery", kit.OneTooMany).machine("heap").profile == "heap"


def test_settings_and_seeds_are_those_of_hypothesis(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = machine_for(subject_of(TimeBucketTracker), IDEAL)
    performed = noting(monkeypatch)

    def performed_with(seed: int) -> list[Operation]:
        performed.clear()
        run_machine(hypothesis.seed(seed)(machine), like_a_user(max_examples=5))
        return [*performed]

    one, other, again = map(performed_with, (1, 2, 1))
    assert one == again != other
    assert of_the_user(7).max_examples == settings().max_examples  # the profile of these tests has a number
    before = settings.get_current_profile_name()
    settings.load_profile("default")
    try:
        given = of_the_user(7)
        assert (given.max_examples, given.deadline, Phase.explain in given.phases) == (7, None, False)
        assert {Phase.reuse, Phase.generate, Phase.shrink} <= {*given.phases}
    finally:
        settings.load_profile(before)


def test_every_operation_is_performed_that_a_subject_can_be_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    kinds = Counter(o.tag for o in all_performed(monkeypatch, subject_of(TimeBucketTracker)))
    assert set(kinds) == {*by_tag(CONTRACT.operations)}
    assert kinds["has"] + kinds["pause"] + kinds["stale"] < kinds["add"]
    fewer = {o.tag for o in all_performed(monkeypatch, subject_of(Lacking))}
    assert set(kinds) - fewer == {"memory"}


class Lacking(TimeBucketTracker):
    """Has no estimate of its memory."""

    capabilities = {"memory_estimate": False}  # noqa: RUF012


def noting(monkeypatch: pytest.MonkeyPatch) -> list[Operation]:
    """A list to which machines add what they perform."""
    performed: list[Operation] = []

    def performs(operations: list[Operation], *both: Any) -> Any:
        performed.extend(operations)
        return first_difference(operations, *both)

    monkeypatch.setattr(machines, "first_difference", performs)
    return performed


def all_performed(monkeypatch: pytest.MonkeyPatch, subject: Subject) -> list[Operation]:
    """All that a run performs."""
    performed = noting(monkeypatch)
    run(subject, 60, subject.profiles[0])
    return performed


def test_error_of_the_kit_is_none_of_the_subject(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*asked: Any) -> Any:
        raise ZeroDivisionError

    monkeypatch.setattr(machines, "first_difference", fails)
    with pytest.raises(ZeroDivisionError):
        run(subject_of(TimeBucketTracker), 5)
