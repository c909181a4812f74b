"""Findings of a shard: failing walks, reduced and diagnosed in processes of their own, as rows."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from os import write
from typing import Any, TypeAlias

import msgspec

from broker_tck.model.reference import Reference
from broker_tck.properties.engine.check import HANG, RESULT, Difference, no_answer, unanswered
from broker_tck.properties.engine.choices import SeededChoices
from broker_tck.properties.engine.operation import Operation, shape
from broker_tck.properties.engine.subjects import Subject
from broker_tck.properties.engine.walk import OPERATIONS, Walk, generated, walk
from broker_tck.properties.findings.diagnose import Diagnoser
from broker_tck.properties.findings.document import document
from broker_tck.properties.findings.finding import PROBE_SECONDS, Finding, Judge, find, find_breach, unreduced
from broker_tck.properties.isolation.process import Death, Isolation
from broker_tck.properties.isolation.protected import Few, Protected, probing
from broker_tck.spark_fuzz.store.rows import FINDING, Row

OPERATION = 4
"""An operation may take this part of what a walk may take, where it is looked for the one that never ends."""
FIND_SECONDS = 120.0
"""How long it may take to reduce and diagnose a failing walk."""
HANG_SECONDS = 600.0
"""The same where there is no answer, and each replay in the same process ends when its own limit does."""
RESIDENT_START = 60.0
"""How long a process may take, in seconds of the processor, until a subject that is not forked has come up in it."""
RESIDENT_PROBES = 24
"""How many replays a walk is reduced by that ends the process of such a subject: each is a process that starts anew."""
NOT_REDUCED = "It was not reduced: traces near it end the subject's process."
UNREPEATED = (
    "It did not fail again when it was replayed alone: the subject keeps something from walk to walk, or chance."
)


Make: TypeAlias = Callable[[], Row | None]
"""Reduces a walk; None: it does not fail again."""
Made: TypeAlias = Callable[[Walk, Make], Row | Death | None]
"""Has a walk reduced somewhere, where it can do no harm."""


class Finder:
    """Makes rows of the failing walks of one subject under one profile."""

    def __init__(
        self,
        subject: Subject,
        model: type[Reference],
        seconds: float,
        memory: int,
        parent: Any,
        made: Made | None = None,
    ) -> None:
        self.subject = subject
        self.model = model
        limit, first = (memory, 0.0) if subject.forks else (None, RESIDENT_START)
        self.operation = max(seconds / OPERATION, PROBE_SECONDS)
        self.walking: Isolation[None] = Isolation(self.operation, limit, parent, first)
        self.limits = seconds, memory, parent
        self.finding: Isolation[Row | None] = Isolation(FIND_SECONDS, memory, parent)
        self.made: Made = made or (lambda failed, make: self.finding.run(make))

    def diagnoser(self) -> Diagnoser:
        """One that knows nothing yet."""
        return Diagnoser(self.subject.contract, self.model, self.subject.rig, self.subject.capabilities)

    def of_failing(self, failed: Walk) -> Row:
        """The row of a walk that failed."""
        assert failed.difference
        if unanswered(failed.difference) and self.subject.forks:
            return self.of_fatal(failed)

        def found() -> Row | None:
            finding = find(self.subject, self.diagnoser(), failed.config, failed.operations, failed.seed)
            return row_of(finding) if finding else None

        row = self.made(failed, found)
        if isinstance(row, Death):
            return self.of_fatal(failed) if self.subject.forks else self.as_it_is(failed, NOT_REDUCED)
        return row or self.as_it_is(failed, UNREPEATED)

    def of_breach(self, done: Walk, number: str, text: str) -> Row:
        """The row of a walk that agrees with the model and breaks a law, or differs from its variation."""

        def found() -> Row | None:
            finding = find_breach(self.subject, self.model, number, done)
            return row_of(finding) if finding else None

        row = self.made(done, found)
        if row and not isinstance(row, Death):
            return row
        broken = replace(done, difference=Difference(RESULT, f"{number} to hold", text))
        return self.as_it_is(broken, f"{number} does not hold: {text}", number)

    def of_fatal(self, failed: Walk) -> Row:
        """The row of a walk with no answer: each replay has a process of its own, and no way is compared."""
        assert failed.difference
        judge = self.probing(failed.difference)
        again = judge(self.subject, self.model, failed.config, failed.operations)
        if again is None:
            return self.as_it_is(failed, UNREPEATED)
        if not unanswered(again[1]):
            return self.as_it_is(failed, NOT_REDUCED)
        finding = find(self.subject, self.diagnoser(), failed.config, failed.operations, failed.seed, judge)
        return row_of(finding) if finding else self.as_it_is(failed, UNREPEATED)

    def probing(self, difference: Difference) -> Judge:
        """What replays a walk with no answer in processes of its own; in few, where each starts much anew."""
        if self.subject.forks:
            return probing(difference, *self.limits).failure
        seconds, _, parent = self.limits
        limit = self.operation if unanswered(difference) == HANG else seconds
        return Few(Protected(limit, None, parent, RESIDENT_START).failure, RESIDENT_PROBES).failure

    def fatal_walk(self, seed: int, death: Death) -> Walk:
        """The walk that ended its process, made once more: each operation is written down before it is done."""
        contract, capabilities = self.subject.contract, self.subject.capabilities
        with tempfile.TemporaryFile() as file:

            def writing(_model: Any, made: Iterator[Operation]) -> Iterator[Operation]:
                for operation in self.walking.marking(made):
                    write(file.fileno(), msgspec.json.encode(operation) + b"\n")
                    yield operation

            def walking() -> None:
                walk(contract, seed, self.subject.rig, self.model, capabilities, seconds=0, watch=writing)

            self.walking.run(walking)
            file.seek(0)
            operations = [msgspec.json.decode(line, type=contract.operations) for line in file]
        choices = SeededChoices(seed)
        config = contract.configured(choices, capabilities)
        if not operations:  # it dies as soon as it is made
            operations = [next(generated(contract, self.model(config), choices, capabilities, OPERATIONS))]
        return Walk(seed, config, operations, no_answer(*death))

    def as_it_is(self, failed: Walk, why: str, rule: str = "") -> Row:
        """A finding that was not reduced."""
        return row_of(unreduced(self.subject, self.model.PROFILE, failed, rule), why)


def row_of(finding: Finding, note: str = "") -> Row:
    """A finding as a row. Its text is its document as JSON."""
    return Row(
        FINDING,
        finding.subject,
        finding.profile,
        ",".join(finding.diagnosis.rules),
        note or f"{shape(finding.operations)} [{finding.observed}]",
        1,
        str(finding.seed),
        len(finding.operations),
        msgspec.json.encode(document(finding, note)).decode(),
    )
