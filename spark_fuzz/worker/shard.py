"""A shard: one task's share of a round. Except for times, it depends only on the manifest, the round and the shard.

A pair's subject has a guarded process, which sends the result of each walk. If that process ends, the walk that it was
on is a finding, and another process goes on after it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from time import perf_counter
from typing import Any

from broker_tck.properties.engine.subjects import Subject
from broker_tck.properties.engine.walk import walk_seed
from broker_tck.properties.search.failing import kind
from broker_tck.properties.search.isolation.apart import (
    asked_apart,
    limits_of,
    seed_of,
    walk_of,
    written_down,
)
from broker_tck.properties.search.isolation.guard import MIB, End, Tell
from broker_tck.properties.search.isolation.system import size_of
from broker_tck.properties.search.isolation.unloaded import resolve_unloaded
from broker_tck.properties.search.run import Run, checked
from broker_tck.spark_fuzz.driver.manifest import Manifest, Pair
from broker_tck.spark_fuzz.store.rows import FIGURE, RULE, RULE_WALKS, STATE, Row
from broker_tck.spark_fuzz.worker.findings import Finder
from broker_tck.spark_fuzz.worker.pair_results import Failing, PairResults, Part
from broker_tck.spark_fuzz.worker.races import programs_of, race_rows

COUNTED = 64
"""One walk out of this number counts rules and states, and is judged by the invariants."""


class PairWalker:
    """Walks one pair of a shard, until so many operations are made or enough walks failed."""

    def __init__(self, manifest: Manifest, pair: Pair, seed: int, parent: Any = None) -> None:
        self.subject = subject = resolve_unloaded(pair.subject)
        self.model = subject.contract.model(pair.profile)
        self.seed = seed
        self.operations = max(1, manifest.operations // len(manifest.pairs))
        self.limits = limits_of(subject, manifest.walk_seconds, manifest.walk_memory)
        self.parent = parent
        self.finder = Finder(subject, self.model, self.limits, parent)
        self.work = PairResults()
        self.number = 0
        """The walk to go on with."""
        self.looking: Failing | None = None
        """The walk that findings are being made of."""

    @property
    def left(self) -> int:
        """How many operations are left to make; 0: it is done."""
        return 0 if self.work.over else max(0, self.operations - self.work.figures["operations"])

    def walk_all(self) -> None:
        """Make all walks, by one process after the other."""
        while self.left:
            end = asked_apart(self.subject, self.walk_on, self.limits, self.take, self.parent)
            if isinstance(end, End):
                self.ended(end)

    def walk_on(self, _subject: Subject, tell: Tell) -> None:
        """Make walks and the findings of those that fail; tell of each. It runs in the subject's process.

        What is told is taken here as well, so that both processes know the same.
        """

        def told(what: Part | PairResults) -> None:
            tell(what)
            self.take(what)

        size = size_of()
        while self.left and 2 * (size_of() - size) <= (self.limits.memory or 2**40) * MIB:  # else another one goes on
            told(self.walked())
            if self.looking:
                told(self.found(self.looking))

    def walked(self) -> Part:
        """Make a walk; some are counted, and judged by the invariants."""
        began, run = perf_counter(), Run(self.subject, self.model.PROFILE, self.seed)
        (done,) = checked(run, range(self.number, self.number + 1), COUNTED, judged=COUNTED)
        failing = None
        if run.failing or run.breaches:
            failing = Failing(done, [(invariant, text) for _, invariant, text in run.breaches])
        return Part(run.operations, run.counted, run.met, run.met_in, run.states, perf_counter() - began, failing)

    def found(self, failing: Failing) -> PairResults:
        """Make findings of a walk, and return all results of the pair."""
        began = perf_counter()
        self.keep(failing, self.finder.of_failing, self.finder.of_breach)
        self.work.seconds += perf_counter() - began
        return self.work

    def keep(self, failing: Failing, of_failing: Callable[..., Row], of_breach: Callable[..., Row]) -> None:
        """Make findings of a walk by these functions, unless enough are known that are alike."""
        self.work.figures["failing"] += 1
        walk = failing.walk
        if walk.difference:
            alike = kind(self.subject.contract, walk.operations[-1], walk.difference)
            self.work.keep(alike, partial(of_failing, walk))
        for invariant, text in failing.breaches:
            self.work.keep(invariant, partial(of_breach, walk, invariant, text))

    def take(self, told: Part | PairResults) -> None:
        """Take in the result of a walk, or the results of the pair with the findings of the last walk."""
        if isinstance(told, PairResults):
            self.work, self.looking = told, None
        else:
            self.number += 1
            self.work.add(told)
            self.looking = told.failing

    def ended(self, end: End) -> None:
        """Make a finding of the walk that a process was on when it ended, or as it is of the one it looked at."""
        began = perf_counter()
        if self.looking:
            self.work.fatal += 1
            self.keep(self.looking, self.finder.as_it_is, self.finder.breach_as_it_is)
            self.looking = None
        elif written := written_down(end, self.subject, self.model, self.limits, self.parent):
            seed = seed_of(end) or walk_seed(self.seed, self.number)
            failed = walk_of(written, self.subject, self.model, seed)
            self.number += 1
            self.work.fatal += 1
            self.work.figures.update(walks=1, operations=len(failed.operations), failing=1)
            self.work.keep((failed.operations[-1].tag, end.error), partial(self.finder.of_fatal, failed))
        else:
            self.limits = self.limits._replace(careful=True)
        self.work.seconds += perf_counter() - began


def shard_seed(manifest: Manifest, round_number: int, shard: int) -> int:
    """The seed of a shard's walks in a round; no two shards, rounds or campaigns have the same."""
    return (manifest.seed << 64) + (round_number << 24) + shard


def share_of(manifest: Manifest, round_number: int, shard: int) -> str:
    """What is a shard's own in a round, in words."""
    if not manifest.threads:
        return f"seed {shard_seed(manifest, round_number, shard)}"
    numbers = programs_of(manifest, round_number, shard)
    return f"programs {numbers.start} to {numbers.stop - 1}"


def shard_rows(manifest: Manifest, round_number: int, shard: int, parent: Any = None) -> Iterator[Row]:
    """The rows of a shard in a round. ``parent`` is a stream that ends when no process waits for the rows any more."""
    seed = shard_seed(manifest, round_number, shard)
    for pair in manifest.pairs:
        if manifest.threads:
            yield from race_rows(manifest, pair, programs_of(manifest, round_number, shard), parent)
            continue
        walker = PairWalker(manifest, pair, seed, parent)
        walker.walk_all()
        yield from pair_rows(pair, walker.work)


def pair_rows(pair: Pair, work: PairResults) -> Iterator[Row]:
    """The results of a pair as rows, always in the same order."""
    head = pair.subject, pair.profile
    for name in ("walks", "operations", "counted", "failing"):
        yield Row(FIGURE, *head, name, count=work.figures[name])
    yield Row(FIGURE, *head, "milliseconds", count=round(1000 * work.seconds))
    for number in sorted(work.met):
        yield Row(RULE, *head, number, count=work.met[number])
    for number in sorted(work.met_in):
        # a rule that is a clause and an invariant as well is met twice in a walk
        yield Row(RULE_WALKS, *head, number, count=min(work.met_in[number], work.figures["counted"]))
    for tag, state in sorted(work.states):
        key = " ".join(str(int(part)) for part in state)
        yield Row(STATE, *head, tag, key, work.states[tag, state])
    for found in sorted(work.findings):
        yield work.findings[found]
