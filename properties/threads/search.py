"""The search for races: programs drawn, run under many schedules, and each of their different histories judged once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count, islice
from time import perf_counter
from typing import Protocol

from broker_tck.implementations.jvm.weaving import Explored, Passed, Seen
from broker_tck.model.reference import Reference
from broker_tck.properties.threads.history import history_of
from broker_tck.properties.threads.judge import Judge
from broker_tck.properties.threads.program import Plain, Program, Schedule
from broker_tck.properties.threads.verdict import Promise, Verdict, judged

MOST_FAILING = 40
"""Maximum number of histories of a program that are looked at after the judge has found them wrong."""


class Explorer(Protocol):
    """Runs programs on fresh subjects, under schedules."""

    def explore(self, program: Plain, preemptions: int, most: int, drawn: int, seed: int) -> Explored:
        """Try all schedules of so few preemptions, so many at most, then as many drawn ones."""

    def follow(self, program: Plain, schedule: Schedule) -> tuple[str, Sequence[Passed]]:
        """Run one schedule; answers with its history, and all that the threads passed."""


@dataclass(frozen=True)
class Budget:
    """How far a search goes."""

    programs: int | None = None
    """Number of programs; None: as many as there is time for."""
    seconds: float | None = None
    preemptions: int = 2
    """All schedules with so many preemptions at most are tried."""
    schedules: int = 1_000
    """Maximum number of schedules of a program."""
    drawn: int = 0
    """Number of schedules that are drawn beside these."""


@dataclass(frozen=True)
class Race:
    """A history that the model does not allow, and what led to it."""

    program: Program
    seen: Seen
    verdict: Verdict

    @property
    def effort(self) -> tuple[int, int]:
        """How much it needs: operations, and switches between threads."""
        return len(self.program.operations), len(self.seen.schedule)


@dataclass
class Searched:
    """What a search tried and found."""

    programs: int = 0
    schedules: int = 0
    histories: int = 0
    running: float = 0
    """Seconds that schedules took."""
    judging: float = 0
    """Seconds that the judge took."""
    failing: int = 0
    """Programs with a race."""
    breaking: dict[Promise, list[int]] = field(default_factory=dict)
    """The numbers of the programs that break each promise."""
    races: dict[Promise, Race] = field(default_factory=dict)
    """The least race of each promise."""


class Searcher:
    """Searches the races of a subject, which an explorer runs."""

    def __init__(self, explorer: Explorer, model: type[Reference], budget: Budget, seed: int) -> None:
        self.explorer, self.model, self.budget, self.seed = explorer, model, budget, seed
        self.found = Searched()

    def search(
        self, draw: Callable[[int], Program], tell: Callable[[Searched, float], None], first: int = 0
    ) -> Searched:
        """Try program after program from one on, until the budget is used up.

        ``tell`` gets what was found, and the seconds.
        """
        found, budget, start = self.found, self.budget, perf_counter()
        for number in count(first) if budget.programs is None else range(first, first + budget.programs):
            if budget.seconds is not None and perf_counter() - start >= budget.seconds:
                break
            program = draw(number)
            found.programs += 1
            if len(program.threads) > 1:
                self.take(number, program)
            tell(found, perf_counter() - start)
        return found

    def take(self, number: int, program: Program) -> None:
        """Try a program, and keep the races that need less than those before that break the same promise."""
        found, start = self.found, perf_counter()
        explored = self.explored(program, self.budget.preemptions)
        between = perf_counter()
        races = [*islice(self.judged(program, explored), MOST_FAILING)]
        found.schedules += explored.schedules
        found.histories += len(explored.histories)
        found.failing += bool(races)
        found.running += between - start
        found.judging += perf_counter() - between
        for promise in {race.verdict.promise for race in races}:
            found.breaking.setdefault(promise, []).append(number)
        for race in races:
            known = found.races.get(race.verdict.promise)
            if known is None or race.effort < known.effort:
                found.races[race.verdict.promise] = race

    def explored(self, program: Program, preemptions: int) -> Explored:
        """Run a program under all schedules of so few preemptions that the budget allows."""
        budget = self.budget
        return self.explorer.explore(program.plain(), preemptions, budget.schedules, budget.drawn, self.seed)

    def judged(self, program: Program, explored: Explored) -> Iterator[Race]:
        """The races among the histories of a program, those with the fewest switches first."""
        judge = Judge(program, self.model)
        for seen in sorted(explored.histories, key=lambda seen: len(seen.schedule)):
            if verdict := judged(judge, history_of(seen.text)):
                yield Race(program, seen, verdict)

    def likewise(self, program: Program, race: Race) -> tuple[Race | None, int]:
        """The race of a program that breaks the same promise as ``race``, with the fewest switches, at most as many.

        Also answers with the number of schedules that were run.
        """
        explored = self.explored(program, min(self.budget.preemptions, len(race.seen.schedule)))
        same = (found for found in self.judged(program, explored) if found.verdict.promise == race.verdict.promise)
        return next(same, None), explored.schedules
