"""``bench``: speed and memory, measured side by side in one run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from statistics import median
from typing import Any

import click
import msgspec

from broker_tck.cli import cache_plot, cursors_plot
from broker_tck.cli.nacks_plot import drawn, has_rate
from broker_tck.cli.options import chosen_contract, contract_option, json_option
from broker_tck.cli.output import print_json, print_table, progress
from broker_tck.implementations import cache_bench, cursor_bench, nack_memory_bench
from broker_tck.implementations.memory_bench import ROWS, MemoryRow
from broker_tck.implementations.memory_bench import rows as memory_rows
from broker_tck.implementations.nack_memory_bench import MemoryRow as NackRow
from broker_tck.properties.bench import drivers as measure_drivers
from broker_tck.properties.bench import machine_words
from broker_tck.properties.errors import BadInput
from broker_tck.spark_fuzz.session import need


@click.group(epilog="\b\nExamples:\n  broker-tck bench drivers\n  broker-tck bench memory --json\n")
def bench() -> None:
    """Measure the drivers' speed and the trackers' memory."""


@bench.command("drivers", epilog="\b\nExamples:\n  broker-tck bench drivers --subject heap\n")
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


MEMORY_EXAMPLES = """\b
Examples:
  broker-tck bench memory
  broker-tck bench memory --row 1-10
  broker-tck bench memory --contract negative-acks --plot nacks.svg
"""


@bench.command("memory", epilog=MEMORY_EXAMPLES)
@contract_option
@click.option("--row", "names", multiple=True, metavar="ROW", help="A row of the table, by name. Default: all.")
@click.option(
    "--plot", type=click.Path(dir_okay=False), metavar="FILE", help="Also draw the table; negative-acks only."
)
@json_option
def bench_memory(contract_name: str | None, names: tuple[str, ...], plot: str | None, as_json: bool) -> int:
    """Growth of the resident set of a fresh process that tracks many messages, content verified.

    delayed-delivery: 10 million messages; a row is messages a millisecond and the bits of a bucket's width, and the
    figures of the design's authors stand beside. negative-acks: a million; a row is workload A or nacks a second, and
    the bits; the pair map and Java's figures stand beside.
    """
    contract = chosen_contract(contract_name)
    if contract.name not in MEMORY:
        raise BadInput(f"there is no memory bench of {contract.name}; there are those of {', '.join(MEMORY)}")
    if plot and contract.name != "negative-acks":
        raise BadInput(f"the memory bench of {contract.name} draws no plot")
    if plot:
        need("plots", ("matplotlib",), "bench")
    known, measure, shown = MEMORY[contract.name]
    for name in names:
        if name not in known:
            raise BadInput(f"unknown row {name!r}; there are: {', '.join(known)}")
    chosen = names or tuple(known)
    if plot and not any(map(has_rate, chosen)):
        raise BadInput("the plot is of rows with a rate, such as 1000-8")
    table: list[Any] = []
    with progress(len(chosen), "rows") as tell:
        for row in measure(chosen):
            table.append(row)
            tell(len(table), row.name)
    if as_json:
        print_json({"machine": machine_words(), "rows": msgspec.to_builtins(table)})
    else:
        shown(table)
    if plot:
        drawn(table, plot)
    return 0 if all(row.passed for row in table) else 1


def print_memory(table: Sequence[MemoryRow]) -> None:
    """Print the memory table of delayed delivery."""
    head = ["row", "messages", "buckets", "growth MiB", "batch MiB", "bytes/message", "limit MiB", "seed MiB"]
    head += ["adds/s", "batch adds/s", "content", ""]
    print_table(machine_words(), head, [memory_cells(row) for row in table], right=tuple(range(1, 10)))


def print_nacks(table: Sequence[NackRow]) -> None:
    """Print the memory table of negative acks."""
    head = [
        "row",
        "nacks/s",
        "bits",
        "bytes/entry",
        "pair map",
        "Java",
        "nacks/s taken",
        "redelivered/s",
        "content",
        "",
    ]
    print_table(machine_words(), head, [nack_cells(row) for row in table], right=tuple(range(1, 8)))


def nack_cells(row: NackRow) -> tuple[str, ...]:
    """A row of the memory table of negative acks."""
    return (
        row.name,
        f"{row.a_second:,}",
        str(row.bits),
        f"{row.buckets.bytes_an_entry:.2f}",
        f"{row.pair_map.bytes_an_entry:.2f}",
        "-" if row.java_bytes is None else f"{row.java_bytes:g}",
        f"{row.buckets.nacks_per_second:,}",
        f"{row.buckets.redeliveries_per_second:,}",
        "exact" if row.buckets.content_verified and row.pair_map.content_verified else "WRONG",
        "" if row.passed else "OVER",
    )


MEMORY: dict[str, tuple[Collection[str], Callable[..., Iterable[Any]], Callable[[Any], None]]] = {
    "delayed-delivery": (ROWS, memory_rows, print_memory),
    "negative-acks": (nack_memory_bench.ROWS, nack_memory_bench.rows, print_nacks),
}
"""By contract: the rows by name, how they are measured, and how they are shown."""


def memory_cells(row: MemoryRow) -> tuple[str, ...]:
    """A row of the memory table."""
    return (
        row.name,
        f"{row.messages:,}",
        f"{row.buckets:,}",
        mib(row.growth_bytes_single),
        mib(row.growth_bytes_batch),
        f"{row.bytes_per_message:.3f}",
        mib(row.limit_bytes),
        mib(row.seed_bytes),
        f"{row.adds_per_second_single:,}",
        f"{row.adds_per_second_batch:,}" if row.adds_per_second_batch else "-",
        "exact" if row.content_verified and row.usable_afterwards else "WRONG",
        "" if row.passed else "OVER",
    )


CURSORS_EXAMPLES = """\b
Examples:
  broker-tck bench cursors
  broker-tck bench cursors --container sorted-cursors --json
  broker-tck bench cursors --plot cursors.svg
