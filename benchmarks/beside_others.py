"""The races put into containers of cursors, searched by other tools as well: ``python benchmarks/beside_others.py``.

Each mutant of ``seeded_races.py`` goes to the search of ``broker-tck threads``, to the model checking of Lincheck and
to Fray, in turn. For both, calls of two threads are drawn too, and right is what the class answers to one thread. What
is found stands in ``docs/races.json`` and ``docs/threads.md``. Maven fetches the tools, and a JDK compiles what they
run.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from resource import RLIMIT_CPU, RUSAGE_CHILDREN, getrusage, prlimit
from signal import SIGKILL, SIGXCPU
from tempfile import TemporaryDirectory
from typing import NamedTuple
from zipfile import ZipFile

import click
from racy_changes import Mutant
from seeded_races import Subject

from broker_tck.implementations.jvm.java import found
from broker_tck.implementations.jvm.releases import OWN, Release

sys.path.append(str(Path(__file__).parents[1] / "docs"))
import races_page

SOURCES = Path(__file__).parent
CLASSES = Path(__file__).parents[1] / "implementations" / "jvm" / "classes"
KINDS = {
    "pulsar-5.0.1/cursor-heap": "CursorHeap",
    "pulsar-5.0.1/cursor-tree-set": "CursorTreeSet",
    "pulsar-5.0.1/cursor-list": "CursorList",
}
SECONDS = 60
"""Seconds of processor that another tool has for each mutant."""


class Told(NamedTuple):
    """What another tool made of a mutant."""

    found: str
    """The first line of what it found; empty if it found nothing."""
    seconds: float
    """Seconds of processor, with the start of Java."""


class Row(NamedTuple):
    """What all searches made of a mutant."""

    place: str
    what: str
    verdict: str
    """What the kit says, as in the table of races put in."""
    seconds: float
    """Seconds of processor of the kit's search."""
    others: dict[str, Told]


class Other:
    """Another tool, which runs ``CursorContainers`` of a folder beside this file."""

    def __init__(self, release: Release, sources: Path, folder: Path) -> None:
        self.home, _ = found(release.java)
        self.folder, listed = folder, folder / "classpath"
        maven = ["mvn", "-q", "-B", "-f", str(sources / "pom.xml"), "dependency:build-classpath"]
        subprocess.run([*maven, f"-Dmdep.outputFile={listed}"], check=True, stdout=sys.stderr)
        self.jars = listed.read_text(encoding="utf-8").split(os.pathsep)
        self.path = os.pathsep.join(map(str, [*release.paths(OWN), CLASSES, *self.jars]))
        self.run("javac", "-cp", self.path, "-d", str(folder), str(sources / "CursorContainers.java"))

    def run(self, tool: str, *arguments: str) -> None:
        """Run a tool of the JDK's."""
        subprocess.run([str(self.home / "bin" / tool), *arguments], check=True, stdout=sys.stderr)

    def java(self) -> Sequence[str]:
        """Java, with its options."""
        return [str(self.home / "bin" / "java")]

    def search(self, kind: str, changed: Path) -> Told:
        """What it says of a kind of container that is changed by the class files of a folder."""
        path = os.pathsep.join([str(changed), str(self.folder), self.path])
        command = [*self.java(), "-cp", path, "CursorContainers", kind]
        began = spent()
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as running:
            prlimit(running.pid, RLIMIT_CPU, (SECONDS, SECONDS))
            told, _ = running.communicate()
        if running.returncode not in (0, -SIGXCPU, -SIGKILL):
            raise subprocess.CalledProcessError(running.returncode, command, told)
        return Told(told.strip(), spent() - began)


class Fray(Other):
    """Fray needs a Java of its own, whose library has its points too."""

    def __init__(self, release: Release, sources: Path, folder: Path) -> None:
        super().__init__(release, sources, folder)
        self.own = folder / "java"
        jars = os.pathsep.join(self.jars)
        self.run(
            "jlink",
            f"-J-javaagent:{self.jar('fray-instrumentation-jdk')}",
            f"-J--module-path={jars}",
            f"-J--class-path={jars}",
            "-J--add-modules=org.pastalab.fray.instrumentation.jdk",
            "--add-modules=java.se,jdk.unsupported",
            "--fray-instrumentation",
            f"--output={self.own}",
        )
        with ZipFile(self.jar("fray-jvmti")) as packed:
            self.native = packed.extract("libjvmti.so", folder)

    def jar(self, name: str) -> str:
        """The jar whose name begins so."""
        return next(jar for jar in self.jars if Path(jar).name.startswith(name))

    def java(self) -> Sequence[str]:
        """Its own Java, with its agents."""
        agents = (f"-agentpath:{self.native}", f"-javaagent:{self.jar('fray-instrumentation-agent')}")
        return [str(self.own / "bin" / "java"), *agents, f"-Djava.io.tmpdir={self.folder}"]


OTHERS = {"lincheck": Other, "fray": Fray}


def spent() -> float:
    """Seconds of processor of all programs that have ended."""
    used = getrusage(RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def searched(subject: Subject, mutant: Mutant, others: dict[str, Other]) -> Row | None:
    """What is found in a mutant; None if it differs for one thread, which is what the others take for right."""
    put = subject.put(mutant)
    if put.verdict == races_page.ALONE:
        return None
    with TemporaryDirectory() as folder:
        subject.write(Path(folder), mutant)
        told = {name: other.search(KINDS[subject.name], Path(folder)) for name, other in others.items()}
    return Row(put.place, put.what, put.verdict, put.seconds, told)


def made(release: Release, folder: Path) -> dict[str, Other]:
    """The other tools, each with a folder of its own in one."""
    others = {}
    for name, tool in OTHERS.items():
        (folder / name).mkdir()
        others[name] = tool(release, SOURCES / name, folder / name)
    return others


@click.command()
@click.argument("names", nargs=-1, metavar="[SUBJECT]...", type=click.Choice([*KINDS]))
def main(names: Iterable[str]) -> None:
    """Search the races put into all containers, or into these, by all ways, and write what was found to the page."""
    subjects = [Subject(name) for name in names or KINDS]
    with TemporaryDirectory() as folder:
        others = made(subjects[0].factory.release, Path(folder))
        for subject in subjects:
            rows = []
            for mutant in subject.mutants():
                if row := searched(subject, mutant, others):
                    rows.append(row)
                    click.echo(json.dumps(row))
            races_page.keep("beside others", subject.name, [row._asdict() for row in rows])


if __name__ == "__main__":
    main()
