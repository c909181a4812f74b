"""Traces of findings that are kept in a folder, and run first in the next check."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli
from kit import CONTRACT, OneTooMany, subject_of

from broker_tck.implementations.delayed_delivery.time_bucket import TimeBucketTracker
from broker_tck.properties.engine.subjects import Subject, declared
from broker_tck.properties.engine.trace import from_text, load, to_json
from broker_tck.properties.errors import BadInput
from broker_tck.properties.explain.checked import PARTS, Checked, check_subject
from broker_tck.properties.explain.guarding import Task, run_one
from broker_tck.properties.explain.regressions import Regression, read, regressions_in, run_regressions
from broker_tck.properties.mistakes.implementations import MUTANTS
from broker_tck.properties.report.made import finding_result
from broker_tck.properties.report.saving import Written, file_of, write
from broker_tck.properties.search.budget import Budget
from broker_tck.properties.search.replay import declaring
from broker_tck.properties.search.run import Progress

IDEAL = "timebucket-ideal"
FILE = "kit%3AOneTooMany@timebucket-ideal@DD-20.jsonl"
ONE = ("check", "--subject", "kit:OneTooMany", "--walks", "30", "--examples", "0")
GET = {"version": 1, "contract": "delayed-delivery", "profile": IDEAL, "config": {}}
TAKEN = json.dumps({**GET, "steps": [["add", 0, 0, 1_700_000_001_001], ["adv", 23], ["get", 0]]})
"""What a subject that hands out one too many fails at."""


def ended(code: int) -> Any:
    os._exit(code)


class Crashing(TimeBucketTracker):
    """Ends its process when it is asked for messages."""

    def get_scheduled_messages(self, max_messages: int) -> Any:
        return ended(7)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of regressions, in the current one."""
    monkeypatch.chdir(tmp_path)
    return Path("findings")


def kept(folder: Path, name: str, text: str = TAKEN) -> Regression:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    (found,) = read(folder / name)
    return found


def names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


# ---- The command


@pytest.mark.slow
def test_findings_are_kept_once(cli: Cli, folder: Path) -> None:
    status, _, err = cli(*ONE, "--save", folder)
    assert (status, err) == (1, f"findings/{FILE}: saved\n")
    assert names(folder) == [FILE]
    (trace,) = load(str(folder / FILE))
    assert (trace.profile, trace.name) == (IDEAL, "DD-20 is broken by kit:OneTooMany")
    assert cli("replay", folder / FILE, "--subject", "kit:OneTooMany")[0] == 1
    status, out, err = cli(*ONE, "--save", folder)
    assert (status, err) == (1, "")
    assert names(folder) == [FILE]
    assert out.count("is broken by") == 1


def test_kept_trace_is_told_first_and_may_end_it(cli: Cli, folder: Path) -> None:
    kept(folder, FILE)
    status, out, _ = cli(*ONE, "--save", folder, "--fail-fast")
    assert status == 1
    assert out.startswith(
        "Your tracker takes one message more than it is asked for; it must not.\n\nDD-20 is broken by "
    )
    assert f" Note The trace is saved in findings/{FILE}. " in " ".join(out.split())
    assert "of 34      0           0 " in out


# ---- replay DIR


@pytest.mark.slow
def test_folder_is_replayed_a_line_for_each_trace(cli: Cli, folder: Path) -> None:
    """One kept for a rule, one for an invariant under a profile that the subject agrees with, and one that nobody
    wrote."""
    early = from_text("delayed-delivery timebucket-2025; add 0 0 +1500; adv 499; get 1")
    kept(folder, "timebucket-2025@timebucket-ideal@DD-07@invariant.jsonl", to_json(replace(early, outcomes=[None] * 3)))
    kept(folder, FILE)
    kept(folder, "mine.jsonl")
    status, out, err = cli("replay", folder)
    assert (status, err) == (1, "")
    first, *mine, invariant, count = out.splitlines()
    assert first == f"findings/{FILE}: kit:OneTooMany: fails at step 3 of 3 (DD-20)"
    assert mine == [f"findings/mine.jsonl: {s.name}: passes" for s in declaring(CONTRACT, IDEAL)]
    assert invariant.startswith(
        "findings/timebucket-2025@timebucket-ideal@DD-07@invariant.jsonl: timebucket-2025: fails at step 3"
    )
    assert invariant.endswith(" early (DD-07)")
    assert count == f"2 of {2 + len(mine)} fail"
    status, out, _ = cli("replay", folder, "--subject", "time-bucket", "--json")
    told = json.loads(out)
    assert (status, told["failing"], len(told["traces"])) == (0, 0, 3)
    assert {each["profile"] for each in told["traces"]} == {IDEAL}


def test_folder_that_cannot_be_replayed_is_told(cli: Cli, folder: Path) -> None:
    folder.mkdir()
    says = "broker-tck: findings: has no regression; `broker-tck check --save findings` saves them there\n"
    assert cli("replay", folder) == (2, "", says)
    kept(folder, "nosuch@timebucket-ideal@DD-20.jsonl")
    assert cli("replay", folder)[2].startswith(
        "broker-tck: findings/nosuch@timebucket-ideal@DD-20.jsonl: unknown subject 'nosuch'; "
    )
    says = "broker-tck: findings: a folder must be the only argument, without --invariant\n"
    assert cli("replay", folder, "has") == cli("replay", folder, "--invariant", "DD-07") == (2, "", says)


# ---- The command, again


