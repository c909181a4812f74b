"""``init``: the files of a plug-in."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import click

from broker_tck.properties.errors import BadInput

NAMES = ("tracker.py", "test_tracker.py", "pyproject.toml")


@click.command(epilog="\b\nExamples:\n  broker-tck init my-tracker\n  cd my-tracker && pytest\n")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
def init(folder: Path) -> None:
    """Write the three files of a plug-in: a tracker to begin with, its test, and a pyproject.toml."""
    taken = [name for name in NAMES if (folder / name).exists()]
    if taken:
        raise BadInput(f"{folder / taken[0]}: exists already; init writes into a folder that has no {', '.join(NAMES)}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in NAMES:
            text = files("broker_tck.cli").joinpath("templates", f"{name}.txt").read_text(encoding="utf-8")
            (folder / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise BadInput(f"{folder}: cannot be written: {error.strerror}") from None
    click.echo(f"wrote {', '.join(str(folder / name) for name in NAMES)}")
    click.echo(f"next: cd {folder} && pip install -e . && pytest")
