"""A shard: one task's share of a round. A pure function of the manifest, the round and the shard, times aside.

Subjects run in processes of their own, a batch of walks each. Where such a process dies, the walks before the fatal one
are made again, the fatal one becomes a finding, and the shard goes on after it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from typing import Any, NamedTuple

from msgspec import structs

from broker_tck.model.reference import Reference
from broker_tck.properties.check import unanswered
from broker_tck.properties.finding import kind
from broker_tck.properties.isolation import Death, Isolation
from broker_tck.properties.run import Run, State, judge, walks
from broker_tck.properties.subjects import Subject, resolve
from broker_tck.properties.walk import Walk, walk_seed
from broker_tck.spark_fuzz.findings import Finder
from broker_tck.spark_fuzz.manifest import Lane, Manifest
from broker_tck.spark_fuzz.rows import FIGURE, RULE, RULE_WALKS, STATE, Row

SHARDS_A_CORE = 2
"""Walks are unequal, and so are shards: of several to a core, none is waited for long. Each is a task, which costs."""
BATCH = 512
"""How many walks a process makes. A fork costs as much as a few walks, for the pages that both go on to use."""
COUNTED = 64
"""One walk in so many counts rules and states, and is judged by the laws."""
KIT = 20
"""So many times the limit of a walk, where the kit itself has more to do with it than its subject: it is counted."""
MOST_FAILING = 24
"""After so many failing walks, a shard leaves a lane alone until the next round."""
MOST_FATAL = 2
"""After so many with no answer, likewise: each costs its limit in seconds."""
MOST_ALIKE = 3
"""So many walks that fail alike are reduced, of those with no answer one; the others are counted."""


class Part(NamedTuple):
    """What a batch of walks answers with."""

    walks: int
    operations: int
    counted: int
    met: Counter[str]
    met_in: Counter[str]
    states: Counter[State]
    failing: list[Walk]
    breaches: list[tuple[Walk, str, str]]
    """Walks that break a law: which one, and what was wrong."""
    seconds: float


@dataclass
class Lanework:
    """What a lane's walks came to in a shard and round, so far."""

    subject: Subject
    model: type[Reference]
    seed: int
    figures: Counter[str] = field(default_factory=Counter)
    met: Counter[str] = field(default_factory=Counter)
    met_in: Counter[str] = field(default_factory=Counter)
    states: Counter[State] = field(default_factory=Counter)
    alike: dict[Any, list[tuple[str, str]]] = field(default_factory=dict)
    """What walks that fail alike were found to be: rules and shape."""
    fatal: int = 0
    findings: dict[tuple[str, str], Row] = field(default_factory=dict)

    def add(self, part: Part) -> None:
        """Take in what a batch did."""
        milliseconds = round(1000 * part.seconds)
        self.figures.update(
            walks=part.walks, operations=part.operations, counted=part.counted, milliseconds=milliseconds
        )
        self.met.update(part.met)
        self.met_in.update(part.met_in)
        self.states.update(part.states)

    def keep(self, alike: Any, make: Callable[[], Row]) -> None:
        """Make a finding of a failing walk; where enough are known that fail alike, count it with the first."""
        self.figures["failing"] += 1
        found = self.alike.setdefault(alike, [])
        if len(found) >= (1 if self.fatal else MOST_ALIKE):
            first = self.findings[found[0]]
            self.findings[found[0]] = structs.replace(first, count=first.count + 1)
            return
        row = make()
        found.append((row.name, row.key))
        known = self.findings.get((row.name, row.key))
        best = row if known is None or row.length < known.length else known
        self.findings[row.name, row.key] = structs.replace(best, count=row.count + (known.count if known else 0))

    @property
    def over(self) -> bool:
        """Whether enough walks failed."""
        return self.figures["failing"] >= MOST_FAILING or self.fatal >= MOST_FATAL