"""


@bench.command("cursors", epilog=CURSORS_EXAMPLES)
@click.option("--container", "names", multiple=True, metavar="C", help="A container, by name. Default: all.")
@click.option("--plot", type=click.Path(dir_okay=False), metavar="FILE", help="Also draw the comparisons.")
@json_option
def bench_cursors(names: tuple[str, ...], plot: str | None, as_json: bool) -> int:
    """What update, slowest and rank cost in each container, with 10, 100, 1,000 and 10,000 cursors.

    Tailing: the slowest cursor moves to the end. Random: any cursor moves anywhere. A question is asked after one move.
    What counts is how the comparisons of positions grow from 10 cursors on: by three times the growth that is said at
    the most, or the exit status is 1. Times stand beside, and are judged by nobody.
    """
    for name in names:
        if name not in cursor_bench.CANDIDATES:
            raise BadInput(f"unknown container {name!r}; there are: {', '.join(cursor_bench.CANDIDATES)}")
    if plot:
        need("plots", ("matplotlib",), "bench")
    chosen = names or tuple(cursor_bench.CANDIDATES)
    table: list[cursor_bench.CursorRow] = []
    with progress(len(chosen), "containers") as tell:
        for number, (name, rows) in enumerate(zip(chosen, cursor_bench.rows(chosen), strict=True), 1):
            table += rows
            tell(number, name)
    if as_json:
        told = [{**msgspec.to_builtins(row), "passed": row.passed} for row in table]
        print_json({"machine": machine_words(), "rows": told})
    else:
        print_cursors(table)
    if plot:
        cursors_plot.drawn(table, plot)
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


CACHE_EXAMPLES = "\b\nExamples:\n  broker-tck bench cache\n  broker-tck bench cache --rounds 5 --plot passes.svg\n"


@bench.command("cache", epilog=CACHE_EXAMPLES)
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
@click.option("--plot", type=click.Path(dir_okay=False), metavar="FILE", help="Also draw the seconds a pass.")
@json_option
def bench_cache(rounds: int, entries: int, plot: str | None, as_json: bool) -> int:
    """What eviction costs: one queue of removal beside a policy for each cache, each in a fresh process.

    Entries of 100 bytes in caches of 200: the growth of the process for each, its value aside, and the seconds of a
    pass that finds nothing old, one that finds a tenth, and one that is asked for a tenth of the bytes. Content is
    verified after each. Visits are those of a size pass for one byte where reads of all entries are expected.
    """
    if plot:
        need("plots", ("matplotlib",), "bench")
    caches = entries * cache_bench.CACHES // cache_bench.ENTRIES
    found: list[cache_bench.Measurement] = []
    with progress(rounds * len(cache_bench.POLICIES), "runs") as tell:
        for measurement in cache_bench.rounds(rounds, entries, caches):
            found.append(measurement)
            tell(len(found), measurement.policy)
    result = cache_bench.result(found)
    if as_json:
        print_json({"machine": machine_words(), "passed": result.passed, **msgspec.to_builtins(result)})
    else:
        print_passes(result)
    if plot:
        cache_plot.drawn(found, plot)
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


@bench.command(
    "campaign",
    epilog="\b\nExamples:\n  broker-tck bench campaign\n  broker-tck bench campaign --seconds 5 --rounds 3\n",
)
@click.option(
    "--seconds", default=20.0, show_default=True, type=click.FloatRange(1), help="How long a round takes, about."
)
@click.option(
    "--rounds", default=5, show_default=True, type=click.IntRange(1), help="How often everything is measured."
)
@json_option
def bench_campaign(seconds: float, rounds: int, as_json: bool) -> None:
    """What Spark and isolation cost: the same walks in a plain process, isolated, on local cores and on a cluster.

    All bundled subjects. The ways take turns; each has made a round before it is measured. It needs the machine for
    itself.
    """
    from broker_tck.spark_fuzz.bench import PROCESSES
    from broker_tck.spark_fuzz.bench import campaign as measure
    from broker_tck.spark_fuzz.session import java, need_spark

    need_spark()
    java()
    total = len(PROCESSES) * (rounds + 1)
    with progress(total, "rounds") as tell:
        ways = list(PROCESSES)
        found = measure(seconds, rounds, lambda n, way: tell(n * len(ways) + ways.index(way), way))
    if as_json:
        print_json({"machine": machine_words(), **msgspec.to_builtins(found)})
        return
    rows = [
        (w.name, f"{w.median:,.0f}", f"{w.low:,.0f} to {w.high:,.0f}", f"{w.times:.2f}", f"{w.merging:.1%}", w.note)
        for w in found.ways
    ]
    head = ["way", "operations/s (median)", "spread", "times plain", "merging", ""]
    print_table(f"{', '.join(found.subjects)}; {machine_words()}", head, rows, right=(1, 2, 3, 4))
    size = found.size
    click.echo(f"\n{found.operations:,} operations a shard and round, {found.rounds} rounds")
    click.echo(
        f"isolation takes {found.isolation:.1%} of the time, Spark and isolation {found.spark_and_isolation:.1%}"
    )
    click.echo(f"local[2]: {found.two_cores:.2f} times one plain process, {found.of_two_processes:.2f} times two")
    click.echo(
        f"a million operations: {size.rows_a_million:,.0f} rows, {size.bytes_a_million / 1000:,.1f} kB; a round's "
        f"summary: {size.summary_bytes_a_round / 1000:,.1f} kB; "
        f"{size.states:,} states: {size.states_bytes / 1000:,.1f} kB"
    )


def mib(count: int | None) -> str:
    """Bytes as MiB."""
    return "-" if count is None else f"{count / 2**20:.2f}"
