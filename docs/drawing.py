"""What the pictures of the site are drawn with: words and boxes, as SVG."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape

INK, FAINT = "#1c2733", "#5d6b7a"
HEIGHT = 26
BOX = 34
"""How much room a message takes."""

Position = tuple[int, int]


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


def boxes(x: int, top: int, positions: Sequence[tuple[Position, str]]) -> Iterator[str]:
    """Messages with their colours, side by side."""
    for (ledger, entry), colour in positions:
        yield rect(x, top, BOX - 4, colour)
        yield text(x + BOX / 2 - 2, top + 18, f"{ledger}:{entry}", anchor="middle")
        x += BOX


def legend(top: float, colours: Mapping[str, str]) -> Iterator[str]:
    """What the colours mean."""
    x = 16
    for colour, words in colours.items():
        yield rect(x, top, 14, colour, 14)
        yield text(x + 20, top + 12, words, FAINT)
        x += 40 + 7 * len(words)


def width_of(colours: Mapping[str, str]) -> int:
    """How wide the legend is."""
    return sum(40 + 7 * len(words) for words in colours.values())
