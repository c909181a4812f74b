"""``bench drivers``: how fast the walk and the Hypothesis machine are."""

from __future__ import annotations

import click
import msgspec

from broker_tck.bench.drivers import Measured
from broker_tck.bench.drivers import drivers as measure_drivers
from broker_tck.cli.options import json_option
from broker_tck.cli.output import print_json, print_table, progress

EPILOG = """\b
Examples:
  broker-tck bench drivers --subject heap
  broker-tck bench drivers --subject time-bucket --subject bucket
"""


@click.command("drivers", epilog=EPILOG)
@click.option(
    "--subject",
    "subject_names",
    multiple=True,
    default=("time-bucket",),
    show_default=True,
    metavar="S",
    help="A subject. Repeatable: they are measured in turns, and set beside the first.",
)
@click.option(
    "--rounds", default=7, show_default=True, type=click.IntRange(1), help="How often everything is measured."
)
@json_option
def drivers_command(subject_names: tuple[str, ...], rounds: int, as_json: bool) -> None:
    """Checked operations a second: walks beside the Hypothesis machine, and what the parts of a walk take.

    Default generator and weights without bulk operations; rules counted in one walk of 16.
    """
    with progress(rounds, "measuring", "rounds") as tell:
        result = measure_drivers(subject_names, rounds, tell)
    if as_json:
        print_json(msgspec.to_builtins(result))
        return
    click.echo(f"{result.machine}\n")
    for measured in result.subjects:
        print_measured(measured)
    first, *others = result.subjects
    for other in others:
        click.echo(f"walks of {other.subject} to those of {first.subject}: {other.to_first:.2f} times as fast")


def print_measured(measured: Measured) -> None:
    """Print what was measured of a subject."""
    rows = [(r.what, f"{r.median:,.0f}", f"{r.low:,.0f} to {r.high:,.0f}", r.note) for r in measured.rows]
    print_table(measured.subject, ["driver", "a second (median)", "spread", ""], rows, right=(1, 2))
    click.echo(
        f"\nwalk to machine: {measured.ratio:.1f} times; the subject's share of a walk: {measured.subject_share:.0%}\n"
    )
