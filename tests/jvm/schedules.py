"""Programs for threads, explored. Run by itself, with the folder of compiled classes, it writes what comes of some."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from broker_tck.implementations.jvm.java import java
from broker_tck.implementations.jvm.releases import OWN, Release
from broker_tck.implementations.jvm.weaving import Explored, Explorer, WeavingLoader

RELEASE = Release("4.2.4")


class Program(NamedTuple):
    """Calls before, of each thread, and after."""

    before: Sequence[Sequence[Any]]
    threads: Sequence[Sequence[Sequence[Any]]]
    after: Sequence[Sequence[Any]]
    config: Mapping[str, Any]


def program(text: str, **config: Any) -> Program:
    """A program without arguments: ``before | thread | thread | after``, calls apart by spaces."""
    before, *threads, after = [[[call] for call in part.split()] for part in text.split("|")]
    return Program(before, threads, after, config)


def shared(classes: Path) -> Explorer:
    """Explores the class of the tests' own."""
    loader = WeavingLoader(java(), (classes, *RELEASE.paths(OWN)), ["odd.Shared"])
    return Explorer(loader, "odd.SharedBox")


def ended(explored: Explored) -> dict[str, int]:
    """In how many schedules each end of the histories came out: the last line, without the rest."""
    ends: dict[str, int] = {}
    for history in explored.histories:
        last = history.text.splitlines()[-1]
        ends[last] = ends.get(last, 0) + history.schedules
    return ends


EACH = ("next", "monitored", "locked", "read", "stamped", "stampedRead", "thrown", "oneWay", "await", "spin")
"""Calls for all Javas to agree on."""


def main() -> None:
    """Write what comes of some programs."""
    explorer = shared(Path(sys.argv[1]))
    for name in EACH:
        other = {"oneWay": "otherWay", "await": "finish"}.get(name, name)
        explored = explorer.explore(program(f"finish| {name} {name} | {other} next | next"), 2, 40, 20, 7)
        sys.stdout.write(f"{explored}\n")


if __name__ == "__main__":
    main()
