"""The page of the defects of released bucket trackers: what each release answers where it should answer otherwise."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bucket_defects import GROUPS, Defect, Ended

from broker_tck.properties.contracts import CONTRACTS
from broker_tck.properties.engine.check import record
from broker_tck.properties.engine.trace import from_text

INTRODUCTION = """\
What the trackers of released brokers do otherwise than they should, by the harm that it does. Each trace was run on the
released classes, and does on them what is told here. The tables are made with the specification and with the profile of
each release, which does as its class does: see [the bucket tracker](bucket-delivery.md).

`broker-tck replay` stops where the release first leaves the specification, and exits with status 1. With
`pulsar-5.0.1/bucket` in place of `pulsar-bucket-5.0` it runs the class itself, for which Java is needed.

One more defect is not seen here: a read that ends after its tracker was closed arms a timer, which throws when it fires
(4.2.4 and 5.0.1). The kit lets such reads come to nothing.

Below each trace stand what the last operation answers, how many messages are counted, for when timers are armed
(*never*: for the last time that there is), and what was handed out in all, as ledger and entry."""
RELEASES = {"bucket-2025": "4.0.8", "bucket-4.2": "4.2.4", "bucket-5.0": "5.0.1"}
FINDS = Path(__file__).with_name("bucket_finds.json")
"""What `python docs/bucket_finds.py` found."""
FROM_NOTHING = """\
Here the kit is not told where to look. The class of each release, on a Java that had started, makes random walks along
the profile of the release with one rule kept as specified, until it differs: after so many walks, and seconds of the
processor, in one run. It differs wherever the rule matters; several defects above may have one rule. Along the profile
itself it did not differ in {walks} walks.

A dash: the profile decides as the specification does, or never comes to it, as 4.0.8, which does not trim. BD-25 says
little of 4.0.8 and 4.2.4: they have no index that the rule could count, and differ at once."""


def page() -> Iterator[str]:
    """The defects in a table, then each with its trace and how that ends."""
    yield from ("# Defects of bucket trackers", "")
    yield INTRODUCTION
    for group, defects in GROUPS.items():
        yield from ("", f"## {group}", "", f"| what goes wrong | {' | '.join(RELEASES.values())} | rule |")
        yield "| --- | :-: | :-: | :-: | --- |"
        yield from (row(defect) for defect in defects)
        for defect in defects:
            yield from section(defect)
    yield from from_nothing(json.loads(FINDS.read_text(encoding="utf-8")))


def from_nothing(finds: Any) -> Iterator[str]:
    """How soon walks find each rule that a release does otherwise."""
    found = {release: finds["releases"][release] for release in RELEASES.values()}
    yield from ("", "## Found from nothing", "", FROM_NOTHING.format(walks=finds["agreed"]), "")
    yield f"| rule | {' | '.join(found)} |"
    yield f"| --- |{' ---: |' * len(found)}"
    for rule in sorted({rule for rules in found.values() for rule in rules}):
        cells = (walks_until(rules.get(rule), finds["most"]) for rules in found.values())
        yield f"| [{rule}](rules/bucket-delivery.md#{rule.lower()}) | {' | '.join(cells)} |"


def walks_until(found: Any, most: int) -> str:
    """How soon a rule was found."""
    if found is None:
        return "-"
    if found["walks"] is None:
        return f"not in {most} walks"
    return f"{found['walks']} walk{'s' * (found['walks'] > 1)}, {found['seconds']} s"


def row(defect: Defect) -> str:
    """A line of the table: in which releases there is a defect."""
    found = " | ".join("yes" if profile in wrong_in(defect) else "" for profile in RELEASES)
    anchor = "".join(letter for letter in defect.title.lower() if letter.isalnum() or letter in "- ").replace(" ", "-")
    rule = f"[{defect.rule}](rules/bucket-delivery.md#{defect.rule.lower()})"
    return f"| [{defect.title}](#{anchor}) | {found} | {rule} |"


def wrong_in(defect: Defect) -> list[str]:
    """The profiles of releases that have a defect, which the specification has not."""
    assert not defect.is_wrong(ended(defect, "ideal")), f"the specification does so too: {defect.title}"
    return [profile for profile in RELEASES if defect.is_wrong(ended(defect, profile))]


def section(defect: Defect) -> Iterator[str]:
    """What happens, the trace, and how it ends."""
    subject = f"pulsar-{wrong_in(defect)[-1]}"
    yield from ("", f"### {defect.title}", "", defect.story, "", "```sh")
    yield f"broker-tck replay --subject {subject} 'bucket-delivery ideal {defect.text}'"
    yield from ("```", "", "| | last answer | count | armed | handed out in all |", "| --- | --- | ---: | --- | --- |")
    for profile, name in {"ideal": "specification", **RELEASES}.items():
        end = ended(defect, profile)
        count = "" if end.count is None else end.count
        yield f"| {name} | {answer(end.answer)} | {count} | {armed(end)} | {given(end)} |"


def answer(result: Any) -> str:
    """A result in few words."""
    if isinstance(result, dict):
        return f"`{result['error']}`"
    if result is None:
        return ""
    return f"`{str(result).lower()}`"


def armed(end: Ended) -> str:
    """What is armed, after the start of the clock."""
    return ", ".join("never" if at > 2**52 else f"+{at - 1_000_000}" for at in end.armed or [])


def given(end: Ended) -> str:
    """What was handed out: ledger and entry."""
    return " ".join(f"{ledger}:{entry}" for ledger, entry in end.given)


def ended(defect: Defect, profile: str) -> Ended:
    """How a trace ends under a profile."""
    model = CONTRACTS["bucket-delivery"].profiles[profile]
    trace = from_text(f"bucket-delivery ideal {defect.text}")
    steps = record(trace.operations, model(trace.config))
    handed = [step.result for step in steps if step.operation.tag == "get" and isinstance(step.result, list)]
    count, _, _, armed, *_ = steps[-1].seen
    given = sorted((ledger, entry) for positions in handed for ledger, entry in positions)
    accepted = [step.result for step in steps if step.operation.tag == "add"]
    return Ended(steps[-1].result, count, armed, given, accepted)
