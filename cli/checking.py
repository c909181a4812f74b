"""``check`` and ``walk``."""

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
from broker_tck.properties.check import record as recorded
from broker_tck.properties.conforming import Checked, check_subject, checked_json, golden_traces
from broker_tck.properties.errors import BadInput
from broker_tck.properties.run import Run, findings, judge, walks
from broker_tck.properties.story import finding_json, story
from broker_tck.properties.trace import Trace, to_json

WALKS = 1000
EXAMPLES = 60
HEAD = ("subject", "profile", "golden", "rules", "walks", "operations", "deviations", "left out", "residual", "verdict")
RESIDUAL = (
    "residual: the failure rate a walk that a run without a failure excludes at 95 %; "
    "operations include the Hypothesis machine's"
)

CHECK_EXAMPLES = """\b
Examples:
  broker-tck check
  broker-tck check --subject my_package.tracker:MyTracker --fail-fast
  broker-tck check --subject time-bucket-2025 --profile timebucket-ideal
  broker-tck check --subject mutant:duplicate-counted --json
"""
WALK_EXAMPLES = """\b
Examples:
  broker-tck walk --subject time-bucket --operations 10000000
  broker-tck walk --subject heap --seed 7 --walks 3 --record traces.jsonl
"""


@click.command(epilog=CHECK_EXAMPLES)
@contract_option
@subject_option
@profile_option
@life_option
@click.option("--walks", "count", default=WALKS, show_default=True, type=click.IntRange(1), help="Walks a subject.")
@click.option(
    "--examples",
    default=EXAMPLES,
    show_default=True,
    type=click.IntRange(0),
    help="Examples of the Hypothesis machine.",
)
@seed_option
@click.option("--fail-fast", is_flag=True, help="End at the first failing walk.")
@json_option
def check(
    contract_name: str | None,
    subject_names: tuple[str, ...],
    profile: str | None,
    life: str | None,
    count: int,
    examples: int,
    seed: int,
    fail_fast: bool,
    as_json: bool,
) -> int:
    """Check subjects against their contract.

    Each is put through the recorded traces of its profile, random walks, the laws that need no model, and the
    Hypothesis machine; each deviation that its profile declares has to be seen. Without --subject all bundled
    subjects are checked, each under the profiles that it declares.
    """
    contract = chosen_contract(contract_name, subject_names)
    subjects = living(chosen_subjects(contract, subject_names), life)
    pairs = [(s, p) for s in subjects for p in chosen_profiles(s, profile)]
    done: list[Checked] = []
    with progress(len(pairs) * count, "checking") as tell:
        for i, (subject, name) in enumerate(pairs):

            def told(run: Run, i: int = i) -> None:
                tell(i * count + run.walks, f"{run.subject.name} ({run.profile}), {run.operations:,} operations")

            golden = golden_traces(contract.name, name)
            done.append(check_subject(subject, name, golden, seed, count, examples, fail_fast, told))
            if fail_fast and not done[-1].green:
                break
    print_json(summary_json(done)) if as_json else print_summary(done)
    return 0 if all(c.green for c in done) else 1


def print_summary(done: list[Checked]) -> None:
    """Say what was found, then what the run is worth."""
    for checked in done:
        for finding in checked.run.findings:
            click.echo(story(finding) + "\n")
        for complaint in checked.complaints:
            click.echo(f"{checked.run.subject.name} ({checked.run.profile}): {complaint}\n")
    rows = [
        (
            c.run.subject.name,
            c.run.profile,
            f"{c.golden_agreed}/{c.golden_steps}" if c.golden_steps else "none recorded",
            f"{len(c.run.exercised)} of {len(c.run.rules)}",
            f"{c.run.walks:,}",
            f"{c.run.operations + c.machine_steps:,}",
            f"{sum(c.run.deviations.values())} of {len(c.run.deviations)}" if c.run.deviations else "-",
            ", ".join(c.run.subject.left_out) or "-",
            f"< {c.run.residual:.2g}" if c.green else "-",
            "conforms" if c.green else "BROKEN",
        )
        for c in done
    ]
    print_table("", HEAD, rows, right=(2, 3, 4, 5, 6))
    green = sum(c.green for c in done)
    click.echo(f"\n{RESIDUAL}")
    click.echo(f"{green} of {len(done)} conform")


def summary_json(done: list[Checked]) -> dict[str, Any]:
    """The whole summary as a JSON object."""
    return {"subjects": [checked_json(c) for c in done], "conform": all(c.green for c in done)}


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
    subject_names: tuple[str, ...],
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
    contract = chosen_contract(contract_name, subject_names)
    subjects = living(chosen_subjects(contract, subject_names), life)
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
        """Write a walk."""
        steps = recorded(operations, run.model(config))
        outcomes = [[step.result, *step.seen] for step in steps]
        trace = Trace(run.subject.contract, run.profile, config, operations, outcomes)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(to_json(trace) + "\n")


def walked(run: Run, count: int, operations: int | None, recorder: Recorder | None) -> Run:
    """Walk until enough was checked or a walk fails."""
    total = operations or count
    with progress(total, f"{run.subject.name} ({run.profile})") as tell:
        for number, done in enumerate(walks(run, range(count))):
            if recorder:
                recorder.write(run, done.config, done.operations)
            if done.difference:
                run.failing.append(done)
                run.findings = findings(run)
                break
            if number % 64 == 0:
                judge(run, done)
            if number % 16 == 0:
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
            click.echo(story(finding) + "\n")
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
