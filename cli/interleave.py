"""``interleave``: the orders in which the steps of overlapping calls can run."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import click

from broker_tck.cli.options import json_option, known_profile, one_subject_option, profile_option, seed_option
from broker_tck.cli.output import print_json, print_table, progress
from broker_tck.cli.terminal import report_here
from broker_tck.implementations.naming import unknown
from broker_tck.properties.engine.contract import Scenario
from broker_tck.properties.engine.operation import able
from broker_tck.properties.engine.subjects import Subject
from broker_tck.properties.errors import BadInput
from broker_tck.properties.explain.checked import Checked
from broker_tck.properties.explain.diagnose import Diagnoser
from broker_tck.properties.explain.finding import find
from broker_tck.properties.explain.guarding import Task, run_one
from broker_tck.properties.report.finding import FindingResult, finding_json
from broker_tck.properties.report.made import finding_result
from broker_tck.properties.search.interleaving import explore, sample
from broker_tck.properties.search.run import Progress

EXAMPLES = """\b
Examples:
  broker-tck interleave --subject stepwise-queue
  broker-tck interleave --subject mutant:removed-twice --scenario clear-invalidate
"""
SAMPLE = 2_000
"""Number of orders that are drawn if a scenario has more than two threads."""


class Shown(NamedTuple):
    """The result of a scenario."""

    name: str
    sentence: str
    orders: int
    waiting: int
    operations: int
    failed: int
    finding: FindingResult | None


@click.command(epilog=EXAMPLES)
@one_subject_option
@profile_option
@click.option("--scenario", "names", multiple=True, metavar="NAME", help="A scenario. Repeatable. Default: all.")
@click.option("--sample", "count", type=click.IntRange(1), help="Try this number of random orders instead of all.")
@seed_option
@json_option
def interleave_command(
    subject: Subject, profile: str | None, names: tuple[str, ...], count: int | None, seed: int, as_json: bool
) -> int:
    """Try the orders in which the steps of overlapping calls can run.

    The subject must have the capability `steps`: its calls run step by step. Each order is checked against the model.
    For two threads the command tries all orders; for three it draws some. If a scenario fails, the command reduces the
    shortest failing order and prints it.
    """
    if not any(able(scenario.step(0), subject.capabilities) for scenario in subject.contract.scenarios):
        raise BadInput(f"{subject.name} does not run its calls step by step: it lacks the capability steps")
    known = {scenario.name: scenario for scenario in subject.contract.scenarios}
    for name in names:
        if name not in known:
            raise BadInput(unknown("scenario", name, known))
    under = known_profile(subject.contract, profile or subject.profiles[0])
    shown: list[Shown] = []
    chosen = tuple(dict.fromkeys(names or known))
    with progress(len(chosen), "interleaving", "scenarios") as tell:
        for name in chosen:
            task = Task(subject, under, partial(interleaved, name, under, count, seed), partial(of_end, name))
            shown.append(run_one(task, partial(click.echo, err=True)))
            tell(len(shown), name)
    print_json({"scenarios": [scenario_json(each) for each in shown]}) if as_json else print_scenarios(shown)
    return 1 if any(each.failed for each in shown) else 0


def interleaved(name: str, profile: str, count: int | None, seed: int, subject: Subject, _progress: Progress) -> Shown:
    """Try the orders of a scenario."""
    model = subject.contract.model(profile)
    scenario = scenario_of(subject, name)
    drawn = count or (SAMPLE if len(scenario.scripts) > 2 else 0)
    tried = sample(scenario, subject, model, drawn, seed) if drawn else explore(scenario, subject, model)
    finding = find(Diagnoser(subject, model), tried.shortest) if tried.shortest else None
    found = finding_result(finding) if finding else None
    return Shown(name, scenario.sentence, tried.orders, tried.waiting, tried.operations, len(tried.failing), found)


def of_end(name: str, found: Checked) -> Shown:
    """The result of a scenario in which the subject ended its process."""
    (finding,) = found.findings
    return Shown(name, scenario_of(found.subject, name).sentence, 0, 0, 0, 1, finding_result(finding))


def scenario_of(subject: Subject, name: str) -> Scenario:
    """The scenario with this name."""
    return next(scenario for scenario in subject.contract.scenarios if scenario.name == name)


def print_scenarios(shown: list[Shown]) -> None:
    """Print the result of each scenario."""
    for each in shown:
        if each.finding:
            click.echo(f"{each.name}: {each.sentence}\n\n{report_here(each.finding)}\n")
    rows = [
        (
            each.name,
            f"{each.orders:,}",
            f"{each.waiting:,}",
            f"{each.failed:,}",
            ", ".join(each.finding.rules) if each.finding else "-",
            each.sentence,
        )
        for each in shown
    ]
    print_table("", ["scenario", "orders", "waiting", "failed", "rules", "calls"], rows, right=(1, 2, 3))
    orders, failed = sum(each.orders for each in shown), sum(each.failed for each in shown)
    click.echo(
        "\nwaiting: orders that were given up because a step waits for another call; another order has the same effect"
    )
    click.echo(f"{orders:,} orders tried, {failed:,} failed")


def scenario_json(each: Shown) -> dict[str, Any]:
    """The result of a scenario as a JSON object."""
    return {
        "scenario": each.name,
        "orders": each.orders,
        "waiting": each.waiting,
        "operations": each.operations,
        "failed": each.failed,
        "finding": finding_json(each.finding) if each.finding else None,
    }
