"""``interleave``."""

from __future__ import annotations

from typing import Any

import click

from broker_tck.cli.options import json_option, known_profile, one_subject_option, profile_option, seed_option
from broker_tck.cli.output import print_json, print_table, progress
from broker_tck.cli.told import story_here
from broker_tck.implementations.naming import unknown
from broker_tck.properties.engine.interleaving import Explored, explore, sample, shortest_finding
from broker_tck.properties.engine.operation import able
from broker_tck.properties.engine.subjects import Subject
from broker_tck.properties.errors import BadInput
from broker_tck.properties.findings.document import document, finding_json
from broker_tck.properties.findings.finding import Finding

EXAMPLES = """\b
Examples:
  broker-tck interleave --subject stepwise-queue
  broker-tck interleave --subject mutant:removed-twice --scenario clear-invalidate
"""
SAMPLE = 2_000
"""How many orders are drawn where there are more than two threads."""
Shown = tuple[Explored, Finding | None]


@click.command(epilog=EXAMPLES)
@one_subject_option
@profile_option
@click.option("--scenario", "names", multiple=True, metavar="NAME", help="A scenario. Repeatable. Default: all.")
@click.option("--sample", "count", type=click.IntRange(1), help="Try so many orders, drawn at random, not all of them.")
@seed_option
@json_option
def interleave(
    subject: Subject, profile: str | None, names: tuple[str, ...], count: int | None, seed: int, as_json: bool
) -> int:
    """Try all orders in which a few calls that overlap may take their steps; of three threads, some.

    The subject needs its calls step by step, the capability `steps`. Each order is checked against the model as any
    trace is. Of a scenario that fails, the shortest order is reduced and told.
    """
    if not any(able(scenario.step(0), subject.capabilities) for scenario in subject.contract.scenarios):
        raise BadInput(f"{subject.name} has no calls that can be gone on with step by step (capability steps)")
    known = {scenario.name: scenario for scenario in subject.contract.scenarios}
    for name in names:
        if name not in known:
            raise BadInput(unknown("scenario", name, known))
    model = subject.contract.model(known_profile(subject.contract, profile or subject.profiles[0]))
    shown: list[Shown] = []
    chosen = tuple(dict.fromkeys(names or known))
    with progress(len(chosen), "interleaving", "scenarios") as tell:
        for name in chosen:
            scenario = known[name]
            drawn = count or (SAMPLE if len(scenario.scripts) > 2 else 0)
            tried = sample(scenario, subject, model, drawn, seed) if drawn else explore(scenario, subject, model)
            shown.append((tried, shortest_finding(tried, subject, model)))
            tell(len(shown), name)
    print_json({"scenarios": [scenario_json(*each) for each in shown]}) if as_json else print_scenarios(shown)
    return 1 if any(tried.failing for tried, _ in shown) else 0


def print_scenarios(shown: list[Shown]) -> None:
    """Say what became of each scenario."""
    for tried, finding in shown:
        if finding:
            click.echo(f"{tried.scenario.name}: {tried.scenario.sentence}\n\n{story_here(document(finding))}\n")
    rows = [
        (
            tried.scenario.name,
            f"{tried.orders:,}",
            f"{tried.waiting:,}",
            f"{len(tried.failing):,}",
            ", ".join(finding.diagnosis.rules) if finding else "-",
            tried.scenario.sentence,
        )
        for tried, finding in shown
    ]
    print_table("", ["scenario", "orders", "waiting", "failed", "rules", "what meets"], rows, right=(1, 2, 3))
    orders, failed = sum(tried.orders for tried, _ in shown), sum(len(tried.failing) for tried, _ in shown)
    click.echo("\nwaiting: orders that were left where a step waits for another call; another order does the same")
    click.echo(f"{orders:,} orders tried, {failed:,} failed")


def scenario_json(tried: Explored, finding: Finding | None) -> dict[str, Any]:
    """What became of a scenario."""
    return {
        "scenario": tried.scenario.name,
        "orders": tried.orders,
        "waiting": tried.waiting,
        "operations": tried.operations,
        "failed": len(tried.failing),
        "finding": finding_json(finding) if finding else None,
    }
