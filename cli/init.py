"""``init``: the files of a first subject."""

from __future__ import annotations

from pathlib import Path

import click

from broker_tck.cli import completion
from broker_tck.cli.output import writing
from broker_tck.cli.plugin import WRITTEN, names_of, plugin
from broker_tck.implementations.kits import CONTRACTS, KITS, Kit
from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.engine.subjects import contract_named
from broker_tck.properties.errors import BadInput

EXAMPLES = """\b
Examples:
  broker-tck init my-tracker
  cd my-tracker && pytest
  broker-tck init my-cache --contract entry-cache
  broker-tck init my-tracker --language go
  broker-tck init my-tracker --language rust --contract negative-acks
"""
PYTHON = "python"


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
@click.option(
    "--language",
    default=PYTHON,
    show_default=True,
    type=click.Choice([PYTHON, *KITS]),
    help="The language of the subject.",
)
def init_command(folder: Path, name: str, language: str) -> None:
    """Write the files of a first subject.

    In Python, these are the three files of a plug-in: the subject, its test, and a pyproject.toml.
    NAME is the folder. Project, module and class are named after it: `my-tracker` gives `my_tracker:MyTracker`.
    The generated subject conforms. For delayed-delivery it is a small tracker. For the other contracts it passes each
    call on to a bundled subject; replace these calls with your own code.

    In any other language, these are a small tracker for delayed-delivery or negative-acks, and the rig by which the kit
    checks it.
    """
    contract, kit = contract_named(name), KITS.get(language)
    texts = files_of(kit, contract) if kit else plugin(contract, names_of(folder.resolve().name))
    taken = [file for file in texts if (folder / file).exists()]
    if taken:
        raise BadInput(f"{folder / taken[0]}: exists already; init needs a folder without {', '.join(texts)}")
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in texts.items():
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_text(text, encoding="utf-8")
    click.echo(f"wrote {', '.join(str(folder / file) for file in texts)}")
    click.echo(f"next: cd {folder} && {kit.then if kit else 'pip install -e . && pytest'}")
    if kit and (line := kit.missing()):
        click.echo(line)


def files_of(kit: Kit, contract: Contract) -> dict[str, str]:
    """The files of a first subject in another language. Raises BadInput if the rig does not know the contract."""
    if contract.name not in CONTRACTS:
        known = ", ".join(CONTRACTS)
        raise BadInput(
            f"the kit for {kit.title} has no {contract.name}; there are: {known}; docs/protocol.md is for the others"
        )
    return kit.files(contract.name)
