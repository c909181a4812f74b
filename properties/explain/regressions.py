"""Regressions: a folder with the reduced trace of each earlier finding, a file each, which later checks run first.

A file is named after subject, profile and rule, so the same finding is saved once. A file with another name, such as a
trace written by hand, belongs to each subject of its contract under its profile.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import unquote

from broker_tck.implementations.reachable import barred
from broker_tck.properties.engine.subjects import Subject
from broker_tck.properties.engine.trace import Trace, load
from broker_tck.properties.errors import BadInput
from broker_tck.properties.explain.diagnose import Diagnoser
from broker_tck.properties.explain.finding import Finding, find, find_breach, unreduced
from broker_tck.properties.search.failing import failure

SUFFIX = ".jsonl"
BETWEEN = "@"
INVARIANT, FORMERLY = "invariant", "law"
"""The last part of a file name if the rule is judged by what is observed, without the model."""


@dataclass(frozen=True)
class Regression:
    """The trace of an earlier finding, and the subjects that it belongs to."""

    file: str
    subject: str
    """Empty if it belongs to each subject of its contract."""
    profile: str
    """The profile that was checked. The trace may have another, with which the subject agrees more."""
    rule: str
    """Empty if the name does not say it."""
    invariant: bool
    trace: Trace

    def is_of(self, subject: Subject, profile: str) -> bool:
        """Whether it belongs to a subject under a profile."""
        same = self.trace.contract.name == subject.contract.name and self.profile == profile
        return same and self.subject in ("", subject.name)


def regressions_in(folder: Path) -> list[Regression]:
    """The regressions of a folder, by file name. Raises BadInput if a ``.jsonl`` file in it is no trace."""
    if why := barred(folder):
        raise BadInput(f"{folder}: {why}")
    try:
        files = sorted(path for path in folder.iterdir() if path.suffix == SUFFIX) if folder.exists() else []
    except OSError as error:
        raise BadInput(f"{folder}: cannot be read: {error.strerror}") from None
    return [kept for path in files for kept in read(path)]


def read(path: Path) -> Iterable[Regression]:
    """The traces of a file. One that this kit wrote has one."""
    parts = [unquote(part) for part in path.name.removesuffix(SUFFIX).split(BETWEEN)]
    named = len(parts) == 3 or (len(parts) == 4 and parts[3] in (INVARIANT, FORMERLY))
    for trace in load(str(path)):
        subject, profile, rule = parts[:3] if named else ("", trace.profile, "")
        yield Regression(str(path), subject, profile, rule, named and len(parts) == 4, trace)


@dataclass
class Regressions:
    """The results of regressions."""

    failing: list[tuple[Regression, Finding]] = field(default_factory=list)
    passing: list[Regression] = field(default_factory=list)
    unasked: list[Regression] = field(default_factory=list)
    """The regressions that were not run, because they need what the subject declares to lack."""


def run_regressions(subject: Subject, profile: str, kept: Iterable[Regression], fail_fast: bool = False) -> Regressions:
    """Run the regressions that belong to a subject under a profile; with ``fail_fast`` up to the first that fails."""
    found = Regressions()
    for each in kept:
        if not each.is_of(subject, profile):
            continue
        if not subject.contract.can_ask(each.trace.operations, subject.capabilities):
            found.unasked.append(each)
        elif finding := finding_of(subject, each):
            found.failing.append((each, finding))
            if fail_fast:
                break
        else:
            found.passing.append(each)
    return found


def finding_of(subject: Subject, kept: Regression) -> Finding | None:
    """The finding that a regression shows now, reduced and diagnosed anew; None if nothing is wrong.

    If a reduction does not fail again, the finding has the trace of the file.
    """
    walk, model = kept.trace.walk, subject.contract.model(kept.trace.profile)
    if failed := failure(subject, model, walk.config, walk.operations):
        walk = replace(walk, operations=walk.operations[: failed[0] + 1], difference=failed[1])
        return find(Diagnoser(subject, model), walk) or unreduced(subject, model.PROFILE, walk, kept.rule)
    return find_breach(subject, model, kept.rule, walk) if kept.invariant else None


def in_file(kept: Regression) -> str:
    """The file of a regression, as a note."""
    return f"The trace is saved in {kept.file}."
