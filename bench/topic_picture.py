"""The picture of ``bench topic``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from broker_tck.bench.pictures import JAVA, MINE, save_plot
from broker_tck.bench.topic_parts import Measured, Spread
from broker_tck.bench.topics import Result, TopicCell


def draw_topics(result: Result, path: str) -> None:
    """Draw memory, adds and takes by the number of subscriptions. BadInput where the file cannot be written."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.6, 3.4), layout="constrained")
    memory, add, take = figure.subplots(1, 3)
    for cells, color, marker in ((result.shared, MINE, "o"), (result.each, JAVA, "s")):
        draw_bytes(memory, cells, color, marker)
        draw_spreads(add, cells, color, marker, lambda found: found.again or found.first)
        draw_spreads(take, cells, color, marker, lambda found: found.take)
    memory.set(title="memory, all added", ylabel="MiB", yscale="log")
    add.set(title="an add, by any but the first", ylabel="microseconds, middle and ends", yscale="log")
    take.set(title="a message taken", yscale="log")
    memory.legend(frameon=False, fontsize="small")
    for axes in (memory, add, take):
        axes.set(xscale="log", xlabel="subscriptions")
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(alpha=0.25)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter("{x:,g}")
            axis.set_minor_formatter("")
    save_plot(figure, path)


def draw_bytes(axes: Any, cells: Sequence[TopicCell], color: str, marker: str) -> None:
    """Draw what an index takes in memory; hollow and dashed where that is extrapolated."""
    reach = sum(cell.measured is not None for cell in cells)
    points = [(cell.subscriptions, cell.held_bytes / 2**20) for cell in cells]
    axes.plot(*zip(*points[:reach], strict=True), f"{marker}-", color=color, label=cells[0].index)
    if points[reach:]:
        axes.plot(*zip(*points[reach - 1 :], strict=True), "--", color=color, linewidth=1, zorder=0)
        label = "extrapolated"
        axes.plot(*zip(*points[reach:], strict=True), marker, color=color, markerfacecolor="white", label=label)


def draw_spreads(
    axes: Any, cells: Sequence[TopicCell], color: str, marker: str, spread_of: Callable[[Measured], Spread]
) -> None:
    """Draw medians, and from the least to the most."""
    spreads = [(cell.subscriptions, spread_of(cell.measured)) for cell in cells if cell.measured]
    axes.plot([n for n, _ in spreads], [each.median for _, each in spreads], f"{marker}-", color=color)
    for n, each in spreads:
        axes.plot([n, n], [each.least, each.most], color=color, linewidth=1, alpha=0.6)
