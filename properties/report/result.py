"""The result of a check, in one typed record. Text, JSON, JUnit XML, SARIF and tests are made from it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Literal

import msgspec

import broker_tck
from broker_tck.properties.engine.accepted import AcceptedMistake
from broker_tck.properties.explain.deviating import gone_in_words
from broker_tck.properties.report.finding import FindingResult, finding_json
from broker_tck.properties.rulebook import rulebook
from broker_tck.properties.verdict import CONFORMS, STATUS, worst

DRAFT = "https://json-schema.org/draft/2020-12/schema"
VERSION: Literal[1] = 1
"""The version of the schema. It changes if a field is moved, or comes to mean something else."""
Verdict = Annotated[str, msgspec.Meta(pattern=f"^({'|'.join(STATUS)})$")]


class Golden(msgspec.Struct, frozen=True):
    """The number of steps of recorded traces, and the number at which the subject agreed."""

    steps: int
    agreed: int


class Rules(msgspec.Struct, frozen=True):
    """The rules that came up, the required rules that did not, and how often counted walks met each rule."""

    exercised: list[str]
    vacuous: list[str]
    met: dict[str, int]
    clauses: dict[str, int]
    """The same for each clause, and for each answer of a clause that says yes or no."""


class Source(msgspec.Struct, frozen=True):
    """The file and line of a subject's factory."""

    file: str
    line: int


class KeptTraces(msgspec.Struct, frozen=True):
    """The files of regressions that still fail, that pass now, and that need what the subject declares to lack."""

    failing: list[str]
    passing: list[str]
    unasked: list[str]


class ProfileResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a subject under one profile."""

    subject: str
    contract: str
    profile: str
    source: Source | None
    verdict: Verdict
    """``conforms``, ``broken`` or ``not enough``."""
    golden: Golden
    rules: Rules
    walks: int
    walked: int = msgspec.field(name="operations")
    """Number of operations of the walks."""
    machine_steps: int
    """Number of operations of the Hypothesis machine."""
    failure_bound: float = msgspec.field(name="residual")
    """With 95 % confidence, fewer than this share of walks fail, from 0 to 1. Valid only if none failed."""
    deviations: dict[str, bool]
    """Each declared deviation, and whether it occurred."""
    left_out: list[str]
    accepted: list[AcceptedMistake]
    kept: KeptTraces
    findings: tuple[FindingResult, ...]
    """A finding for each bug."""
    complaints: tuple[str, ...]
    """Other failures, a sentence each: an invariant that did not hold, or a recorded trace that was not reproduced."""
    unseen: tuple[str, ...]
    """The rules and deviations that never came up, if nothing else keeps the subject from conforming."""

    @property
    def name(self) -> str:
        """The subject and the profile."""
        return f"{self.subject} ({self.profile})"

    @property
    def gone(self) -> list[str]:
        """Declared deviations that do not occur, in words."""
        return gone_in_words(self.profile, self.deviations)

    @property
    def operations(self) -> int:
        """Number of operations that were checked, in walks and by the Hypothesis machine."""
        return self.walked + self.machine_steps

    def __repr__(self) -> str:
        return f"<ProfileResult {self.profile}: {summary(self)}>"


class CheckResult(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The result of a check: ``broker-tck check --json`` prints it, and ``broker_tck.check`` returns it."""

    schema: Literal[1]
    """The version of this schema."""
    version: str
    """The version of the kit."""
    rulebook: str
    """The version of the rules, see ``broker_tck.RULEBOOK``."""
    subjects: tuple[ProfileResult, ...]
    """Each subject under each of its profiles."""
    conform: bool
    interrupted: bool = False
    """Whether the command was interrupted, so some subjects are missing."""
    only: tuple[str, ...] = ()
    """The rules that were judged; empty for all."""

    @property
    def profiles(self) -> tuple[ProfileResult, ...]:
        """The result under each profile that was checked."""
        return self.subjects

    @property
    def subject(self) -> str:
        """The name of the subject, or of the first."""
        return self.subjects[0].subject

    @property
    def contract(self) -> str:
        """The name of its contract."""
        return self.subjects[0].contract

    @property
    def conforms(self) -> bool:
        """Whether all conform, under each of their profiles."""
        return self.conform

    @property
    def verdict(self) -> str:
        """``broken`` if that is the verdict under any profile; else ``not enough`` likewise; else ``conforms``."""
        return worst(each.verdict for each in self.subjects)

    @property
    def findings(self) -> tuple[FindingResult, ...]:
        """The sentences or findings under all profiles."""
        return tuple(finding for each in self.subjects for finding in each.findings)

    @property
    def complaints(self) -> tuple[str, ...]:
        """The sentences or findings under all profiles."""
        return tuple(complaint for each in self.subjects for complaint in each.complaints)

    @property
    def unseen(self) -> tuple[str, ...]:
        """The rules and deviations that never came up under some profile, each once."""
        return tuple(dict.fromkeys(unseen for each in self.subjects for unseen in each.unseen))

    @property
    def walks(self) -> int:
        """Number of walks under all profiles."""
        return sum(each.walks for each in self.subjects)

    @property
    def operations(self) -> int:
        """Number of operations that were checked under all profiles."""
        return sum(each.operations for each in self.subjects)

    @property
    def failure_bound(self) -> float:
        """The largest bound of all profiles, from 0 to 1."""
        return max(each.failure_bound for each in self.subjects)

    def __repr__(self) -> str:
        return f"<Result {self.subject} ({', '.join(each.profile for each in self.subjects)}): {summary(self)}>"


def summary(result: ProfileResult | CheckResult) -> str:
    """The result in a line: the verdict, the number of failures, and the number of walks."""
    counts = [
        f"{count:,} {noun}{'' if count == 1 else 's'}"
        for count, noun in (
            (len(result.findings), "finding"),
            (len(result.complaints), "complaint"),
            (len(result.unseen), "unseen rule"),
            (result.walks, "walk"),
            (result.operations, "operation"),
        )
        if count
    ]
    return ", ".join([result.verdict, *counts])


def check_result(subjects: Iterable[ProfileResult], interrupted: bool = False, only: Sequence[str] = ()) -> CheckResult:
    """The result of a check; ``only`` are the rules that were judged, empty for all."""
    found = tuple(subjects)
    conform = bool(found) and not interrupted and all(each.verdict == CONFORMS for each in found)
    return CheckResult(
        schema=VERSION,
        version=broker_tck.__version__,
        rulebook=rulebook(),
        subjects=found,
        conform=conform,
        interrupted=interrupted,
        only=tuple(only),
    )


def check_json(check: CheckResult) -> dict[str, Any]:
    """A check as a JSON object."""
    found: dict[str, Any] = msgspec.to_builtins(check)
    for told, subject in zip(found["subjects"], check.subjects, strict=True):
        told["findings"] = [*map(finding_json, subject.findings)]
    return found


def schema() -> dict[str, Any]:
    """The JSON Schema of a check."""
    (check,), definitions = msgspec.json.schema_components([CheckResult], ref_template="#/$defs/{name}")
    rendered = {"story": {"type": "array", "items": {"type": "string"}}, "text": {"type": "string"}}
    definitions["FindingResult"]["properties"] |= rendered
    definitions["FindingResult"]["required"] += rendered
    return {"$schema": DRAFT, "title": "What `broker-tck check --json` prints", **check, "$defs": definitions}
