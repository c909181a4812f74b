"""The option ``--known``: a file of what an earlier run of the same command told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click
import msgspec

from broker_tck.properties.errors import BadInput

T = TypeVar("T")


def known_option(text: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """The option, with what it is for."""
    return click.option("--known", metavar="FILE", type=click.Path(exists=True, dir_okay=False), help=text)


def known_in(file: str, of: type[T], command: str) -> list[T]:
    """What a command told with ``--json``, a value for each contract. BadInput where the file is another."""
    text = Path(file).read_bytes()
    try:
        document = msgspec.json.decode(text, type=dict[str, Any])
        return [msgspec.convert(each, of) for each in document.get("contracts", [document])]
    except (TypeError, msgspec.DecodeError) as error:
        raise BadInput(f"{file}: not what `{command} --json` prints: {error}") from None
