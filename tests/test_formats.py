"""A check as JUnit's XML, as SARIF, as annotations of GitHub, and in the debugger."""

from __future__ import annotations

import io
import json
import re
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from conftest import Cli
from kit import result_of
from msgspec import structs

from broker_tck.cli import formats
from broker_tck.properties.report.finding import FindingResult
from broker_tck.properties.report.result import (
    CheckResult,
    Rules,
    Source,
    check_result,
)

BROKEN = "check", "--subject", "kit:OneTooMany", "--fail-fast"
SUITE = "kit:OneTooMany (timebucket-ideal)"


def finding() -> FindingResult:
    """A finding of a rule, or of another one."""
    return FindingResult(
        subject="a:B",
        contract="delayed-delivery",
        profile="heap",
        rules=("DD-20", "DD-28"),
        sentences=("Some.", "Others."),
        looks=("a", "b"),
        sources=("c", "d"),
        mistakes=(),
        diagnosis="",
        config={},
        operations=(),
        lines=(),
        observed="result",
        expected=1,
        seen=2,
        seed=None,
        found_after=0,
        replay="broker-tck replay",
        what="Your tracker is late.",
    )


@pytest.fixture(scope="module")
def found() -> CheckResult:
    """One rule is broken, a complaint has a character that XML lacks, and a rule never came up."""
    checked = result_of(
        "a:B",
        "heap",
        source=Source("a,b.py", 7),
        rules=Rules(["DD-01", "DD-20"], ["DD-09"], {}, {}),
        findings=(finding(),),
        complaints=("strange: 5 % of \x00\nall",),
        unseen=("DD-09",),
    )
    return structs.replace(check_result([checked]), version="1.2", rulebook="abc")


def test_each_rule_is_a_test_case(found: CheckResult) -> None:
    (suite,) = ET.fromstring(formats.junit(found))
    assert suite.attrib == {"name": "a:B (heap)", "tests": "4", "failures": "2", "errors": "0", "skipped": "1"}
    properties, *cases = suite
    assert [each.attrib for each in properties] == [
        {"name": "version", "value": "1.2"},
        {"name": "rulebook", "value": "abc"},
    ]
    told = {case.attrib["name"]: [(child.tag, child.attrib["message"]) for child in case] for case in cases}
    assert told == {
        "DD-01": [],
        "DD-09": [("skipped", "never came up")],
        "DD-20": [("failure", "Your tracker is late.")],
        "check": [("failure", "strange: 5 % of \\u0000\nall")],
    }


def test_sarif_says_where(found: CheckResult) -> None:
    (checked,) = found.subjects
    both = (checked, structs.replace(checked, source=None, complaints=()))
    (run,) = formats.sarif(structs.replace(found, subjects=both))["runs"]
    driver = run["tool"]["driver"]
    assert (driver["version"], driver["properties"]) == ("1.2", {"rulebook": "abc"})
    assert [rule["id"] for rule in driver["rules"]] == ["DD-20", "DD-28", "check"]
    assert [result["ruleId"] for result in run["results"]] == ["DD-20", "check", "DD-20"]
    assert run["results"][0]["message"]["text"] == checked.findings[0].story
    (where,) = run["results"][0]["locations"]
    assert where["physicalLocation"]["artifactLocation"] == {"uri": "a,b.py"}
    assert run["results"][-1]["locations"] == []


def test_annotation_is_one_line(found: CheckResult) -> None:
    first, second, third = formats.workflow_lines(found)
    assert first.startswith("::error file=a%2Cb.py,line=7,title=DD-20::Your tracker is late.%0A%0ADD-20 or DD-28 ")
    assert second.startswith("::error file=a%2Cb.py,line=7,title=check::strange: 5 %25 of ")
    assert third == "::warning file=a%2Cb.py,line=7,title=a%3AB (heap)::never came up: DD-09"
    assert not any("\n" in line for line in (first, second, third))
    (checked,) = found.subjects
    bare, *_ = formats.workflow_lines(structs.replace(found, subjects=(structs.replace(checked, source=None),)))
    assert bare.startswith("::error title=DD-20::")


def test_check_writes_them(cli: Any, tmp_path: Path) -> None:
    junit, sarif = tmp_path / "junit.xml", tmp_path / "check.sarif"
    status, out, _ = cli(*BROKEN, "--junit", str(junit), "--sarif", str(sarif), "--github")
    assert status == 1
    (annotation,) = (line for line in out.splitlines() if line.startswith("::error"))
    file, line = (part.partition("=")[2] for part in annotation.split(" ")[1].split(",")[:2])
    assert (Path(file).name, Path(file).read_text().splitlines()[int(line) - 1]) == (
        "kit.py",
        "class OneTooMany(TimeBucketTracker):",
    )
    (suite,) = ET.parse(junit).getroot()
    assert (suite.attrib["name"], suite.attrib["failures"]) == (SUITE, "1")
    (result,) = json.loads(sarif.read_text())["runs"][0]["results"]
    assert "broker-tck replay --subject kit:OneTooMany" in result["message"]["text"]


def debugging(cli: Any, monkeypatch: pytest.MonkeyPatch, subject: str, typed: str) -> str:
    monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
    status, out, _ = cli("check", "--subject", subject, "--fail-fast", "--pdb")
    assert status == 1
    return str(out)


def test_debugger_stops_where_the_subject_raises(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    out = debugging(cli, monkeypatch, "kit:Raising", "p entry_id % 5\nq\n")
    assert '-> raise LookupError("entry")\n(Pdb) 4\n' in out


def test_debugger_stops_before_the_operation_that_differs(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    out = debugging(cli, monkeypatch, "kit:OneTooMany", "s\np max_messages\nq\n")
    assert "-> return super().get_scheduled_messages(max_messages + 1)\n(Pdb) 0\n" in out


def test_debugger_needs_a_subject_and_a_terminal(cli: Any) -> None:
    for arguments in (("check", "--pdb"), (*BROKEN, "--pdb", "--json")):
        status, out, err = cli(*arguments)
        assert (status, out) == (2, "")
        assert "name a --subject, and leave out --json" in err


# ---- The page


def test_check_is_a_page_of_its_own(cli: Cli, tmp_path: Path) -> None:
    """It opens without a network, leads from the table to findings, and takes nothing that a subject says for HTML."""
    subjects = ("--subject", "kit:Raising", "--subject", "heap")
    _, _, err = cli("check", *subjects, "--walks", "12", "--examples", "0", "--json", "--html", tmp_path / "c.html")
    text = (tmp_path / "c.html").read_text(encoding="utf-8")
    assert err.startswith(str(tmp_path / "c.html"))
    assert '<h1 class="bad">0 of 2 conform</h1>' in text
    verdicts = re.findall(r'<th scope="row" class="(\w+)">([\w ]+)</th>', text)
    assert verdicts == [("bad", "broken"), ("warn", "not enough")]
    assert '<a href="#subject-1">' in text
    assert '<section id="subject-1">' in text
    assert text.count('class="finding"') == 1
    assert "broker-tck replay --subject kit:Raising &#39;delayed-delivery" in text
    assert "LookupError" in text
    assert "Never came up: DD-" in text
    assert not re.search(r"(src|href)=.?https?:", text)


def test_page_takes_nothing_for_html(found: CheckResult) -> None:
    (checked,) = found.subjects
    loud = structs.replace(checked, complaints=("<b>loud</b>\x00",))
    assert "&lt;b&gt;loud&lt;/b&gt;\\u0000" in formats.page(structs.replace(found, subjects=(loud,)))
