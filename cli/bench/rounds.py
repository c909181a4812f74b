"""``bench rounds``: what a campaign costs its driver."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import click
import msgspec

from broker_tck.bench.drivers import machine_words
from broker_tck.cli.options import json_option
from broker_tck.cli.output import print_json, print_table, progress

HEAD = ["rounds", "seconds a round", "most", "memory", "rows", "store", "files"]


@click.command(
    "rounds",
    epilog="\b\nExamples:\n  broker-tck bench rounds\n  broker-tck bench rounds --rounds 10000 --states 1000000\n",
)
@click.option("--rounds", default=1_000, show_default=True, type=click.IntRange(1), help="How many rounds are made.")
@click.option("--shards", default=2_000, show_default=True, type=click.IntRange(1), help="Shards of a round.")
@click.option("--states", default=100_000, show_default=True, type=click.IntRange(2), help="States that are reached.")
@json_option
def rounds_command(rounds: int, shards: int, states: int, as_json: bool) -> None:
    """What a campaign costs its driver: many rounds of many shards, with rows that are made up.

    Nothing is walked: an executor answers at once, with the lanes of all contracts, their rules, states that level off,
    findings, and the work of 100 machines. All else is what `fuzz` does. Seconds are those of the processor: the median
    since the line before. "rows" are the bytes of the tables, "store" those of all files, the log among them, and what
    was replaced in the last hour. Last is how long it takes to open the store to go on, to watch and to report it.
    """
    from broker_tck.bench.rounds import simulate

    with TemporaryDirectory(prefix="broker-tck-") as folder, progress(rounds, "made", "rounds") as tell:
        found = simulate(str(Path(folder) / "store"), rounds, shards, states, tell)
    if as_json:
        print_json({"machine": machine_words(), **msgspec.to_builtins(found)})
        return
    rows = [
        (
            f"{stage.rounds:,}",
            f"{stage.seconds:.3f}",
            f"{stage.most:.3f}",
            *(f"{size / 1e6:,.1f} MB" for size in (stage.resident, stage.live, stage.store)),
            f"{stage.files:,}",
        )
        for stage in found.stages
    ]
    title = f"{found.lanes} lanes, {found.shards:,} shards, {found.states:,} states; {machine_words()}"
    print_table(title, HEAD, rows, right=range(len(HEAD)))
    click.echo("\nopened for: " + ", ".join(f"{name} {seconds:.2f} s" for name, seconds in found.reading.items()))
