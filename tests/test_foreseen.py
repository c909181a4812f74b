"""Walks of subjects that are asked for whole traces: what differs is found as if they were asked step by step."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from test_exec import SPEAKING, named, saying

from broker_tck.implementations.programs import end_all
from broker_tck.properties.engine import foreseen
from broker_tck.properties.engine.check import check
from broker_tck.properties.engine.subjects import resolve
from broker_tck.properties.engine.walk import Walk, walk, walk_seed

BROKEN = {
    "mutant:strict-rounded-down": 1,
    "mutant:chunks-by-entry": 1,
    "mutant:removal-by-name-waits": 0,
    "mutant:memory-drifts-with-prunes": 3,
    "estimating:FallsWithEveryAdd": 3,
}
"""Subjects that differ in a result, in what is observed, or in an estimate that nothing else depends on.

Each with the number of the first walk on which it does.
"""
ESTIMATING = """
from broker_tck.implementations.delayed_delivery.time_bucket import TimeBucketTracker


class FallsWithEveryAdd(TimeBucketTracker):
    def get_buffer_memory_usage(self):
        held = self.get_number_of_delayed_messages()
        return 10**6 - held if held else 0
"""
WALKS = 4


@pytest.fixture(autouse=True)
def _end() -> Iterator[None]:
    yield
    end_all()


def walk_of(name: str, profile: str, number: int) -> Walk:
    """A walk of a program."""
    subject = resolve(name)
    contract = subject.contract
    return walk(contract, walk_seed(0, number), subject.adapter, contract.model(profile), subject.capabilities)


def walks_of(name: str, profile: str) -> list[Walk]:
    """Some walks of a program."""
    return [walk_of(name, profile, number) for number in range(WALKS)]


@pytest.mark.parametrize("name", BROKEN)
def test_differences_are_those_of_single_steps(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "estimating.py").write_text(ESTIMATING, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    profile = resolve(name).contract.default
    together, single = (
        walk_of(named(SPEAKING, name, level), profile, BROKEN[name]) for level in ("traces", "operations")
    )
    assert single.difference
    assert together == single


def test_answer_like_the_model_s_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a walk of some 400 operations a few are judged: estimates of memory, and the count after a close."""
    judged = []

    def counted(operation: Any, *others: Any) -> Any:
        judged.append(operation.tag)
        return check(operation, *others)

    monkeypatch.setattr(foreseen, "check", counted)
    walks = walks_of(named(SPEAKING, "time-bucket"), "timebucket-ideal")
    assert not any(each.difference for each in walks)
    assert {*judged} == {"memory", "close"}


@pytest.mark.parametrize("told", ["1", "1.0", "'true'"])
def test_true_is_nothing_else(tmp_path: Path, told: str) -> None:
    body = f"say([{{'add': {told}, 'has': False}}.get(message[0]), 0, []])"
    walks = walks_of(saying(tmp_path, body), "timebucket-ideal")
    assert all(each.difference for each in walks)
    assert any(each.difference and each.difference.expected is True for each in walks)
