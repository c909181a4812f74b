"""The table of ``check``: a row for each subject under a profile, after the failure reports of that subject."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

import click

from broker_tck.cli.terminal import in_colours, report_here, width_here
from broker_tck.properties.engine.accepted import AcceptedMistake, accepted
from broker_tck.properties.engine.subjects import Subject
from broker_tck.properties.report.lines import filled
from broker_tck.properties.report.result import ProfileResult
from broker_tck.properties.search.replay import asked, golden_traces
from broker_tck.properties.verdict import BROKEN, CONFORMS, NOT_ENOUGH, at_most

HEAD = ("verdict", "subject", "profile", "golden", "rules", "walks", "operations", "deviations", "failures", "left out")
WIDTHS = (10, 0, 0, 0, 8, 5, 10, 10, 8, 0)
"""The least width of each column; 0 if the widest cell is known beforehand."""
RIGHT = {3, 4, 5, 6, 7}
COLOURS = {CONFORMS: "green", BROKEN.upper(): "red", NOT_ENOUGH.upper(): "yellow"}
NONE = "none recorded"
BETWEEN = "  "


def steps_text(subject: Subject, profile: str) -> str:
    """A text as wide as the cell with the recorded steps will be."""
    n = sum(len(asked(trace, subject).operations) for trace in golden_traces(subject.contract.name, profile))
    return f"{n}/{n}" if n else NONE


def golden_text(found: ProfileResult) -> str:
    """The number of recorded steps at which a subject agreed; a dash if a regression ended the check before."""
    if found.golden.steps:
        return f"{found.golden.agreed}/{found.golden.steps}"
    return NONE if found.walks else "-"


def row_of(found: ProfileResult) -> tuple[str, ...]:
    """The row of a subject, as :data:`HEAD` has it."""
    green, came_up = found.verdict == CONFORMS, len(found.rules.exercised)
    return (
        found.verdict if green else found.verdict.upper(),
        found.subject,
        found.profile,
        golden_text(found),
        f"{came_up} of {came_up + len(found.rules.vacuous)}",
        f"{found.walks:,}",
        f"{found.operations:,}",
        f"{sum(found.deviations.values())} of {len(found.deviations)}" if found.deviations else "-",
        f"< {at_most(found.failure_bound)}" if green else "-",
        left_out_text(found.left_out, found.accepted),
    )


def left_out_text(left_out: Sequence[str], accepts: Iterable[AcceptedMistake]) -> str:
    """The capabilities that a subject lacks, and the deviations that it accepts."""
    return ", ".join([*left_out, *(f"accepts {rule}" for rule in dict.fromkeys(each.rule for each in accepts))]) or "-"


class Layout:
    """Prints the row of each subject when its check ends; the failure reports come before the row.

    The rows have one head. If the terminal is too narrow for the columns, each row names its cells instead.
    """

    def __init__(self, pairs: Sequence[tuple[Subject, str]]) -> None:
        known = [
            (s.name, profile, steps_text(s, profile), left_out_text(s.left_out, accepted(s, profile)))
            for s, profile in pairs
        ]
        widest = [max(map(len, column)) for column in zip(*known, strict=True)]
        found = dict(zip((1, 2, 3, len(HEAD) - 1), widest, strict=True))
        self.widths = [max(found.get(i, width), len(HEAD[i])) for i, width in enumerate(WIDTHS)]
        self.head_is_due = True

    def tell(self, found: ProfileResult, besides: str = "") -> None:
        """Print the result of a subject; ``besides`` are the names of broken rules that were not judged."""
        row, said = (
            row_of(found),
            [*found.complaints, *([f"also broken, but not judged: {besides}"] if besides else [])],
        )
        reports = [*map(report_here, found.findings), *(f"{found.name}: {each}" for each in said)]
        for each in reports:
            click.echo(f"{each}\n")
        width = width_here(sys.maxsize)
        if len(BETWEEN.join(" " * each for each in self.widths)) > width:
            click.echo("\n".join(folded(row, width)))
            return
        if self.head_is_due or reports:
            click.echo(BETWEEN.join(self.cells(HEAD)).rstrip())
        self.head_is_due = False
        verdict, *others = self.cells(row)
        click.echo(BETWEEN.join([in_colour(verdict), *others]).rstrip())

    def cells(self, row: Sequence[str]) -> list[str]:
        """The cells of a row, as wide as their columns."""
        return [
            cell.rjust(width) if i in RIGHT else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, self.widths, strict=True))
        ]


def folded(row: Sequence[str], width: int) -> list[str]:
    """A row folded to ``width`` columns: verdict, subject and profile, then each other cell after its name."""
    verdict, subject, profile, *others = row
    label = f"{verdict:<{WIDTHS[0]}}{BETWEEN}"
    who = filled(label, f"{subject} ({profile})", width)
    told = ", ".join(f"{name} {cell}" for name, cell in zip(HEAD[3:], others, strict=True) if cell != "-")
    return [in_colour(label) + who[0].removeprefix(label), *who[1:], *filled(" " * len(label), told, width)]


def in_colour(verdict: str) -> str:
    """A verdict in its colour, if the terminal shows colours. Its width stays the same."""
    return click.style(verdict, fg=COLOURS.get(verdict.strip())) if in_colours() else verdict
