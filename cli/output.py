"""What is printed, and where: results on standard output, all else on standard error, colour only on a terminal."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from broker_tck.cli.streams import DOCUMENTS
from broker_tck.properties.errors import BadInput

WIDTH = 160
"""How wide tables are where there is no terminal to ask."""


def console(err: bool = False) -> Console:
    """A console on standard output or standard error."""
    stream = sys.stderr if err else sys.stdout
    return Console(file=stream, width=None if stream.isatty() else WIDTH, highlight=False, soft_wrap=True)


def print_json(document: Any) -> None:
    """Print one JSON document on standard output."""
    click.echo(json.dumps(document, indent=2), file=DOCUMENTS.stream)


def print_table(title: str, head: Sequence[str], rows: Sequence[Sequence[object]], right: Sequence[int] = ()) -> None:
    """Print a table; the columns in ``right`` hold numbers."""
    table = Table(
        title=Text(title, style="table.title") if title else None,
        box=None,
        pad_edge=False,
        title_justify="left",
        header_style="bold",
    )
    for i, name in enumerate(head):
        table.add_column(Text(name), justify="right" if i in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(str(cell)) for cell in row))  # not markup, which takes brackets for its own
    console().print(table)


@contextmanager
def progress(total: float | None, what: str, width: int = 40) -> Iterator[Any]:
    """A progress bar, so wide, on standard error while the block runs; nothing where that is no terminal.

    The block gets a function of how much is done and what to say of it.
    """
    if not sys.stderr.isatty():
        yield lambda done, says="": None
        return
    name, says = (TextColumn(f"{{task.{it}}}", markup=False) for it in ("description", "fields[says]"))
    columns = name, BarColumn(width), says, TimeElapsedColumn()
    with Progress(*columns, console=console(err=True), transient=True) as bar:
        task = bar.add_task(what, total=total, says="")
        yield lambda done, says="": bar.update(task, completed=done, says=says)


def written(output: str, text: str) -> None:
    """Write a file. BadInput where it cannot be written."""
    try:
        Path(output).write_text(text, encoding="utf-8")
    except OSError as error:
        raise BadInput(f"{output}: cannot be written: {error.strerror}") from None
    click.echo(f"{output}: {len(text.encode()) / 1000:,.0f} kB", err=True)


def one_or_all(documents: list[dict[str, Any]]) -> dict[str, Any]:
    """The document of one contract; of several, one document that has them all."""
    return documents[0] if len(documents) == 1 else {"contracts": documents}
