"""The pictures of benches. A file that cannot be drawn into is refused before anything is measured."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from broker_tck.bench.buckets import MOST_OF_HEAP, BucketRow, Result, Spread
from broker_tck.bench.cache import PASSES, POLICIES, Measurement
from broker_tck.bench.cursors import WORKLOADS, CursorRow
from broker_tck.bench.nacks import MemoryRow as NackRow
from broker_tck.properties.errors import BadInput
from broker_tck.spark_fuzz.executors.session import need

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


def draw_buckets(result: Result, path: str) -> None:
    """Draw memory, recoveries and seals, a line for each row. BadInput where the file cannot be written."""
    from matplotlib.figure import Figure

    rows = [*result.rows, result.heap]
    figure = Figure(figsize=(9.6, 1.5 + 0.42 * len(rows)), layout="constrained")
    memory, recovery, seal = figure.subplots(1, 3, sharey=True)
    for place, row in enumerate(rows):
        draw_memory(memory, place, row)
        draw_recovery(recovery, place, row)
        if row.seal is not None:
            draw_span(seal, place, Spread(row.seal.median, row.seal.median, row.seal.most))
    limit = MOST_OF_HEAP * result.heap.resident_bytes / 2**20
    memory.axvline(limit, color=JAVA, linewidth=1, linestyle="--", label=f"{MOST_OF_HEAP:.0%} of the heap")
    memory.set(title="memory at rest", xlabel="MiB")
    memory.set_xlim(0, 1.25 * max(row.at_rest for row in rows) / 2**20)
    recovery.set(title="adding again, or a recovery", xlabel="seconds", xscale="log")
    recovery.xaxis.set_major_formatter("{x:g}")
    recovery.xaxis.set_minor_formatter("")
    seal.set(title="an add that seals", xlabel="milliseconds, median to worst")
    seal.set_xlim(left=0)
    memory.set_yticks(range(len(rows)), [row.title for row in rows])
    memory.set_ylim(len(rows) - 0.4, -0.6)
    for axes in (memory, recovery, seal):
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(alpha=0.25, axis="x")
        axes.tick_params(axis="y", length=0)
    for axes in (memory, recovery):
        axes.legend(frameon=False, fontsize="small", loc="upper center", bbox_to_anchor=(0.5, -0.24), ncols=2)
    save_plot(figure, path)


def draw_memory(axes: Any, place: int, row: BucketRow) -> None:
    """Draw what a row has in memory, with its figure."""
    size = row.at_rest / 2**20
    axes.barh(place, size, 0.55, color=FLAT if row.recovery is None else MINE)
    clear = {"facecolor": "white", "edgecolor": "none", "pad": 1}
    axes.annotate(
        f"{size:,.0f}", (size, place), (4, 0), textcoords="offset points", va="center", fontsize="small", bbox=clear
    )


def draw_recovery(axes: Any, place: int, row: BucketRow) -> None:
    """Draw what adding everything again takes, and what a recovery does."""
    is_first = not place
    axes.plot(row.adding_seconds, place, "o", color=JAVA, label="adding again" if is_first else None)
    if row.recovery is None or row.speedup is None:
        return
    seconds = row.recovery.median / 1_000
    axes.plot([seconds, row.adding_seconds], [place, place], color=FLAT, linewidth=1, zorder=0)
    axes.plot(seconds, place, "o", color=MINE, label="recovery" if is_first else None)
    middle = (seconds * row.adding_seconds) ** 0.5
    axes.annotate(
        f"{row.speedup:,.0f} times", (middle, place), (0, 3), textcoords="offset points", ha="center", fontsize="small"
    )


def draw_span(axes: Any, place: int, spread: Spread) -> None:
    """Draw a median and the most."""
    axes.plot([spread.median, spread.most], [place, place], color=MINE, linewidth=1)
    axes.plot(spread.median, place, "o", color=MINE)
    axes.plot(spread.most, place, "|", color=MINE, ms=10)


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
