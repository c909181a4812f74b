"""Kept traces: a folder with the reduced trace of each finding, a file each, which later checks run first.

A file is named by subject, profile and rule, so that the same finding is kept once. One of another name, such as a
trace that was written by hand, belongs to each subject of its contract under its profile.
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
"""The last part of a name where the rule is judged on what is observed, without the model."""


@dataclass(frozen=True)
class Regression:
    """A kept trace, and whom it belongs to."""

    file: str
    subject: str
    """Empty: each of its contract."""
    profile: str
    """The one that was checked. The trace may be of another, with which the subject agrees more."""
    rule: str
    """Empty where the name does not say it."""
    invariant: bool
    trace: Trace

    def is_of(self, subject: Subject, profile: str) -> bool:
        """Whether it belongs to a subject under a profile."""
        same = self.trace.contract.name == subject.contract.name and self.profile == profile
        return same and self.subject in ("", subject.name)


def regressions_in(folder: Path) -> list[Regression]:
    """The traces of a folder, by the names of their files. BadInput where a ``.jsonl`` file in it is no trace."""
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
    """What became of kept traces."""

    failing: list[tuple[Regression, Finding]] = field(default_factory=list)
    passing: list[Regression] = field(default_factory=list)
    unasked: list[Regression] = field(default_factory=list)
    """Those that ask for what the subject declares to lack by now."""


def run_regressions(subject: Subject, profile: str, kept: Iterable[Regression], fail_fast: bool = False) -> Regressions:
    """Run the kept traces that belong to a subject under a profile; with ``fail_fast`` up to the first that fails."""
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
    """What a kept trace shows now, reduced and diagnosed anew; None: nothing is wrong.

    What does not fail again is told as it was.
    """
    walk, model = kept.trace.walk, subject.contract.model(kept.trace.profile)
    if failed := failure(subject, model, walk.config, walk.operations):
        walk = replace(walk, operations=walk.operations[: failed[0] + 1], difference=failed[1])
        return find(Diagnoser(subject, model), walk) or unreduced(subject, model.PROFILE, walk, kept.rule)
    return find_breach(subject, model, kept.rule, walk) if kept.invariant else None


def in_file(kept: Regression) -> str:
    """Which file a finding of a kept trace is in."""
    return f"The trace is kept in {kept.file}."
