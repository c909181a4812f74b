"""``bench bucket``: what an index costs that survives the broker."""

from __future__ import annotations

from collections.abc import Callable

import click
import msgspec

from broker_tck.bench import buckets as bucket_bench
from broker_tck.bench.buckets import BucketRow, Result, Spread
from broker_tck.bench.drivers import machine_words
from broker_tck.bench.pictures import check_plot, draw_buckets
from broker_tck.cli.bench.plots import plot_option
from broker_tck.cli.options import Folder, json_option
from broker_tck.cli.output import print_json, print_table, progress
from broker_tck.properties.errors import BadInput

EXAMPLES = """\b
Examples:
  broker-tck bench bucket
  broker-tck bench bucket --row 200 --row time-bucket --messages 1000000
  broker-tck bench bucket --folder /var/tmp --plot buckets.svg
"""


@click.command("bucket", epilog=EXAMPLES)
@click.option(
    "--row",
    "names",
    multiple=True,
    metavar="ROW",
    help=f"A row: {', '.join(bucket_bench.CHOICES)}. Repeatable. Default: all.",
)
@click.option(
    "--messages",
    default=bucket_bench.MESSAGES,
    show_default=True,
    type=click.IntRange(1_000),
    help="How many messages are added.",
)
@click.option(
    "--folder",
    type=Folder(exists=True, file_okay=False, writable=True),
    metavar="DIR",
    help="Where snapshots are put meanwhile. Default: the system's folder for temporary files.",
)
@plot_option("Also draw memory, recoveries and seals.")
@json_option
def bucket_command(names: tuple[str, ...], messages: int, folder: str | None, plot: str | None, as_json: bool) -> int:
    """What an index in 50, 200 and 1,000 buckets costs, beside one in memory and a heap.

    Ledgers in order, times random within a day; snapshots are files. Each part is measured in fresh processes, and
    content is verified. The exit status is 1 unless a recovery takes 1/100 of the time at most that adding everything
    takes, and what is in memory, after adding as after a recovery, 25% at most of what the heap takes.
    """
    for name in names:
        if name not in bucket_bench.CHOICES:
            raise BadInput(f"unknown row {name!r}; there are: {', '.join(bucket_bench.CHOICES)}")
    check_plot(plot)
    chosen = [name for name in bucket_bench.CHOICES if name in names or not names]
    with progress(bucket_bench.steps(chosen), "measuring", "runs") as tell:
        result = bucket_bench.measure(chosen, messages, folder, tell)
    if as_json:
        told = {"machine": machine_words(), "passed": result.passed, **msgspec.to_builtins(result)}
        print_json({**told, "claims": msgspec.to_builtins(result.claims())})
    else:
        print_buckets(result)
    if plot:
        draw_buckets(result, plot)
    return 0 if result.passed else 1


Cell = Callable[[BucketRow], str]

LINES: list[tuple[str, Cell]] = [
    ("adds a second", lambda row: f"{row.adds_per_second:,.0f}"),
    ("takes a second", lambda row: f"{row.takes_per_second:,}"),
    ("ms, add that seals", lambda row: middle(row.seal)),
    ("  spread", lambda row: ends(row.seal)),
    ("ms, load of a segment", lambda row: middle(row.load)),
    ("  spread", lambda row: ends(row.load)),
    ("ms, merge of four", lambda row: middle(row.merge)),
    ("  spread", lambda row: ends(row.merge)),
    ("ms, recovery", lambda row: middle(row.recovery)),
    ("  spread", lambda row: ends(row.recovery)),
    ("MiB, all added", lambda row: mib(row.resident_bytes)),
    ("MiB, recovered", lambda row: mib(row.recovered_bytes)),
    ("bytes a message, in memory", lambda row: f"{row.unsealed_bytes:.1f}"),
    ("bytes a message, on disk", lambda row: "-" if row.disk_bytes is None else f"{row.disk_bytes / row.messages:.1f}"),
    ("content", lambda row: "exact" if row.content_verified else "WRONG"),
]
"""What the table says of each row."""


def print_buckets(result: Result) -> None:
    """Print what each row costs, a column each, and what it has to keep."""
    table = [*result.rows, result.heap]
    head = ["", *(row.title for row in table)]
    cells = [(says, *map(cell, table)) for says, cell in LINES]
    title = f"{result.heap.messages:,} messages; {machine_words()}"
    print_table(title, head, cells, right=tuple(range(1, len(head))))
    click.echo()
    for claim in result.claims():
        click.echo(f"{claim.row}: {claim.says}{'' if claim.holds else ': OVER'}")


def middle(spread: Spread | None) -> str:
    """The median of some milliseconds."""
    return "-" if spread is None else ms(spread.median)


def ends(spread: Spread | None) -> str:
    """The least and the most of some milliseconds."""
    return "-" if spread is None else f"{ms(spread.least)} to {ms(spread.most)}"


def ms(milliseconds: float) -> str:
    """Milliseconds, with as many digits as say something."""
    return f"{milliseconds:,.0f}" if milliseconds >= 10 else f"{milliseconds:.2f}"


def mib(count: int | None) -> str:
    """Bytes as MiB."""
    return "-" if count is None else f"{count / 2**20:,.1f}"
