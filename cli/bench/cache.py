"""``bench cache``: what eviction costs."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

import click
import msgspec

from broker_tck.bench import cache as cache_bench
from broker_tck.bench.drivers import machine_words
from broker_tck.bench.pictures import check_plot, draw_passes
from broker_tck.cli.bench.plots import plot_option
from broker_tck.cli.options import json_option
from broker_tck.cli.output import print_json, print_table, progress

EXAMPLES = "\b\nExamples:\n  broker-tck bench cache\n  broker-tck bench cache --rounds 5 --plot passes.svg\n"


@click.command("cache", epilog=EXAMPLES)
@click.option(
    "--rounds", default=3, show_default=True, type=click.IntRange(1), help="How often each policy is measured."
)
@click.option(
    "--entries",
    default=cache_bench.ENTRIES,
    show_default=True,
    type=click.IntRange(1_000),
    help="How many entries are cached.",
)
@plot_option("Also draw the seconds a pass.")
@json_option
def cache_command(rounds: int, entries: int, plot: str | None, as_json: bool) -> int:
    """What eviction costs: one queue of removal beside a policy for each cache, each in a fresh process.

    Entries of 100 bytes in caches of 200: the growth of the process for each, its value aside, and the seconds of a
    pass that finds nothing old, one that finds a tenth, and one that is asked for a tenth of the bytes. Content is
    verified after each. Visits are those of a size pass for one byte where reads of all entries are expected.
    """
    check_plot(plot)
    caches = entries * cache_bench.CACHES // cache_bench.ENTRIES
    found: list[cache_bench.Measurement] = []
    with progress(rounds * len(cache_bench.POLICIES), "measuring", "runs") as tell:
        for measurement in cache_bench.rounds(rounds, entries, caches):
            found.append(measurement)
            tell(len(found), measurement.policy)
    result = cache_bench.result(found)
    if as_json:
        print_json({"machine": machine_words(), "passed": result.passed, **msgspec.to_builtins(result)})
    else:
        print_passes(result)
    if plot:
        draw_passes(found, plot)
    return 0 if result.passed else 1


def print_passes(result: cache_bench.Result) -> None:
    """Print what passes cost, and what they visit."""
    rows = []
    for policy in cache_bench.POLICIES:
        runs = [m for m in result.measurements if m.policy == policy]
        exact = "exact" if all(m.content_verified for m in runs) else "WRONG"
        rows.append((policy, "bytes an entry", *spread([m.bytes_an_entry for m in runs], ".1f"), exact))
        rows.append((policy, "insertions a second", *spread([m.puts_per_second for m in runs], ",.0f"), exact))
        for number, name in enumerate(cache_bench.PASSES):
            seconds = [1_000 * m.seconds[number] for m in runs]
            rows.append((policy, f"ms, pass of {name}", *spread(seconds, ",.3f"), exact))
    first = result.measurements[0]
    title = f"{first.entries:,} entries in {first.caches:,} caches; {machine_words()}"
    print_table(title, ["policy", "", "median", "spread", "content"], rows, right=(2, 3))
    click.echo()
    for v in result.visits:
        told = f"a size pass over {v.entries:,} entries that reads protect {v.requeues} times visits {v.visits:,}"
        click.echo(told if v.visits == v.most else f"{told}: OVER {v.most:,}")


def spread(figures: Sequence[float], form: str) -> tuple[str, str]:
    """The median, and the lowest and highest."""
    return format(median(figures), form), f"{format(min(figures), form)} to {format(max(figures), form)}"
