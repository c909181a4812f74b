"""``init``: the files of a plug-in."""

from __future__ import annotations

from pathlib import Path

import click

from broker_tck.cli import completion
from broker_tck.cli.output import writing
from broker_tck.cli.plugin import WRITTEN, names_of, plugin
from broker_tck.properties.engine.subjects import contract_named
from broker_tck.properties.errors import BadInput

EXAMPLES = """\b
Examples:
  broker-tck init my-tracker
  cd my-tracker && pytest
  broker-tck init my-cache --contract entry-cache
"""


@click.command(epilog=EXAMPLES)
@click.argument("folder", metavar="NAME", type=click.Path(path_type=Path))
@click.option(
    "--contract",
    "name",
    default=WRITTEN,
    show_default=True,
    metavar="C",
    shell_complete=completion.contracts,
    help="The contract.",
)
def init_command(folder: Path, name: str) -> None:
    """Write the three files of a plug-in: a subject to begin with, its test, and a pyproject.toml.

    NAME is the folder, and gives project, module and class their names: `my-tracker` gives `my_tracker:MyTracker`.
    The subject conforms as it is written. That of delayed-delivery is a small tracker; those of the other contracts
    hand each call on to a bundled subject, until you replace it.
    """
    texts = plugin(contract_named(name), names_of(folder.resolve().name))
    taken = [file for file in texts if (folder / file).exists()]
    if taken:
        raise BadInput(f"{folder / taken[0]}: exists already; init writes into a folder that has no {', '.join(texts)}")
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in texts.items():
            (folder / file).write_text(text, encoding="utf-8")
    click.echo(f"wrote {', '.join(str(folder / file) for file in texts)}")
    click.echo(f"next: cd {folder} && pip install -e . && pytest")
