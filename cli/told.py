"""Findings on this terminal: as wide as it is, and in colours, which other places do not get."""

from __future__ import annotations

import os
import shutil
import sys

import click

from broker_tck.properties.findings.document import Document
from broker_tck.properties.findings.lines import WIDTH
from broker_tck.properties.findings.story import REPLAY, WHAT, story

COLOURS = {WHAT: "red", REPLAY: "cyan"}


def story_here(told: Document) -> str:
    """A finding as text, for standard output."""
    return story(told, width_here(), coloured if in_colours() else None)


def width_here(otherwise: int = WIDTH) -> int:
    """How wide the terminal is, no narrower than most are; ``otherwise`` where there is none."""
    return max(shutil.get_terminal_size().columns, WIDTH) if sys.stdout.isatty() else otherwise


def in_colours() -> bool:
    """Whether standard output is a terminal, and whoever sits at it has not asked for no colours."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def coloured(part: str, text: str) -> str:
    """A part of a story in its colour; what is in the text stays as it is."""
    return click.style(text, fg=COLOURS[part], bold=part == WHAT) if part in COLOURS else text
