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
    """Write the three files of a plug-in: a first subject, its test, and a pyproject.toml.

    NAME is the folder. Project, module and class are named after it: `my-tracker` gives `my_tracker:MyTracker`.
    The generated subject conforms. For delayed-delivery it is a small tracker. For the other contracts it passes each
    call on to a bundled subject; replace these calls with your own code.
    """
    texts = plugin(contract_named(name), names_of(folder.resolve().name))
    taken = [file for file in texts if (folder / file).exists()]
    if taken:
        raise BadInput(f"{folder / taken[0]}: exists already; init needs a folder without {', '.join(texts)}")
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in texts.items():
            (folder / file).write_text(text, encoding="utf-8")
    click.echo(f"wrote {', '.join(str(folder / file) for file in texts)}")
    click.echo(f"next: cd {folder} && pip install -e . && pytest")
