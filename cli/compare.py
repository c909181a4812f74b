"""``compare``: one table of the rules that each subject keeps or breaks."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import click

from broker_tck.cli.options import (
    chosen_contract,
    chosen_subjects,
    contract_option,
    json_option,
    output_option,
    seed_option,
    subject_option,
)
from broker_tck.cli.output import print_json, print_table, progress, written
from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.engine.subjects import Subject
from broker_tck.properties.explain.guarding import Task, run_all
from broker_tck.properties.report.compare import Column, Verdict, column, compared_rules, of_end
from broker_tck.properties.report.finding import finding_json
from broker_tck.spark_fuzz.executors.session import need

WALKS = 200
WORDS = {Verdict.KEEPS: "keeps", Verdict.BREAKS: "BREAKS", Verdict.NOT_EXERCISED: "-"}
EXAMPLES = """\b
Examples:
  broker-tck compare --contract negative-acks
  broker-tck compare --contract negative-acks -o clients.html
  broker-tck compare --subject sorted-buckets --subject my_package.tracker:MyTracker
"""


@click.command(epilog=EXAMPLES)
@contract_option
@subject_option
@click.option(
    "--walks", "count", default=WALKS, show_default=True, type=click.IntRange(1), help="Walks for each subject."
)
@output_option("Also write an HTML file.")
@seed_option
@json_option
def compare_command(
    contract_name: str | None,
    named: tuple[Subject, ...],
    count: int,
    output: str | None,
    seed: int,
    as_json: bool,
) -> int:
    """Compare subjects with the specification, rule by rule.

    A subject keeps a rule, breaks it, or did not exercise it. The HTML file and --json have the shortest trace for each
    broken rule. The exit status is always 0.
    """
    if output:
        need("pages", ("jinja2",), "report")
    contract = chosen_contract(contract_name, named)
    subjects = chosen_subjects(contract, named)
    tasks = [Task(subject, contract.default, partial(column, count, seed), of_end, seed) for subject in subjects]
    with progress(count * len(tasks), "comparing", "walks") as tell:

        def told(now: Task[Column]) -> None:
            tell(sum(min(count, task.came.walks) for task in tasks), now.subject.name)

        columns = [*run_all(tasks, 1, told, partial(click.echo, err=True))]
    if as_json:
        print_json({"contract": contract.name, "subjects": [column_json(each) for each in columns]})
    else:
        print_columns(contract, columns)
    if output:
        written(output, page(contract, columns))
    return 0


def print_columns(contract: Contract, columns: Sequence[Column]) -> None:
    """Print the table, and a summary of each subject."""
    rows = [
        (rule.number, *(WORDS[each.verdicts[rule.number]] for each in columns)) for rule in compared_rules(contract)
    ]
    print_table("", ["rule", *(each.subject for each in columns)], rows)
    click.echo(f"\n-: not exercised. Specification: {contract.default}.")
    for each in columns:
        click.echo(summary(each))


def summary(each: Column) -> str:
    """The result of a subject, in a line."""
    broken = [number for number, verdict in each.verdicts.items() if verdict is Verdict.BREAKS]
    behaves = (
        f"behaves as profile {each.profile}"
        if each.profile
        else "behaves as no profile, so other rules may be broken too"
    )
    return f"{each.subject}: {behaves}; breaks {', '.join(broken) or 'nothing'} ({each.walks:,} walks)"


def column_json(each: Column) -> dict[str, Any]:
    """The result of a subject as a JSON object."""
    return {
        "subject": each.subject,
        "behaves_as": each.profile,
        "walks": each.walks,
        "operations": each.operations,
        "rules": {number: str(verdict) for number, verdict in each.verdicts.items()},
        "findings": [finding_json(finding) for finding in each.findings.values()],
    }


def page(contract: Contract, columns: Sequence[Column]) -> str:
    """The comparison as an HTML file."""
    from broker_tck.spark_fuzz.report.rendering import rendered

    return rendered("subjects.html", contract=contract, rules=compared_rules(contract), columns=columns)
