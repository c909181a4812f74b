"""Findings of a shard: failing walks, reduced and diagnosed in processes of their own, as rows."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from os import write
from typing import Any

import msgspec

from broker_tck.model.reference import Reference
from broker_tck.properties.check import RESULT, Difference, no_answer, unanswered
from broker_tck.properties.choices import SeededChoices
from broker_tck.properties.diagnose import Diagnoser, Diagnosis, observable
from broker_tck.properties.finding import PROBE_SECONDS, Finding, find, find_breach
from broker_tck.properties.isolation import Death, Isolation
from broker_tck.properties.operation import Operation, shape
from broker_tck.properties.protected import probing
from broker_tck.properties.story import finding_json, lines, story
from broker_tck.properties.subjects import Subject
from broker_tck.properties.walk import OPERATIONS, Walk, generated, walk
from broker_tck.spark_fuzz.rows import FINDING, Row

OPERATION = 4
"""An operation may take this part of what a walk may take, where it is looked for the one that never ends."""
FIND_SECONDS = 120.0
"""How long it may take to reduce and diagnose a failing walk."""
UNREPEATED = (
    "It did not fail again when it was replayed alone: the subject keeps something from walk to walk, or chance."
)


class Finder:
    """Makes rows of the failing walks of one subject under one profile."""

    def __init__(self, subject: Subject, model: type[Reference], seconds: float, memory: int, parent: Any) -> None:
        self.subject = subject
        self.model = model
        self.walking: Isolation[None] = Isolation(max(seconds / OPERATION, PROBE_SECONDS), memory, parent)
        self.limits = seconds, memory, parent
        self.finding: Isolation[Row | None] = Isolation(FIND_SECONDS, memory, parent)

    def diagnoser(self) -> Diagnoser:
        """One that knows nothing yet."""
        return Diagnoser(self.subject.contract, self.model, self.subject.rig, self.subject.capabilities)

    def of_failing(self, failed: Walk) -> Row:
        """The row of a walk that failed."""
        assert failed.difference
        if unanswered(failed.difference):
            return self.of_fatal(failed)

        def found() -> Row | None:
            finding = find(self.subject, self.diagnoser(), failed.config, failed.operations, failed.seed)
            return row_of(finding, self.model) if finding else None

        row = self.finding.run(found)
        return self.of_fatal(failed) if isinstance(row, Death) else row or self.as_it_is(failed, UNREPEATED)

    def of_breach(self, done: Walk, number: str, text: str) -> Row:
        """The row of a walk that agrees with the model and breaks a law, or differs from its variation."""

        def found() -> Row | None:
            finding = find_breach(self.subject, self.model, number, done)
            return row_of(finding, self.model) if finding else None

        row = self.finding.run(found)
        if row and not isinstance(row, Death):
            return row
        broken = replace(done, difference=Difference(RESULT, f"{number} to hold", text))
        return self.as_it_is(broken, f"{number} does not hold: {text}", number)

    def of_fatal(self, failed: Walk) -> Row:
        """The row of a walk with no answer: each replay has a process of its own, and no way is compared."""
        assert failed.difference
        judge = probing(failed.difference, *self.limits).failure
        again = judge(self.subject, self.model, failed.config, failed.operations)
        if again is None:
            return self.as_it_is(failed, UNREPEATED)
        if not unanswered(again[1]):
            return self.as_it_is(failed, "It was not reduced: traces near it end the subject's process.")
        finding = find(self.subject, self.diagnoser(), failed.config, failed.operations, failed.seed, judge)
        return row_of(finding, self.model) if finding else self.as_it_is(failed, UNREPEATED)

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
        config = contract.draw_config(choices, capabilities)
        if not operations:  # it dies as soon as it is made
            operations = [next(generated(contract, self.model(config), choices, capabilities, OPERATIONS))]
        return Walk(seed, config, operations, no_answer(*death))

    def as_it_is(self, failed: Walk, why: str, rule: str = "") -> Row:
        """A finding that was not reduced."""
        assert failed.difference
        diagnosis = Diagnosis((rule or self.blamed(failed),), (), 0)
        finding = Finding(
            self.subject.name,
            self.subject.contract,
            self.model.PROFILE,
            failed.config,
            tuple(failed.operations),
            failed.difference,
            diagnosis,
            failed.seed,
            len(failed.operations),
        )
        return row_of(finding, self.model, why)

    def blamed(self, failed: Walk) -> str:
        """The rule that the contract's table names."""
        observed = observable(self.subject.contract, failed.difference) if failed.difference else RESULT
        return self.subject.contract.blame(failed.operations, observed)


def row_of(finding: Finding, model: type[Reference], note: str = "") -> Row:
    """A finding as a row. Its text is the finding as JSON, with its story and, if there is one, a note."""
    told = lines(finding.contract, model, finding.config, finding.operations, finding.difference)
    document = {**finding_json(finding), "note": note, "story": story(finding), "lines": told}
    return Row(
        FINDING,
        finding.subject,
        finding.profile,
        ",".join(finding.diagnosis.rules),
        note or f"{shape(finding.operations)} [{finding.observed}]",
        1,
        str(finding.seed),
        len(finding.operations),
        msgspec.json.encode(document).decode(),
    )
