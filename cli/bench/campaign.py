"""``bench campaign``: what campaigns cost, beside the same walks in plain processes."""

from __future__ import annotations

import click
import msgspec

from broker_tck.bench.drivers import machine_words
from broker_tck.cli.options import json_option
from broker_tck.cli.output import print_json, print_table, progress

HEAD = ["way", "operations/processor-s", "times plain", "operations/s", "times plain", "first walk", "nothing"]


@click.command(
    "campaign",
    epilog="\b\nExamples:\n  broker-tck bench campaign\n  broker-tck bench campaign --operations 8000000 --turns 3\n",
)
@click.option(
    "--operations",
    default=2_000_000,
    show_default=True,
    type=click.IntRange(100_000),
    help="Operations of a way in a turn.",
)
@click.option("--turns", default=2, show_default=True, type=click.IntRange(1), help="How many turns each way has.")
@json_option
def campaign_command(operations: int, turns: int, as_json: bool) -> None:
    """What campaigns cost: the same walks in plain processes, isolated, on processes, and on Spark.

    All bundled subjects of delayed delivery. Rates do not contain what a campaign of nothing takes, which is measured
    beside them: seconds until its first walk, and its seconds of the processor. The ways take turns. It needs Java, and
    an idle machine for five minutes.
    """
    from broker_tck.bench.campaign import WAYS
    from broker_tck.bench.campaign import campaign as measure
    from broker_tck.spark_fuzz.executors.session import java, need_spark

    need_spark()
    java()
    with progress(len(WAYS) * turns, "measuring", "ways") as tell:
        found = measure(operations, turns, lambda turn, way: tell(turn * len(WAYS) + WAYS.index(way), way))
    if as_json:
        print_json({"machine": machine_words(), "operations": operations, "ways": msgspec.to_builtins(found)})
        return
    rows = [
        (
            way.name,
            f"{way.middle('thrifts'):,.0f}",
            f"{way.middle('thrift_times'):.2f}",
            f"{way.middle('rates'):,.0f}",
            f"{way.middle('times'):.2f}",
            f"{way.middle('firsts'):.1f} s",
            f"{way.middle('nothings'):.1f} s",
        )
        for way in found
    ]
    print_table(f"medians of {turns} turns; {machine_words()}", HEAD, rows, right=(1, 2, 3, 4, 5, 6))
