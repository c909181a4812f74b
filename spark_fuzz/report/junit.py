"""JUnit XML: one test case for each lane and rule, so that a CI server shows a campaign as it shows tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from broker_tck.properties.findings.story import story
from broker_tck.spark_fuzz.report.data import Lane, Report, Source, report_of
from broker_tck.spark_fuzz.report.grouping import Entry
from broker_tck.spark_fuzz.report.stories import Story, story_of
from broker_tck.spark_fuzz.report.words import counted, visible

MOST_STORIES = 1_000
"""So many entries have their story in the file."""


def junit_xml(source: Source) -> str:
    """The campaign as JUnit XML: a finding is a failure, a rule that was not exercised is skipped."""
    report = report_of(source, "")
    told = stories(source, report.entries[:MOST_STORIES])
    root = Element("testsuites", name="broker-tck")
    for lane in report.lanes:
        add_lane(root, report, lane, told)
    if report.unfinished:
        add_unfinished(root, report)
    for each in (*root, root):
        each.set("tests", str(len([*each.iter("testcase")])))
        each.set("failures", str(len([*each.iter("failure")])))
        each.set("skipped", str(len([*each.iter("skipped")])))
    indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def stories(source: Source, entries: Sequence[Entry]) -> dict[Entry, Story]:
    """The story of the most frequent shape of each entry."""
    texts = source.texts([entry.common[0].key for entry in entries])
    read = ((entry, story_of(entry.common[0], texts)) for entry in entries)
    return {entry: story for entry, story in read if story}


def add_lane(root: Element, report: Report, lane: Lane, told: Mapping[Entry, Story]) -> None:
    """Add a lane: a test case for each of its rules."""
    name, milliseconds = ".".join(lane.name), lane.milliseconds
    suite = add_suite(root, report, name, milliseconds)
    by_rule = {entry.place.rule: entry for entry in lane.entries}
    for number in sorted({*(each.rule.number for each in lane.rules), *by_rule}):
        case = add_case(suite, f"{number} {report.rules[number].sentence}" if number in report.rules else number)
        if number in by_rule:
            entry = by_rule[number]
            says = f"{counted(entry.walks, 'walk')} failed, in {counted(entry.shapes, 'shape')}"
            fail(
                case,
                "finding",
                f"{says}; first in round {entry.first}",
                visible(story(told[entry].found)) if entry in told else says,
            )
        elif number in lane.missing:
            says = "not counted yet" if lane.small else "never exercised"
            SubElement(case, "skipped", message=f"{says} in {counted(lane.counted, 'counted walk')}")


def add_unfinished(root: Element, report: Report) -> None:
    """Add the shards that no machine finished, each as a test case that failed."""
    suite = add_suite(root, report, "shards", 0)
    for each in report.unfinished:
        fail(add_case(suite, each.which), "unfinished", visible(each.why), visible(each.why))


def add_suite(root: Element, report: Report, name: str, milliseconds: int) -> Element:
    """Add an empty suite."""
    name, seconds = visible(f"{report.manifest.contract}.{name}"), f"{milliseconds / 1000:.3f}"
    return SubElement(root, "testsuite", name=name, time=seconds, timestamp=report.manifest.started)


def add_case(suite: Element, name: str) -> Element:
    """Add a test case that passed."""
    return SubElement(suite, "testcase", classname=suite.get("name", ""), name=visible(name))


def fail(case: Element, kind: str, message: str, text: str) -> None:
    """Have a test case fail."""
    SubElement(case, "failure", type=kind, message=message).text = text
