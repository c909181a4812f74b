"""Races put into released classes, one at a time: ``python benchmarks/seeded_races.py [SUBJECT]...``.

No list names them. A mutant takes one lock, one monitor or one check out of a method that threads reach, has a write
lock let others in, or makes one atomic call two. The search of ``broker-tck threads`` runs on each mutant, and stops at
a race that the class itself does not have. What it finds stands in ``docs/races.json`` and ``docs/threads.md``.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from functools import cache, partial
from itertools import islice, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any, NamedTuple

import click
from racy_changes import Changes, Mutant

from broker_tck.cli.threads import subject_named
from broker_tck.implementations.jvm.errors import guarded
from broker_tck.implementations.jvm.held import read
from broker_tck.implementations.jvm.java import java
from broker_tck.implementations.jvm.loader import Loader, classes_in, path_of
from broker_tck.implementations.jvm.subject import JavaFactory
from broker_tck.implementations.jvm.subject import explorer_of as woven
from broker_tck.properties.engine.choices import SeededChoices
from broker_tck.properties.engine.walk import walk_seed
from broker_tck.properties.threads.drawn import drawn
from broker_tck.properties.threads.history import History, history_of
from broker_tck.properties.threads.program import Program, replay_text
from broker_tck.properties.threads.races import java_of
from broker_tck.properties.threads.search import MOST_FAILING, Budget, Race, Searcher

sys.path.append(str(Path(__file__).parents[1] / "docs"))
import races_page

SUBJECTS = (
    "pulsar-5.0.1/cursor-heap",
    "pulsar-5.0.1/cursor-tree-set",
    "pulsar-5.0.1/cursor-list",
    "pulsar-4.2.4/negative-acks",
    "pulsar-4.2.4/ack-timeout",
    "pulsar-5.0.1/in-memory",
    "pulsar-5.0.1/range-cache",
    "pulsar-5.0.1/reads-limiter",
    "pulsar-5.0.1/pending-reads",
    "pulsar-5.0.1/bucket",
)
SEED = 0
PROGRAMS = 200
"""Maximum number of programs for each mutant."""
FEWER = {"pulsar-5.0.1/pending-reads": 20, "pulsar-5.0.1/bucket": 20}
"""The same, of subjects whose judge is slow."""
SCHEDULES = 1_000
REACHING = 300
"""Number of programs that show which methods threads reach."""
SURE = 20_000
"""Maximum number of schedules of the class itself, to see whether it has a race of a mutant's as well."""

ONE_READ = "one read of a map or a number, which is a moment by itself"
WHY = {
    ("ManagedCursorContainerImpl.size", ""): ONE_READ,
    ("ManagedCursorContainerImpl.hasDurable", ""): ONE_READ,
    ("ActiveManagedCursorContainerNavigableSetImpl.size", ""): ONE_READ,
    ("ActiveManagedCursorContainerNavigableSetImpl.add", "makes"): "the write lock is held",
    ("ActiveManagedCursorContainerImpl.update", "locks"): "two updates queue a cursor twice, which does no harm",
    ("NegativeAcksTracker.triggerRedelivery", "always"): "it asks the same again before it arms the timer",
    ("NegativeAcksTracker.add(MessageId, int)", "is not"): "both its callers are synchronized",
    ("NegativeAcksTracker.add(MessageId, int)", ""): "it is about traced ids and chunks, which threads do not nack",
    ("NegativeAcksTracker.add(Message", "is not"): "it only calls another `add`, which is synchronized",
    ("UnAckedMessageTracker$2.run", "locks"): "no other call locks for reading, and one timer fires",
    ("UnAckedMessageTracker$2.run", "skips"): "it asks whether there is anything to do; if not, it does nothing",
    ("UnAckedMessageTracker.clear", "locks"): "two clears at once do what one does",
    ("UnAckedMessageTracker.add", "locks"): "not seen: two adds inside one `HashMap`",
    ("UnAckedMessageTracker.remove", "locks"): "not seen: two removals inside one `HashMap`",
    ("AbstractDelayedDeliveryTracker.run", "always"): "the next call that looks at the timer forgets it as well",
    ("InMemoryDelayedDeliveryTracker", "makes"): "all who change it have the dispatcher's monitor",
    ("RangeCacheRemovalQueue.evictLeast", "is not"): "not seen: two passes and an insertion must meet; see below",
    ("RangeCacheRemovalQueue.evictLeast", "skips"): "it looks at an argument that threads never give wrong",
    ("RangeCacheRemovalQueue.evictEntries", "is not"): "both its callers are synchronized",
    ("RangeCacheRemovalQueue.evictLEntries", "is not"): "all that it does is in `evictEntries`, which is synchronized",
    ("RangeCache.removeFromPage", "makes"): "the wrapper's lock is held, and only its holder empties the slot",
    ("RangeCacheEntryWrapper.withNewInstance", "locks"): "who reads it too early takes it for a miss",
    ("InflightReadsLimiter.scheduleTimeOutCheck", "is not"): "both its callers are synchronized",
    ("InflightReadsLimiter.updateMetrics", "is not"): "all its callers are synchronized",
    ("RangeCacheEntryWrapper.getValue", "does not"): "the caller looks again whether the value has the position",
}
"""Why some changes are no races, or none that a promise is about: by the begin of the place, and of the change."""


def named(mutant: Mutant) -> tuple[str, str]:
    """The place of a mutant, and what was done there."""
    return f"{mutant.name.rpartition('.')[2]}.{mutant.method}", mutant.what


