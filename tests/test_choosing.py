"""What a check is limited to: subjects and profiles that match an expression, and rules that alone count."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Cli
from msgspec import structs

from broker_tck.cli.checking import check
from broker_tck.cli.choosing import limited, matching
from broker_tck.properties.engine.subjects import resolve
from broker_tck.properties.errors import BadInput
from broker_tck.properties.explain.regressions import regressions_in
from broker_tck.properties.search.budget import Budget

PAIRS = [
    (resolve(name), profile) for name in ("heap", "time-bucket", "lazy-list") for profile in resolve(name).profiles
]
IDEAL = "timebucket-ideal"
FEW = ("--walks", "30", "--examples", "0")


@pytest.mark.parametrize(
    ("expression", "chosen"),
    [
        ("HEAP", ["heap"]),
        ("bucket or list", ["time-bucket", "lazy-list"]),
        ("not heap and not active-cursors", ["time-bucket"]),
        ("not (heap or time) ", ["lazy-list"]),
        ("heap or list and not list", ["heap"]),
        ("timebucket-ideal", ["time-bucket"]),
        (None, ["heap", "time-bucket", "lazy-list"]),
    ],
)
def test_expression_chooses(expression: str | None, chosen: list[str]) -> None:
    assert [subject.name for subject, _ in matching(PAIRS, expression)] == chosen


@pytest.mark.parametrize("expression", ["a b", "(heap", "heap)", "not", "and heap", "", "heap (list)"])
def test_expression_that_is_none_is_told(expression: str) -> None:
    with pytest.raises(BadInput, match="put and, or, not and brackets between words"):
        matching(PAIRS, expression)


def test_expression_that_matches_nothing_is_told() -> None:
    with pytest.raises(BadInput, match=r"matches none of: heap \(heap\), time-bucket \(timebucket-ideal\), lazy-list"):
        matching(PAIRS, "nosuch")


def test_rule_that_is_broken_counts(cli: Cli) -> None:
    status, out, _ = cli("check", "--subject", "kit:OneTooMany", *FEW, "--rule", "dd-20")
    assert status == 1
    assert "DD-20 is broken by" in out
    assert "left out:" not in out
    assert "judged: only DD-20, and whether the subject answers\n" in out


@pytest.mark.slow
def test_other_rules_are_left_out(cli: Cli, tmp_path: Path) -> None:
    """Of the document, the table and the folder of regressions; and it is said."""
    rules = ("--rule", "DD-09", "--rule", "DD-04")
    status, out, err = cli("check", "--subject", "kit:OneTooMany", *FEW, *rules, "--save", tmp_path)
    assert (status, err) == (0, "")
    assert out.startswith("kit:OneTooMany (timebucket-ideal): also broken, but not judged: DD-20\n")
    assert "conforms    kit:OneTooMany  timebucket-ideal  none recorded    2 of 2 " in out
    assert " --rule DD-09 --rule DD-04 --seed 1" in out
    assert not regressions_in(tmp_path)
    told = json.loads(cli("check", "--subject", "kit:OneTooMany", *FEW, *rules, "--json")[1])
    assert (told["only"], told["conform"], told["subjects"][0]["findings"]) == (["DD-09", "DD-04"], True, [])


def test_no_answer_counts_whatever_the_rule() -> None:
    told = check(
        IDEAL, Budget(0, 20, 0), pdb=False, kept=[], subject=resolve("kit:OneTooMany"), progress=lambda run: None
    )
    (found,) = told.findings
    ended = structs.replace(told, findings=(structs.replace(found, seen={"error": "Exited", "message": "7"}),))
    assert limited(told, ["DD-09"])[0].verdict == "conforms"
    assert limited(ended, ["DD-09"])[0].verdict == "broken"


def test_rule_that_never_came_up_is_no_pass(cli: Cli) -> None:
    few = ("--walks", "1", "--examples", "0")
    rare = json.loads(cli("check", "--subject", "time-bucket", *few, "--json")[1])["subjects"][0]["rules"]["vacuous"][0]
    status, out, _ = cli("check", "--subject", "time-bucket", *few, "--rule", rare)
    assert status == 4
    assert f"NOT ENOUGH: never came up: {rare}" in out
    assert f" --rule {rare} --walks 10\n" in out


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            ("--rule", "CC-99"),
            "unknown rule 'CC-99'; did you mean 'CC-09'? `broker-tck rules` lists the rules of a contract",
        ),
        (("--rule", "CC-11", "--subject", "heap"), "CC-11 cannot be checked on heap (heap)"),
        (
            ("--rule", "DD-01", "--fail-fast"),
            "--fail-fast ends at the first failing walk, whichever rule it breaks: leave out --fail-fast or --rule",
        ),
    ],
)
def test_rule_that_cannot_be_asked_for_is_told(cli: Cli, words: tuple[str, ...], says: str) -> None:
    assert cli("check", *words) == (2, "", f"broker-tck: {says}\n")
