"""The pictures of benches. A file that cannot be drawn into is refused before anything is measured."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from broker_tck.bench.cache import PASSES, POLICIES, Measurement
from broker_tck.bench.cursors import WORKLOADS, CursorRow
from broker_tck.bench.nacks import MemoryRow as NackRow
from broker_tck.properties.errors import BadInput
from broker_tck.spark_fuzz.driver.session import need

OPERATIONS = ("update", "slowest", "rank")
COLORS = ("#0a5bab", "#b34700", "#1b7f4b", "#8a3ffc", "#a2191f", "#555d66")
MINE, JAVA, FLAT = COLORS[0], COLORS[1], COLORS[5]


def check_plot(path: str | None) -> None:
    """BadInput where a picture is asked for and there could be none in that file. Leaves the file as it is."""
    if path is None:
        return
    need("plots", ("matplotlib",), "bench")
    from matplotlib.backend_bases import FigureCanvasBase

    formats = FigureCanvasBase.get_supported_filetypes()
    file = Path(path)
    if file.suffix[1:].lower() not in formats:
        raise BadInput(f"{path}: cannot be written: its name has to end with one of .{', .'.join(sorted(formats))}")
    is_new = not file.exists() and not file.is_symlink()
    try:
        file.open("ab").close()
    except OSError as error:
        raise BadInput(f"{path}: cannot be written: {error.strerror}") from None
    if is_new:
        file.unlink()


def save_plot(figure: Any, path: str) -> None:
    """Write a picture. BadInput where the file cannot be written."""
    try:
        figure.savefig(path, metadata={"Date": None} if path.endswith(".svg") else None)
    except OSError as error:
        raise BadInput(f"{path}: cannot be written: {error}") from None


def draw_passes(measurements: Sequence[Measurement], path: str) -> None:
    """Draw the median of each pass with its spread. BadInput where the file cannot be written."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, 3.2), layout="constrained")
    axes = figure.subplots()
    for number, (policy, color) in enumerate(zip(POLICIES, COLORS, strict=False)):
        of_policy = [m.seconds for m in measurements if m.policy == policy]
        columns = [*zip(*of_policy, strict=True)]
        middles = [1_000 * median(column) for column in columns]
        reach = [
            [middle - 1_000 * min(column) for middle, column in zip(middles, columns, strict=True)],
            [1_000 * max(column) - middle for middle, column in zip(middles, columns, strict=True)],
        ]
        places = [place + 0.36 * number for place in range(len(PASSES))]
        axes.barh(places, middles, 0.34, xerr=reach, color=color, label=policy)
    axes.set_yticks([place + 0.18 for place in range(len(PASSES))], PASSES)
    axes.invert_yaxis()
    axes.set(xscale="log", xlabel="milliseconds a pass")
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25, axis="x")
    axes.legend(frameon=False)
    save_plot(figure, path)


def draw_comparisons(table: Sequence[CursorRow], path: str) -> None:
    """Draw a panel for each workload and operation. BadInput where the file cannot be written."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.6, 5.4), layout="constrained")
    panels = figure.subplots(len(WORKLOADS), len(OPERATIONS), sharex=True, sharey=True, squeeze=False)
    names = [*dict.fromkeys(row.container for row in table)]
    for workload, line in zip(WORKLOADS, panels, strict=True):
        for operation, axes in zip(OPERATIONS, line, strict=True):
            for name, color in zip(names, COLORS, strict=False):
                rows = [r for r in table if (r.container, r.workload, r.operation) == (name, workload, operation)]
                if rows:
                    axes.plot(
                        [r.cursors for r in rows], [r.comparisons for r in rows], "o-", color=color, ms=3, label=name
                    )
            axes.set(xscale="log", title=f"{operation}, {workload}")
            axes.set_yscale("symlog", linthresh=1)
            axes.spines[["top", "right"]].set_visible(False)
            axes.grid(alpha=0.25)
    panels[0][0].set_ylabel("comparisons")
    panels[1][0].set(xlabel="cursors", ylabel="comparisons")
    panels[0][0].legend(frameon=False, fontsize="small")
    save_plot(figure, path)


def has_rate(row: str) -> bool:
    """Whether a row, by its name, is of nacks at a steady rate."""
    return not row.startswith("a-")


def draw_bytes(table: Sequence[NackRow], path: str) -> None:
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
