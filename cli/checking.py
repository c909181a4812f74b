"""Subjects checked for ``check``: each in a guarded process, several at a time; or in this one, for debuggers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import click

from broker_tck.cli.output import progress
from broker_tck.cli.table import row_of
from broker_tck.cli.told import story_here
from broker_tck.properties.conforming import Checked, check_subject, golden_traces
from broker_tck.properties.engine.subjects import Subject
from broker_tck.properties.report.check_document import SubjectDocument, subject_document
from broker_tck.properties.report.document import document
from broker_tck.properties.report.guarding import Task, run_all
from broker_tck.properties.report.kept import Kept, Written, kept_in, written
from broker_tck.properties.search.raised import debugged
from broker_tck.properties.search.run import Progress

Pair = tuple[Subject, str]
"""A subject, and the profile under which it is checked."""


class Budget(NamedTuple):
    """What a subject is put through."""

    seed: int
    walks: int
    reserve: int
    examples: int
    fail_fast: bool
    pdb: bool = False
    here: bool = False
    """Whether subjects run in this process, unguarded."""
    save: Path | None = None
    """The folder of kept traces."""
    search: int | None = None
    """In how many walks each rule is searched for that a known profile breaks; None: the default."""


class Told(NamedTuple):
    """What there is to tell of a subject under a profile."""

    row: tuple[str, ...]
    document: SubjectDocument
    to_keep: tuple[Written, ...] = ()
    left_out: str = ""
    """What was found besides what counts, in few words."""

    @property
    def name(self) -> tuple[str, str]:
        """The subject and the profile."""
        return self.document.subject, self.document.profile

    @property
    def stories(self) -> list[str]:
        """What is wrong, each as text for this terminal; and what does not count, if something does not."""
        name = "{} ({})".format(*self.name)
        said = [f"{name}: {complaint}" for complaint in self.document.complaints]
        left_out = [f"{name}: left out: {self.left_out}"] if self.left_out else []
        return [*map(story_here, self.document.findings), *said, *left_out]


def checked(pairs: Sequence[Pair], budget: Budget, jobs: int) -> Iterator[Told]:
    """Check subjects, so many at a time; told of in their order as they end."""
    kept = kept_in(budget.save) if budget.save else []
    tasks = [
        Task(s, profile, partial(check, profile, budget, kept), told_of, budget.seed, kept) for s, profile in pairs
    ]
    if budget.examples and len(tasks) > 1:
        from broker_tck.properties.engine.machine import prepare  # which imports Hypothesis

        prepare()
    with progress(budget.walks * len(tasks), "checking", "walks") as tell:
        if budget.here or budget.pdb:
            click.echo("broker-tck: subjects run in this process: status 0 is no pass if one ends it", err=True)
            for task in tasks:
                yield task.here(lambda run: None)
            return
        yield from run_all(tasks, jobs, partial(tell_of, tell, tasks, budget), partial(click.echo, err=True))


def tell_of(tell: Callable[..., None], tasks: Sequence[Task[Told]], budget: Budget, now: Task[Told]) -> None:
    """Say how far tasks have come."""
    done = sum(min(task.came.walks, budget.walks) for task in tasks)
    doing = (
        "making the trace of a failure shorter"
        if now.came.failed or now.explaining
        else f"{now.came.operations:,} operations"
    )
    tell(done, f"{now.subject.name} ({now.profile}), {doing}")


def check(profile: str, budget: Budget, kept: Sequence[Kept], subject: Subject, progress: Progress) -> Told:
    """Check a subject under a profile."""
    found = check_subject(
        subject,
        profile,
        golden_traces(subject.contract.name, profile),
        budget.seed,
        budget.walks,
        budget.examples,
        budget.fail_fast,
        progress,
        budget.reserve,
        kept,
        budget.search,
    )
    if budget.pdb and found.findings:
        first, note = found.findings[0]
        click.echo(story_here(document(first, note)))
        debugged(subject, first.config, first.operations)
    return told_of(found)


def told_of(found: Checked) -> Told:
    """What there is to tell of what was found."""
    to_keep = tuple(written(finding, found.run.profile) for finding, _ in found.findings)
    return Told(row_of(found), subject_document(found), to_keep)
