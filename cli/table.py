"""The table of ``check``: a row for each subject under a profile, and what is wrong before it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click

from broker_tck.properties.conforming import Checked, asked, golden_traces
from broker_tck.properties.engine.accepted import accepted
from broker_tck.properties.engine.subjects import Subject

HEAD = ("subject", "profile", "golden", "rules", "walks", "operations", "deviations", "residual", "verdict", "left out")
WIDTHS = (0, 0, 0, 8, 5, 10, 10, 8, 10, 0)
"""How wide columns are at least, where that is not known beforehand."""
RIGHT = {2, 3, 4, 5, 6}
NONE = "none recorded"


def steps_text(subject: Subject, profile: str) -> str:
    """How many recorded steps there are, as wide as the cell will be."""
    n = sum(len(asked(trace, subject).operations) for trace in golden_traces(subject.contract.name, profile))
    return f"{n}/{n}" if n else NONE


def golden_text(found: Checked) -> str:
    """At how many recorded steps a subject agreed; a dash where a kept trace ended the check before."""
    if found.golden_steps:
        return f"{found.golden_agreed}/{found.golden_steps}"
    return NONE if found.run.walks else "-"


def row_of(found: Checked) -> tuple[str, ...]:
    """The row of a subject, as :data:`HEAD` has it."""
    run = found.run
    return (
        run.subject.name,
        run.profile,
        golden_text(found),
        f"{len(run.exercised)} of {len(run.rules)}",
        f"{run.walks:,}",
        f"{run.operations + found.machine_steps:,}",
        f"{sum(run.deviations.values())} of {len(run.deviations)}" if run.deviations else "-",
        f"< {run.residual:.2g}" if found.green else "-",
        found.verdict if found.green else found.verdict.upper(),
        ", ".join([*run.subject.left_out, *accepting(run.subject, run.profile)]) or "-",
    )


def accepting(subject: Subject, profile: str) -> Iterator[str]:
    """The rules that a subject may do otherwise, in words."""
    return (f"accepts {rule}" for rule in dict.fromkeys(each.rule for each in accepted(subject, profile)))


class Layout:
    """Prints the row of each subject as it ends, below one head; what is wrong with it stands before its row."""

    def __init__(self, pairs: Sequence[tuple[Subject, str]]) -> None:
        known = [(subject.name, profile, steps_text(subject, profile)) for subject, profile in pairs]
        widest = [max(map(len, column)) for column in zip(*known, strict=True)]
        found = dict(enumerate(widest))
        self.widths = [max(found.get(i, width), len(HEAD[i])) for i, width in enumerate(WIDTHS)]
        self.head_is_due = True

    def tell(self, row: Sequence[str], stories: Sequence[str]) -> None:
        """Print what there is to tell of a subject."""
        for each in stories:
            click.echo(f"{each}\n")
        if self.head_is_due or stories:
            click.echo(self.line(HEAD))
        self.head_is_due = False
        click.echo(self.line(row))

    def line(self, row: Sequence[str]) -> str:
        """A row, its columns one below the other."""
        aligned = (
            cell.rjust(width) if i in RIGHT else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, self.widths, strict=True))
        )
        return "  ".join(aligned).rstrip()
