"""``walk``: seeded random walks, and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from broker_tck.cli.options import (
    chosen_contract,
    chosen_profiles,
    chosen_subjects,
    contract_option,
    json_option,
    life_option,
    living,
    profile_option,
    seed_option,
    subject_option,
)
from broker_tck.cli.output import print_json, print_table, progress
from broker_tck.cli.told import story_here
from broker_tck.properties.engine.check import record as recorded
from broker_tck.properties.engine.run import Run, checked, findings
from broker_tck.properties.engine.subjects import Subject
from broker_tck.properties.engine.trace import Trace, to_json
from broker_tck.properties.errors import BadInput
from broker_tck.properties.findings.document import document, finding_json

JUDGED = 64
"""One walk in so many is judged by the laws."""
WALK_EXAMPLES = """\b
Examples:
  broker-tck walk --subject time-bucket --operations 10000000
  broker-tck walk --subject heap --seed 7 --walks 3 --record traces.jsonl
"""


@click.command("walk", epilog=WALK_EXAMPLES)
@contract_option
@subject_option
@profile_option
@life_option
@click.option(
    "--walks", "count", type=click.IntRange(1), help="How many walks. Default: as --operations says, else 100."
)
@click.option("--operations", type=click.IntRange(1), help="Walk until so many operations were checked.")
@click.option(
    "--record", type=click.Path(dir_okay=False), help="Write the walks, with their outcomes, as a trace file."
)
@seed_option
@json_option
def walk_command(
    contract_name: str | None,
    named: tuple[Subject, ...],
    profile: str | None,
    life: str | None,
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
    subjects = living(chosen_subjects(contract, named), life)
    pairs = [(s, p) for s in subjects for p in chosen_profiles(s, profile)]
    recorder = Recorder(record) if record else None
    runs = [walked(Run(s, p, seed), count or (10**9 if operations else 100), operations, recorder) for s, p in pairs]
    if as_json:
        print_json({"walks": [walked_json(run) for run in runs]})
    else:
        print_walked(runs)
    return 1 if any(run.failing or run.complaints for run in runs) else 0


class Recorder:
    """Writes walks to a trace file, each once, with the outcomes of the model."""

    def __init__(self, path: str) -> None:
        self.path = Path(path)
        try:
            self.path.touch(exist_ok=False)
        except FileExistsError:
            raise BadInput(f"{path}: exists already; --record writes a new file") from None
        except OSError as error:
            raise BadInput(f"{path}: cannot be written: {error.strerror}") from None

    def write(self, run: Run, config: Any, operations: list[Any]) -> None:
        """Write a walk. BadInput where the file cannot be written any more."""
        steps = recorded(operations, run.model(config))
        outcomes = [[step.result, *step.seen] for step in steps]
        trace = Trace(run.subject.contract, run.profile, config, operations, outcomes)
        try:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(to_json(trace) + "\n")
        except OSError as error:
            raise BadInput(f"{self.path}: cannot be written: {error.strerror}") from None


def walked(run: Run, count: int, operations: int | None, recorder: Recorder | None) -> Run:
    """Walk until enough was checked or a walk fails."""
    total = operations or count
    with progress(total, f"{run.subject.name} ({run.profile})", "operations" if operations else "walks") as tell:
        for done in checked(run, range(count), judged=JUDGED):
            if recorder:
                recorder.write(run, done.config, done.operations)
            if done.difference:
                run.findings = findings(run)
                break
            if run.walks % 16 == 1:
                tell(
                    run.operations if operations else run.walks, f"{run.operations / max(run.seconds, 1e-9):,.0f} op/s"
                )
            if operations and run.operations >= operations:
                break
    return run


def print_walked(runs: list[Run]) -> None:
    """Say what became of walks."""
    for run in runs:
        for finding in run.findings:
            click.echo(story_here(document(finding)) + "\n")
        for sentence in run.said:
            click.echo(f"{run.subject.name} ({run.profile}): {sentence}\n")
    rows = [
        (
            run.subject.name,
            run.profile,
            f"{run.walks:,}",
            f"{run.operations:,}",
            f"{run.operations / max(run.seconds, 1e-9):,.0f}",
            f"{len(run.exercised)} of {len(run.rules)}",
            ", ".join(run.vacuous) or "-",
            "failed" if run.failing or run.complaints else f"< {run.residual:.2g}",
        )
        for run in runs
    ]
    head = ["subject", "profile", "walks", "operations", "a second", "rules", "not exercised", "residual"]
    print_table("", head, rows, right=(2, 3, 4, 5))


def walked_json(run: Run) -> dict[str, Any]:
    """What became of a subject's walks."""
    return {
        "subject": run.subject.name,
        "profile": run.profile,
        "seed": run.seed,
        "walks": run.walks,
        "operations": run.operations,
        "seconds": round(run.seconds, 3),
        "exercised": run.exercised,
        "vacuous": run.vacuous,
        "complaints": run.said,
        "findings": [finding_json(f) for f in run.findings],
    }
