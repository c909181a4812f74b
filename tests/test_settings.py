"""The table of pyproject.toml: what `check` takes from it, and what is said of one that is wrong."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from conftest import Cli

from broker_tck.cli import check
from broker_tck.cli.checking import Pair
from broker_tck.properties.engine.registry import CONTRACTS
from broker_tck.properties.engine.subjects import bundled
from broker_tck.properties.search.budget import Budget

QUICK = ("--walks", "2", "--examples", "0", "--json")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    return tmp_path


Asked = list[tuple[list[tuple[str, str]], Budget, Path | None]]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    """What `check` was about to check, by names, and with which budget; nothing is."""
    found: Asked = []

    class Keeping(check.Keeping):
        def __init__(self, folder: Path | None) -> None:
            super().__init__(None)
            kept.append(folder)

    kept: list[Path | None] = []

    def checked(pairs: Sequence[Pair], budget: Budget, *_: Any) -> tuple[()]:
        found.append(([(subject.name, profile) for subject, profile in pairs], budget, kept.pop()))
        return ()

    monkeypatch.setattr(check, "Keeping", Keeping)

    monkeypatch.setattr(check, "checked", checked)
    return found


def table(folder: Path, *lines: str) -> None:
    (folder / "pyproject.toml").write_text("\n".join(("[tool.broker-tck]", *lines)), encoding="utf-8")


def checked(cli: Cli, *arguments: Any) -> list[dict[str, Any]]:
    subjects: list[dict[str, Any]] = json.loads(cli("check", "--json", *arguments)[1])["subjects"]
    return subjects


# ---- What it holds


def test_subjects_of_the_table_are_checked(cli: Cli, folder: Path, asked: Asked) -> None:
    table(folder, 'subjects = ["heap", {name = "time-bucket", profiles = ["timebucket-2026", "heap"]}]')
    cli("check", *QUICK)
    pairs, budget, _ = asked.pop()
    assert pairs == [("heap", "heap"), ("time-bucket", "timebucket-2026"), ("time-bucket", "heap")]
    assert (budget.walks, budget.examples, budget.reserve) == (2, 0, 0)


def test_options_win(cli: Cli, folder: Path, asked: Asked) -> None:
    table(folder, 'subjects = ["heap"]', "walks = 3", "examples = 4", "seed = 7", 'save = "kept"')
    assert cli("check", "--json")[0] == 0
    pairs, budget, save = asked.pop()
    assert pairs == [("heap", "heap")]
    assert (budget.walks, budget.examples, budget.seed, save) == (3, 4, 7, Path("kept"))
    options = ("--walks", "1", "--examples", "0", "--seed", "0", "--save", "mine")
    assert cli("check", "--json", "--subject", "time-bucket", *options)[0] == 0
    pairs, budget, save = asked.pop()
    assert pairs == [("time-bucket", "timebucket-ideal")]
    assert (budget.walks, budget.examples, budget.seed, save) == (1, 0, 0, Path("mine"))


def test_bundled_subjects_are_in_reach(cli: Cli, folder: Path, asked: Asked) -> None:
    table(folder, 'subjects = ["heap"]', 'contracts = ["active-cursors"]')
    for arguments in (("--bundled",), ("--contract", "active-cursors")):
        cli("check", "--json", *arguments)
        pairs, budget, _ = asked.pop()
        assert {name for name, _ in pairs} == {s.name for s in bundled(CONTRACTS["active-cursors"])}, arguments
        assert (budget.walks, budget.examples, budget.reserve) == (20, 5, 1000)
    cli("check", "--json", "--subject", "heap")
    assert asked.pop()[0] == [("heap", "heap")]


def test_file_can_be_left_unread(cli: Cli, folder: Path, asked: Asked) -> None:
    table(folder, "walks = 'many'")
    cli("check", "--json", "--subject", "heap", "--isolated")
    assert asked.pop()[1].walks == 1000


def test_accepted_ways_have_their_reasons(cli: Cli, folder: Path) -> None:
    accepts = '{"DD-05" = ["rounded down", "our clients wait"]}'
    table(folder, f'subjects = [{{name = "mutant:strict-rounded-down", accepts = {accepts}}}, "time-bucket"]')
    for jobs in ("1", "2"):
        first, _ = checked(cli, *QUICK, "--jobs", jobs)
        assert first["profile"] == "timebucket-ideal~DD-05:rounded_down"
        assert [each["reason"] for each in first["accepted"]] == ["our clients wait"]


def test_folder_above_has_it(cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Modules beside the file are found, and traces are kept beside it."""
    table(folder, 'subjects = ["below_it:Wrong"]', "walks = 8", "examples = 0", 'save = "kept"')
    lines = "from kit import OneTooMany", "class Wrong(OneTooMany): ..."
    (folder / "below_it.py").write_text("\n".join(lines), encoding="utf-8")
    (folder / "deep" / "down").mkdir(parents=True)
    monkeypatch.chdir(folder / "deep" / "down")
    assert [each["verdict"] for each in checked(cli)] == ["broken"]
    (file,) = (folder / "kept").iterdir()
    assert file.name.startswith("below_it%3AWrong@timebucket-ideal@")


