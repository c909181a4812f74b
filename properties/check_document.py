"""A check as a document: what ``broker-tck check --json`` prints, in typed records, and the JSON Schema of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import msgspec

import broker_tck
from broker_tck.properties.conforming import Checked
from broker_tck.properties.engine.accepted import accepted
from broker_tck.properties.engine.run import Run
from broker_tck.properties.engine.subjects import Subject
from broker_tck.properties.findings.document import Document, document
from broker_tck.properties.findings.lines import table
from broker_tck.properties.findings.raised import near
from broker_tck.properties.findings.story import story
from broker_tck.properties.rulebook import rulebook
from broker_tck.properties.unloaded import source_of
from broker_tck.properties.verdict import CONFORMS, STATUS
from broker_tck.properties.worth.exercised import by_rule, situations_of

DRAFT = "https://json-schema.org/draft/2020-12/schema"
VERSION: Literal[1] = 1
"""The version of the schema. It changes where something in a document goes, or comes to mean something else."""

Verdict = Annotated[str, msgspec.Meta(pattern=f"^({'|'.join(STATUS)})$")]


class Golden(msgspec.Struct, frozen=True):
    """The steps of recorded traces, and those at which the subject agreed."""

    steps: int
    agreed: int


class Rules(msgspec.Struct, frozen=True):
    """The rules that came up, those that had to and did not, and how often each was met in walks that were counted."""

    exercised: list[str]
    vacuous: list[str]
    met: dict[str, int]
    clauses: dict[str, int]
    """The same for each clause, and for each answer of a clause that says yes or no."""


class Source(msgspec.Struct, frozen=True):
    """Where a subject's factory is written."""

    file: str
    line: int


class AcceptedWay(msgspec.Struct, frozen=True):
    """A rule that a subject does otherwise by its own word, by its profile's name, or as a class of somebody's own."""

    rule: str
    way: str
    reason: str
    text: str
    """All this in a line."""


class KeptTraces(msgspec.Struct, frozen=True):
    """The files of kept traces: that still fail, that pass now, and that ask for what the subject declares to lack."""

    failing: list[str]
    passing: list[str]
    unasked: list[str]


class FindingDocument(Document, frozen=True, kw_only=True):
    """A violated rule with its reduced trace."""

    story: list[str]
    """The trace as a table."""
    text: str
    """All that there is to tell, as ``check`` prints it."""


class SubjectDocument(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one subject under one profile."""

    subject: str
    contract: str
    profile: str
    source: Source | None
    verdict: Verdict
    golden: Golden
    rules: Rules
    walks: int
    operations: int
    """Those of the walks."""
    machine_steps: int
    """Those of the Hypothesis machine."""
    residual: float
    deviations: dict[str, bool]
    """Each declared deviation, and whether it was seen."""
    left_out: list[str]
    accepted: list[AcceptedWay]
    kept: KeptTraces
    findings: list[FindingDocument]
    complaints: list[str]
    unseen: list[str]
    """What never came up, where that alone keeps the subject from conforming."""


class CheckDocument(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What ``broker-tck check --json`` prints."""

    schema: Literal[1]
    """The version of this schema."""
    version: str
    """That of the kit."""
    rulebook: str
    """That of the rules."""
    subjects: list[SubjectDocument]
    conform: bool
    interrupted: bool = False
    """Whether the command came to no end, so that not all subjects are here."""
    only: list[str] = []
    """The rules that alone count, if only some do."""


def schema() -> dict[str, Any]:
    """The JSON Schema of the document."""
    (found,), definitions = msgspec.json.schema_components([CheckDocument], ref_template="#/$defs/{name}")
    return {"$schema": DRAFT, "title": "What `broker-tck check --json` prints", **found, "$defs": definitions}


def check_document(
    subjects: Sequence[SubjectDocument], interrupted: bool = False, only: Sequence[str] = ()
) -> dict[str, Any]:
    """The document of a check, as a JSON object; ``only`` are the rules that alone count, if only some do."""
    document = CheckDocument(
        schema=VERSION,
        version=broker_tck.__version__,
        rulebook=rulebook(),
        subjects=[*subjects],
        conform=bool(subjects) and not interrupted and all(each.verdict == CONFORMS for each in subjects),
        interrupted=interrupted,
        only=[*only],
    )
    found: dict[str, Any] = msgspec.to_builtins(document)
    return found


def subject_document(checked: Checked) -> SubjectDocument:
    """What became of one subject under one profile."""
    run, again = checked.run, checked.again
    return SubjectDocument(
        subject=run.subject.name,
        contract=run.subject.contract.name,
        profile=run.profile,
        source=place_of(run.subject),
        verdict=checked.verdict,
        golden=Golden(checked.golden_steps, checked.golden_agreed),
        rules=Rules(run.exercised, run.vacuous, by_rule(run.model, run.met), clauses_met(run)),
        walks=run.walks,
        operations=run.operations,
        machine_steps=checked.machine_steps,
        residual=run.residual,
        deviations=run.deviations,
        left_out=run.subject.left_out,
        accepted=[AcceptedWay(**each._asdict()) for each in accepted(run.subject, run.profile)],
        kept=KeptTraces(
            [kept.file for kept, _ in again.failing],
            [kept.file for kept in again.passing],
            [kept.file for kept in again.unasked],
        ),
        findings=[finding_document(document(*each)) for each in checked.findings],
        complaints=checked.complaints,
        unseen=checked.unseen,
    )


def clauses_met(run: Run) -> dict[str, int]:
    """How often each clause was exercised, with each of its answers if they are yes and no."""
    return {name: run.met[name] for name in sorted(situations_of(run.model))}


def finding_document(told: Document) -> FindingDocument:
    """A document of a finding with its trace as a table, and as text."""
    return FindingDocument(**msgspec.structs.asdict(told), story=table(told.lines), text=story(told))


def place_of(subject: Subject) -> Source | None:
    """Where a subject's factory is written; None where that is not known."""
    found = source_of(subject.factory)
    return Source(near(found[0]), found[1]) if found else None
