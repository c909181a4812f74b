"""A shard: one task's share of a round. A pure function of the manifest, the round and the shard, times aside.

Subjects run in processes of their own, a batch of walks each. Where such a process dies, the walks before the fatal one
are made again, the fatal one becomes a finding, and the shard goes on after it. A subject that lives in its process for
good, and may take seconds to come up in it, has one process for all of its walks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from time import perf_counter
from typing import Any

from broker_tck.properties.engine.check import unanswered
from broker_tck.properties.engine.run import Run, checked, judge
from broker_tck.properties.engine.subjects import resolve
from broker_tck.properties.engine.walk import Walk, walk_seed
from broker_tck.properties.findings.finding import kind
from broker_tck.properties.isolation.process import Death, Isolation
from broker_tck.spark_fuzz.driver.manifest import Lane, Manifest
from broker_tck.spark_fuzz.store.rows import FIGURE, RULE, RULE_WALKS, STATE, Row
from broker_tck.spark_fuzz.worker.findings import FIND_SECONDS, HANG_SECONDS, RESIDENT_START, Finder, Make
from broker_tck.spark_fuzz.worker.lanework import MOST_FAILING, Lanework, Part

SHARDS_A_CORE = 2
"""Walks are unequal, and so are shards: of several to a core, none is waited for long. Each is a task, which costs."""
BATCH = 512
"""How many walks a process makes. A fork costs as much as a few walks, for the pages that both go on to use."""
COUNTED = 64
"""One walk in so many counts rules and states, and is judged by the laws."""
KIT = 20
"""So many times the limit of a walk, where the kit itself has more to do with it than its subject: it is counted."""
REDUCING = -2
"""The mark of a walk that is being reduced is its number below this."""


class LaneWalker:
    """Walks one lane of a shard, a batch after the other, until so many operations are made or enough walks failed."""

    def __init__(self, manifest: Manifest, lane: Lane, seed: int, parent: Any = None) -> None:
        self.subject = subject = resolve(lane.subject)
        self.model = subject.contract.model(lane.profile)
        self.lane = lane
        self.seed = seed
        self.seconds = manifest.walk_seconds
        self.operations = max(1, manifest.operations // len(manifest.lanes))
        self.work = Lanework()
        self.isolation: Isolation[Part] = isolation(manifest, parent)
        self.finder = Finder(subject, self.model, manifest.walk_seconds, manifest.walk_memory, parent)
        self.number = 0
        """The walk to go on with."""

    def limits(self, number: int) -> float:
        """How many times the limit of a walk this one may take."""
        return KIT if number % COUNTED == 0 else 1

    @property
    def left(self) -> int:
        """How many operations are left to make; 0: it is done."""
        return 0 if self.work.over else max(0, self.operations - self.work.figures["operations"])

    def batch(self, isolation: Isolation[Any], stop: int) -> Part:
        """Make the walks up to this one, fewer if there are enough operations, or too many fail.

        It runs in a process of its own.
        """
        began, first = perf_counter(), self.number
        run = Run(self.subject, self.model.PROFILE, self.seed)
        breaches: list[tuple[Walk, str, str]] = []
        isolation.alive(first, self.limits(first))
        for number, done in enumerate(checked(run, range(first, stop), COUNTED, seconds=self.seconds), first):
            if number % COUNTED == 0 and not done.difference:
                isolation.alive(number, self.limits(number))
                judge(run, done)
                breaches += [(done, law, text) for _, law, text in run.complaints]
                run.complaints.clear()
            if run.operations >= self.left or len(run.failing) >= MOST_FAILING or hung(done):
                break
            isolation.alive(number + 1, self.limits(number + 1))
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
            alike = kind(self.subject.contract, failed.operations[-1], failed.difference)
            self.work.keep(alike, partial(self.finder.of_failing, failed))
        for breach in part.breaches:
            self.work.keep(breach[1], partial(self.finder.of_breach, *breach))

    def died(self, death: Death) -> None:
        """Make a finding of the next walk, which ends its process, or hangs in it."""
        work = self.work
        failed = self.finder.fatal_walk(walk_seed(self.seed, self.number), death)
        self.number += 1
        work.fatal += 1
        work.figures.update(walks=1, operations=len(failed.operations))
        work.keep((failed.operations[-1].tag, death), partial(self.finder.of_fatal, failed))


class ResidentWalker(LaneWalker):
    """Walks a lane whose subject is not forked. One process makes all of its batches, and reduces what fails there.

    Where that process dies, another one goes on: up to the fatal walk first, and after it when that is a finding.
    """

    def __init__(self, manifest: Manifest, lane: Lane, seed: int, parent: Any = None) -> None:
        super().__init__(manifest, lane, seed, parent)
        self.process: Isolation[tuple[int, Lanework]] = Isolation(manifest.walk_seconds, None, parent, RESIDENT_START)
        self.finder.made = self.made
        self.first = -1
        """The first walk of a process, in which the subject comes up."""
        self.fatal: dict[int, Death] = {}
        """The walks ahead that end their process."""
        self.spared: dict[int, Death] = {}
        """The walks whose reduction does; they are not reduced."""

    def limits(self, number: int) -> float:
        """How many times the limit of a walk this one may take."""
        start = max(KIT, RESIDENT_START / self.seconds) if number == self.first else 1
        return max(start, super().limits(number))

    def walk_all(self) -> None:
        """Make all walks."""
        while self.left or self.number in self.fatal:
            if death := self.fatal.pop(self.number, None):
                began = perf_counter()
                self.died(death)
                self.work.figures["milliseconds"] += round(1000 * (perf_counter() - began))
                continue
            for answer in self.process.run_each(self.batches()):
                if isinstance(answer, Death):
                    self.lost(answer, self.process.mark.get())
                else:
                    self.number, self.work = answer

    def batches(self) -> Iterator[Callable[[], tuple[int, Lanework]]]:
        """What the process does, a batch each, up to the next walk that is known to end it."""
        self.first = self.number
        while self.left and self.number not in self.fatal:
            yield self.taken

    def taken(self) -> tuple[int, Lanework]:
        """Make a batch and its findings; answers with the walk to go on with, and all that the lane came to so far."""
        part, began = self.batch(self.process, min([self.number + BATCH, *self.fatal])), perf_counter()
        self.take(part)
        self.work.figures["milliseconds"] += round(1000 * (perf_counter() - began))
        return self.number, self.work

    def made(self, failed: Walk, make: Make) -> Row | Death | None:
        """Have a walk reduced in this process, unless one has died of it; the mark says of which."""
        number = (failed.seed or 0) - walk_seed(self.seed, 0)
        if number in self.spared:
            return self.spared[number]
        seconds = HANG_SECONDS if hung(failed) else FIND_SECONDS
        self.process.alive(REDUCING - number, seconds / self.seconds)
        return make()

    def lost(self, death: Death, mark: int) -> None:
        """Take in that the process has died; ``mark`` tells where. Each time there is less left to die of."""
        if mark <= REDUCING and REDUCING - mark not in self.spared:
            self.spared[REDUCING - mark] = death
        else:
            self.fatal[max(self.number, min([mark, *(number - 1 for number in self.fatal)]))] = death


def hung(done: Walk) -> bool:
    """Whether a walk ended because there was no answer."""
    return bool(done.difference and unanswered(done.difference))


def shard_seed(manifest: Manifest, round_number: int, shard: int) -> int:
    """The seed of a shard's walks in a round; no two shards, rounds or campaigns have the same."""
    return (manifest.seed << 64) + (round_number << 24) + shard


def shard_rows(manifest: Manifest, round_number: int, shard: int, parent: Any = None) -> Iterator[Row]:
    """The rows of a shard in a round. ``parent`` is a stream that ends when nobody waits for them any more."""
    seed = shard_seed(manifest, round_number, shard)
    walkers = [walker_of(lane)(manifest, lane, seed, parent) for lane in manifest.lanes]
    isolated = isolation(manifest, parent)
    for walker in walkers:
        if isinstance(walker, ResidentWalker):
            walker.walk_all()
    while left := [walker for walker in walkers if walker.left]:
        batches = [partial(walker.batch, isolated, walker.number + BATCH) for walker in left]
        for walker, answer in zip(left, isolated.run_each(batches), strict=False):
            walker.follow(answer, isolated.mark.get())
    for walker in walkers:
        yield from lane_rows(walker.lane, walker.work)


def walker_of(lane: Lane) -> type[LaneWalker]:
    """What walks a lane."""
    return LaneWalker if resolve(lane.subject).forks else ResidentWalker


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
