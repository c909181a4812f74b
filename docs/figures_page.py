"""The tables of figures on the pages: each stands between two marks, and is made from what `figures.py` wrote."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

FIGURES = Path(__file__).with_name("figures.json")
"""What `python benchmarks/figures.py` measured."""
BLOCK = re.compile(r"<!-- figures: (\w+) -->.*?<!-- end of figures -->", flags=re.DOTALL)
"""A block of a page, with the name of its benchmark."""

Figure = list[float]
"""A median, the least and the most."""
Table = Mapping[str, Mapping[str, Figure]]
"""Figures by row and column."""


@cache
def benches() -> dict[str, Any]:
    """What was measured, by the name of the benchmark: its ``head``, ``date``, ``machine``, and ``table``."""
    found: dict[str, Any] = json.loads(FIGURES.read_text(encoding="utf-8"))
    return found


def pages() -> dict[str, str]:
    """Every page that has such a block, by its name."""
    texts = {path.name: path.read_text(encoding="utf-8") for path in FIGURES.parent.glob("*.md")}
    return {name: filled(text) for name, text in texts.items() if BLOCK.search(text)}


def filled(page: str) -> str:
    """A page with the measured figures in its blocks."""
    return BLOCK.sub(lambda mark: f"<!-- figures: {mark[1]} -->\n{block(mark[1])}\n<!-- end of figures -->", page)


def block(name: str) -> str:
    """The table of a benchmark, and how it was made. ``KeyError`` if there is no such benchmark."""
    bench = benches()[name]
    made = f"Medians, with the least and the most in brackets. `tox -e figures -- {name}` on {bench['date']}"
    return f"\n{table(bench)}\n\n{made}: {bench['machine']}.\n"


def table(bench: Mapping[str, Any]) -> str:
    """The table of a benchmark, as Markdown."""
    rows: Table = bench["table"]
    columns = [*dict.fromkeys(column for row in rows.values() for column in row)]
    lines = [f"| {bench['head']} | {' | '.join(columns)} |", f"| --- |{' ---: |' * len(columns)}"]
    for name, row in rows.items():
        cells = (told(row[column]) if column in row else "-" for column in columns)
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def told(figure: Figure) -> str:
    """A figure with its spread, if it has one."""
    middle, least, most = map(number, figure)
    return middle if least == most else f"{middle} ({least} to {most})"


def number(value: float) -> str:
    """A number with three significant digits, or all digits before the point."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
