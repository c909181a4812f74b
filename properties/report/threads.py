"""A race as a typed record, and as text: what is broken, and the threads side by side with what led to it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

import msgspec

from broker_tck.implementations.jvm.weaving import Passed
from broker_tck.implementations.released import options
from broker_tck.model.reference import Reference
from broker_tck.properties.engine.operation import Operation, clock_of
from broker_tck.properties.engine.subjects import Subject
from broker_tck.properties.engine.written import operation_text, unit_of, value_text
from broker_tck.properties.report.lines import filled
from broker_tck.properties.threads.history import answer, history_of, step_of
from broker_tck.properties.threads.judge import Judge
from broker_tck.properties.threads.program import Program, Schedule, replay_text
from broker_tck.properties.threads.search import Explorer
from broker_tck.properties.threads.verdict import Verdict, judged

AROUND = 2
"""Number of points that are shown before a switch between threads."""
NARROWEST = 24
"""The least width of a thread's column."""


class RaceResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """A run of a program of threads, and the promise that it breaks."""

    subject: str
    profile: str
    program: str
    schedule: str
    history: str
    replay: str
    """The command that replays it."""
    threads: list[list[str]]
    """The lines of the table: a cell for each thread."""
    before: list[str]
    """The calls at rest before the threads start, with their results."""
    after: list[str]
    broken: str = ""
    """The promise; empty if the model allows the history."""
    rule: str = ""
    sentence: str = ""
    where: str = ""
    """What differs: a call, or what was observed after one."""
    expected: tuple[str, ...] = ()
    seen: str = ""

    def story(self, width: int) -> str:
        """The run as text."""
        return "\n".join(story(self, width))


def race_result(
    subject: Subject, model: type[Reference], explorer: Explorer, program: Program, schedule: Schedule
) -> RaceResult:
    """Run a program under a schedule, and judge what happens."""
    text, trail = explorer.follow(program.plain(), schedule)
    history = history_of(text)
    verdict = judged(Judge(program, model), history)
    replay = f"broker-tck threads --subject {shlex.quote(subject.name)} {options(subject.name)}--replay "
    result = RaceResult(
        subject.name,
        program.profile,
        str(program),
        replay_text(program, schedule).removeprefix(f"{program} @ "),
        text,
        replay + shlex.quote(replay_text(program, schedule)),
        [*table(program, {event[:2]: event.result for event in history.events if event.result is not None}, trail)],
        [rested(program, *each) for each in zip(program.before, history.before, strict=False)],
        [rested(program, *each) for each in zip(program.after, history.after, strict=False)],
    )
    return with_verdict(result, program, verdict) if verdict else result


def with_verdict(result: RaceResult, program: Program, verdict: Verdict) -> RaceResult:
    """A result with the promise that is broken."""
    rule = program.contract.rules[verdict.rule]
    return msgspec.structs.replace(
        result,
        broken=verdict.promise.value,
        rule=rule.number,
        sentence=rule.sentence,
        where=verdict.where,
        expected=verdict.expected,
        seen=verdict.seen,
    )


def rested(program: Program, operation: Operation, outcome: str) -> str:
    """A call at rest with its result, and what was observed."""
    clock = clock_of(program.config)
    step = step_of(operation, outcome)
    names = zip(program.contract.observables, step.seen, strict=False)
    observed = [f"{name} {value_text(value, clock, program.contract.units.get(name, ''))}" for name, value in names]
    result = [] if step.result is None else [value_text(step.result, clock, operation.unit)]
    said = ", ".join([*result, *observed])
    return f"{operation_text(operation, clock)} -> {said}" if said else operation_text(operation, clock)


# ---- The threads side by side


def table(program: Program, results: dict[tuple[int, int], str], trail: Sequence[Passed]) -> Iterator[list[str]]:
    """The begins and ends of calls, and the points around each switch, a cell for each thread."""
    places = {passed.where.split(".")[0] for passed in trail if passed.where}
    shown = of_interest(trail)
    for told, together in groupby(enumerate(trail), lambda each: each[0] in shown):
        passed = [each for _, each in together]
        if told or len(passed) == 1:
            for each in passed:
                yield in_column(program, each.thread, cell(program, results, each, len(places) == 1))
        else:
            yield in_column(program, passed[0].thread, f"  … {len(passed)} points")


def of_interest(trail: Sequence[Passed]) -> set[int]:
    """The numbers of what is shown: calls, and points on both sides of a switch."""
    calls = {i for i, passed in enumerate(trail) if not passed.where}
    switches = [i for i, (one, other) in enumerate(pairwise(trail), 1) if one.thread != other.thread]
    return calls | {i for switch in switches for i in range(switch - AROUND, switch + 1)}


def in_column(program: Program, thread: int, text: str) -> list[str]:
    """A line with a text in the column of a thread."""
    return ["" if i != thread else text for i in range(len(program.threads))]


def cell(program: Program, results: dict[tuple[int, int], str], passed: Passed, one_class: bool) -> str:
    """What a thread passed."""
    if passed.where:
        place = passed.where.partition(".")[2] if one_class else passed.where
        return f"  {place} {passed.what}"
    what, number = passed.what.split()
    operation = program.threads[passed.thread][int(number)]
    clock = clock_of(program.config)
    if what == "begins":
        return operation_text(operation, clock)
    result = value_text(
        answer(results[passed.thread, int(number)]), clock, unit_of(program.contract, operation, "result")
    )
    return f"-> {result}"


def story(told: RaceResult, width: int) -> Iterator[str]:
    """The lines of a run as text."""
    if told.broken:
        yield from filled("", f"{told.subject} ({told.profile}) breaks a promise: {told.broken}", width)
        yield from filled("  where      ", told.where, width)
        yield from filled("  expected   ", " or ".join(told.expected) or "something else", width)
        yield from filled("  seen       ", told.seen, width)
        yield from filled("  look at    ", f"{told.rule}: {told.sentence}", width)
    else:
        yield f"{told.subject} ({told.profile}): the model allows this history"
    yield ""
    yield from (f"  before     {line}" for line in told.before)
    yield from side_by_side(told.threads)
    yield from (f"  after      {line}" for line in told.after)
    yield ""
    yield f"  {told.replay}"


def side_by_side(lines: Sequence[Sequence[str]]) -> Iterator[str]:
    """The table of the threads; nothing if none has begun, because the run got stuck before."""
    widths = [max(NARROWEST, *map(len, column)) for column in zip(*lines, strict=True)]
    heads = [f"thread {i}" for i in range(len(widths))]
    for line in (heads, *lines) if lines else ():
        yield "  " + "  ".join(text.ljust(size) for text, size in zip(line, widths, strict=True)).rstrip()
