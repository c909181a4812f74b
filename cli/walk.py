"""``walk``: seeded random walks, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

from broker_tck.cli.options import (
    chosen_contract,
    chosen_profiles,
    chosen_subjects,
    contract_option,
    json_option,
    profile_option,
    seed_option,
    subject_option,
    with_workload,
    workload_option,
)
from broker_tck.cli.output import print_json, print_table, progress, writing
from broker_tck.cli.terminal import report_here
from broker_tck.properties.engine.check import record as recorded
from broker_tck.properties.engine.subjects import Subject
from broker_tck.properties.engine.trace import Trace, to_json
from broker_tck.properties.errors import BadInput
from broker_tck.properties.explain.checked import Checked, explain
from broker_tck.properties.explain.guarding import Task, run_all
from broker_tck.properties.report.finding import finding_json
from broker_tck.properties.report.made import profile_result
from broker_tck.properties.report.result import ProfileResult
from broker_tck.properties.search.run import Progress, Run, checked
from broker_tck.properties.verdict import BROKEN, at_most

JUDGED = 64
"""The invariants judge one walk out of this number."""
Walked = tuple[ProfileResult, float]
"""The result of the walks of a subject, and the seconds that they took."""
WALK_EXAMPLES = """\b
Examples:
  broker-tck walk --subject time-bucket --operations 10000000
  broker-tck walk --subject heap --seed 7 --walks 3 --record traces.jsonl
"""


@click.command("walk", epilog=WALK_EXAMPLES)
@contract_option
@subject_option
@profile_option
@workload_option
@click.option(
    "--walks", "count", type=click.IntRange(1), help="Number of walks. Default: 100, or as many as --operations needs."
)
@click.option("--operations", type=click.IntRange(1), help="Walk until this number of operations was checked.")
@click.option(
    "--record", type=click.Path(dir_okay=False), help="Write the walks, with their outcomes, as a trace file."
)
@seed_option
@json_option
def walk_command(
    contract_name: str | None,
    named: tuple[Subject, ...],
    profile: str | None,
    workload: str | None,
    count: int | None,
    operations: int | None,
    record: str | None,
    seed: int,
    as_json: bool,
) -> int:
    """Make seeded random walks of subjects, and nothing else.

    The same seed makes the same walks everywhere. A run ends at the first walk that fails.
    """
    contract = chosen_contract(contract_name, named)
    subjects = with_workload(chosen_subjects(contract, named), workload)
    pairs = [(s, p) for s in subjects for p in chosen_profiles(s, profile)]
    recorder = Recorder(record) if record else None
    most = count or (10**9 if operations else 100)
    careful = recorder is not None  # each walk is made once
    tasks = [
        Task(s, p, partial(walked, p, seed, most, operations, recorder), told_of, seed, careful=careful)
        for s, p in pairs
    ]
    total = operations or most
    with progress(total * len(tasks), "walking", "operations" if operations else "walks") as tell:

        def told(now: Task[Walked]) -> None:
            done = sum(min(total, task.came.operations if operations else task.came.walks) for task in tasks)
            tell(done, f"{now.subject.name} ({now.profile})")

        found = [*run_all(tasks, 1, told, partial(click.echo, err=True))]
    if as_json:
        print_json({"walks": [walked_json(*each, seed) for each in found]})
    else:
        print_walked(found)
    return 1 if any(each.verdict == BROKEN for each, _ in found) else 0


class Recorder:
    """Writes walks to a trace file, each once, with the outcomes of the model."""

    def __init__(self, path: str) -> None:
        self.path = Path(path).absolute()
        with writing(path):
            try:
                self.path.touch(exist_ok=False)
            except FileExistsError:
                raise BadInput(f"{path}: exists already; --record needs a new file name") from None

    def write(self, run: Run, config: Any, operations: list[Any]) -> None:
        """Write a walk. Raises BadInput if the file can no longer be written."""
        steps = recorded(operations, run.model(config))
        outcomes = [[step.result, *step.seen] for step in steps]
        trace = Trace(run.subject.contract, run.profile, config, operations, outcomes)
        with writing(self.path), self.path.open("a", encoding="utf-8") as file:
            file.write(to_json(trace) + "\n")


def walked(
    profile: str,
    seed: int,
    count: int,
    operations: int | None,
    recorder: Recorder | None,
    subject: Subject,
    progress: Progress,
) -> Walked:
    """Walk until enough was checked or a walk fails."""
    run = Checked(subject, profile, seed)
    for done in checked(run, range(count), judged=JUDGED):
        if recorder:
            recorder.write(run, done.config, done.operations)
        if done.difference:
            explain(run, progress)
            break
        if run.walks % 8 == 1:
            progress(run)
        if operations and run.operations >= operations:
            break
    return told_of(run)


def told_of(found: Checked) -> Walked:
    """The result of a run."""
    return profile_result(found), round(found.seconds, 3)


def print_walked(found: Sequence[Walked]) -> None:
    """Print the results of walks."""
    for each, _ in found:
        for finding in each.findings:
            click.echo(report_here(finding) + "\n")
        for sentence in each.complaints:
            click.echo(f"{each.name}: {sentence}\n")
    head = ["subject", "profile", "walks", "operations", "a second", "rules", "not exercised", "failures"]
    print_table("", head, [row_of(*each) for each in found], right=(2, 3, 4, 5))


def row_of(found: ProfileResult, seconds: float) -> tuple[str, ...]:
    """The row of a subject."""
    came_up, vacuous = len(found.rules.exercised), found.rules.vacuous
    return (
        found.subject,
        found.profile,
        f"{found.walks:,}",
        f"{found.operations:,}",
        f"{found.operations / seconds:,.0f}" if seconds else "-",
        f"{came_up} of {came_up + len(vacuous)}",
        ", ".join(vacuous) or "-",
        "failed" if found.verdict == BROKEN else f"< {at_most(found.failure_bound)}",
    )


def walked_json(found: ProfileResult, seconds: float, seed: int) -> dict[str, Any]:
    """The result of a subject's walks as a JSON object."""
    return {
        "subject": found.subject,
        "profile": found.profile,
        "seed": seed,
        "walks": found.walks,
        "operations": found.operations,
        "seconds": seconds,
        "exercised": found.rules.exercised,
        "vacuous": found.rules.vacuous,
        "complaints": [*found.complaints],
        "findings": [finding_json(each) for each in found.findings],
    }
