"""A finding as a document: all that there is to tell of it, in one typed record, before it is rendered.

It is rendered as a story (:mod:`~broker_tck.properties.findings.story`), as JSON (:func:`finding_json`), and by reports
of campaigns, which keep documents in their store.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from typing import Any

import msgspec

from broker_tck.implementations.released import options
from broker_tck.model.reference import Reference
from broker_tck.model.rules import Rule, rules_of
from broker_tck.properties.engine.answers import plain
from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.engine.trace import to_text
from broker_tck.properties.findings.finding import Finding
from broker_tck.properties.findings.lines import Line, lines, table
from broker_tck.properties.findings.story import story
from broker_tck.properties.findings.words import by_what_was_seen, explanations, how_sure, what_went_wrong
from broker_tck.properties.mistakes.book import look

UNASKED = "it shows only while less is asked for; where all is asked for after each operation, it goes well"


class Also(msgspec.Struct, frozen=True):
    """What else shows the same bug: a rule, and what was seen of it."""

    rule: str
    seen: str


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """What there is to tell of a finding. The lists of rules, sentences, looks and sources are one beside the other."""

    subject: str
    contract: str
    profile: str
    rules: tuple[str, ...]
    """The numbers of the rules, the first most likely."""
    sentences: tuple[str, ...]
    looks: tuple[str, ...] = ()
    """What to look at first; nothing in documents of older campaigns."""
    sources: tuple[str, ...] = ()
    ways: tuple[str, ...]
    """The known wrong ways that explain the subject."""
    diagnosis: str
    config: dict[str, Any]
    operations: tuple[list[Any], ...]
    lines: tuple[Line, ...]
    observed: str
    """What differed at the last operation."""
    expected: Any
    seen: Any
    seed: int | None
    """That of the walk; None: not a walk."""
    found_after: int
    """The operations of the trace that was reduced."""
    replay: str
    """The line that replays it."""
    traceback: tuple[str, ...] = ()
    """The lines of the subject's own traceback, where it raised."""
    what: str = ""
    """What went wrong, in a sentence; nothing in documents of older campaigns."""
    certainty: str = ""
    """How sure the diagnosis is."""
    unfinished: str = ""
    """That a shorter trace may do, and how to go on, where the reduction ran out of work."""
    also: tuple[Also, ...] = ()
    """What else shows the same bug."""
    note: str = ""
    """Why it is not as findings are, if so: it was not reduced, say, or fails only while less is asked for."""


def document(finding: Finding, note: str = "") -> Document:
    """The document of a finding."""
    contract, diagnosis, difference = finding.contract, finding.diagnosis, finding.difference
    model = contract.model(finding.profile)
    named = [rule_named(contract, model, number) for number in diagnosis.rules]
    return Document(
        subject=finding.subject,
        contract=contract.name,
        profile=finding.profile,
        rules=diagnosis.rules,
        sentences=tuple(rule.sentence for rule in named),
        looks=tuple(look(rule.number) for rule in named),
        sources=tuple(rule.source for rule in named),
        ways=tuple(map(str, diagnosis.ways)),
        diagnosis=diagnosis.sentence,
        config=msgspec.to_builtins(finding.config),
        operations=tuple(map(msgspec.to_builtins, finding.operations)),
        lines=tuple(lines(contract, model, finding.config, finding.operations, difference, finding.answers)),
        observed=finding.observed,
        expected=plain(difference.expected),
        seen=plain(difference.seen),
        seed=finding.seed,
        found_after=finding.found_after,
        replay=replay_command(finding),
        traceback=finding.traceback,
        what=what_went_wrong(finding, named[0].sentence),
        certainty=how_sure(diagnosis, contract, explanations(finding)),
        unfinished=unfinished(finding),
        also=tuple(also(finding)),
        note=note or (UNASKED if finding.unasked else ""),
    )


def read(text: str) -> Document:
    """A document out of JSON. What a subject said may hold half a character, which only the standard library reads."""
    return msgspec.convert(json.loads(text), Document)


def also(finding: Finding) -> Iterator[Also]:
    """What else shows the bug of a finding."""
    for each in finding.also:
        law = each.diagnosis.law and rule_named(each.contract, each.contract.model(each.profile), each.rule)
        yield Also(each.rule, what_went_wrong(each, law.sentence) if law else by_what_was_seen(each))
    yield from (Also(law, "This trace breaks it, too.") for law in finding.laws)


def rule_named(contract: Contract, model: type[Reference], name: str) -> Rule:
    """A rule of a model by its number; a variation, which every conforming subject keeps, by its name."""
    for rule in rules_of(model):
        if rule.number == name:
            return rule
    sentence = next(variation.sentence for variation in contract.variations if variation.name == name)
    return Rule(name, sentence, source="follows from the rules")


def unfinished(finding: Finding) -> str:
    """That a reduction ran out of work, if it did, and how to go on: a law's is not made by hand."""
    if not finding.spent:
        return ""
    on = "" if finding.diagnosis.law else "; to go on, write `reduce` for `replay` in the last line"
    return f"the reduction ran out of work, so that a shorter trace may do{on}"


def replay_command(finding: Finding) -> str:
    """The one line that replays a finding."""
    text = to_text(finding.contract, finding.profile, finding.config, finding.operations)
    law = f"--law {finding.rule} " if finding.diagnosis.law else ""
    subject = f"{shlex.quote(finding.subject)} {options(finding.subject)}"
    return f"broker-tck replay --subject {subject}{law}{shlex.quote(text)}"


def document_json(told: Document) -> dict[str, Any]:
    """A document as a JSON object, with its trace as a table, and all of it as text, besides."""
    found: dict[str, Any] = msgspec.to_builtins(told)
    return {**found, "story": table(told.lines), "text": story(told)}


def finding_json(finding: Finding) -> dict[str, Any]:
    """A finding as a JSON object."""
    return document_json(document(finding))
