"""Findings on this terminal: as wide as it is, and in colours, which other places do not get."""

from __future__ import annotations

import os
import shutil
import sys

import click

from broker_tck.properties.report.finding import REPLAY, RULE, WHAT, FindingResult, story
from broker_tck.properties.report.lines import EXPECTED, SEEN, WIDTH, Shown, as_it_is

COLOURS = {WHAT: "red", RULE: "yellow", EXPECTED: "green", SEEN: "red", REPLAY: "cyan"}
BOLD = (WHAT, RULE)
NARROWEST = 40
"""What is folded is not made narrower than this, however narrow the terminal is."""


def story_here(told: FindingResult) -> str:
    """A finding as text, for standard output."""
    return story(told, width_here(), shown_here())


def shown_here() -> Shown:
    """What makes of a part of a story what is printed on standard output."""
    return coloured if in_colours() else as_it_is


def width_here(otherwise: int = WIDTH) -> int:
    """How wide the terminal is; ``otherwise`` where there is none."""
    return max(shutil.get_terminal_size().columns, NARROWEST) if sys.stdout.isatty() else otherwise


def in_colours() -> bool:
    """Whether standard output is a terminal, and whoever sits at it has not asked for no colours."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def coloured(part: str, text: str) -> str:
    """A part of a story in its colour; what is in the text stays as it is."""
    return click.style(text, fg=COLOURS[part], bold=part in BOLD or None)
