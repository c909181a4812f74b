"""``check``: subjects against their contract."""

from __future__ import annotations

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
from broker_tck.properties.conforming import Checked, check_subject, checked_json, golden_traces
from broker_tck.properties.engine.run import Run
from broker_tck.properties.engine.subjects import Subject
from broker_tck.properties.findings.document import document
from broker_tck.properties.findings.story import story

WALKS = 1000
EXAMPLES = 60
HEAD = ("subject", "profile", "golden", "rules", "walks", "operations", "deviations", "left out", "residual", "verdict")
RESIDUAL = (
    "residual: no walk failed; so, with 95 % confidence, fewer than this share of walks fail\n"
    "operations: those of the walks and of the Hypothesis machine"
)


CHECK_EXAMPLES = """\b
Examples:
  broker-tck check
  broker-tck check --subject my_package.tracker:MyTracker --fail-fast
  broker-tck check --subject time-bucket-2025 --profile timebucket-ideal
  broker-tck check --subject mutant:duplicate-counted --json
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
    named: tuple[Subject, ...],
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
    contract = chosen_contract(contract_name, named)
    subjects = living(chosen_subjects(contract, named), life)
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
            click.echo(story(document(finding)) + "\n")
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
