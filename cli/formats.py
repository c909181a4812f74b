"""The results of a check in other formats: JUnit XML, SARIF 2.1.0, annotations of GitHub workflows, an HTML page.

Each is made from the check's result, see :mod:`~broker_tck.properties.report.result`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree as ET

from broker_tck.properties.engine.accepted import AcceptedMistake
from broker_tck.properties.report.result import CheckResult, ProfileResult
from broker_tck.properties.verdict import CONFORMS
from broker_tck.spark_fuzz.report.words import visible

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


# ---- What there is to tell, whatever the format


def wrong(checked: ProfileResult) -> Iterator[tuple[str, str, str]]:
    """Each failure: the rule, or ``check`` if no rule is named, what went wrong, and the failure report."""
    for finding in checked.findings:
        yield finding.rule, finding.what, finding.story
    for complaint in checked.complaints:
        yield "check", complaint, complaint


def accepted(checked: ProfileResult) -> dict[str, str]:
    """The accepted deviations, a line for each rule."""
    said: dict[str, str] = {}
    for each in checked.accepted:
        said[each.rule] = "\n".join(filter(None, (said.get(each.rule), each.text)))
    return said


# ---- JUnit


def junit(check: CheckResult) -> str:
    """A test suite for each subject and profile, a test case for each rule; a rule that never came up is skipped."""
    root = ET.Element("testsuites", name="broker-tck")
    for checked in check.subjects:
        suite = ET.SubElement(root, "testsuite", name=visible(checked.name))
        properties = ET.SubElement(suite, "properties")
        for what in ("version", "rulebook"):
            ET.SubElement(properties, "property", name=what, value=getattr(check, what))
        broken: dict[str, list[tuple[str, str]]] = {}
        for rule, line, text in wrong(checked):
            broken.setdefault(rule, []).append((line, text))
        for finding in checked.findings:
            line = f"the same failure as in {finding.rule}"
            for also in finding.also:
                broken.setdefault(also.rule, []).append((line, f"{line}: {also.seen}"))
        rules, said = checked.rules, accepted(checked)
        cases = sorted({*rules.exercised, *rules.vacuous, *broken, *said, "check"})
        for case in cases:
            told = ET.SubElement(suite, "testcase", classname=visible(checked.name), name=case)
            for line, text in broken.get(case, [])[:1]:
                ET.SubElement(told, "failure", type="broken", message=visible(line)).text = visible(text)
            if case in rules.vacuous and case not in broken:
                ET.SubElement(told, "skipped", message="never came up")
            if case in said:
                ET.SubElement(told, "system-out").text = visible(said[case])
        counts = {"tests": len(cases), "failures": len(broken), "errors": 0}
        counts["skipped"] = len({*rules.vacuous} - broken.keys())
        suite.attrib.update({key: str(value) for key, value in counts.items()})
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


# ---- SARIF


def sarif(check: CheckResult) -> dict[str, Any]:
    """One run of the kit, with a result for each failure, located at the subject's factory."""
    rules: dict[str, dict[str, Any]] = {}
    results = []
    for checked in check.subjects:
        for finding in checked.findings:
            told = zip(finding.rules, finding.sentences, finding.looks, finding.sources, strict=True)
            for rule, sentence, look, source in told:
                rules[rule] = {"id": rule, "shortDescription": {"text": sentence}}
                rules[rule]["help"] = {"text": f"Look first at: {look}. Source: {source}."}
        for rule, _, text in wrong(checked):
            rules.setdefault(rule, {"id": rule})
            result = {"ruleId": rule, "level": "error", "message": {"text": text}}
            results.append({**result, "locations": locations(checked)})
        for each in checked.accepted:
            rules.setdefault(each.rule, {"id": each.rule})
            results.append({**suppressed(each), "locations": locations(checked)})
    driver: dict[str, Any] = {"name": "broker-tck", "version": check.version, "rules": [*rules.values()]}
    driver["properties"] = {"rulebook": check.rulebook}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}


def suppressed(each: AcceptedMistake) -> dict[str, Any]:
    """An accepted deviation as a suppressed result."""
    why = {"kind": "inSource", "status": "accepted", "justification": each.reason or each.text}
    return {"ruleId": each.rule, "level": "note", "message": {"text": each.text}, "suppressions": [why]}


def locations(checked: ProfileResult) -> list[dict[str, Any]]:
    """The file and line where a subject is declared, as SARIF has it; nothing if unknown."""
    if not checked.source:
        return []
    where = {"artifactLocation": {"uri": checked.source.file}, "region": {"startLine": checked.source.line}}
    return [{"physicalLocation": where}]


# ---- GitHub


def workflow_lines(check: CheckResult) -> Iterator[str]:
    """A line of a GitHub workflow for each failure, each accepted deviation, and the rules that never came up."""
    for checked in check.subjects:
        at = f"file={value(checked.source.file)},line={checked.source.line}," if checked.source else ""
        for rule, _, text in wrong(checked):
            yield f"::error {at}title={value(rule)}::{escaped(text)}"
        for rule, said in accepted(checked).items():
            yield f"::notice {at}title={value(rule)}::{escaped(said)}"
        for unseen in checked.unseen:
            yield f"::warning {at}title={value(checked.name)}::{escaped(f'never came up: {unseen}')}"


def escaped(text: str) -> str:
    """A text in one line."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def value(text: str) -> str:
    """A value of a property, which ends at a comma or colon."""
    return escaped(text).replace(":", "%3A").replace(",", "%2C")


# ---- HTML


def page(check: CheckResult) -> str:
    """An HTML page that needs no network."""
    from broker_tck.spark_fuzz.report.rendering import rendered

    headline = f"{sum(each.verdict == CONFORMS for each in check.subjects)} of {len(check.subjects)} conform"
    return rendered("check.html", check=check, headline=headline)
