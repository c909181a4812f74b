"""The races put into containers of cursors, searched by Lincheck as well: ``python benchmarks/beside_lincheck.py``.

Each mutant of ``seeded_races.py`` goes to the search of ``broker-tck threads`` and to the model checking of Lincheck,
in turn. Lincheck draws scenarios for two threads too. It takes for right what the class answers to one thread. What
both find stands in ``docs/races.json`` and ``docs/threads.md``. Maven fetches Lincheck, and a JDK compiles its part.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from tempfile import TemporaryDirectory
from typing import NamedTuple

import click
from racy_changes import Mutant
from seeded_races import Subject

from broker_tck.implementations.jvm.java import found
from broker_tck.implementations.jvm.releases import OWN

sys.path.append(str(Path(__file__).parents[1] / "docs"))
import races_page

SOURCES = Path(__file__).parent / "lincheck"
CLASSES = Path(__file__).parents[1] / "implementations" / "jvm" / "classes"
KINDS = {
    "pulsar-5.0.1/cursor-heap": "CursorHeap",
    "pulsar-5.0.1/cursor-tree-set": "CursorTreeSet",
    "pulsar-5.0.1/cursor-list": "CursorList",
}
SCENARIOS = 50
"""Maximum number of scenarios of Lincheck for each mutant."""


class Both(NamedTuple):
    """What the two searches made of a mutant. Times are seconds of processor."""

    place: str
    what: str
    verdict: str
    """What the kit says, as in the table of races put in."""
    seconds: float
    lincheck: str
    """The first line of Lincheck's finding; empty if it finds nothing."""
    lincheck_seconds: float


class Lincheck:
    """Searches the races of a container."""

    def __init__(self, subject: Subject, folder: Path) -> None:
        self.home, _ = found(subject.factory.release.java)
        self.kind, self.folder = KINDS[subject.name], folder
        listed = folder / "classpath"
        maven = ["mvn", "-q", "-B", "-f", str(SOURCES / "pom.xml"), "dependency:build-classpath"]
        subprocess.run([*maven, f"-Dmdep.outputFile={listed}"], check=True, stdout=sys.stderr)
        jars = [*subject.factory.release.paths(OWN), CLASSES, listed.read_text(encoding="utf-8")]
        self.path = os.pathsep.join(map(str, jars))
        sources = SOURCES / "CursorContainers.java"
        subprocess.run(
            [str(self.home / "bin" / "javac"), "-cp", self.path, "-d", str(folder), str(sources)], check=True
        )

    def search(self, changed: Path) -> tuple[str, float]:
        """What it says of a container that is changed by the class files of a folder, and seconds of processor."""
        path = os.pathsep.join([str(changed), str(self.folder), self.path])
        began = spent()
        command = [str(self.home / "bin" / "java"), "-cp", path, "CursorContainers", self.kind, str(SCENARIOS)]
        told = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        return told.stdout.strip(), spent() - began


def spent() -> float:
    """Seconds of processor of all programs that have ended."""
    used = getrusage(RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def searched(subject: Subject, mutant: Mutant, lincheck: Lincheck) -> Both | None:
    """What both find in a mutant; None if it differs for one thread, which is what Lincheck takes for right."""
    put = subject.put(mutant)
    if put.verdict == races_page.ALONE:
        return None
    with TemporaryDirectory() as folder:
        subject.write(Path(folder), mutant)
        told, seconds = lincheck.search(Path(folder))
    return Both(put.place, put.what, put.verdict, put.seconds, told, seconds)


@click.command()
@click.argument("names", nargs=-1, metavar="[SUBJECT]...", type=click.Choice([*KINDS]))
def main(names: Iterable[str]) -> None:
    """Search the races put into all containers, or into these, by both ways, and write what was found to the page."""
    for name in names or KINDS:
        subject = Subject(name)
        with TemporaryDirectory() as folder:
            lincheck = Lincheck(subject, Path(folder))
            rows = []
            for mutant in subject.mutants():
                if row := searched(subject, mutant, lincheck):
                    rows.append(row)
                    click.echo(json.dumps(row))
        races_page.keep("beside Lincheck", name, [row._asdict() for row in rows])


if __name__ == "__main__":
    main()
