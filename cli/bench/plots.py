"""The option of benches that draw."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


def plot_option(shows: str) -> Callable[[F], F]:
    """The option of a bench that draws what it measured."""
    return click.option("--plot", type=click.Path(dir_okay=False), metavar="FILE", help=shows)