def test_contracts_limit_what_is_named(cli: Cli, folder: Path) -> None:
    table(folder, 'subjects = ["heap"]', 'contracts = ["entry-cache"]')
    assert cli("check") == (2, "", "broker-tck: heap is a subject of delayed-delivery, not of entry-cache\n")


# ---- What is wrong


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("subject = 1", "unknown key 'subject'; did you mean 'subjects'? There are: subjects, walks, examples, "),
        ("walks = 'many'", "walks is 'many'; it must be a whole number of at least 1, such as 1000\n"),
        ("walks = 0", "walks is 0; it must be a whole number of at least 1"),
        ("jobs = true", "jobs is True; it must be a whole number of at least 1, such as 2\n"),
        ("examples = -1", "examples is -1; it must be a whole number of at least 0"),
        ("seed = 2147483648", "seed is 2147483648; it must be a whole number from 0 to 2147483647\n"),
        ("save = ''", "save is ''; it must be the name of a folder, such as \"findings\"\n"),
        ("contracts = 'heap'", "contracts is 'heap'; it must be a list of contracts, such as"),
        ("contracts = ['entry-cash']", "contracts: unknown contract 'entry-cash'; did you mean 'entry-cache'? There"),
        ("subjects = 'heap'", "subjects is 'heap'; it must be a list of names, or of tables such as {name = \"pkg"),
        ("subjects = ['heaps']", "unknown subject 'heaps'; did you mean 'heap'? There are: "),
        (
            "subjects = [{nam = 'heap'}]",
            "subjects[0]: unknown key 'nam'; did you mean 'name'? There are: name, profile",
        ),
        (
            "subjects = ['heap', {profile = 'heap'}]",
            "subjects[1]: name is missing; it must be the name of a subject",
        ),
        ("subjects = [{name = 'heap', profile = 1}]", "subjects[0]: profile is 1; it must be the name of a profile"),
        ("subjects = [{name = 'heap', profile = 'a', profiles = ['b']}]", "subjects[0]: has both profile and profiles"),
        ("subjects = [{name = 'heap', profile = 'heaps'}]", "heap: unknown profile 'heaps' of delayed-delivery; did"),
        (
            "subjects = [{name = 'heap', accepts = ['DD-05']}]",
            "subjects[0]: accepts is ['DD-05']; it must be a table",
        ),
        (
            "subjects = [{name = 'heap', accepts = {DD-99 = 'x'}}]",
            "heap: profile heap has no rule 'DD-99'; did you mean 'DD-39'?",
        ),
    ],
)
def test_what_is_wrong_is_told_with_what_would_be_right(cli: Cli, folder: Path, line: str, says: str) -> None:
    table(folder, line)
    status, out, err = cli("check")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"broker-tck: pyproject.toml: [tool.broker-tck]: {says}")


def test_file_that_is_no_toml(cli: Cli, folder: Path) -> None:
    (folder / "pyproject.toml").write_text("[tool", encoding="utf-8")
    status, out, err = cli("check")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("broker-tck: pyproject.toml: not a TOML file: ")
    (folder / "pyproject.toml").write_bytes(b"\xff")
    assert cli("check")[2].startswith("broker-tck: pyproject.toml: not a TOML file: ")


def test_table_that_is_none(cli: Cli, folder: Path) -> None:
    (folder / "pyproject.toml").write_text("tool.broker-tck = 5", encoding="utf-8")
    says = "broker-tck: pyproject.toml: tool.broker-tck is 5; it must be a table, [tool.broker-tck]\n"
    assert cli("check") == (2, "", says)
