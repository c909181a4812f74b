"""The plots of a report, as SVG inside the page: its colours are the page's, so they follow light and dark."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape
from io import StringIO
from itertools import groupby
from typing import Any

INK, SOFT, LINE = "#010101", "#020202", "#030303"
"""Colours that stand for the page's own: matplotlib writes them, `inline` replaces them."""
PAIRS = [f"#0400{number:02x}" for number in range(8)]
VARIABLES = {INK: "var(--ink)", SOFT: "var(--soft)", LINE: "var(--line)"} | {
    colour: f"var(--c{number})" for number, colour in enumerate(PAIRS)
}
DASHES: Any = ["-", (0, (6, 2)), (0, (2, 1.5)), (0, (8, 2, 2, 2))] * 2
SIZE = 5.6, 3.1
"""Inches of 72 units: as wide as half a desk's page, and still readable on a phone's."""
LEVELS = (0.0, 0.01, 0.1, 0.5)
"""Shares of walks above which a cell of the heat map is darker."""
SETTINGS: Any = {
    **dict.fromkeys(["axes.edgecolor", "grid.color", "xtick.color", "ytick.color"], LINE),
    **dict.fromkeys(["axes.labelcolor", "xtick.labelcolor", "ytick.labelcolor"], SOFT),
    **dict.fromkeys(["axes.spines.top", "axes.spines.right", "axes.spines.left"], False),
    **dict.fromkeys(["axes.facecolor", "figure.facecolor"], "none"),
    **dict.fromkeys(["font.size", "axes.labelsize"], 11),
    "text.color": INK,
    "grid.linewidth": 0.8,
    "ytick.major.size": 0,
    "svg.fonttype": "none",
}


def lines_plot(name: str, title: str, x_axis: str, lines: Sequence[Sequence[Any]], description: str) -> str:
    """An SVG element with at most eight lines, each of its x and its y."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure
    from matplotlib.ticker import EngFormatter

    with rc_context({**SETTINGS, "svg.hashsalt": f"broker-tck {name}"}):
        figure = Figure(figsize=SIZE, layout="constrained")
        axes: Any = figure.add_subplot(xlabel=x_axis)
        axes.grid(axis="y")
        axes.set_axisbelow(True)
        draw(axes, lines)
        for axis in (axes.xaxis, axes.yaxis):
            axis.get_major_locator().set_params(nbins=5, integer=True)
            axis.set_major_formatter(EngFormatter(sep=""))
        out = StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    return inline(out.getvalue(), name, title, description)


def draw(axes: Any, lines: Sequence[Sequence[Any]]) -> None:
    """Draw the lines; if there are several, each has its number at its end."""
    for (x, y), colour, dashes in zip(lines, PAIRS, DASHES, strict=False):
        axes.plot(x, y, color=colour, linestyle=dashes, linewidth=1.8, marker="o" if len(x) == 1 else "")
    ends = [(x[-1], y[-1]) for x, y in lines]
    left, right, most = min(x[0] for x, _ in lines), max(x for x, _ in ends), max(max(y) for _, y in lines) or 1
    margin = 0 if left < right else 0.5
    axes.set(xlim=(left - margin, right + margin), ylim=(0, most * 1.08))
    heights = apart([y for _, y in ends], most * 0.075) if len(lines) > 1 else []
    for number, ((at, _), height) in enumerate(zip(ends, heights, strict=False), 1):
        place = {"xytext": (5, 0), "textcoords": "offset points", "va": "center"}
        axes.annotate(str(number), (at, height), annotation_clip=False, **place)


def inline(svg: str, name: str, title: str, description: str) -> str:
    """What matplotlib wrote, as an element of the page: named, in the page's colours, without its own style."""
    body = svg[svg.index("<svg") :]
    body = body[body.index(">") + 1 :]
    body = re.sub(r"<style.*?</style>|<!--.*?-->", "", body, flags=re.DOTALL)
    body = body.replace("url(#", f"url(#{name}-").replace('href="#', f'href="#{name}-')
    body = re.sub(r'\bid="', f'id="{name}-', body)
    body = re.sub(r"font(-family|-size)?: [^;\"]*;?", "", body)
    for colour, variable in VARIABLES.items():
        body = body.replace(colour, variable)
    width, height = (round(inches * 72) for inches in SIZE)
    head = f'<svg class="plot" viewBox="0 0 {width} {height}" role="img" aria-labelledby="{name}-t {name}-d">'
    titles = f'<title id="{name}-t">{escape(title)}</title><desc id="{name}-d">{escape(description)}</desc>'
    return head + titles + re.sub(r"\s*\n\s*", "\n", body)


def apart(values: Sequence[float], gap: float) -> list[float]:
    """The values moved down so that no two are nearer than the gap, in their order and as little as this needs."""
    moved = list(values)
    ceiling = float("inf")
    for i in sorted(range(len(values)), key=lambda i: (-values[i], i)):
        moved[i] = min(moved[i], ceiling)
        ceiling = moved[i] - gap
    return moved


def strip(shares: Iterable[float | None], says: str) -> str:
    """One row of the heat map: the darker, the more of the walks met the rule; no colour if none was counted."""
    runs: dict[int, str] = {}
    at = 0
    levels = (None if share is None else sum(share > least for least in LEVELS) for share in shares)
    for level, cells in groupby(levels):
        width = len(list(cells))
        if level is not None:
            runs[level] = runs.get(level, "") + f"M{at} 0h{width}v1h-{width}z"
        at += width
    paths = "".join(f'<path class="h{level}" d="{path}"/>' for level, path in sorted(runs.items()))
    head = f'<svg class="strip" viewBox="0 0 {at or 1} 1" preserveAspectRatio="none" role="img">'
    return f"{head}<title>{escape(says)}</title>{paths}</svg>"
