"""JUnit XML: one test case for each lane and rule, so that a CI server shows a campaign as it shows tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from broker_tck.spark_fuzz.report.data import Lane, Report, report_of
from broker_tck.spark_fuzz.report.grouping import Entry
from broker_tck.spark_fuzz.report.source import Source
from broker_tck.spark_fuzz.report.stories import Story, story_of
from broker_tck.spark_fuzz.report.words import counted, visible

MOST_STORIES = 1_000
"""So many entries have their story in the file."""


def junit_xml(source: Source) -> str:
    """The campaign as JUnit XML: a finding is a failure, a rule that was never exercised is skipped."""
    report = report_of(source, "")
    told = stories(source, report.entries)
    root = Element("testsuites", name="broker-tck")
    for lane in report.lanes:
        root.append(suite(report, lane, told))
    for name in ("tests", "failures", "skipped"):
        root.set(name, str(sum(int(each.get(name, 0)) for each in root)))
    indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def stories(source: Source, entries: Sequence[Entry]) -> dict[Entry, Story]:
    """The story of the most frequent shape of each entry."""
    some = list(islice(entries, MOST_STORIES))
    texts = source.texts([entry.common[0].key for entry in some])
    read = ((entry, story_of(entry.common[0], texts)) for entry in some)
    return {entry: story for entry, story in read if story}


def suite(report: Report, lane: Lane, told: Mapping[Entry, Story]) -> Element:
    """A lane."""
    name = ".".join((report.manifest.contract, *lane.name))
    seconds = f"{lane.figures.milliseconds / 1000:.3f}"
    found = Element("testsuite", name=visible(name), time=seconds, timestamp=report.manifest.started)
    by_rule = {entry.place.rule: entry for entry in lane.entries}
    never = set(lane.never)
    for number in sorted({*(each.rule.number for each in lane.rules), *by_rule}):
        case = SubElement(found, "testcase", classname=visible(name), name=case_name(report, number))
        if number in by_rule:
            fail(case, by_rule[number], told.get(by_rule[number]))
        elif number in never:
            SubElement(case, "skipped", message=f"never exercised in {counted(lane.figures.counted, 'counted walk')}")
    found.set("tests", str(len(found)))
    found.set("failures", str(len(found.findall("testcase/failure"))))
    found.set("skipped", str(len(found.findall("testcase/skipped"))))
    return found


def case_name(report: Report, number: str) -> str:
    """A rule by number and sentence."""
    known = report.rules.get(number)
    return visible(f"{number} {known.sentence}" if known else number)


def fail(case: Element, entry: Entry, story: Story | None) -> None:
    """Put a finding into a test case."""
    summary = f"{counted(entry.walks, 'walk')} failed, in {counted(entry.shapes, 'shape')}"
    failure = SubElement(case, "failure", type="finding", message=f"{summary}; first in round {entry.first}")
    failure.text = story.text if story else summary
