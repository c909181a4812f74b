"""``bench campaign``: what Spark and isolation cost."""

from __future__ import annotations

import click
import msgspec

from broker_tck.bench.drivers import machine_words
from broker_tck.cli.options import json_option
from broker_tck.cli.output import print_json, print_table, progress


@click.command(
    "campaign",
    epilog="\b\nExamples:\n  broker-tck bench campaign\n  broker-tck bench campaign --seconds 5 --rounds 4\n",
)
@click.option(
    "--seconds", default=20.0, show_default=True, type=click.FloatRange(1), help="How long a round takes, about."
)
@click.option(
    "--rounds", default=8, show_default=True, type=click.IntRange(1), help="How many rounds a way makes in a turn."
)
@click.option("--turns", default=2, show_default=True, type=click.IntRange(1), help="How many turns each way has.")
@json_option
def campaign_command(seconds: float, rounds: int, turns: int, as_json: bool) -> None:
    """What Spark and isolation cost: the same walks in one process, isolated, on local cores, on a cluster.

    All bundled subjects. The ways take turns; each has made a round before it is measured. It needs the machine for
    itself, for three quarters of an hour if nothing else is said.
    """
    from broker_tck.bench.campaign import PROCESSES
    from broker_tck.bench.campaign import campaign as measure
    from broker_tck.spark_fuzz.executors.session import java, need_spark

    need_spark()
    java()
    total = len(PROCESSES) * (turns + 1)
    with progress(total, "measuring", "turns") as tell:
        ways = list(PROCESSES)
        found = measure(seconds, rounds, turns, lambda n, way: tell(n * len(ways) + ways.index(way), way))
    if as_json:
        print_json({"machine": machine_words(), **msgspec.to_builtins(found)})
        return
    rows = [
        (w.name, f"{w.median:,.0f}", f"{w.low:,.0f} to {w.high:,.0f}", f"{w.times:.2f}", w.note) for w in found.ways
    ]
    head = ["way", "operations/s (median)", "spread", "times plain", ""]
    print_table(f"{', '.join(found.subjects)}; {machine_words()}", head, rows, right=(1, 2, 3))
    size = found.size
    click.echo(f"\n{found.operations:,} operations a shard and round, {found.turns} turns of {found.rounds} rounds")
    click.echo(
        f"isolation takes {found.isolation:.1%} of the time, Spark and isolation {found.spark_and_isolation:.1%}"
    )
    click.echo(f"local[2]: {found.two_cores:.2f} times one plain process, {found.of_two_processes:.2f} times two")
    click.echo(
        f"a million operations: {size.rows_a_million:,.0f} rows, {size.bytes_a_million / 1000:,.1f} kB; a round's "
        f"summary: {size.summary_bytes_a_round / 1000:,.1f} kB; "
        f"{size.states:,} states: {size.states_bytes / 1000:,.1f} kB"
    )
