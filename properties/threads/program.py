"""Programs for several threads, and schedules, as data and as text.

The text of a program is that of a trace in parts, with ``|`` between them: what is done before, the calls of each
thread, and what is asked when all have ended. ``PROGRAM @ SCHEDULE`` replays one run.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import msgspec

from broker_tck.properties.engine.concurrent import Concurrent
from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.engine.operation import Operation, clock_of, tag_of
from broker_tck.properties.engine.registry import CONTRACTS
from broker_tck.properties.engine.trace import from_text, to_text
from broker_tck.properties.engine.written import operation_text, short
from broker_tck.properties.errors import BadInput

Operations = tuple[Operation, ...]
Schedule = tuple[tuple[int, int], ...]
"""At which points of a run which thread goes on; at all others, the one that ran."""
BETWEEN = re.compile(r"(?:^|\s)\|(?=\s|$)")
PARTS = "'before | calls of a thread | calls of another | after'"
MOST_THREADS = 8


class Plain(NamedTuple):
    """A program as JSON has it; an operation is an array, as in a trace."""

    config: dict[str, Any]
    before: list[list[Any]]
    threads: list[list[list[Any]]]
    after: list[list[Any]]


@dataclass(frozen=True)
class Program:
    """Calls of several threads, and what one thread alone does before and after."""

    contract: Contract
    profile: str
    config: Any
    before: Operations
    threads: tuple[Operations, ...]
    after: Operations

    @property
    def operations(self) -> Operations:
        """All its operations, thread after thread."""
        return (*self.before, *(call for calls in self.threads for call in calls), *self.after)

    def with_operations(self, operations: Sequence[Operation]) -> Program:
        """The program with as many operations in place of its own."""
        left = iter(operations)
        before, *threads, after = (tuple(next(left) for _ in part) for part in (self.before, *self.threads, self.after))
        return replace(self, before=before, threads=(*threads,), after=after)

    def plain(self) -> Plain:
        """The program as JSON has it."""
        return Plain(*map(msgspec.to_builtins, (self.config, self.before, self.threads, self.after)))

    def __str__(self) -> str:
        clock = clock_of(self.config)
        first = to_text(self.contract, self.profile, self.config, self.before)
        parts = ["; ".join(operation_text(o, clock) for o in part) for part in (*self.threads, self.after)]
        return " | ".join([first, *parts]).strip()


def parsed(text: str, of: Contract | None = None) -> Program:
    """The program of a line of text. Raises BadInput with the place.

    ``of`` is what a class that is a part of a contract has in place of the contract.
    """
    first, *parts = (part.strip() for part in BETWEEN.split(text))
    if len(parts) < 3:
        raise BadInput(f"{short(text)!r} is not a program of threads; write {PARTS}, with {len(parts)} of 3 '|' there")
    if len(parts) > MOST_THREADS + 1:
        raise BadInput(f"{short(text)!r} has {len(parts) - 1} threads; there may be {MOST_THREADS}")
    head = first.partition(";")[0].strip()
    if head.split(" ")[0] not in CONTRACTS:
        raise BadInput(f"a program begins with its contract ({', '.join(CONTRACTS)}), not with {short(head)!r}")
    before = from_text(first, "before")
    contract = of if of and of.name == before.contract.name else before.contract
    promised(contract)
    names = [*(f"thread {i}" for i in range(len(parts) - 1)), "after"]
    told = [tuple(from_text(f"{head}; {part}", name).operations) for name, part in zip(names, parts, strict=True)]
    return checked(Program(contract, before.profile, before.config, (*before.operations,), (*told[:-1],), told[-1]))


def promised(contract: Contract) -> Concurrent:
    """What a contract promises of the calls of several threads. Raises BadInput if it promises nothing."""
    if contract.concurrent is None:
        able = ", ".join(name for name, contract in CONTRACTS.items() if contract.concurrent)
        raise BadInput(f"{contract.name} promises nothing of calls of several threads; these contracts do: {able}")
    return contract.concurrent


def checked(program: Program) -> Program:
    """The program. Raises BadInput if a thread calls what threads cannot call at the same time."""
    concurrent = promised(program.contract)
    for number, calls in enumerate(program.threads):
        if not calls:
            raise BadInput(f"thread {number}: a thread must make a call")
        for operation in calls:
            if type(operation) not in concurrent.able:
                known = ", ".join(map(tag_of, concurrent.able))
                raise BadInput(f"thread {number}: a thread cannot call {operation.tag!r}; it can call: {known}")
    return program


def replayed(text: str, of: Contract | None = None) -> tuple[Program, Schedule]:
    """The program and the schedule of ``PROGRAM @ SCHEDULE``. Raises BadInput with the place."""
    program, found, schedule = text.rpartition(" @")
    return (parsed(program, of), scheduled(schedule)) if found else (parsed(text, of), ())


def scheduled(text: str) -> Schedule:
    """The schedule of a text such as ``12>1 30>0``."""
    switches = []
    for word in text.split():
        if not (read := re.fullmatch(r"(\d{1,9})>(\d{1,2})", word)):
            raise BadInput(f"schedule: {short(word)!r} is not 'point>thread', for example 12>1")
        switches.append((int(read[1]), int(read[2])))
    return (*switches,)


def schedule_text(schedule: Sequence[tuple[int, int]]) -> str:
    """The text of a schedule."""
    return " ".join(f"{point}>{thread}" for point, thread in schedule)


def replay_text(program: Program, schedule: Schedule) -> str:
    """What replays a run."""
    return f"{program} @ {schedule_text(schedule)}".rstrip()


# ---- Programs with less in them


def shorter(program: Program) -> list[Program]:
    """The programs with one thread, or one operation, fewer. Two threads stay."""
    threads = program.threads
    fewer = [replace(program, threads=without(threads, i)) for i in range(len(threads)) if len(threads) > 2]
    fewer += [replace(program, before=without(program.before, i)) for i in range(len(program.before))]
    fewer += [
        replace(program, threads=(*threads[:t], without(calls, i), *threads[t + 1 :]))
        for t, calls in enumerate(threads)
        for i in range(len(calls))
        if len(calls) > 1
    ]
    return fewer + [replace(program, after=without(program.after, i)) for i in range(len(program.after))]


def without(items: tuple[Any, ...], i: int) -> tuple[Any, ...]:
    """The items but for one."""
    return (*items[:i], *items[i + 1 :])
