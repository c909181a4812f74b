"""What several tests of the kit need: subjects that are wrong on purpose, walks, and mistakes by name."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

import click
import pytest

from broker_tck.implementations.delayed_delivery.time_bucket import TimeBucketTracker
from broker_tck.implementations.interface import Hang
from broker_tck.properties.engine.registry import CONTRACTS
from broker_tck.properties.engine.subjects import Subject, as_subject, declared
from broker_tck.properties.engine.trace import Trace, from_text
from broker_tck.properties.engine.walk import Walk, walk, walk_seed
from broker_tck.properties.explain.checked import Checked, check_subject
from broker_tck.properties.explain.diagnose import Diagnoser
from broker_tck.properties.explain.finding import Finding, find
from broker_tck.properties.mistakes.book import Mistake, mistakes_of
from broker_tck.properties.report.result import Golden, KeptTraces, ProfileResult, Rules
from broker_tck.properties.search.budget import Budget
from broker_tck.properties.search.replay import Replay, replay_all

CONTRACT = CONTRACTS["delayed-delivery"]
MODEL = CONTRACT.specification
START = 1_700_000_000_000
ROOT = Path(__file__).parent.parent

ONE_IN = 4
"""Some tests replay one recorded trace of so many; a deep test replays all."""

PATIENCE = 600.0
"""Seconds after which a wait for another process fails: only what hangs takes as many, however slow the machine is."""

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="resident memory is read from /proc")
plots = pytest.mark.skipif(find_spec("matplotlib") is None, reason="matplotlib is not installed")
"""They are drawn if the extra `bench` is installed; in tox, that is the environment `coverage`."""


def in_one_bucket(steps: list[str]) -> Trace:
    """A trace whose adds, for +511, are all in one bucket, which is due all along."""
    return from_text("; ".join(["delayed-delivery timebucket-4.0.1 strict=true", *steps]), "in one bucket")


def crowded(seed: int) -> Trace:
    """Up to a hundred ledgers in one bucket: a table of them grows and shrinks."""
    chance, steps = random.Random(seed), []
    ledgers = chance.sample([*range(120), *range(-40, 0), *range(2**62, 2**62 + 40)], 100)
    for most in (2, 40, 5, 20):
        adds = chance.choice((20, 80, 250))
        steps += [f"add {chance.choice(ledgers)} {chance.randrange(3)} +511" for _ in range(adds)]
        for _ in range(15):
            steps += [f"get {chance.randrange(1, most)}", f"add {chance.choice(ledgers)} 5 +511"]
    return in_one_bucket([*steps, "get 1000"])


def emptied_at_once() -> Trace:
    """A table that shrinks twice in one get, and ends otherwise where that let go of its ledgers in another order."""
    ledgers = random.Random(97).sample(range(1, 1000), 50)
    return in_one_bucket([*(f"add {ledger} 0 +511" for ledger in ledgers), "get 44", *(6 * ["get 1"])])


CROWDED = [*map(crowded, range(8)), emptied_at_once()]


def replay(trace: Trace, subjects: Sequence[Subject], profile: str | None = None) -> Replay:
    """One trace, replayed."""
    (found,) = replay_all([(trace, subjects)], profile)
    return found


def run_subject(subject: Subject, profile: str, seed: int, count: int, **more: Any) -> Checked:
    """So many walks of a subject, and the deviations of its profile; ``more`` are other fields of the budget."""
    progress = more.pop("progress", None)
    return check_subject(subject, profile, Budget(seed, count, **more), progress, parts=("walks", "deviations"))


def result_of(subject: str, profile: str, **changes: Any) -> ProfileResult:
    """A result of a subject under a profile, made up; ``changes`` are fields of it."""
    usual: dict[str, Any] = {
        "contract": "delayed-delivery",
        "source": None,
        "verdict": "broken",
        "golden": Golden(0, 0),
        "rules": Rules(["DD-01"], ["DD-02"], {}, {}),
        "walks": 3,
        "walked": 4,
        "machine_steps": 0,
        "failure_bound": 1.0,
        "deviations": {},
        "left_out": [],
        "accepted": [],
        "kept": KeptTraces([], [], []),
        "findings": (),
        "complaints": (),
        "unseen": (),
    }
    return ProfileResult(subject=subject, profile=profile, **usual | changes)


class Hanging(TimeBucketTracker):
    """Says that it has ended a get for more than one that did not come back, while anything is held."""

    def get_scheduled_messages(self, max_messages: int) -> Any:
        if self._count and max_messages > 1:
            raise Hang
        return super().get_scheduled_messages(max_messages)


class OneTooMany(TimeBucketTracker):
    """Hands out one message more than was asked for."""

    def get_scheduled_messages(self, max_messages: int) -> Any:
        return super().get_scheduled_messages(max_messages + 1)


class Unmakeable:
    """Raises when it is made."""

    def __init__(self, config: Any, clock: Any, timer: Any) -> None:
        raise OSError("no disk")


class NeverMade:
    """Says that it did not come back from being made."""

    def __init__(self, config: Any, clock: Any, timer: Any) -> None:
        raise Hang


class Exiting(TimeBucketTracker):
    """Ends the process when it is asked to clear."""

    def clear(self) -> None:
        sys.exit(7)


class Raising(TimeBucketTracker):
    """Raises for every fifth entry."""

    def add_message(self, ledger_id: int, entry_id: int, deliver_at: int) -> bool:
        if entry_id % 5 == 4:
            raise LookupError("entry")
        return super().add_message(ledger_id, entry_id, deliver_at)


class Nonsense(TimeBucketTracker):
    """Answers with an object of its own."""

    def has_message_available(self) -> Any:
        return object()


class Flaky(TimeBucketTracker):
    """Wrong once in a process, and never again."""

    failures: ClassVar[int] = 1

    def has_message_available(self) -> bool:
        if Flaky.failures:
            Flaky.failures -= 1
            return not super().has_message_available()
        return super().has_message_available()


def subject_of(factory: Any, name: str = "") -> Subject:
    """A factory as a subject."""
    return declared(name or f"kit:{factory.__name__}", factory, CONTRACT)


def mistake_of(text: str, model: type = MODEL) -> Mistake:
    """A known mistake: ``DD-09 refuses: equality_accepted``, ``DD-01 absent``, or by its clause."""
    return next(w for w in mistakes_of(model) if text in (str(w), f"{w.rule.number} {w.clause}: {w.name}"))


def wrong(text: str) -> Subject:
    """A known mistake, as a subject."""
    mistake = mistake_of(text)
    return as_subject(str(mistake), CONTRACT, mistake.applied_to(MODEL))


def walked(subject: Subject, number: int, profile: str = "", seed: int = 0) -> Walk:
    """A walk of a subject."""
    model = CONTRACT.model(profile or subject.profiles[0])
    return walk(CONTRACT, walk_seed(seed, number), subject.adapter, model, subject.capabilities)


def first_failing(subject: Subject, seed: int = 0) -> Walk:
    """The first walk in which a subject leaves the specification."""
    return next(done for number in range(1500) if (done := walked(subject, number, seed=seed)).difference)


def found(subject: Subject, done: Walk) -> Finding | None:
    """The finding that a failing walk makes."""
    return find(Diagnoser(subject, MODEL), done)


def trace_of(text: str) -> Trace:
    """The trace of a line of text."""
    return from_text(text)


def commands_below(group: click.Group) -> dict[str, click.Command]:
    """The commands of a group by name."""
    context = click.Context(group)
    found = {name: group.get_command(context, name) for name in group.list_commands(context)}
    return {name: command for name, command in found.items() if command}


def python(
    *arguments: str, cwd: Path | None = None, typed: str = "", **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run Python in a process of its own."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("COV", "PYTEST"))}
    command = [sys.executable, *arguments]
    environment |= variables
    return subprocess.run(
        command, cwd=cwd, env=environment, input=typed, capture_output=True, text=True, check=False, timeout=PATIENCE
    )
