"""``bench walks`` in a clone of its own with two commits of the kit; the older one lacks a subject."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import Cli
from kit import ROOT

from broker_tck.bench.walks import SUBJECTS, Part, Row, walks_of
from broker_tck.cli.bench.walks import cells
from broker_tck.properties.engine.registry import CONTRACTS
from broker_tck.properties.engine.subjects import resolve

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")

FOLDERS = ("model", "implementations", "properties", "fixtures")
FEW = ("--subject", "heap", "--subject", "lazy-list", "--walks", "2", "--turns", "2", "--json")


def git(folder: Path, *arguments: str) -> None:
    """Run git, whatever the user has set."""
    author = ("-c", "user.name=x", "-c", "user.email=x", "-c", "core.hooksPath=", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *author, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone with two commits."""
    folder = tmp_path_factory.mktemp("clone")
    for name in FOLDERS:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "*.json*"))
    bundled = folder / "implementations" / "bundled.py"
    whole = bundled.read_text()
    bundled.write_text(whole.replace('    "lazy-list": LazyList,\n', ""))
    git(folder, "init")
    git(folder, "add", ".")
    git(folder, "commit", "-m", "old")
    bundled.write_text(whole)
    git(folder, "commit", "-am", "new")
    return folder


@pytest.fixture
def here(scratch: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The clone as the current folder; what a test changes is put back."""
    monkeypatch.chdir(scratch / "model")
    git(scratch, "reset", "--hard")
    return scratch


@pytest.mark.usefixtures("here")
def test_two_commits_are_set_side_by_side(cli: Cli) -> None:
    status, out, err = cli("bench", "walks", "--against", "HEAD~1", *FEW)
    assert (status, err) == (0, "")
    told = json.loads(out)
    heap, lazy = told["rows"]
    assert (heap["subject"], [n for n, _ in heap["old"]]) == ("heap", [n for n, _ in heap["new"]])
    assert heap["old"][0][0] != heap["old"][1][0]
    assert (lazy["old"], len(lazy["new"])) == ([], 2)
    assert [*told["ratios"]] == ["heap"]
    assert told["old"] != told["new"]


def test_rows_say_what_there_is_to_say() -> None:
    slower = Row("heap", 2, [Part(100, 1.0), Part(100, 1.0)], [Part(100, 2.0), Part(100, 4.0)])
    assert cells(slower) == ("heap", "2", "100", "33", "0.33", "0.25 to 0.50", "slower")
    other = Row("heap", 2, [Part(100, 1.0), Part(100, 1.0)], [Part(300, 1.0), Part(50, 1.0)])
    assert cells(other)[-3:] == ("1.75", "0.50 to 3.00", "other walks")
    missing = Row("bucket", 2, [], [Part(100, 1.0)])
    assert cells(missing) == ("bucket", "2", "-", "100", "-", "-", "one commit does not have it")


def test_each_contract_has_a_subject() -> None:
    assert {resolve(name).contract.name for name in SUBJECTS} == {*CONTRACTS}
    assert all(map(walks_of, SUBJECTS))


def refused(cli: Cli, *arguments: str) -> str:
    """What is said of bad input."""
    status, out, err = cli("bench", "walks", *arguments)
    assert (status, out, err.count("\n")) == (2, "", 1)
    return str(err).removeprefix("broker-tck: ").strip()


def test_what_cannot_be_compared_is_told_in_a_line(
    cli: Cli, here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert refused(cli, "--against", "no-such") == f"{here} has no commit 'no-such'"
    assert refused(cli, "--against", "--all") == f"{here} has no commit '--all'"
    assert refused(cli, "--against", "HEAD", "--subject", "hepa").startswith("unknown bundled subject 'hepa'; did you")
    (here / "model" / "rules.py").write_text("changed")
    why = "has uncommitted changes, and commits are compared: commit or stash the changes"
    assert refused(cli, "--against", "HEAD") == f"{here} {why}"
    git(here, "commit", "-am", "broken")
    told = refused(cli, "--against", "HEAD", *FEW)
    assert told.startswith("walks of heap cannot be made at commit ")
    assert told.endswith(": NameError: name 'changed' is not defined")
    git(here, "reset", "--hard", "HEAD~1")
    monkeypatch.chdir(tmp_path)
    assert "not a git repository" in refused(cli, "--against", "HEAD")
    git(tmp_path, "init")
    (tmp_path / "other").touch()
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-m", "of another project")
    assert refused(cli, "--against", "HEAD") == f"{tmp_path} has no broker-tck at commit 'HEAD'"
    monkeypatch.setenv("PATH", str(tmp_path))
    assert refused(cli, "--against", "HEAD") == "git is needed to compare commits, and is not installed"
