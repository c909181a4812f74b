"""The table of what tox cost, made from the notes of its environments; and the made parts of CONTRIBUTING.md."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest
from kit import ROOT

NOTES = """\
test 0.50 tests/test_a.py::test_quick
test 2.25 tests/test_a.py::test_with[a blank]
command 4.00 9.00
command 1.00 1.00
"""


@pytest.fixture
def scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes the modules of scripts/ importable; they are in no package."""
    monkeypatch.syspath_prepend(ROOT / "scripts")


@pytest.fixture
def costs(scripts: None) -> ModuleType:
    return import_module("costs")


def test_notes_are_added_up(costs: ModuleType, tmp_path: Path) -> None:
    log = tmp_path / "costs.log"
    log.write_text(NOTES)
    found = costs.read(log)
    assert list(found.pop("slowest").items()) == [
        ("tests/test_a.py::test_with[a blank]", 2.25),
        ("tests/test_a.py::test_quick", 0.5),
    ]
    assert found == {"seconds": 5, "clock": 10}


def test_what_is_over_its_budget_by_half_is_named(costs: ModuleType) -> None:
    spent = {"campaigns": 40, "lint": 16, "docs": 15, "deep-jvm": 99, "of one's own": 7}
    run = {"clock": 70, "environments": {name: {"seconds": seconds} for name, seconds in spent.items()}}
    budgets = {"campaigns": 40, "lint": 10, "docs": 10, "all": 50, "all but campaigns": 20, "deep-jvm": 90}
    assert (
        costs.over(run, budgets) == "Over budget by more than half: lint (16 s of 10), all but campaigns (31 s of 20)"
    )
    assert "| lint | 10 | 16 |  |" in costs.table(run, budgets)
    assert "| all | 50 | 71 | 70 |" in costs.table(run, budgets)
    one = {"clock": 1, "environments": {"lint": {"seconds": 1}}}
    assert costs.over(one, budgets).startswith("Nothing is over")
    assert [*costs.rows(one, budgets)] == ["lint"]


def test_environment_that_is_not_measured_is_in_no_row(
    costs: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(costs, "LAST", tmp_path / "costs.json")
    costs.ended({"figures": tmp_path / "none.log"}, 9)
    assert (capsys.readouterr().out, costs.LAST.exists()) == ("", False)
    log = tmp_path / "costs.log"
    log.write_text(NOTES)
    costs.ended({"lint": log}, 9)
    assert "\n| setup |" in capsys.readouterr().out
    costs.ended({"lint": log, "figures": tmp_path / "none.log"}, 9)
    told = capsys.readouterr().out
    assert ("| lint | " in told, "setup" in told, "figures" in told) == (True, False, False)


def test_made_parts_of_contributing_are_up_to_date(scripts: None) -> None:
    contributing = import_module("contributing")
    text = contributing.PAGE.read_text(encoding="utf-8")
    assert contributing.page(text) == text, "run python scripts/contributing.py"
    assert "| `tests/" in text


def test_deep_tests_are_listed_with_what_they_show(scripts: None) -> None:
    contributing = import_module("contributing")
    module = ast.parse(
        "CASES = [pytest.param(1, marks=pytest.mark.deep)]\n"
        "@pytest.mark.slow\ndef test_quick(): pass\n"
        "@pytest.mark.parametrize('n', CASES)\ndef test_some(n):\n 'Shows this.'\n"
        "@pytest.mark.deep\ndef test_bare(): pass\n"
    )
    found = contributing.deep_in(module.body)
    assert next(found) == ("test_some", "Shows this.")
    with pytest.raises(ValueError, match="test_bare is deep, and has no docstring"):
        next(found)
