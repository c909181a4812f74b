"""Findings of subjects that end their process, or do not come back: each replay has a process of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import msgspec

from broker_tck.model.reference import Reference
from broker_tck.properties.engine.blackbox import WALK
from broker_tck.properties.engine.check import HANG, no_answer, unanswered
from broker_tck.properties.engine.choices import SeededChoices
from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.engine.operation import Operation, bulk
from broker_tck.properties.engine.subjects import Subject
from broker_tck.properties.engine.walk import OPERATIONS, Walk, generated, walk
from broker_tck.properties.explain.diagnose import Diagnoser
from broker_tck.properties.explain.finding import Failure, Finding, failure, find, unreduced
from broker_tck.properties.search.isolation.guard import MEMORY, SECONDS, End, Limits, Tell, can_fork, guarded
from broker_tck.properties.search.isolation.unloaded import loaded

PROBE_SECONDS = 0.3
"""How long an operation may take while the trace of a hang is made shorter."""
MOST_UNANSWERED = 24
"""So many traces that are not answered a hang is reduced by: each costs its limit."""
MOST_STARTED = 24
"""So many replays a trace is reduced by if each starts much anew, as a Java."""
MAKING = 24
"""So many times as long may it take to be made for the first time what is more than a Python object."""
UNREPEATED = (
    "It did not fail again when it was replayed alone: the subject keeps something from walk to walk, or chance."
)
NOT_REDUCED = "It was not reduced: a shorter trace does not end in the same way."


Asked = tuple[type[Reference], Any, Sequence[Operation]]
"""A trace to be replayed: beside which model, how the subject is configured, and what it is asked for."""


class Fatal(NamedTuple):
    """The finding of a subject that gives no answer, and why it is not as findings are; empty: it is."""

    finding: Finding
    note: str = ""


def limits_of(subject: Subject, seconds: float = SECONDS, memory: int | None = MEMORY) -> Limits:
    """What the process of a subject may take."""
    return Limits(seconds, memory) if subject.forks else Limits(seconds, None, MAKING)


def does_in_bulk(contract: Contract, line: bytes) -> int:
    """How much an operation does in bulk, given as JSON."""
    return bulk([msgspec.json.decode(line, type=contract.operations)])


class Apart:
    """Replays traces of a subject, each in a process of its own.

    Once ``most`` were not answered, or were made of a subject that starts much anew, no other fails.
    """

    def __init__(self, subject: Subject, limits: Limits, parent: Any = None, most: int | None = None) -> None:
        self.subject = subject
        self.limits = limits
        self.parent = parent
        self.left = most
        self.known: dict[tuple[Any, tuple[Operation, ...]], Failure | None] = {}

    def failure(
        self, subject: Subject, model: type[Reference], config: Any, operations: Sequence[Operation]
    ) -> Failure | None:
        """Where a trace fails, and how; at the operation that is not answered, if one is not. Each is replayed once."""
        trace = config, tuple(operations)
        if trace not in self.known and self.left != 0:
            found = self.known[trace] = self.replayed(subject, model, config, operations)
            if found:
                self.known[config, trace[1][: found[0] + 1]] = found
        return self.known.get(trace)

    def replayed(
        self, subject: Subject, model: type[Reference], config: Any, operations: Sequence[Operation]
    ) -> Failure | None:
        """The same, of a trace that is not known. A subject that is asked for nothing does not fail."""
        if not operations:
            return None
        if not can_fork(subject.forks):
            return failure(subject, model, config, operations)
        found = guarded(
            lambda tell: failure(loaded(subject), model, config, operations),
            self.limits,
            bulk=partial(does_in_bulk, subject.contract),
            name=subject.name,
            parent=self.parent,
        )
        if self.left and (isinstance(found, End) or not subject.forks):
            self.left -= 1
        if isinstance(found, End):
            return max(0, len(found.trace) - 2), no_answer(found.error, found.message)
        return found


def all_apart(subject: Subject, asked: Sequence[Asked]) -> Iterator[Failure | None]:
    """Where each of some traces fails. One process replays them all; after one that ends it, another goes on.

    One that fails is replayed alone as well: what is told of it then does not depend on the others.
    """
    if not can_fork(subject.forks):
        yield from (failure(subject, *each) for each in asked)
        return
    limits, done = limits_of(subject), 0
    judge = Apart(subject, limits)
    while done < len(asked):
        found: list[Failure | None] = []
        end = guarded(
            partial(replay_each, subject, asked[done:]),
            limits,
            found.append,
            partial(does_in_bulk, subject.contract),
            subject.name,
        )
        if isinstance(end, End) and len(found) == len(asked) - done:  # it ended behind the last one
            found.pop()
        for number, each in enumerate(found, done):
            yield judge.failure(subject, *asked[number]) if each else None
        done += len(found)
        if done < len(asked):
            yield judge.failure(subject, *asked[done])
            done += 1


def replay_each(subject: Subject, asked: Sequence[Asked], tell: Tell) -> None:
    """Tell where each of some traces fails."""
    for each in asked:
        tell(failure(loaded(subject), *each))


def seed_of(end: End) -> int | None:
    """The seed of the walk that a process was on when it ended; None: each operation is written down, or no walk."""
    line = end.trace[0] if end.trace else b""
    return int(line.removeprefix(WALK)) if line.startswith(WALK) else None


def written_down(end: End, subject: Subject, model: type[Reference], limits: Limits, parent: Any = None) -> End | None:
    """How a process ended, with the operations of the walk that it was on: it is made again, each written down.

    None: it was slow and does not hang, as no operation takes too long that has the limit for itself.
    """
    seed = seed_of(end)
    if seed is None:
        return end
    again = guarded(
        lambda tell: walk(subject.contract, seed, loaded(subject).rig, model, subject.capabilities),
        limits,
        bulk=partial(does_in_bulk, subject.contract),
        name=subject.name,
        parent=parent,
    )
    if isinstance(again, End):
        return again
    trace = tuple(map(msgspec.json.encode, (again.config, *again.operations)))
    return None if end.error == HANG else end._replace(trace=trace)


def walk_of(end: End, subject: Subject, model: type[Reference], seed: int | None = None) -> Walk:
    """The trace that a process was on when it ended. A subject that was just being made was asked for something."""
    contract = subject.contract
    config = msgspec.json.decode(end.trace[0], type=contract.config) if end.trace else contract.config()
    operations = [msgspec.json.decode(line, type=contract.operations) for line in end.trace[1:]]
    if not operations:
        choices = SeededChoices(0)
        operations = [next(generated(contract, model(config), choices, subject.capabilities, OPERATIONS))]
    return Walk(seed, config, operations, no_answer(end.error, end.message))


def find_fatal(subject: Subject, model: type[Reference], failed: Walk, limits: Limits, parent: Any = None) -> Fatal:
    """Make a finding of a trace on which a subject ends its process or does not come back, or does so near it.

    No known way is compared with the subject: its rule is that of the contract's table.
    """
    judge = Apart(subject, limits, parent)
    hangs = subject.forks and failed.difference and unanswered(failed.difference) == HANG
    probing = Apart(subject, limits, parent, None if subject.forks else MOST_STARTED)
    if hangs:
        probing = Apart(subject, limits._replace(seconds=PROBE_SECONDS), parent, MOST_UNANSWERED)
    again = judge.failure(subject, model, failed.config, failed.operations)
    if again is None:
        return Fatal(unreduced(subject, model.PROFILE, failed), UNREPEATED)
    diagnoser = Diagnoser(subject.contract, model, not_asked, subject.capabilities)
    upto = failed.operations[: again[0] + 1]
    finding = find(subject, diagnoser, failed.config, upto, failed.seed, probing.failure)
    if finding:
        last = judge.failure(subject, model, finding.config, finding.operations)
        if last and last[0] == len(finding.operations) - 1:
            return Fatal(finding)
    told = Walk(failed.seed, failed.config, [*upto], again[1])
    return Fatal(unreduced(subject, model.PROFILE, told), NOT_REDUCED)


def not_asked(_config: Any, _capabilities: Any) -> Any:
    """Stands for a subject on its rig that is not asked in this process."""
    raise RuntimeError("the subject is asked for nothing in this process")
