"""``bench cursors``: what the containers of cursors cost."""

from __future__ import annotations

from collections.abc import Sequence

import click
import msgspec

from broker_tck.bench import cursors as cursor_bench
from broker_tck.bench.drivers import machine_words
from broker_tck.bench.pictures import check_plot, draw_comparisons
from broker_tck.cli.bench.plots import plot_option
from broker_tck.cli.options import json_option
from broker_tck.cli.output import print_json, print_table, progress
from broker_tck.implementations.naming import unknown
from broker_tck.properties.errors import BadInput

EXAMPLES = """\b
Examples:
  broker-tck bench cursors
  broker-tck bench cursors --container sorted-cursors --json
  broker-tck bench cursors --plot cursors.svg
"""


@click.command("cursors", epilog=EXAMPLES)
@click.option("--container", "names", multiple=True, metavar="C", help="A container, by name. Default: all.")
@plot_option("Also draw the comparisons.")
@json_option
def cursors_command(names: tuple[str, ...], plot: str | None, as_json: bool) -> int:
    """What update, slowest and rank cost in each container, with 10, 100, 1,000 and 10,000 cursors.

    Tailing: the slowest cursor moves to the end. Random: any cursor moves anywhere. A question is asked after one move.
    What counts is how the comparisons of positions grow from 10 cursors on: by three times the growth that is said at
    the most, or the exit status is 1. Times stand beside, and are judged by nobody.
    """
    for name in names:
        if name not in cursor_bench.CANDIDATES:
            raise BadInput(unknown("container", name, cursor_bench.CANDIDATES))
    check_plot(plot)
    chosen = names or tuple(cursor_bench.CANDIDATES)
    table: list[cursor_bench.CursorRow] = []
    with progress(len(chosen), "measuring", "containers") as tell:
        for number, (name, rows) in enumerate(zip(chosen, cursor_bench.rows(chosen), strict=True), 1):
            table += rows
            tell(number, name)
    if as_json:
        told = [{**msgspec.to_builtins(row), "passed": row.passed} for row in table]
        print_json({"machine": machine_words(), "rows": told})
    else:
        print_cursors(table)
    if plot:
        draw_comparisons(table, plot)
    return 0 if all(row.passed for row in table) else 1


def print_cursors(table: Sequence[cursor_bench.CursorRow]) -> None:
    """Print the table of containers: a line for each workload and operation."""
    head = ["container", "workload", "operation", "may grow as"]
    head += [f"{n:,}" for n in cursor_bench.SIZES] + [f"ns at {cursor_bench.SIZES[-1]:,}", "spread", ""]
    lines = [*dict.fromkeys((r.container, r.workload, r.operation) for r in table)]
    cells = []
    for line in lines:
        rows = [r for r in table if (r.container, r.workload, r.operation) == line]
        last = rows[-1]
        cells.append(
            (
                *line,
                last.growth,
                *(f"{r.comparisons:,.1f}" for r in rows),
                f"{last.nanoseconds:,.0f}",
                f"{last.low:,.0f} to {last.high:,.0f}",
                "" if all(r.passed for r in rows) else "OVER",
            )
        )
    print_table(f"comparisons by number of cursors; {machine_words()}", head, cells, right=(4, 5, 6, 7, 8, 9))
