"""``bench memory``: what trackers of many messages take."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

import click
import msgspec

from broker_tck.bench import memory as memory_bench
from broker_tck.bench import nacks as nack_memory_bench
from broker_tck.bench.drivers import machine_words
from broker_tck.bench.memory import MemoryRow
from broker_tck.bench.pictures import check_plot, draw_bytes, has_rate
from broker_tck.cli.bench import nacks
from broker_tck.cli.bench.plots import plot_option
from broker_tck.cli.options import chosen_contract, contract_option, json_option
from broker_tck.cli.output import print_json, print_table, progress
from broker_tck.properties.errors import BadInput

EXAMPLES = """\b
Examples:
  broker-tck bench memory
  broker-tck bench memory --row 1-10
  broker-tck bench memory --contract negative-acks --plot nacks.svg
"""


@click.command("memory", epilog=EXAMPLES)
@contract_option
@click.option("--row", "names", multiple=True, metavar="ROW", help="A row of the table, by name. Default: all.")
@plot_option("Also draw the table; negative-acks only.")
@json_option
def memory_command(contract_name: str | None, names: tuple[str, ...], plot: str | None, as_json: bool) -> int:
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
    check_plot(plot)
    known, measure, shown = MEMORY[contract.name]
    for name in names:
        if name not in known:
            raise BadInput(f"unknown row {name!r}; there are: {', '.join(known)}")
    chosen = names or tuple(known)
    if plot and not any(map(has_rate, chosen)):
        raise BadInput("the plot is of rows with a rate, such as 1000-8")
    table: list[Any] = []
    with progress(len(chosen), "measuring", "rows") as tell:
        for row in measure(chosen):
            table.append(row)
            tell(len(table), row.name)
    if as_json:
        print_json({"machine": machine_words(), "rows": msgspec.to_builtins(table)})
    else:
        shown(table)
    if plot:
        draw_bytes(table, plot)
    return 0 if all(row.passed for row in table) else 1


def print_memory(table: Sequence[MemoryRow]) -> None:
    """Print the memory table of delayed delivery."""
    head = ["row", "messages", "buckets", "growth MiB", "batch MiB", "bytes/message", "limit MiB", "reported MiB"]
    head += ["adds/s", "batch adds/s", "content", ""]
    print_table(machine_words(), head, [memory_cells(row) for row in table], right=tuple(range(1, 10)))


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
        mib(row.reported_bytes),
        f"{row.adds_per_second_single:,}",
        f"{row.adds_per_second_batch:,}" if row.adds_per_second_batch else "-",
        "exact" if row.content_verified and row.usable_afterwards else "WRONG",
        "" if row.passed else "OVER",
    )


def mib(count: int | None) -> str:
    """Bytes as MiB."""
    return "-" if count is None else f"{count / 2**20:.2f}"


MEMORY: dict[str, tuple[Collection[str], Callable[..., Iterable[Any]], Callable[[Any], None]]] = {
    "delayed-delivery": (memory_bench.ROWS, memory_bench.rows, print_memory),
    "negative-acks": (nack_memory_bench.ROWS, nack_memory_bench.rows, nacks.print_nacks),
}
"""By contract: the rows by name, how they are measured, and how they are shown."""
