"""The memory table of negative acks as a picture: bytes an entry over nacks a second."""

from __future__ import annotations

from collections.abc import Sequence

from broker_tck.implementations.nack_memory_bench import MemoryRow
from broker_tck.properties.errors import BadInput

MINE, JAVA, FLAT = "#0a5bab", "#b34700", "#555d66"


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
    try:
        figure.savefig(path, metadata={"Date": None} if path.endswith(".svg") else None)
    except (OSError, ValueError) as error:
        raise BadInput(f"{path}: cannot be written: {error}") from None