def why(place: str, what: str) -> str:
    """Why a change shows nothing; empty if that is not known."""
    told = (why for (where, begin), why in WHY.items() if place.startswith(where) and what.startswith(begin))
    return next(told, "")


def overlaps(history: History) -> bool:
    """Whether a thread makes a call while another does."""
    events = history.events
    return any(event.ends == before.ends for before, event in pairwise(events)) or history.stuck == "deadlock"


class Put(NamedTuple):
    """What the search made of a mutant."""

    subject: str
    place: str
    what: str
    verdict: str
    """The promise that is broken; ``one thread`` if it is without calls that overlap; empty if none is."""
    programs: int
    schedules: int
    seconds: float
    replay: str
    why: str
    """Why no promise is broken."""


class Subject:
    """A subject whose class is changed."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.subject = subject_named(name)
        factory = self.subject.factory
        assert isinstance(factory, JavaFactory)
        self.factory = factory
        self.model = self.subject.contract.model(self.subject.profiles[0])
        self.programs: Callable[[int], Program] = cache(self.program)
        self.java = java_of(self.subject)
        self.plain = self.searcher(self.java.explorer)
        self.own: Callable[[int], set[str]] = cache(self.own_histories)

    @property
    def most(self) -> int:
        """Maximum number of programs for each mutant."""
        return min(PROGRAMS, FEWER.get(self.name, PROGRAMS))

    def program(self, number: int) -> Program:
        """Program of a number."""
        choices = SeededChoices(walk_seed(SEED, number))
        return drawn(self.subject.contract, self.model, self.subject.capabilities, choices, self.java.apart)

    def searcher(self, explorer: Any, schedules: int = SCHEDULES) -> Searcher:
        """What searches for races."""
        return Searcher(explorer, self.model, Budget(self.most, None, 2, schedules), SEED)

    def own_histories(self, number: int) -> set[str]:
        """The histories that the class itself has in a program."""
        searcher = self.searcher(self.plain.explorer, SURE)
        return {seen.text for seen in searcher.explored(self.programs(number), 2).histories}

    def reached(self) -> set[str]:
        """The methods that threads pass a point of."""
        passed = (self.plain.explorer.follow(self.programs(n).plain(), ())[1] for n in range(REACHING))
        return {each.where.partition(":")[0] for trail in passed for each in trail}

    @guarded
    def mutants(self) -> list[Mutant]:
        """All changes of what threads reach."""
        kind, release = self.factory.kind, self.factory.release
        boxed = kind.boxed(release)
        assert boxed
        places = self.factory.places
        loader = Loader(java(release.java), places)
        reached = self.reached()
        changes = (
            Changes(loader.jpype, name, reached).all(read(loader.code_of(name), loader.jpype))
            for name in classes_in(places[0], boxed.woven)
        )
        self.loader = loader
        return [mutant for each in changes for mutant in each]

    def put(self, mutant: Mutant) -> Put:
        """Search the races of a mutant."""
        with TemporaryDirectory() as folder:
            self.write(Path(folder), mutant)
            explorer = self.changed_explorer(Path(folder))
        place, what = named(mutant)
        put = partial(Put, self.name, place, what)
        searcher, began = self.searcher(explorer), process_time()
        for number in range(self.most):
            if race := self.race(searcher, number):
                alone = not overlaps(history_of(race.seen.text))
                told = races_page.ALONE if alone else race.verdict.promise.name.lower()
                taken = process_time() - began
                replay = replay_text(race.program, race.seen.schedule)
                return put(told, number + 1, searcher.found.schedules, taken, replay, "")
        return put("", self.most, searcher.found.schedules, process_time() - began, "", why(place, what))

    def race(self, searcher: Searcher, number: int) -> Race | None:
        """A race of a mutant in a program that the class itself does not have; best one in which no calls overlap."""
        program = self.programs(number)
        if len(program.threads) < 2:
            return None
        explored = searcher.explored(program, 2)
        searcher.found.schedules += explored.schedules
        found = islice(searcher.judged(program, explored), MOST_FAILING)
        new = [race for race in found if race.seen.text not in self.own(number)]
        return min(new, key=lambda race: overlaps(history_of(race.seen.text)), default=None)

    def changed_explorer(self, folder: Path) -> Any:
        """What has threads call the changed class."""
        return woven(self.factory.kind, self.factory.release, (folder,))

    @guarded
    def write(self, folder: Path, mutant: Mutant) -> None:
        """Write the class of a mutant."""
        tree = read(self.loader.code_of(mutant.name), self.loader.jpype)
        mutant.change(tree)
        writer = self.loader.jpype.JClass("org.objectweb.asm.ClassWriter")(0)
        tree.accept(writer)
        path = folder / path_of(mutant.name)
        path.parent.mkdir(parents=True)
        path.write_bytes(bytes(writer.toByteArray()))


@click.command()
@click.argument("names", nargs=-1, metavar="[SUBJECT]...", type=click.Choice(SUBJECTS))
def main(names: Iterable[str]) -> None:
    """Put races into the classes of all subjects, or of these, and write what was found to the page."""
    for name in names or SUBJECTS:
        subject = Subject(name)
        mutants = subject.mutants()
        click.echo(f"{name}: {len(mutants)} mutants")
        found = []
        for mutant in mutants:
            found.append(subject.put(mutant))
            click.echo(json.dumps(found[-1]))
        races_page.keep("put in", name, [row._asdict() for row in found])


if __name__ == "__main__":
    main()
