"""Replays of subjects that end their process: the command lives on and says what happened."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli
from kit import subject_of, trace_of

from broker_tck.cli import reduce as reducing
from broker_tck.implementations.delayed_delivery.time_bucket import TimeBucketTracker
from broker_tck.implementations.interface import Position
from broker_tck.properties.engine import replay
from broker_tck.properties.engine.subjects import resolve
from broker_tck.properties.isolation.protected import Protected, all_replayed

TRACE = "add 1 0 +2000; add 1 1 +2000; add 1 2 +9000; adv 2000; get 10"
FATAL = {
    "HangsInC": ("Hang", "no answer within the limit"),
    "Exits": ("Exited", "the process ended itself with status 3"),
    "Crashes": ("Killed", "the process died of SIGSEGV"),
}


@pytest.mark.untraced
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name == "HangsInC")) for name in FATAL]
)
def test_fatal_subject_is_replayed_and_reduced(cli: Cli, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    for module in (replay, reducing):
        monkeypatch.setattr(module, "SECONDS", 1.0)
    subject = ("--subject", f"campaigns.fatal:{name}", "--profile", "timebucket-ideal", "--json")
    seen = dict(zip(("error", "message"), FATAL[name], strict=True))

    status, out, err = cli("replay", TRACE, *subject)
    assert (status, err) == (1, "")
    (found,) = json.loads(out)["disagreements"]
    assert (found["step"], found["seen"]) == (5, seen)

    status, out, err = cli("reduce", TRACE, *subject)
    assert (status, err) == (1, "")
    finding = json.loads(out)
    assert [operation[0] for operation in finding["operations"]] == ["add", "add", "add", "get"]
    assert finding["seen"] == seen


class SecondOfItsProcess(TimeBucketTracker):
    """Hands nothing out where it is not the first of its process."""

    made = 0

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        type(self).made += 1
        self.mute = type(self).made > 1

    def get_scheduled_messages(self, max_messages: int) -> list[Position]:
        return [] if self.mute else super().get_scheduled_messages(max_messages)


def test_trace_that_fails_after_others_is_replayed_alone() -> None:
    subject, trace = subject_of(SecondOfItsProcess), trace_of(TRACE)
    asked = [(trace.config, trace.operations)] * 3
    model = subject.contract.model("timebucket-ideal")
    assert [found is None for found in Protected(5.0).failures(subject, model, asked)] == [True, False, False]
    assert [*all_replayed(subject, model, asked, 5.0)] == [None] * 3


def test_what_comes_after_a_death_is_replayed_all_the_same() -> None:
    fine, fatal = trace_of("add 1 0 +2000; has"), trace_of(TRACE)
    subject = resolve("campaigns.fatal:Exits")
    asked = [(trace.config, trace.operations) for trace in (fine, fatal, fine, fatal)]
    found = [*all_replayed(subject, subject.contract.model("timebucket-ideal"), asked, 5.0)]
    assert [each and (each[0], each[1].seen["error"]) for each in found] == [None, (4, "Exited")] * 2


def test_death_is_told_once() -> None:
    words = ["replay", TRACE, "--subject", "campaigns.fatal:Crashes", "--profile", "timebucket-ideal"]
    command = [sys.executable, "-X", "faulthandler", "-m", "broker_tck.cli.main", *words]
    ended = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (1, "")
    assert "SIGSEGV" in ended.stdout
