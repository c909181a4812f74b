"""A page of defects: what each class of a contract answers where it should answer otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from defects import Defect, Defects, Ended

from broker_tck.properties.engine.check import record
from broker_tck.properties.engine.operation import clock_of
from broker_tck.properties.engine.registry import CONTRACTS
from broker_tck.properties.engine.trace import from_text
from broker_tck.properties.engine.written import value_text

SPECIFICATION = "ideal"


def page(of: Defects) -> Iterator[str]:
    """The defects in a table, then each with its trace and how that ends."""
    yield from (f"# {of.title}", "")
    yield of.introduction
    for group, defects in of.groups.items():
        yield from ("", f"## {group}", "", *head(of))
        yield from (row(of, defect) for defect in defects)
        for defect in defects:
            yield from section(of, defect)
    if of.end:
        yield from ("", of.end)


def head(of: Defects) -> Iterator[str]:
    """The head of a table: a column for each class, and where there is one alone, one for what is right as well."""
    named = [*([of.specification] if len(of.classes) == 1 else []), *of.classes.values()]
    yield f"| what goes wrong | {' | '.join(named)} | rule |"
    yield f"| --- | {' | '.join([':-:'] * len(named))} | --- |"


def row(of: Defects, defect: Defect) -> str:
    """A line of the table: which classes have a defect; of one class alone, what it answers."""
    wrong = wrong_in(of, defect)
    found = ["yes" if profile in wrong else "" for profile in of.classes]
    if len(of.classes) == 1:
        found = [answer(of, ended(of, defect, profile)) for profile in (SPECIFICATION, *of.classes)]
    anchor = "".join(letter for letter in defect.title.lower() if letter.isalnum() or letter in "- ").replace(" ", "-")
    rule = f"[{defect.rule}](rules/{of.contract}.md#{defect.rule.lower()})"
    return f"| [{defect.title}](#{anchor}) | {' | '.join(found)} | {rule} |"


def wrong_in(of: Defects, defect: Defect) -> list[str]:
    """The profiles of classes that have a defect, which the specification has not."""
    assert not defect.is_wrong(ended(of, defect, SPECIFICATION)), f"the specification does so too: {defect.title}"
    return [profile for profile in of.classes if defect.is_wrong(ended(of, defect, profile))]


def section(of: Defects, defect: Defect) -> Iterator[str]:
    """What happens, the trace, and how it ends."""
    subject = of.subjects[wrong_in(of, defect)[-1]]
    yield from ("", f"### {defect.title}", "", defect.story, "", "```sh")
    yield f"broker-tck replay --subject {subject} '{of.contract} {SPECIFICATION} {defect.text}'"
    yield from ("```", "", "| | last answer | count | armed | handed out in all |", "| --- | --- | ---: | --- | --- |")
    for profile, name in {SPECIFICATION: of.specification, **of.classes}.items():
        end = ended(of, defect, profile)
        count = "" if end.count is None else end.count
        yield f"| {name} | {answer(of, end)} | {count} | {armed(of, end)} | {given(end)} |"


def answer(of: Defects, end: Ended) -> str:
    """A result in few words."""
    return "" if end.answer is None else f"`{value_text(end.answer, clock(of))}`"


def armed(of: Defects, end: Ended) -> str:
    """What is armed, after the start of the clock."""
    return ", ".join("never" if at > 2**52 else f"+{at - clock(of)}" for at in end.armed or [])


def clock(of: Defects) -> int:
    """When the clock starts."""
    start = clock_of(CONTRACTS[of.contract].config())
    assert start is not None
    return start


def given(end: Ended) -> str:
    """What was handed out: ledger and entry."""
    return " ".join(f"{ledger}:{entry}" for ledger, entry in end.given)


def ended(of: Defects, defect: Defect, profile: str) -> Ended:
    """How a trace ends under a profile."""
    contract = CONTRACTS[of.contract]
    trace = from_text(f"{of.contract} {SPECIFICATION} {defect.text}")
    steps = record(trace.operations, contract.profiles[profile](trace.config))
    seen: dict[str, Any] = dict(zip(contract.observables, steps[-1].seen, strict=True))
    handed = [step.result for step in steps if step.operation.tag == "get" and isinstance(step.result, list)]
    given = sorted((ledger, entry) for positions in handed for ledger, entry in positions)
    accepted = [step.result for step in steps if step.operation.tag == "add"]
    return Ended(steps[-1].result, seen["count"], seen["armed"], given, accepted)
