"""What the pictures of the site are drawn with: words and boxes, as SVG."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from itertools import accumulate

INK, FAINT = "#1c2733", "#5d6b7a"
HEIGHT = 26
BOX = 34
"""How much room a message takes."""

MARGIN, TOP, ROW, GAP, LETTER = 16, 62, 34, 8, 7
"""The room above a table, of a row, between buckets, and of a letter."""

Position = tuple[int, int]
Messages = Sequence[tuple[Position, str] | None]
"""Messages with their colours; None stands for a gap."""
Cell = str | Messages


def svg(width: int, height: int, title: str, parts: Iterable[str]) -> str:
    """A picture."""
    lines = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'font-family="sans-serif" font-size="13">\n<title>{escape(title)}</title>\n'
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>\n{lines}\n</svg>\n'
    )


def text(x: float, y: float, words: str, fill: str = INK, anchor: str = "start") -> str:
    """Words."""
    return f'<text x="{x:g}" y="{y:g}" fill="{fill}" text-anchor="{anchor}">{escape(words)}</text>'


def rect(x: float, y: float, width: float, fill: str, height: float = HEIGHT) -> str:
    """A box."""
    shape = f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="3"'
    return f'{shape} fill="{fill}" stroke="{INK}" stroke-width="0.8"/>'


def boxes(x: float, top: float, messages: Messages) -> Iterator[str]:
    """Messages with their colours, side by side; a gap where there is none."""
    for each in messages:
        if each is None:
            x += GAP
            continue
        (ledger, entry), colour = each
        yield rect(x, top, BOX - 4, colour)
        yield text(x + BOX / 2 - 2, top + 18, f"{ledger}:{entry}", anchor="middle")
        x += BOX


def width_of(cell: Cell) -> int:
    """How much room a cell takes."""
    if isinstance(cell, str):
        return LETTER * len(cell)
    return sum(GAP if each is None else BOX for each in cell)


def table(title: str, colours: Mapping[str, str], heads: Sequence[str], rows: Sequence[Sequence[Cell]]) -> str:
    """A picture of a row for each operation below a legend; columns are as wide as their widest cells."""
    widths = [max(map(width_of, column)) + 2 * GAP for column in zip(heads, *rows, strict=True)]
    places = [MARGIN + before for before in accumulate(widths, initial=0)]
    parts = [
        *legend(MARGIN, colours),
        *(text(x, TOP - 10, head, FAINT) for x, head in zip(places, heads, strict=False)),
    ]
    for number, row in enumerate(rows):
        top = TOP + number * ROW
        for x, cell in zip(places, row, strict=False):
            parts += [text(x, top + 18, cell)] if isinstance(cell, str) else boxes(x, top, cell)
    return svg(max(places[-1], legend_width(colours)), TOP + len(rows) * ROW, title, parts)


def legend(top: float, colours: Mapping[str, str]) -> Iterator[str]:
    """What the colours mean."""
    x = 16
    for colour, words in colours.items():
        yield rect(x, top, 14, colour, 14)
        yield text(x + 20, top + 12, words, FAINT)
        x += 40 + 7 * len(words)


def legend_width(colours: Mapping[str, str]) -> int:
    """How wide the legend is."""
    return sum(40 + 7 * len(words) for words in colours.values())
