"""Subjects checked for ``check``: each in a guarded process, several at a time; or in this one, for debuggers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import click

from broker_tck.cli.choosing import Pair
from broker_tck.cli.output import progress
from broker_tck.cli.terminal import report_here
from broker_tck.properties.engine.subjects import Subject
from broker_tck.properties.engine.trace import from_text
from broker_tck.properties.explain.guarding import Task, run_all
from broker_tck.properties.explain.regressions import Regression
from broker_tck.properties.report.made import checked_in, profile_result
from broker_tck.properties.report.result import ProfileResult
from broker_tck.properties.search.budget import Budget
from broker_tck.properties.search.fitness import debugged
from broker_tck.properties.search.run import Progress


class How(NamedTuple):
    """How subjects are run."""

    jobs: int = 1
    here: bool = False
    """Whether they run in this process, unguarded."""
    pdb: bool = False


def checked(pairs: Sequence[Pair], budget: Budget, kept: Sequence[Regression], how: How) -> Iterator[ProfileResult]:
    """Check subjects, several at a time; yields the results in the order of the pairs."""
    tasks = [
        Task(s, profile, partial(check, profile, budget, how.pdb, kept), profile_result, budget.seed, kept)
        for s, profile in pairs
    ]
    if budget.examples and len(tasks) > 1:
        from broker_tck.properties.engine.machine import prepare  # which imports Hypothesis

        prepare()
    with progress(budget.walks * len(tasks), "checking", "walks") as tell:
        if how.here or how.pdb:
            click.echo(
                "broker-tck: subjects run in this process; if one ends it, exit status 0 is no verdict", err=True
            )
            for task in tasks:
                yield task.here(lambda run: None)
            return
        yield from run_all(tasks, how.jobs, partial(tell_of, tell, tasks, budget), partial(click.echo, err=True))


def tell_of(
    tell: Callable[..., None], tasks: Sequence[Task[ProfileResult]], budget: Budget, now: Task[ProfileResult]
) -> None:
    """Show the progress of all tasks."""
    done = sum(min(task.came.walks, budget.walks) for task in tasks)
    doing = "reducing a failing trace" if now.came.failed or now.explaining else f"{now.came.operations:,} operations"
    tell(done, f"{now.subject.name} ({now.profile}), {doing}")


def check(
    profile: str, budget: Budget, pdb: bool, kept: Sequence[Regression], subject: Subject, progress: Progress
) -> ProfileResult:
    """Check a subject under a profile."""
    found = checked_in(profile, budget, subject, progress, kept)
    if pdb and found.findings:
        trace = from_text(found.findings[0].trace)
        click.echo(report_here(found.findings[0]))
        debugged(subject, trace.config, trace.operations)
    return found
