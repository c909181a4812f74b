"""The Hypothesis machine: the same generator, driven by Hypothesis."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any, ClassVar

import kit
import pytest
from kit import CONTRACT, MODEL, found, subject_of, wrong

from broker_tck.implementations.delayed_delivery.heap import HeapTracker
from broker_tck.implementations.delayed_delivery.time_bucket import TimeBucketTracker
from broker_tck.properties.engine import machine as machines
from broker_tck.properties.engine.check import unanswered
from broker_tck.properties.engine.choices import ByteChoices
from broker_tck.properties.engine.machine import Machine, machine_for, machine_settings, run_machine


class Told(TimeBucketTracker):
    """Tells what it is asked for."""

    asked: ClassVar[Counter[str]] = Counter()

    def __getattribute__(self, name: str) -> Any:
        if not name.startswith("_"):
            Told.asked[name] += 1
        return super().__getattribute__(name)


def test_conforming_subject_passes() -> None:
    failed, operations = run_machine(subject_of(TimeBucketTracker), MODEL, 8)
    assert failed is None
    assert operations > 200


def test_other_profile_passes() -> None:
    subject = subject_of(HeapTracker)
    assert run_machine(subject, CONTRACT.model("heap"), 10)[0] is None


@pytest.mark.parametrize("way", ["DD-09 refuses: equality_accepted", "DD-28 index.count: of_buckets"])
def test_wrong_way_is_killed(way: str) -> None:
    subject = wrong(way)
    failed, operations = run_machine(subject, MODEL, 200)
    assert failed is not None
    assert failed.difference is not None
    assert operations < 200 * machines.STEPS
    finding = found(subject, failed)
    assert finding is not None
    assert finding.rule == way[:5]


def test_run_without_a_seed_is_always_the_same() -> None:
    subject = subject_of(TimeBucketTracker)
    assert run_machine(subject, MODEL, 8)[1] == run_machine(subject, MODEL, 8)[1]
    subject = wrong("DD-28 index.count: of_buckets")
    first, second = run_machine(subject, MODEL, 200), run_machine(subject, MODEL, 200)
    assert first[0] is not None
    assert second[0] is not None
    assert (first[0].config, first[0].operations) == (second[0].config, second[0].operations)


def test_seeds_differ() -> None:
    subject = wrong("DD-28 index.count: of_buckets")
    runs = [run_machine(subject, MODEL, 200, seed)[0] for seed in (1, 2)]
    assert runs[0] is not None
    assert runs[1] is not None
    assert runs[0].operations != runs[1].operations


def test_every_maker_is_a_rule_of_the_machine() -> None:
    subject = subject_of(TimeBucketTracker)
    makers = CONTRACT.makers(MODEL(CONTRACT.config()), ByteChoices(), subject.capabilities)
    machine = machine_for(subject, MODEL)
    assert rules_of(machine) == {maker.name for maker in makers}
    lacking = subject_of(type("Lacking", (TimeBucketTracker,), {"capabilities": {"memory_estimate": False}}))
    assert "memory" not in rules_of(machine_for(lacking, MODEL))


def test_step_makes_its_own_kind_and_goes_on_as_walks_do() -> None:
    machine = machine_for(subject_of(TimeBucketTracker), MODEL)()
    random = Random(1)
    machine.start(random.randbytes(64))
    kinds = set()
    for kind, make in machine.makes.items():
        for many in (0, machines.FOLLOWING):
            before = len(machine.done)
            entropy = many + (machines.FOLLOWING + 1) * random.getrandbits(480)  # the first choice is how many follow
            machine.step(kind, entropy.to_bytes(64))
            first, *following = machine.done[before:]
            assert first.tag == make().tag
            assert len(following) == many
            kinds |= {operation.tag for operation in following}
    assert len(kinds) > 4


def rules_of(machine: type[machines.Machine]) -> set[str]:
    """The kinds of operations that a machine has a rule for."""
    return {name.removeprefix("make_") for name in vars(machine) if name.startswith("make_")}


def test_every_operation_is_performed() -> None:
    Told.asked.clear()
    run_machine(subject_of(Told), MODEL, 25)
    assert {name for name in vars(kit.CONTRACT.interface) if not name.startswith("_")} <= set(Told.asked)


def test_steps_are_as_many_as_they_are_said_to_be() -> None:
    settings = machine_settings(7, 9)
    assert (settings.max_examples, settings.stateful_step_count, settings.derandomize) == (7, 9, True)
    assert run_machine(subject_of(TimeBucketTracker), MODEL, 3, steps=5)[1] <= 3 * 5 * (1 + machines.FOLLOWING)


def test_hang_ends_the_machine() -> None:
    failed, _ = run_machine(subject_of(kit.Hanging), MODEL, 30)
    assert failed is not None
    assert failed.difference is not None
    assert unanswered(failed.difference)
    assert failed.operations[-1].tag == "get"


def test_failure_that_does_not_happen_again_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kit.Flaky, "failures", 1)
    failed, _ = run_machine(subject_of(kit.Flaky), MODEL, 20)
    assert failed is not None
    assert failed.operations[-1].tag in ("has", "pause")


def test_subject_that_cannot_be_made_fails() -> None:
    failed, operations = run_machine(subject_of(kit.Unmakeable), MODEL, 5)
    assert failed is not None
    assert operations <= 5


def test_error_of_the_kit_is_none_of_the_subject(monkeypatch: pytest.MonkeyPatch) -> None:
    def perform(self: Machine, operation: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(Machine, "perform", perform)
    with pytest.raises(ZeroDivisionError):
        run_machine(subject_of(TimeBucketTracker), MODEL, 5)
