"""Replays of subjects that end their process: the command lives on and says what happened."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import Cli

from broker_tck.cli import reduce as reducing
from broker_tck.properties.engine import replay

TRACE = "add 1 0 +2000; add 1 1 +2000; add 1 2 +9000; adv 2000; get 10"
FATAL = {
    "HangsInC": ("Hang", "no answer within the limit"),
    "Exits": ("Exited", "the process ended itself with status 3"),
    "Crashes": ("Killed", "the process died of SIGSEGV"),
}


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


def test_death_is_told_once() -> None:
    words = ["replay", TRACE, "--subject", "campaigns.fatal:Crashes", "--profile", "timebucket-ideal"]
    command = [sys.executable, "-X", "faulthandler", "-m", "broker_tck.cli.main", *words]
    ended = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (1, "")
    assert "SIGSEGV" in ended.stdout
