"""Kept traces: a folder with the reduced trace of each finding, a file each, which later checks run first.

A file is named by subject, profile and rule, so that the same finding is kept once. One of another name, such as a
trace that was written by hand, belongs to each subject of its contract under its profile.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, unquote

from broker_tck.implementations.reachable import barred
from broker_tck.properties.engine.subjects import Subject
from broker_tck.properties.engine.trace import Trace, load, to_json
from broker_tck.properties.errors import BadInput
from broker_tck.properties.explain.finding import Finding

SUFFIX = ".jsonl"
BETWEEN = "@"
LAW = "law"
"""The last part of a name where the rule is judged on what is observed, without the model."""


@dataclass(frozen=True)
class Kept:
    """A kept trace, and whom it belongs to."""

    file: str
    subject: str
    """Empty: each of its contract."""
    profile: str
    """The one that was checked. The trace may be of another, with which the subject agrees more."""
    rule: str
    """Empty where the name does not say it."""
    law: bool
    trace: Trace

    def is_of(self, subject: Subject, profile: str) -> bool:
        """Whether it belongs to a subject under a profile."""
        same = self.trace.contract.name == subject.contract.name and self.profile == profile
        return same and self.subject in ("", subject.name)


class Written(NamedTuple):
    """What is to be written of a finding: the name of its file, and the line in it."""

    name: str
    line: str

    @property
    def rule(self) -> str:
        """The rule that the name says."""
        return unquote(self.name.removesuffix(SUFFIX).split(BETWEEN)[2])


def written(finding: Finding, profile: str) -> Written:
    """The file of a finding of a subject that was checked under a profile."""
    parts = [finding.subject, profile, finding.rule, *([LAW] if finding.diagnosis.law else [])]
    outcomes = [None] * len(finding.operations)
    says = f"{finding.rule} is broken by {finding.subject}"
    trace = Trace(finding.contract, finding.profile, finding.config, finding.operations, outcomes, name=says)
    return Written(BETWEEN.join(quote(part, safe="") for part in parts) + SUFFIX, to_json(trace) + "\n")


def kept_in(folder: Path) -> list[Kept]:
    """The traces of a folder, by the names of their files. BadInput where a ``.jsonl`` file in it is no trace."""
    if why := barred(folder):
        raise BadInput(f"{folder}: {why}")
    try:
        files = sorted(path for path in folder.iterdir() if path.suffix == SUFFIX) if folder.exists() else []
    except OSError as error:
        raise BadInput(f"{folder}: cannot be read: {error.strerror}") from None
    return [kept for path in files for kept in read(path)]


def read(path: Path) -> Iterable[Kept]:
    """The traces of a file. One that this kit wrote has one."""
    parts = [unquote(part) for part in path.name.removesuffix(SUFFIX).split(BETWEEN)]
    named = len(parts) == 3 or (len(parts) == 4 and parts[3] == LAW)
    for trace in load(str(path)):
        subject, profile, rule = parts[:3] if named else ("", trace.profile, "")
        yield Kept(str(path), subject, profile, rule, named and len(parts) == 4, trace)


def see_writable(folder: Path) -> None:
    """See that files can be written into a folder, made where there is none. BadInput says why not."""
    there = folder.exists()
    tried = Written(f".{os.getpid()}.tried", "")
    try:
        put(folder, tried)
        (folder / tried.name).unlink()
    except OSError as error:
        raise BadInput(f"{folder}: cannot be written: {error.strerror}") from None
    if not there:
        with suppress(OSError):
            folder.rmdir()


def write(folder: Path, file: Written) -> None:
    """Write a file, whole or not at all. BadInput where it cannot be written."""
    try:
        put(folder, file)
    except OSError as error:
        raise BadInput(f"{folder / file.name}: cannot be written: {error.strerror}") from None


def put(folder: Path, file: Written) -> None:
    """Write a file beside its place, and put it there when it is whole."""
    folder.mkdir(parents=True, exist_ok=True)
    begun = folder / f".{os.getpid()}.begun"
    try:
        begun.write_text(file.line, encoding="utf-8")
        begun.replace(folder / file.name)
    finally:
        begun.unlink(missing_ok=True)
