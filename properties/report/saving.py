"""Saves regressions: a file for each finding in a folder, written whole or not at all."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, unquote

from broker_tck.properties.engine.trace import from_text, to_json
from broker_tck.properties.errors import BadInput
from broker_tck.properties.explain.regressions import BETWEEN, INVARIANT, SUFFIX
from broker_tck.properties.report.finding import FindingResult


class Written(NamedTuple):
    """The file of a finding: its name and its text."""

    name: str
    line: str

    @property
    def rule(self) -> str:
        """The rule that the name says."""
        return unquote(self.name.removesuffix(SUFFIX).split(BETWEEN)[2])


def file_of(finding: FindingResult, profile: str) -> Written:
    """The file of a finding of a subject that was checked under a profile."""
    parts = [finding.subject, profile, finding.rule, *([INVARIANT] if finding.invariant else [])]
    trace = replace(from_text(finding.trace), name=f"{finding.rule} is broken by {finding.subject}")
    return Written(BETWEEN.join(quote(part, safe="") for part in parts) + SUFFIX, to_json(trace) + "\n")


def see_writable(folder: Path) -> None:
    """Raise BadInput if no file can be written into a folder, which is made if it does not exist."""
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
    """Write a file, whole or not at all. Raises BadInput if it cannot be written."""
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
