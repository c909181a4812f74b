"""Which promise a history breaks, and which rule that is about."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from broker_tck.properties.engine.check import HANG, RESULT, Difference, no_answer, observable
from broker_tck.properties.engine.operation import Operation, clock_of
from broker_tck.properties.engine.written import operation_text
from broker_tck.properties.threads.history import History, answer
from broker_tck.properties.threads.judge import Broken, Judge, shown


class Promise(StrEnum):
    """What a contract promises of calls that several threads make; the value is the sentence."""

    ALONE = "A call that no other overlaps does what the rules say."
    ENDS = "Each call comes to its end."
    MOMENT = "Each call takes effect at one moment between its begin and its end."
    STEPS = "Each call takes effect in steps, and the rules allow each step when it is taken."
    REST = "What is observed is right when no call is under way."
    HINT = "A mark falls on nothing but what its call is about."

    @property
    def short(self) -> str:
        """Its name in tables."""
        return SHORT[self]


SHORT = {
    Promise.ALONE: "alone",
    Promise.ENDS: "an end",
    Promise.MOMENT: "one moment",
    Promise.STEPS: "steps",
    Promise.REST: "at rest",
    Promise.HINT: "a hint",
}


class Verdict(NamedTuple):
    """A promise that is broken, and how that is seen."""

    promise: Promise
    rule: str
    """The rule that the contract's table names, or that of the hint."""
    where: str
    """What differs: a call, if it was made at rest with the name of what differs."""
    expected: tuple[str, ...]
    """What the model allows, in words."""
    seen: str


def judged(judge: Judge, history: History) -> Verdict | None:
    """The promise that a history breaks; None if the model allows it."""
    if history.stuck:
        return of_stuck(judge, history)
    broken = judge.broken(history)
    if broken is None:
        return None
    stray = broken.event >= 0 and judge.strays(history)
    verdict = of_call(judge, history, broken) if 0 <= broken.event < len(history.events) else of_rest(judge, broken)
    if not stray:
        return verdict
    assert judge.concurrent.hint
    return verdict._replace(promise=Promise.HINT, rule=judge.concurrent.hint.rule)


def of_stuck(judge: Judge, history: History) -> Verdict:
    """The verdict on a run that has no end: calls of threads, or a call at rest."""
    program = judge.program
    ended = {event[:2] for event in history.events if event.ends}
    begun = [event[:2] for event in history.events if not event.ends]
    stuck = [program.threads[thread][call] for thread, call in begun if (thread, call) not in ended]
    alone = not history.events
    if not stuck:
        stuck = [(program.before if alone else program.after)[len(history.before if alone else history.after)]]
    rule = rule_of(judge, stuck[:1], no_answer(HANG, history.stuck))
    where = ", ".join(text(judge, call) for call in stuck)
    return Verdict(Promise.ALONE if alone else Promise.ENDS, rule, where, ("an end",), history.stuck)


def of_call(judge: Judge, history: History, broken: Broken) -> Verdict:
    """The verdict on a call that cannot end as it does."""
    event = history.events[broken.event]
    call = judge.program.threads[event.thread][event.call]
    seen = answer(event.result or "null")
    promise = Promise.STEPS if type(call) in judge.concurrent.steps else Promise.MOMENT
    difference = Difference(RESULT, None, seen)
    rule = rule_of(judge, [*judge.program.before, call], difference)
    return Verdict(promise, rule, text(judge, call), broken.expected, shown(judge.program, call, difference, seen))


def of_rest(judge: Judge, broken: Broken) -> Verdict:
    """The verdict on what is seen at rest, before the threads or after them."""
    program, difference = judge.program, broken.difference
    assert difference
    alone = broken.event < 0
    done = program.operations
    call = (program.before if alone else program.after)[broken.at]
    upto = broken.at if alone else len(done) - len(program.after) + broken.at
    name = observable(program.contract, difference)
    rule = rule_of(judge, done[: upto + 1], difference)
    where = text(judge, call) if name == RESULT else f"{name} after {text(judge, call)}"
    promise = Promise.ALONE if alone else Promise.REST
    return Verdict(promise, rule, where, broken.expected, shown(program, call, difference, difference.seen))


def rule_of(judge: Judge, operations: Sequence[Operation], difference: Difference) -> str:
    """The rule that the contract's table names for a difference at the end of some operations."""
    contract = judge.program.contract
    return contract.fallback_rule(operations, observable(contract, difference), difference.expected, difference.seen)


def text(judge: Judge, call: Operation) -> str:
    """A call as text."""
    return operation_text(call, clock_of(judge.program.config))
