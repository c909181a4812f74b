"""The memory bench of negative acks: its table, and the picture of it, which is bytes an entry over nacks a second."""

from __future__ import annotations

from collections.abc import Sequence

from broker_tck.bench.drivers import machine_words
from broker_tck.bench.nacks import MemoryRow
from broker_tck.cli.bench.plots import save_plot
from broker_tck.cli.output import print_table

MINE, JAVA, FLAT = "#0a5bab", "#b34700", "#555d66"


def print_nacks(table: Sequence[MemoryRow]) -> None:
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


def nack_cells(row: MemoryRow) -> tuple[str, ...]:
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


def has_rate(row: str) -> bool:
    """Whether a row, by its name, is of nacks at a steady rate."""
    return not row.startswith("a-")


def drawn(table: Sequence[MemoryRow], path: str) -> None:
    """Draw the rows that have a rate. BadInput where the file cannot be written."""
    from matplotlib.figure import Figure

    rated = [row for row in table if has_rate(row.name)]
    figure = Figure(figsize=(7.2, 4.2), layout="constrained")
    axes = figure.subplots()
    for bits, style in ((8, "o-"), (10, "s--")):
        rows = [row for row in rated if row.bits == bits]
        java = [row for row in rows if row.java_bytes is not None]
        if rows:
            axes.plot(
                [r.a_second for r in rows],
                [r.buckets.bytes_an_entry for r in rows],
                style,
                color=MINE,
                label=f"sorted-buckets, {bits} bits",
            )
        if java:
            axes.plot(
                [r.a_second for r in java],
                [r.java_bytes or 0 for r in java],
                style,
                color=JAVA,
                label=f"Java, {bits} bits",
            )
    flat = rated[0].pair_map.bytes_an_entry
    axes.axhline(flat, color=FLAT, linewidth=1, label="pair map")
    axes.set(xscale="log", yscale="log", xlabel="nacks a second", ylabel="bytes an entry")
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25)
    axes.legend(frameon=False)
    save_plot(figure, path)
