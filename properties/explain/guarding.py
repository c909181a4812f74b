"""Runs a subject in a guarded process. If the process ends early, its end becomes the finding."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Generic, NamedTuple, TypeVar

from broker_tck.model.reference import Reference
from broker_tck.properties.engine.check import HANG, unanswered
from broker_tck.properties.engine.operation import clock_of
from broker_tck.properties.engine.subjects import Subject
from broker_tck.properties.engine.walk import Walk
from broker_tck.properties.engine.written import operation_text
from broker_tck.properties.explain.checked import Checked
from broker_tck.properties.explain.diagnose import Diagnoser
from broker_tck.properties.explain.finding import Finding, find, unreduced
from broker_tck.properties.explain.regressions import Regression, in_file
from broker_tck.properties.search.isolation.apart import Apart, limits_of, walk_of, written_down
from broker_tck.properties.search.isolation.guard import (
    FREE,
    End,
    Guarded,
    Limits,
    Tell,
    all_guarded,
    can_fork,
    guarded,
)
from broker_tck.properties.search.isolation.unloaded import loaded
from broker_tck.properties.search.run import Progress, Run

T = TypeVar("T")
PROBE_SECONDS = 0.3
"""Maximum seconds of an operation while the trace of a hang is reduced."""
MOST_UNANSWERED = 24
"""Maximum number of hanging replays in the reduction of a hang. Each costs its limit."""
MOST_STARTED = 24
"""Maximum number of replays in a reduction if each one starts a Java or the like."""
UNREPEATED = (
    "The walk did not fail when it was replayed alone: the subject keeps state between walks, or is not deterministic."
)
NOT_REDUCED = "This trace was not reduced, because shorter traces do not end in the same way."


class Came(NamedTuple):
    """How far a run has come, and the first walk that failed, once it is being looked at."""

    walks: int = 0
    operations: int = 0
    failed: Walk | None = None


@dataclass
class Task(Generic[T]):
    """Something to be done with a subject, under a profile.

    ``work`` does it, in the subject's process. If that ends before its time there is a check with one finding, and
    ``broken`` makes the result of it.
    """

    subject: Subject
    profile: str
    work: Callable[[Subject, Progress], T]
    broken: Callable[[Checked], T]
    seed: int = 0
    kept: Sequence[Regression] = ()
    """The regressions that it runs."""
    careful: bool = False
    """Whether each operation of a walk has the limit for itself from the beginning."""
    came: Came = field(default_factory=Came)
    explaining: bool = False
    """Whether its process has ended, and the trace is being made shorter."""

    def here(self, progress: Progress) -> T:
        """Do it in this process."""
        return self.work(loaded(self.subject), progress)

    def there(self, tell: Tell) -> T:
        """Do it in a process that is guarded."""
        return self.here(lambda run: tell(Came(run.walks, run.operations, run.failing[0] if run.looking else None)))

    def written_down(self, end: End) -> End | None:
        """How the process ended, with the operations that it was on; None if it was slow."""
        subject = self.subject
        return written_down(end, subject, subject.contract.model(self.profile), limits_of(subject))

    def ended(self, end: End, tick: Callable[[], None]) -> T:
        """The result if its process ended early; ``tick`` is called meanwhile."""
        found = guarded(lambda tell: self.broken(self.fatal(end)), FREE, tick=tick)
        return self.broken(self.as_it_is(end)) if isinstance(found, End) else found

    def failed(self, end: End) -> Walk:
        """The trace to report: one that failed before a similar trace ended the process, or else the latter."""
        return self.came.failed or walk_of(end, self.subject, self.subject.contract.model(self.profile))

    def fatal(self, end: End) -> Checked:
        """A check that a subject ended, its trace made shorter by replays that have a process each."""
        subject = loaded(self.subject)
        model = subject.contract.model(self.profile)
        return self.ended_by(end, find_fatal(subject, model, self.failed(end), limits_of(subject)))

    def as_it_is(self, end: End) -> Checked:
        """The same, nothing replayed."""
        return self.ended_by(end, unreduced(self.subject, self.profile, self.failed(end)))

    def ended_by(self, end: End, finding: Finding) -> Checked:
        """A check that ended with this finding."""
        checked = Checked(self.subject, self.profile, self.seed, self.came.walks, self.came.operations)
        checked.findings = [finding]
        if self.came.failed:
            checked.flaky.append(f"{end.message}, on a trace similar to the reported one")
        if kept := next((each for each in self.kept if self.is_on(end, each)), None):
            checked.regressions.failing.append((kept, finding))
            checked.findings = [replace(finding, note=in_file(kept))]
        return checked

    def is_on(self, end: End, kept: Regression) -> bool:
        """Whether a process ended on a regression."""
        walk, trace = walk_of(end, self.subject, self.subject.contract.model(self.profile)), kept.trace
        same = walk.config == trace.config and kept.is_of(self.subject, self.profile)
        return same and walk.operations == [*trace.operations][: len(walk.operations)]


def run_all(
    tasks: Sequence[Task[T]],
    jobs: int,
    told: Callable[[Task[T]], None] = lambda task: None,
    say: Callable[[str], None] = lambda line: None,
) -> Iterator[T]:
    """The results of tasks, in their order, several at a time. ``told`` is called when one makes progress.

    ``say`` is called with a line if a process ends before its time: to make its trace shorter may take a while. If a
    subject is in a Java, and one runs here, all of it is done in this process.
    """
    if not all(can_fork(task.subject.forks) for task in tasks):
        yield from (task.here(partial(in_place, task, told)) for task in tasks)
        return
    guards = {guard_of(task, told, task.careful): index for index, task in enumerate(tasks)}
    waiting, done, number = deque(guards), dict[int, T](), 0

    def tick() -> None:
        told(tasks[min(number, len(tasks) - 1)])

    try:
        for one in all_guarded(waiting, jobs, tick=tick):
            index = guards[one]
            task = tasks[index]
            end = task.written_down(one.result) if isinstance(one.result, End) else None
            if end:
                say(in_a_line(task, end))
                task.explaining = True
                done[index] = task.ended(end, tick)
            elif isinstance(one.result, End):
                again = guard_of(task, told, careful=True)
                guards[again] = index
                waiting.appendleft(again)
            else:
                done[index] = one.result
            while number in done:
                number += 1
                yield done.pop(number - 1)
    except KeyboardInterrupt:
        yield from (done[index] for index in sorted(done))
        raise


def in_place(task: Task[T], told: Callable[[Task[T]], None], run: Run) -> None:
    """Take down how far a task has come in this process."""
    task.came = Came(run.walks, run.operations)
    told(task)


def guard_of(task: Task[T], told: Callable[[Task[T]], None], careful: bool = False) -> Guarded[T]:
    """The guarded process of a task, in which each operation of a walk has the limit for itself, or a few together."""

    def came(message: Came) -> None:
        task.came = message
        told(task)

    limits = limits_of(task.subject)._replace(careful=careful)
    return Guarded(task.there, limits, came, task.subject.name)


def run_one(task: Task[T], say: Callable[[str], None] = lambda line: None) -> T:
    """The result of a task."""
    (found,) = run_all([task], 1, say=say)
    return found


def in_a_line(task: Task[Any], end: End) -> str:
    """How a process ended, and on which operation."""
    who = f"{task.subject.name} ({task.profile}): {end.message}"
    if len(end.trace) < 2:
        return f"{who}, while it was being made"
    done = walk_of(end, task.subject, task.subject.contract.model(task.profile))
    operation = operation_text(done.operations[-1], clock_of(done.config))
    return f"{who}, at operation {len(done.operations)}, {operation}; its trace is being reduced"


# ---- Findings without an answer: each replay has a process of its own


def find_fatal(subject: Subject, model: type[Reference], failed: Walk, limits: Limits, parent: Any = None) -> Finding:
    """Make a finding of a trace on which, or near which, a subject ends its process or does not come back.

    No known mistake is compared with the subject; the contract's table names the rule. If the trace was not reduced,
    the note says why.
    """
    judge = Apart(subject, limits, parent)
    hangs = subject.forks and failed.difference and unanswered(failed.difference) == HANG
    probing = Apart(subject, limits, parent, None if subject.forks else MOST_STARTED)
    if hangs:
        probing = Apart(subject, limits._replace(seconds=PROBE_SECONDS), parent, MOST_UNANSWERED)
    again = judge.failure(subject, model, failed.config, failed.operations)
    if again is None:
        return unreduced(subject, model.PROFILE, failed, note=UNREPEATED)
    told = Walk(failed.seed, failed.config, [*failed.operations[: again[0] + 1]], again[1])
    asked_apart = NotAsked(**vars(subject))
    finding = find(Diagnoser(asked_apart, model), told, probing.failure)
    if finding:
        last = judge.failure(subject, model, finding.config, finding.operations)
        if last and last[0] == len(finding.operations) - 1:
            return finding
    return unreduced(subject, model.PROFILE, told, note=NOT_REDUCED)


class NotAsked(Subject):
    """A subject that must not run in this process."""

    def adapter(self, config: Any, capabilities: Any) -> Any:
        """It cannot be."""
        raise RuntimeError("the subject is asked for nothing in this process")