def test_regression_that_passes_is_reported_and_stays(cli: Cli, folder: Path) -> None:
    kept(folder, "time-bucket@timebucket-ideal@DD-20.jsonl")
    kept(folder, "heap@heap@DD-20.jsonl")
    status, out, err = cli("check", "--subject", "time-bucket", "--walks", "2", "--examples", "0", "--save", folder)
    assert (status, err) == (4, "")
    told = [line for line in out.splitlines() if line.startswith("regression")]
    assert told == ["regression findings/time-bucket@timebucket-ideal@DD-20.jsonl passes now"]
    assert len(names(folder)) == 2


def test_folder_that_is_none_is_told_before_the_check(cli: Cli, folder: Path) -> None:
    folder.write_text("mine")
    assert cli(*ONE, "--save", folder) == (2, "", "broker-tck: findings: cannot be written: File exists\n")
    assert folder.read_text() == "mine"


def test_file_that_is_no_trace_is_told_before_the_check(cli: Cli, folder: Path) -> None:
    folder.mkdir()
    (folder / "README.md").write_text("Of other names are other files.")
    (folder / FILE).write_text("mine")
    status, out, err = cli(*ONE, "--save", folder)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"broker-tck: findings/{FILE}:1: ")
    assert (folder / FILE).read_text() == "mine"
    assert names(folder) == ["README.md", FILE]


@pytest.mark.slow
def test_what_cannot_be_kept_is_told_all_the_same(cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, target: Path) -> None:
        if target.suffix == ".jsonl":
            raise OSError(28, "No space left on device")
        path.rename(target)

    monkeypatch.setattr(Path, "replace", full)
    status, out, err = cli(*ONE, "--save", folder)
    assert (status, err) == (2, f"broker-tck: findings/{FILE}: cannot be written: No space left on device\n")
    assert out.startswith(
        "Your tracker takes one message more than it is asked for; it must not.\n\nDD-20 is broken by "
    )
    assert out.endswith("0 of 1 conform\n")
    assert names(folder) == []


# ---- The traces


def test_file_is_written_whole_or_not_at_all(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(folder, Written("a.jsonl", "old"))
    monkeypatch.setattr(Path, "write_text", lambda *arguments, **options: (_ for _ in ()).throw(OSError(28, "Full")))
    with pytest.raises(BadInput, match="cannot be written: Full"):
        write(folder, Written("a.jsonl", "new"))
    assert names(folder) == ["a.jsonl"]
    assert (folder / "a.jsonl").read_text(encoding="utf-8") == "old"


def test_file_of_another_name_belongs_to_each_subject_of_its_profile(folder: Path) -> None:
    trace = kept(folder, "mine.jsonl")
    assert trace.is_of(subject_of(OneTooMany), IDEAL)
    assert not trace.is_of(subject_of(OneTooMany), "heap")
    assert not trace.is_of(declared("nacks", MUTANTS["empty-set-called-back"].factory), IDEAL)
    assert regressions_in(folder) == [trace]
    assert regressions_in(folder / "none") == []


def test_name_says_whom_a_finding_belongs_to(folder: Path) -> None:
    """A finding may be of a profile with which the subject agrees more than with the one that was checked."""
    checked = check_subject(subject_of(OneTooMany), IDEAL, Budget(0, 30, 0, fail_fast=True), parts=PARTS[1:])
    (finding,) = checked.findings
    name, line = file_of(finding_result(finding), "a/b@c")
    assert name == "kit%3AOneTooMany@a%2Fb%40c@DD-20.jsonl"
    trace = kept(folder, name, line)
    assert (trace.subject, trace.profile, trace.rule, trace.trace.profile) == (
        "kit:OneTooMany",
        "a/b@c",
        "DD-20",
        IDEAL,
    )
    assert trace.is_of(subject_of(OneTooMany), "a/b@c")
    assert not trace.is_of(subject_of(TimeBucketTracker), "a/b@c")


@pytest.mark.slow
def test_crash_is_a_finding_and_nothing_else_is_asked(folder: Path) -> None:
    traces = [kept(folder, "mine.jsonl")]

    def told(found: Checked) -> tuple[Any, ...]:
        (finding,) = found.findings
        tags = [operation.tag for operation in finding.operations]
        return finding.difference.seen["error"], finding.note, tags, found.verdict, found.walks

    def work(subject: Subject, progress: Progress) -> tuple[Any, ...]:
        return told(check_subject(subject, IDEAL, Budget(0, 10, 0), progress=progress, kept=traces, parts=PARTS[1:]))

    found = run_one(Task(subject_of(Crashing), IDEAL, work, told, kept=traces))
    assert found == ("Exited", "The trace is saved in findings/mine.jsonl.", ["get"], "broken", 0)


def test_what_does_not_fail_again_is_told_as_it_was(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from broker_tck.properties.explain import regressions

    trace = kept(folder, FILE.replace("OneTooMany", "TimeBucketTracker"))
    wrong, model = subject_of(OneTooMany), CONTRACT.model(IDEAL)
    failed = regressions.failure(wrong, model, trace.trace.config, trace.trace.operations)
    monkeypatch.setattr(regressions, "failure", lambda *arguments: failed)
    ((_, finding),) = run_regressions(subject_of(TimeBucketTracker), IDEAL, [trace]).failing
    assert (finding.rule, len(finding.operations)) == ("DD-20", 3)


def test_trace_that_cannot_be_asked_is_told(cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import kit

    poor = type("Poor", (TimeBucketTracker,), {"capabilities": {"memory_estimate": False}})
    monkeypatch.setattr(kit, "Poor", poor, raising=False)
    kept(folder, "mine.jsonl", json.dumps({**GET, "steps": [["memory"]]}))
    out = cli("check", "--subject", "kit:Poor", "--walks", "2", "--examples", "0", "--save", folder)[1]
    assert "regression findings/mine.jsonl was not run: it needs what kit:Poor declares to lack\n" in out
