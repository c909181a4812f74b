"""Replays that a subject cannot hurt: each in a process of its own, where it may hang, eat memory, exit or crash.

Where a subject lives in this process for good, nothing is replayed in a fork of it, see
:mod:`~broker_tck.properties.isolation.resident`. Such a subject has its own ways of ending what hangs or eats memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from broker_tck.model.reference import Reference
from broker_tck.properties.engine.check import HANG, Difference, no_answer, replay_differs, unanswered
from broker_tck.properties.engine.operation import Operation, bulk
from broker_tck.properties.engine.subjects import Subject
from broker_tck.properties.findings.finding import PROBE_SECONDS, Failure, Judge, failure
from broker_tck.properties.isolation.process import Death, Isolation
from broker_tck.properties.isolation.resident import HERE
from broker_tck.properties.isolation.watchdog import patience

Asked = tuple[Any, Sequence[Operation]]
"""A trace without its outcomes: how the subject is configured, and what it is asked."""
MEMORY = 256
"""How many MiB a subject may take over one trace."""


class Protected:
    """Replays traces, each in a process of its own, under the limits of an :class:`Isolation`.

    ``seconds`` limits each operation; one that does more in bulk has as much again for each thousand.
    """

    def __init__(self, seconds: float, memory: int | None = MEMORY, parent: Any = None, first: float = 0) -> None:
        self.seconds = seconds
        self.isolation: Isolation[Failure | None] = Isolation(seconds, memory, parent, first)

    def failure(
        self, subject: Subject, model: type[Reference], config: Any, operations: Sequence[Operation]
    ) -> Failure | None:
        """Where a trace fails, and how; at the operation that was not answered, if one is not."""
        return next(self.failures(subject, model, [(config, operations)])) if operations else None

    def failures(self, subject: Subject, model: type[Reference], traces: Sequence[Asked]) -> Iterator[Failure | None]:
        """Where each trace fails, and how. One process replays them all; after one that it dies of, another goes on."""
        isolation, done = self.isolation, 0
        isolation.seconds = max((patience(self.seconds, bulk(operations)) for _, operations in traces), default=0)
        while done < len(traces):
            for answer in isolation.run_each(self.replay(subject, model, *trace) for trace in traces[done:]):
                done += 1
                yield (max(isolation.mark.get(), 0), no_answer(*answer)) if isinstance(answer, Death) else answer

    def replay(
        self, subject: Subject, model: type[Reference], config: Any, operations: Sequence[Operation]
    ) -> Callable[[], Failure | None]:
        """What replays a trace, marking how far it has come."""

        def replayed() -> Failure | None:
            self.isolation.seconds = patience(self.seconds, bulk(operations))
            made = partial(subject.rig, config, subject.capabilities)
            marked = partial(self.isolation.marking, operations)
            return replay_differs(marked, partial(model, config), made, subject.contract.dear)

        return replayed


class Few:
    """Replays few traces, each once: of more than ``most``, those count as if they did not fail."""

    def __init__(self, judge: Judge, most: int) -> None:
        self.judge = judge
        self.left = most
        self.known: dict[tuple[Any, tuple[Operation, ...]], Failure | None] = {}

    def failure(
        self, subject: Subject, model: type[Reference], config: Any, operations: Sequence[Operation]
    ) -> Failure | None:
        """Where a trace fails, and how."""
        trace = config, tuple(operations)
        if trace not in self.known and self.left:
            self.left -= 1
            found = self.known[trace] = self.judge(subject, model, config, operations)
            if found:
                self.known[config, trace[1][: found[0] + 1]] = found
        return self.known.get(trace)


def stays(subject: Subject) -> bool:
    """Whether a subject is replayed in this very process: it, or one that lives here, is not to be forked."""
    return bool(HERE.names) or not subject.forks


def replayed(
    subject: Subject, model: type[Reference], config: Any, operations: Sequence[Operation], seconds: float
) -> Failure | None:
    """Where a trace fails, and how: in a process of its own, or in this one where it cannot be forked."""
    if stays(subject):
        return failure(subject, model, config, operations, seconds)
    return Protected(seconds).failure(subject, model, config, operations)


def all_replayed(
    subject: Subject, model: type[Reference], traces: Sequence[Asked], seconds: float
) -> Iterator[Failure | None]:
    """Where each of some traces fails, and how, all in one process; one that fails there is replayed alone as well.

    What is told of it then does not depend on the others.
    """
    if stays(subject):
        yield from (failure(subject, model, *trace, seconds) for trace in traces)
        return
    for trace, found in zip(traces, Protected(seconds).failures(subject, model, traces), strict=True):
        yield replayed(subject, model, *trace, seconds) if found else None


def probing(difference: Difference, seconds: float, memory: int | None = MEMORY, parent: Any = None) -> Protected:
    """Replays to reduce a trace by that has no answer. Little time is spent on a hang; all else ends by itself."""
    return Protected(PROBE_SECONDS if unanswered(difference) == HANG else seconds, memory, parent)
