"""Printing: results go to standard output, all else to standard error. Colours appear only on a terminal."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol

import click

from broker_tck.cli.streams import DOCUMENTS
from broker_tck.properties.errors import BadInput

if TYPE_CHECKING:
    from rich.console import Console

WIDTH = 160
"""The width of tables if there is no terminal."""
FIRST, EVERY, REDRAWN = 2.0, 10.0, 0.1
"""Seconds until the first line of progress, between two lines, and between two updates of a bar."""


class Tell(Protocol):
    """Shows how much is done, with a text."""

    def __call__(self, done: float, says: str = "", /) -> None: ...  # noqa: D102  # the class says what a call does


def console(err: bool = False) -> Console:
    """A console on standard output or standard error."""
    from rich.console import Console

    stream = sys.stderr if err else sys.stdout
    return Console(file=stream, width=None if stream.isatty() else WIDTH, highlight=False, soft_wrap=True)


def print_json(document: Any) -> None:
    """Print one JSON document on standard output."""
    click.echo(json.dumps(document, indent=2), file=DOCUMENTS.stream)


def print_table(title: str, head: Sequence[str], rows: Sequence[Sequence[object]], right: Sequence[int] = ()) -> None:
    """Print a table; the columns in ``right`` hold numbers."""
    from rich.table import Table
    from rich.text import Text

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
def progress(
    total: float | None, what: str, unit: str = "", width: int = 40, clock: Callable[[], float] = monotonic
) -> Iterator[Tell]:
    """Show on standard error how far the block is: a bar on a terminal, so wide; else a line now and then.

    The block gets a function of how much is done and what to say of it. What is shown changes when that is called, and
    at no other time: there is no thread, as the process may fork. ``unit`` says what is counted, in the plural; without
    one, nothing is shown but what the block says. ``clock`` gives seconds.
    """
    shown = bar(total, what, width, clock) if sys.stderr.isatty() else lines(total, what, clock)
    with shown as tell:
        yield lambda done, says="": tell(done, ", ".join(filter(None, [counted(done, total, unit), says])))


@contextmanager
def bar(total: float | None, what: str, width: int, clock: Callable[[], float]) -> Iterator[Tell]:
    """A bar that goes when the block ends, drawn a few times a second at most."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    name, says = (TextColumn(f"{{task.{it}}}", markup=False) for it in ("description", "fields[says]"))
    columns = name, BarColumn(width), says, TimeElapsedColumn()
    with Progress(*columns, console=console(err=True), transient=True, auto_refresh=False) as drawn:
        task = drawn.add_task(what, total=total, says="")
        due = clock()

        def tell(done: float, says: str = "") -> None:
            nonlocal due
            now = clock()
            drawn.update(task, completed=done, says=says, refresh=now >= due)
            due = now + REDRAWN if now >= due else due

        yield tell


@contextmanager
def lines(total: float | None, what: str, clock: Callable[[], float]) -> Iterator[Tell]:
    """A line after :data:`FIRST` seconds, and then every :data:`EVERY` seconds until the end."""
    due = clock() + FIRST

    def tell(done: float, says: str = "") -> None:
        nonlocal due
        now = clock()
        if now >= due and (total is None or done < total):
            due = now + EVERY
            click.echo(f"{what}: {', '.join(says.splitlines())}", err=True)

    yield tell


def counted(done: float, total: float | None, unit: str) -> str:
    """The progress in words, such as ``120 of 1,000 walks``; empty without a unit."""
    if not unit:
        return ""
    return f"{done:,.0f}{'' if total is None else f' of {total:,.0f}'} {unit}"


@contextmanager
def writing(where: object) -> Iterator[None]:
    """A context in which a file or folder is written. Raises BadInput if that fails."""
    try:
        yield
    except OSError as error:
        raise BadInput(f"{where}: cannot be written: {error.strerror}") from None


def written(output: str, text: str) -> None:
    """Write a file. Raises BadInput if it cannot be written."""
    with writing(output):
        Path(output).write_text(text, encoding="utf-8")
    click.echo(f"{output}: {len(text.encode()) / 1000:,.0f} kB", err=True)
