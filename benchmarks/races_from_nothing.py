"""How long drawn programs take to find each known race: ``python benchmarks/races_from_nothing.py [CLASS]...``.

Each class is searched in each release that has another class of this name, until its known races are found or the
programs are used up. So it also shows that the other releases are quiet. What it finds stands in ``docs/races.json``
and ``docs/threads.md``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path
from time import process_time
from typing import NamedTuple

import click

from broker_tck.cli.threads import subject_named
from broker_tck.properties.engine.choices import SeededChoices
from broker_tck.properties.engine.walk import walk_seed
from broker_tck.properties.threads.drawn import drawn
from broker_tck.properties.threads.program import replay_text
from broker_tck.properties.threads.races import java_of
from broker_tck.properties.threads.search import MOST_FAILING, Budget, Searcher
from broker_tck.properties.threads.verdict import Promise, Verdict

sys.path.append(str(Path(__file__).parents[1] / "docs"))
import races_page

SEED = 0
PROGRAMS = 1_000
"""Maximum number of programs for each class."""
SCHEDULES = 1_000


class Row(NamedTuple):
    """What a search of a class came to."""

    kind: str
    release: str
    race: str
    """The race that was found; empty if the class has no known race."""
    programs: int
    schedules: int
    seconds: float


CLASSES = {
    "cursor-list": ("4.2.4", "5.0.0-M1", "5.0.1"),
    "cursor-heap": ("4.2.4", "5.0.1"),
    "cursor-tree-set": ("4.2.4", "5.0.1"),
    "ack-timeout": ("3.0.7", "4.0.8", "4.1.1", "4.2.4", "5.0.0-M1", "5.0.1"),
    "negative-acks": ("3.0.7", "4.0.1", "4.0.8", "4.1.1", "4.2.4", "5.0.0-M1", "5.0.1"),
    "in-memory": ("3.0.0", "4.0.1", "4.0.5", "4.0.8", "4.2.4", "5.0.0-M1", "5.0.1"),
    "reads-limiter": ("4.0.8", "4.2.4", "5.0.0-M1", "5.0.1"),
    "bucket": ("4.0.8", "4.2.4", "5.0.1"),
    "range-cache": ("3.0.0", "3.2.2", "4.0.8", "4.2.4", "5.0.1"),
    "cache-manager": ("3.0.0", "3.0.7", "3.3.5", "4.0.0", "4.0.8", "4.2.4", "5.0.1"),
}
"""The classes, and releases of which each has one of its own."""


class Known(NamedTuple):
    """A race that is known."""

    name: str
    kind: str
    releases: tuple[str, ...]
    shows: Callable[[Verdict], bool] = lambda verdict: True
    """Whether a verdict is about it, if the class has others."""


AT_AN_EMPTY_INDEX = ("IllegalArgumentException", "NoSuchElementException")
"""What an index raises if it is asked for its first message and is empty."""
FREED = [(Promise.STEPS, error) for error in ("IllegalReferenceCountException", "NullPointerException")]
"""What a call comes to that uses a queue after its memory was given back."""
KNOWN = (
    Known("T-1", "range-cache", ("4.2.4", "5.0.1"), lambda verdict: verdict.promise is Promise.HINT),
    Known("T-2", "range-cache", ("4.0.8",), lambda verdict: verdict.promise is Promise.REST),
    Known("T-3", "negative-acks", CLASSES["negative-acks"]),
    Known("T-4", "ack-timeout", CLASSES["ack-timeout"]),
    Known("T-5", "in-memory", CLASSES["in-memory"][:4], lambda verdict: verdict.where == "close"),
    Known("T-5", "bucket", ("4.0.8",), lambda verdict: verdict.where == "reopen"),
    Known("T-6", "bucket", CLASSES["bucket"], lambda verdict: (verdict.where[:3], verdict.seen) == ("get", "[]")),
    Known(
        "T-7", "cache-manager", CLASSES["cache-manager"][:5], lambda verdict: verdict.seen == "IllegalArgumentException"
    ),
    Known("T-10", "bucket", ("4.2.4", "5.0.1"), lambda verdict: verdict.where == "armed after closing"),
    Known("T-11", "bucket", CLASSES["bucket"], lambda v: v.where[:3] == "adv" and (v.promise, v.seen) in FREED),
    Known("R-05", "cursor-list", ("4.2.4", "5.0.0-M1")),
    Known("PR 21302", "range-cache", ("3.0.0",), lambda verdict: verdict.seen == "true"),
    Known("PR 22789", "range-cache", ("3.2.2",), lambda verdict: verdict.seen.startswith("hit")),
    Known("PR 25681", "in-memory", CLASSES["in-memory"][:4], lambda verdict: verdict.seen in AT_AN_EMPTY_INDEX),
    Known("PR 26012", "in-memory", CLASSES["in-memory"][:4], lambda verdict: verdict.rule == "DD-23"),
)
ANOTHER = "another race"


def searched(kind: str, release: str) -> list[Row]:
    """Search a class until its known races are found: a row for each. A class without a known race has one row."""
    subject = subject_named(f"pulsar-{release}/{kind}")
    model = subject.contract.model(subject.profiles[0])
    java = java_of(subject)
    searcher = Searcher(java.explorer, model, Budget(PROGRAMS, None, 2, SCHEDULES), SEED)
    known = [each for each in KNOWN if each.kind == kind and release in each.releases]
    found: dict[str, Row] = {}
    began, schedules = process_time(), 0

    def row(race: str, programs: int) -> Row:
        return Row(kind, release, race, programs, schedules, process_time() - began)

    for number in range(PROGRAMS):
        choices = SeededChoices(walk_seed(SEED, number))
        program = drawn(subject.contract, model, subject.capabilities, choices, java.apart)
        if len(program.threads) > 1:
            explored = searcher.explored(program, 2)
            schedules += explored.schedules
            for race in islice(searcher.judged(program, explored), MOST_FAILING):
                names = [each.name for each in known if each.shows(race.verdict)] if known else [ANOTHER]
                for name in names:
                    if name not in found:
                        found[name] = row(name, number + 1)
                        click.echo(f"{kind} {release}: {name}: {replay_text(program, race.seen.schedule)}")
        if known and all(each.name in found for each in known):
            break
    return [*found.values()] or [row("", PROGRAMS)]


@click.command()
@click.argument("kinds", nargs=-1, metavar="[CLASS]...", type=click.Choice([*CLASSES]))
def main(kinds: Iterable[str]) -> None:
    """Search the known races of all classes, or of these, and write the table of the page."""
    for kind in kinds or CLASSES:
        rows: list[Row] = []
        for release in CLASSES[kind]:
            rows += searched(kind, release)
            races_page.keep("from nothing", kind, [row._asdict() for row in rows])
            click.echo(rows[-1])


if __name__ == "__main__":
    main()
