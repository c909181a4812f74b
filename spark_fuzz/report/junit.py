"""JUnit XML: one test case for each pair and rule, so that a CI server shows a campaign as it shows tests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from broker_tck.spark_fuzz.report.data import Pair, Report, report_of
from broker_tck.spark_fuzz.report.grouping import Entry, Place
from broker_tck.spark_fuzz.report.rendering import rendered
from broker_tck.spark_fuzz.report.stories import RaceStory, Story, story_of
from broker_tck.spark_fuzz.report.words import counted
from broker_tck.spark_fuzz.store.tables import Store

MOST_STORIES = 1_000
"""Maximum number of entries with a failure report in the file."""
FAILURE, SKIPPED = "failure", "skipped"


class Case(NamedTuple):
    """A test case; one that passed has no result."""

    name: str
    result: str = ""
    message: str = ""
    text: str = ""


def junit_xml(source: Store) -> str:
    """The campaign as JUnit XML: a finding is a failure, a rule that was not exercised is skipped."""
    report = report_of(source, "")
    shown = report.entries[:MOST_STORIES]
    texts = source.texts([entry.common[0].key for entry in shown])
    told = {entry.place: story_of(entry.common[0], texts) for entry in shown}
    suites = [(".".join(pair.name), pair.milliseconds, [*cases(report, pair, told)]) for pair in report.pairs]
    if report.figures.unfinished:
        unfinished = [Case(which, FAILURE, why, why) for which, why in report.figures.unfinished]
        suites.append(("shards", 0, unfinished))
    return rendered("junit.xml", manifest=report.manifest, suites=suites)


def cases(report: Report, pair: Pair, told: Mapping[Place, Story | RaceStory | None]) -> Iterator[Case]:
    """A test case for each rule of a pair, and for each other rule that it breaks."""
    broken = {entry.place.rule: entry for entry in pair.entries}
    for rule in sorted({*pair.met, *broken}):
        name = f"{rule} {report.rules[rule].sentence}" if rule in report.rules else rule
        if rule in broken:
            yield failed(name, report.one, broken[rule], told.get(broken[rule].place))
        elif rule in pair.missing:
            says = "not counted yet" if pair.small else "never exercised"
            yield Case(name, SKIPPED, f"{says} in {counted(pair.counted, 'counted walk')}")
        else:
            yield Case(name)


def failed(name: str, one: str, entry: Entry, told: Story | RaceStory | None) -> Case:
    """The test case of a finding."""
    says = f"{counted(entry.walks, one)} failed, in {counted(entry.shapes, 'shape')}; first in round {entry.first}"
    return Case(name, FAILURE, says, told.text if told else says)
