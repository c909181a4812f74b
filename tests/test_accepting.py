"""Subjects that do a rule otherwise by their own word, and profiles of somebody's own."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import kit
import msgspec
import pytest
from kit import CONTRACT, ROOT, subject_of

from broker_tck.implementations.delayed_delivery.time_bucket import TimeBucketTracker
from broker_tck.model.delayed_delivery.specification import DelayedDelivery
from broker_tck.properties.engine.accepted import accepted
from broker_tck.properties.engine.subjects import Accepted, resolve
from broker_tck.properties.errors import BadInput
from broker_tck.properties.explain.checked import PARTS, check_subject
from broker_tck.properties.mistakes.implementations import MUTANTS
from broker_tck.properties.report.made import finding_result
from broker_tck.properties.search.budget import Budget
from broker_tck.properties.verdict import BROKEN, CONFORMS

ACCEPTED = "accepted: deviates from DD-05 (rounded down): our clients wait"
EARLY = "timebucket-ideal~DD-05:rounded_down"


class RoundsDown(MUTANTS["strict-rounded-down"].factory):  # type: ignore[misc]
    """Rounds down in strict mode as well, and says so."""

    accepts = {"DD-05": ("rounded down", "our clients wait")}  # noqa: RUF012 # as plug-ins write it


class SaysSo(TimeBucketTracker):
    """Says that it does, and does not."""

    accepts = {"DD-05": "rounded down"}  # noqa: RUF012


class NoPause(DelayedDelivery):
    """A profile of its own: deliveries never pause."""

    PROFILE = "test_accepting:NoPause"

    def wants_pause(self) -> bool:
        return False


# ---- One's word


@pytest.mark.slow
def test_subject_that_does_as_it_says_conforms() -> None:
    subject = subject_of(RoundsDown)
    assert subject.accepts == (Accepted("DD-05", "rounded down", "our clients wait"),)
    assert subject.profiles == (EARLY,)
    checked = check_subject(subject, EARLY, Budget(0, 100, 5), parts=PARTS[1:])
    assert checked.verdict == CONFORMS, checked.complaints
    assert checked.deviations == {"DD-05 (buckets.key)": True}
    assert (
        check_subject(subject, CONTRACT.default, Budget(0, 20, 0, fail_fast=True), parts=PARTS[1:]).findings[0].rule
        == "DD-05"
    )


@pytest.mark.slow
def test_subject_that_does_not_do_as_it_says_is_broken() -> None:
    checked = check_subject(subject_of(SaysSo), EARLY, Budget(0, 100, 0, fail_fast=True), parts=PARTS[1:])
    assert checked.verdict == BROKEN
    (finding,) = checked.findings
    assert finding.rule == "DD-05"
    assert finding_result(finding).what.startswith("Your tracker declares a deviation from DD-05 (rounded down), but ")


@pytest.mark.slow
def test_word_for_a_part_is_held_of_a_subject_that_does_something_else() -> None:
    heap = resolve("pulsar-heap", profiles=["ideal"], accepts={"CC-11": "a removal loses sight of the last cursor"})
    (profile,) = heap.profiles
    checked = check_subject(heap, profile, Budget(0, 40, 0), parts=PARTS[1:])
    assert checked.verdict == BROKEN
    assert {number for finding in checked.findings for number in finding.numbers} >= {"CC-04", "CC-11"}


@pytest.mark.slow
def test_every_format_shows_what_is_accepted(cli: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(kit, "RoundsDown", RoundsDown, raising=False)
    junit, sarif = tmp_path / "junit.xml", tmp_path / "check.sarif"
    arguments = ("check", "--subject", "kit:RoundsDown", "--walks", "100", "--examples", "0")
    status, out, _ = cli(*arguments, "--junit", str(junit), "--sarif", str(sarif), "--github")
    assert (status, f"kit:RoundsDown: {ACCEPTED}\n" in out) == (0, True)
    assert re.search(r"^conforms +kit:RoundsDown .* 1 of 1 .* accepts DD-05$", out, re.MULTILINE)
    (suite,) = ET.parse(junit).getroot()
    told = {case.attrib["name"]: case.findtext("system-out") for case in suite.iter("testcase") if len(case)}
    assert told == {"DD-05": ACCEPTED}
    (result,) = json.loads(sarif.read_text())["runs"][0]["results"]
    assert (result["level"], result["ruleId"], result["message"]["text"]) == ("note", "DD-05", ACCEPTED)
    assert result["suppressions"] == [{"kind": "inSource", "status": "accepted", "justification": "our clients wait"}]
    (notice,) = (line for line in out.splitlines() if line.startswith("::notice "))
    assert notice.endswith(f"title=DD-05::{ACCEPTED.replace('%', '%25')}")
    arguments = ("check", "--subject", "kit:RoundsDown", "--walks", "1", "--examples", "0")
    (subject,) = json.loads(cli(*arguments, "--json")[1])["subjects"]
    assert subject["accepted"] == [
        {"rule": "DD-05", "way": "DD-05 buckets.key: rounded_down", "reason": "our clients wait", "text": ACCEPTED}
    ]


@pytest.mark.parametrize(
    ("accepts", "says"),
    [
        (["DD-05"], r"accepts is \['DD-05'\]; it must be like"),
        ({"DD-05": 1}, "it must be like"),
        ({"DD-05": ("rounded down", 1)}, "it must be like"),
        (
            {"DD-05": "sideways"},
            "unknown mistake 'sideways' of DD-05; there are: absent, rounded down, rounded up, to the next, nearest, ",
        ),
        (
            {"DD-05": "rounded dawn"},
            r"unknown mistake 'rounded dawn' of DD-05; did you mean 'rounded down'\? There are: ",
        ),
        ({"DD-99": "absent"}, r"profile timebucket-ideal has no rule 'DD-99'; did you mean 'DD-\d+'\?$"),
        ({"DD-08": "absent"}, "profile timebucket-ideal knows no mistake of DD-08"),
    ],
)
def test_word_that_nobody_understands_is_bad_input(accepts: Any, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        subject_of(type("Wordy", (TimeBucketTracker,), {"accepts": accepts}))


def test_rule_with_several_clauses_needs_the_clause() -> None:
    with pytest.raises(
        ValueError,
        match=r"'absent' names several mistakes of DD-14; choose one: 'fixed_delay.still_fixed: absent', ",
    ):
        CONTRACT.model("timebucket-ideal~DD-14:absent")
    model = CONTRACT.model("timebucket-ideal~DD-14:fixed_delay.still_fixed:absent")
    assert [str(way) for way in model.ACCEPTS] == ["DD-14 absent"]


# ---- A profile of one's own


def test_names_that_a_rule_lists_are_those_that_are_accepted(cli: Any) -> None:
    (rule,) = json.loads(cli("rules", "DD-14", "--json")[1])["rules"]
    names = [way["name"] for way in rule["accepts"]]
    assert names[:2] == ["width for tick", "fixed_delay.still_fixed: absent"]
    for name in names:
        factory = type("Accepting", (TimeBucketTracker,), {"accepts": {"DD-14": name}})
        assert len(CONTRACT.model(subject_of(factory).profiles[0]).ACCEPTS) == 1
    out = cli("rules", "DD-14")[1]
    assert "    'a tick back ends it'\n        A step back of exactly a tick ends the fixed delay in your" in out


def test_class_below_a_model_is_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tests"))
    (deviation,) = accepted(subject_of(TimeBucketTracker), "test_accepting:NoPause")
    assert msgspec.structs.astuple(deviation) == (
        "DD-17",
        "DD-17 wants_pause: as test_accepting:NoPause",
        "A profile of its own: deliveries never pause.",
        f"accepted: deviates from DD-17 (wants_pause as test_accepting:NoPause): {NoPause.__doc__}",
    )
    assert accepted(subject_of(TimeBucketTracker), "timebucket-2026") == []
