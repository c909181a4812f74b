"""The tracker of Apache Pulsar's own Go client, built by a real Go from its source."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from kit import PATIENCE, run_subject
from test_docs import of_the_go_client, outputs, see_output

from broker_tck import check, fixtures
from broker_tck.implementations.go.building import TRACKER, built
from broker_tck.implementations.go.client import GoClient
from broker_tck.properties.engine.program import PROTOCOL, TRACES, Welcome, line_of
from broker_tck.properties.engine.subjects import resolve
from broker_tck.properties.engine.trace import from_text, load

NAME = "pulsar-client-go-{}/negative-acks"
MOST_WALKS = 100
RELEASES = {"0.19.0": "go", "0.17.0": "go-old"}
BUGS = {
    "due-late": ("if targetTime.After(now) {", "if !targetTime.Before(now) {", "NA-30"),
    "rounded-up": ("return ts & mask", "return (ts + ^mask) & mask", "NA-13"),
    "first-delay": ("nackBackoffPolicy.Next(1)", "nackBackoffPolicy.Next(0)", "NA-10"),
}
"""A line of the tracker of 0.19.0, and what a bug makes of it; the rule that finds it."""
SHORT = 6


@pytest.fixture(autouse=True)
def _go(go: Path) -> None:
    """There is a Go."""


def test_earlier_release_conforms_to_its_profile() -> None:
    """That the last one does is shown on a page."""
    result = check(NAME.format("0.17.0"), walks=40, examples=0)
    (profile,) = result.profiles
    assert (result.verdict, profile.profile) == ("conforms", "go-old")
    assert profile.golden.agreed == profile.golden.steps > 0


@pytest.mark.parametrize("version", RELEASES)
def test_program_does_as_was_recorded_in_every_step(version: str) -> None:
    (file,) = (path for path in fixtures.golden("negative-acks") if path.stem == RELEASES[version])
    asked = [line_of(Welcome(PROTOCOL, TRACES))]
    want = []
    for trace, line in zip(load(str(file)), file.read_bytes().splitlines(), strict=True):
        asked += [line_of({"config": trace.config}), *map(line_of, trace.operations)]
        want += [step[1:] for step in json.loads(line)["steps"]]
    assert said(version, b"".join(asked)) == want
    assert len(want) > 4_000


def said(version: str, lines: bytes) -> list[Any]:
    """What the program of a release answers to some lines, without what it declares."""
    command = GoClient(version, None).command
    done = subprocess.run(command, input=lines, capture_output=True, timeout=PATIENCE, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()[1:]]


def checkout(tmp_path: Path, old: str, new: str) -> Path:
    """A copy of the source of 0.19.0 in which one line is changed."""
    source = built("0.19.0", None).parent / "source"
    mine = tmp_path / "client"
    shutil.copytree(source, mine, ignore=shutil.ignore_patterns("*_test.go"))
    text = (mine / TRACKER).read_text(encoding="utf-8")
    assert text.count(old) == 1
    (mine / TRACKER).write_text(text.replace(old, new), encoding="utf-8")
    return mine


@pytest.mark.parametrize("name", BUGS)
def test_bug_of_one_line_is_found_by_its_rule(name: str, tmp_path: Path) -> None:
    old, new, rule = BUGS[name]
    subject = resolve(f"{NAME.format('0.19.0')}@{checkout(tmp_path, old, new)}")
    run = run_subject(subject, "go", seed=0, count=MOST_WALKS, failing=1)
    told = [(finding.diagnosis.rules, len(finding.operations)) for finding in run.findings]
    assert any(rule in rules and length <= SHORT for rules, length in told), told


def test_checkout_that_the_driver_does_not_fit_is_said_in_a_line(tmp_path: Path, cli: Any) -> None:
    mine = checkout(tmp_path, "func newNegativeAcksTracker(", "func newTrackerOfNegativeAcks(")
    status, _, err = cli("check", "--subject", NAME.format("0.19.0"), "--replace", mine)
    assert status == 2
    assert "`go build` fails" in err
    assert "undefined: newNegativeAcksTracker" in err
    assert len(err.splitlines()) == 1


def test_what_waits_for_ever_is_told_at_once() -> None:
    """A close inside the callback waits for the goroutine that it is called from; the next trace is as any other."""
    inside = from_text("negative-acks go; nack 1 0 0; inside close 0 0 0; adv 3000; adv 1")
    usual = from_text("negative-acks go; adv 334")
    asked = [line_of(Welcome(PROTOCOL, TRACES))]
    for trace in (inside, usual):
        asked += [line_of({"config": trace.config}), *map(line_of, trace.operations)]
    first, second = usual.config.clock + 334, usual.config.clock + 667
    hang = [{"error": "Hang"}]
    held = [None, 1, [first]]
    assert said("0.19.0", b"".join(asked)) == [held, held, hang, hang, [[], 0, [second]]]


def test_survey_has_rows_of_the_client(cli: Any) -> None:
    _, out, _ = cli("pulsar", "client-go-0.17.0", "--walks", "5", "--json")
    answers = json.loads(out)["answers"]
    assert [(each["subject"], each["profile"]) for each in answers] == [
        (NAME.format("0.17.0"), "go-old"),
        (NAME.format("0.17.0"), "pip-393-spec"),
    ]
    assert answers[0]["verdict"] in ("conforms", "not enough")
    assert answers[1]["verdict"] == "broken"


SHOWN = [each for each in outputs() if of_the_go_client(each[1])]


@pytest.mark.parametrize(("page", "words", "told"), SHOWN, ids=lambda value: str(value)[:40])
def test_output_is_what_is_printed(page: str, words: list[str], told: list[str], capfd: Any) -> None:
    see_output(page, words, told, capfd)
