"""Where the benches' pictures go: a file that cannot be drawn into is refused before anything is measured."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from broker_tck.properties.errors import BadInput
from broker_tck.spark_fuzz.driver.session import need

F = TypeVar("F", bound=Callable[..., Any])


def plot_option(shows: str) -> Callable[[F], F]:
    """The option of a bench that draws what it measured."""
    return click.option("--plot", type=click.Path(dir_okay=False), metavar="FILE", help=shows)


def check_plot(path: str | None) -> None:
    """BadInput where a picture is asked for and there could be none in that file. Leaves the file as it is."""
    if path is None:
        return
    need("plots", ("matplotlib",), "bench")
    from matplotlib.backend_bases import FigureCanvasBase

    formats = FigureCanvasBase.get_supported_filetypes()
    file = Path(path)
    if file.suffix[1:].lower() not in formats:
        raise BadInput(f"{path}: cannot be written: its name has to end with one of .{', .'.join(sorted(formats))}")
    is_new = not file.exists() and not file.is_symlink()
    try:
        file.open("ab").close()
    except OSError as error:
        raise BadInput(f"{path}: cannot be written: {error.strerror}") from None
    if is_new:
        file.unlink()


def save_plot(figure: Any, path: str) -> None:
    """Write a picture. BadInput where the file cannot be written."""
    try:
        figure.savefig(path, metadata={"Date": None} if path.endswith(".svg") else None)
    except OSError as error:
        raise BadInput(f"{path}: cannot be written: {error}") from None
