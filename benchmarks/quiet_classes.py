"""How quiet released classes are: ``python benchmarks/quiet_classes.py SUBJECT...``.

Each class is searched under millions of schedules, with more preemptions than ``broker-tck threads`` tries.
``JAVA_HOME`` chooses the Java. The results stand in ``docs/races.json`` and ``docs/threads.md``.
"""

from __future__ import annotations

import sys
from itertools import count
from pathlib import Path
from time import process_time
from typing import NamedTuple

import click

from broker_tck.cli.threads import java_of, subject_named
from broker_tck.implementations.jvm.java import java
from broker_tck.properties.engine.choices import SeededChoices
from broker_tck.properties.engine.walk import walk_seed
from broker_tck.properties.threads.drawn import drawn
from broker_tck.properties.threads.search import Budget, Searcher

sys.path.append(str(Path(__file__).parents[1] / "docs"))
import races_page

SEED = 1
BUDGET = Budget(preemptions=3, schedules=8_000)
MOST = 5_000_000
"""Number of schedules of each class, at least."""


class Row(NamedTuple):
    """What a search of a class came to."""

    subject: str
    java: int
    programs: int
    schedules: int
    histories: int
    failing: int
    """Programs with a race."""
    promises: list[str]
    """The promises that are broken, by their names."""
    seconds: float


def searched(name: str) -> Row:
    """Search a class on the Java that runs."""
    subject = subject_named(name)
    factory = java_of(subject)
    version = java(factory.release.java).java.lang.Runtime.version().feature()
    model = subject.contract.model(subject.profiles[0])
    searcher, began = Searcher(factory.explorer, model, BUDGET, SEED), process_time()
    found = searcher.found
    for number in count():
        if found.schedules >= MOST:
            break
        choices = SeededChoices(walk_seed(SEED, number))
        program = drawn(subject.contract, model, subject.capabilities, choices, factory.apart)
        found.programs += 1
        if len(program.threads) > 1:
            searcher.take(number, program)
    figures = found.programs, found.schedules, found.histories, found.failing
    return Row(name, int(version), *figures, [each.name.lower() for each in found.races], process_time() - began)


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="SUBJECT...")
def main(names: tuple[str, ...]) -> None:
    """Search these classes, and write the table of the page."""
    for name in names:
        row = searched(name)
        races_page.keep("quiet", f"{name} on Java {row.java}", [row._asdict()])
        click.echo(row)


if __name__ == "__main__":
    main()
