"""The output of ``fuzz --plan``."""

from __future__ import annotations

import click
import msgspec

from broker_tck.bench.plan import Hours, Plan, plan
from broker_tck.cli.output import print_json, print_table
from broker_tck.properties.verdict import at_most
from broker_tck.spark_fuzz.driver.manifest import Manifest
from broker_tck.spark_fuzz.executors.processes import processes
from broker_tck.spark_fuzz.report.words import counted, duration
from broker_tck.spark_fuzz.worker.shard import COUNTED

HEAD = ["subject", "profile", "operations/s", "least to most", "operations", "walks", "failures"]


def print_plan(manifest: Manifest, count: int | None, as_json: bool) -> int:
    """Measure, print how long the campaign will take, and return the exit status. Writes nothing."""
    with processes(count) as made:
        found = plan(manifest, made)
    if as_json:
        print_json(msgspec.to_builtins(found))
    else:
        print_text(found)
    return 0


def print_text(found: Plan) -> None:
    """A plan as a table and five lines."""
    rows = [
        (
            pair.subject,
            pair.profile,
            f"{pair.rate:,.0f}",
            f"{pair.least:,.0f} to {pair.most:,.0f}",
            f"{pair.operations:,}",
            f"{pair.walks:,}",
            f"< {at_most(pair.failure_bound)}",
        )
        for pair in found.pairs
    ]
    at_once = f"{found.processes} processes at once" if found.processes > 1 else "1 process"
    print_table(f"operations a second on each core, measured with {at_once}", HEAD, rows, right=(2, 3, 4, 5, 6))
    each = (
        f"{counted(found.rounds, 'round')} of {counted(found.shards, 'shard')} of {found.shard_operations:,} operations"
    )
    click.echo(f"\n{each}: {found.operations:,} operations")
    spread = f"{hours(found.least)} to {hours(found.most)}"
    click.echo(f"processor time: {hours(found.processor_hours)} ({spread})")
    click.echo(f"wall-clock time: {'; '.join(map(clock, found.hours))}")
    click.echo(f"failures: 95 % upper bound, if no walk fails; rules and states are counted in one walk of {COUNTED}")


def clock(of: Hours) -> str:
    """The wall-clock time on a number of cores."""
    idle = f", {of.used} of them used" if of.used < of.cores else ""
    return f"{hours(of.hours)} on {counted(of.cores, 'core')}{idle}"


def hours(number: float) -> str:
    """Hours in words."""
    return duration(3_600_000 * number)
