"""Failure reports on standard output: as wide as the terminal, and in colour if it shows colours."""

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
"""Text is never folded to fewer columns than this."""


def report_here(told: FindingResult) -> str:
    """The failure report of a finding, for standard output."""
    return story(told, width_here(), shown_here())


def shown_here() -> Shown:
    """The function that formats a part of a failure report for standard output."""
    return coloured if in_colours() else as_it_is


def width_here(otherwise: int = WIDTH) -> int:
    """The columns of the terminal; ``otherwise`` if standard output is no terminal."""
    return max(shutil.get_terminal_size().columns, NARROWEST) if sys.stdout.isatty() else otherwise


def in_colours() -> bool:
    """Whether standard output is a terminal, and the variable NO_COLOR is not set."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def coloured(part: str, text: str) -> str:
    """A part of a failure report in its colour."""
    return click.style(text, fg=COLOURS[part], bold=part in BOLD or None)
