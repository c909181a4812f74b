"""Subjects checked for ``check``: one after another in this process, or several at a time in processes of their own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import click

from broker_tck.cli.options import living
from broker_tck.cli.output import progress
from broker_tck.cli.table import row_of
from broker_tck.cli.told import story_here
from broker_tck.properties.check_document import SubjectDocument, subject_document
from broker_tck.properties.conforming import Checked, check_subject, golden_traces
from broker_tck.properties.engine.run import Progress, Run
from broker_tck.properties.engine.subjects import Accepted, Subject, resolve
from broker_tck.properties.findings.document import document
from broker_tck.properties.findings.kept import Written, kept_in, written
from broker_tck.properties.findings.raised import debugged
from broker_tck.properties.isolation.pool import processes

Pair = tuple[Subject, str]
"""A subject, and the profile under which it is checked."""


class Budget(NamedTuple):
    """What a subject is put through."""

    seed: int
    walks: int
    reserve: int
    examples: int
    fail_fast: bool
    life: str | None
    pdb: bool = False
    save: Path | None = None
    """The folder of kept traces."""


class Told(NamedTuple):
    """What there is to tell of a subject under a profile."""

    row: tuple[str, ...]
    stories: list[str]
    document: SubjectDocument
    to_keep: tuple[Written, ...] = ()

    @property
    def name(self) -> tuple[str, str]:
        """The subject and the profile."""
        return self.document.subject, self.document.profile


def checked_here(pairs: Sequence[Pair], budget: Budget) -> Iterator[Told]:
    """Check one subject after another in this process."""
    for subject, profile in pairs:
        with progress(budget.walks, "checking", "walks") as tell:

            def told(run: Run) -> None:
                tell(run.walks, f"{run.subject.name} ({run.profile}), {run.operations:,} operations")

            found = checked(subject, profile, budget, told)
        yield found


def checked_apart(pairs: Sequence[Pair], budget: Budget, jobs: int) -> Iterator[Told]:
    """Check subjects, so many at a time, in processes of their own; told of in their order as they end.

    Where it is interrupted, those that have ended are told of all the same.
    """
    with processes(min(jobs, len(pairs))) as pool:
        futures = [pool.submit(checked_by_name, s.name, s.accepts, profile, budget) for s, profile in pairs]
        told = 0
        try:
            for each in futures:
                found = each.result()
                told += 1
                yield found
        except BaseException as ended:
            pool.shutdown(wait=False, cancel_futures=True)
            if isinstance(ended, KeyboardInterrupt):
                yield from (each.result() for each in futures[told:] if each.done() and not each.cancelled())
            raise


def checked_by_name(name: str, accepts: tuple[Accepted, ...], profile: str, budget: Budget) -> Told:
    """Check a subject in a process that knows its name alone, and what is accepted of it."""
    (subject,) = living([replace(resolve(name), accepts=accepts)], budget.life)
    return checked(subject, profile, budget)


def checked(subject: Subject, profile: str, budget: Budget, told: Progress | None = None) -> Told:
    """Check a subject under a profile."""
    found = check_subject(
        subject,
        profile,
        golden_traces(subject.contract.name, profile),
        budget.seed,
        budget.walks,
        budget.examples,
        budget.fail_fast,
        told,
        budget.reserve,
        kept_in(budget.save) if budget.save else (),
    )
    if budget.pdb and found.findings:
        first, note = found.findings[0]
        click.echo(story_here(document(first, note)))
        debugged(subject, first.config, first.operations)
    return told_of(found)


def told_of(found: Checked) -> Told:
    """What there is to tell of what was found."""
    run = found.run
    stories = [story_here(document(*each)) for each in found.findings]
    stories += [f"{run.subject.name} ({run.profile}): {complaint}" for complaint in found.complaints]
    to_keep = tuple(written(finding, run.profile) for finding, _ in found.findings)
    return Told(row_of(found), stories, subject_document(found), to_keep)