class LaneWalker:
    """Walks one lane of a shard, a batch after the other, until so many operations are made or enough walks failed."""

    def __init__(self, manifest: Manifest, lane: Lane, seed: int, parent: Any = None) -> None:
        subject = resolve(lane.subject)
        self.lane = lane
        self.seconds = manifest.walk_seconds
        self.operations = max(1, manifest.operations // len(manifest.lanes))
        self.work = Lanework(subject, subject.contract.model(lane.profile), seed)
        self.isolation: Isolation[Part] = isolation(manifest, parent)
        self.finder = Finder(subject, self.work.model, manifest.walk_seconds, manifest.walk_memory, parent)
        self.number = 0
        """The walk to go on with."""

    @property
    def left(self) -> int:
        """How many operations are left to make; 0: it is done."""
        return 0 if self.work.over else max(0, self.operations - self.work.figures["operations"])

    def batch(self, isolation: Isolation[Part], stop: int) -> Part:
        """Make the walks up to this one, fewer if there are enough operations, or too many fail.

        It runs in a process of its own.
        """
        began, first = perf_counter(), self.number
        run = Run(self.work.subject, self.work.model.PROFILE, self.work.seed)
        breaches: list[tuple[Walk, str, str]] = []
        isolation.alive(first, limits(first))
        for number, done in enumerate(walks(run, range(first, stop), COUNTED, self.seconds), first):
            if done.difference:
                run.failing.append(done)
            elif number % COUNTED == 0:
                isolation.alive(number, limits(number))
                judge(run, done)
                breaches += [(done, law, text) for _, law, text in run.complaints]
                run.complaints.clear()
            if run.operations >= self.left or len(run.failing) >= MOST_FAILING or hung(done):
                break
            isolation.alive(number + 1, limits(number + 1))
        seconds = perf_counter() - began
        return Part(
            run.walks, run.operations, run.counted, run.met, run.met_in, run.states, run.failing, breaches, seconds
        )

    def follow(self, answer: Part | Death, mark: int) -> None:
        """Take in what a batch answered; ``mark`` is the walk at which it died, if it died.

        Then the walks before that one are made again. Each time there are fewer, wherever the process says it died.
        """
        began, stop = perf_counter(), self.number + BATCH
        death: Death | None = None
        while isinstance(answer, Death):
            death, stop = answer, max(self.number, min(mark, stop - 1))
            if stop == self.number:
                break
            answer, mark = self.isolation.run(partial(self.batch, self.isolation, stop)), self.isolation.mark.get()
        if not isinstance(answer, Death):
            self.take(answer)
        if death:
            self.number = stop
            self.died(death)
        self.work.figures["milliseconds"] += round(1000 * (perf_counter() - began))

    def take(self, part: Part) -> None:
        """Take in a batch, and make findings of what failed in it."""
        self.number += part.walks
        self.work.add(part)
        for failed in part.failing:
            assert failed.difference
            self.work.fatal += hung(failed)
            alike = kind(self.work.subject.contract, failed.operations[-1], failed.difference)
            self.work.keep(alike, partial(self.finder.of_failing, failed))
        for breach in part.breaches:
            self.work.keep(breach[1], partial(self.finder.of_breach, *breach))

    def died(self, death: Death) -> None:
        """Make a finding of the next walk, which ends its process, or hangs in it."""
        work = self.work
        failed = self.finder.fatal_walk(walk_seed(work.seed, self.number), death)
        self.number += 1
        work.fatal += 1
        work.figures.update(walks=1, operations=len(failed.operations))
        work.keep((failed.operations[-1].tag, death), partial(self.finder.of_fatal, failed))


def limits(number: int) -> int:
    """How many times the limit of a walk this one may take."""
    return KIT if number % COUNTED == 0 else 1


def hung(done: Walk) -> bool:
    """Whether a walk ended because there was no answer."""
    return bool(done.difference and unanswered(done.difference))


def shard_seed(manifest: Manifest, round_number: int, shard: int) -> int:
    """The seed of a shard's walks in a round; no two shards, rounds or campaigns have the same."""
    return (manifest.seed << 64) + (round_number << 24) + shard


def shard_rows(manifest: Manifest, round_number: int, shard: int, parent: Any = None) -> Iterator[Row]:
    """The rows of a shard in a round. ``parent`` is a stream that ends when nobody waits for them any more."""
    walkers = [LaneWalker(manifest, lane, shard_seed(manifest, round_number, shard), parent) for lane in manifest.lanes]
    isolated = isolation(manifest, parent)
    while left := [walker for walker in walkers if walker.left]:
        batches = [partial(walker.batch, isolated, walker.number + BATCH) for walker in left]
        for walker, answer in zip(left, isolated.run_each(batches), strict=False):
            walker.follow(answer, isolated.mark.get())
    for walker in walkers:
        yield from lane_rows(walker.lane, walker.work)


def isolation(manifest: Manifest, parent: Any) -> Isolation[Part]:
    """A process of its own for walks, with the limits of a campaign."""
    return Isolation(manifest.walk_seconds, manifest.walk_memory, parent)


def lane_rows(lane: Lane, work: Lanework) -> Iterator[Row]:
    """What a lane did, as rows, always in the same order."""
    head = lane.subject, lane.profile
    for name in ("walks", "operations", "counted", "failing", "milliseconds"):
        yield Row(FIGURE, *head, name, count=work.figures[name])
    for number in sorted(work.met):
        yield Row(RULE, *head, number, count=work.met[number])
    for number in sorted(work.met_in):
        # a rule that is a clause and a law as well is met twice in a walk
        yield Row(RULE_WALKS, *head, number, count=min(work.met_in[number], work.figures["counted"]))
    for tag, state in sorted(work.states):
        key = " ".join(str(int(part)) for part in state)
        yield Row(STATE, *head, tag, key, work.states[tag, state])
    for found in sorted(work.findings):
        yield work.findings[found]
