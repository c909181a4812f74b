"""``bench drivers``: how fast the walk and the Hypothesis machine are."""

from __future__ import annotations

import click
import msgspec

from broker_tck.bench.drivers import drivers as measure_drivers
from broker_tck.cli.options import json_option
from broker_tck.cli.output import print_json, print_table, progress


@click.command("drivers", epilog="\b\nExamples:\n  broker-tck bench drivers --subject heap\n")
@click.option("--subject", "subject_name", default="time-bucket", show_default=True, metavar="S", help="The subject.")
@click.option(
    "--rounds", default=7, show_default=True, type=click.IntRange(1), help="How often everything is measured."
)
@json_option
def bench_drivers(subject_name: str, rounds: int, as_json: bool) -> None:
    """Checked operations a second: the walk beside the Hypothesis machine, and what the parts of a walk take.

    Default generator and weights without bulk operations; rules counted in one walk of 16.
    """
    with progress(rounds, "rounds") as tell:
        result = measure_drivers(subject_name, rounds, tell)
    if as_json:
        print_json(msgspec.to_builtins(result))
        return
    rows = [(r.what, f"{r.median:,.0f}", f"{r.low:,.0f} to {r.high:,.0f}", r.note) for r in result.rows]
    print_table(
        f"{result.subject}; {result.machine}", ["driver", "a second (median)", "spread", ""], rows, right=(1, 2)
    )
    click.echo(
        f"\nwalk to machine: {result.ratio:.1f} times; the subject's share of a walk: {result.subject_share:.0%}"
    )
