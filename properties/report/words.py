"""The first sentence of a failure report, which says what went wrong, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence

from broker_tck.model.reference import Reference
from broker_tck.properties.engine.check import HANG, RESULT, unanswered
from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.engine.mistakes import called
from broker_tck.properties.engine.operation import clock_of
from broker_tck.properties.engine.written import named_text
from broker_tck.properties.explain.diagnose import WALKS, Diagnosis
from broker_tck.properties.explain.finding import Finding
from broker_tck.properties.mistakes.book import AS_SPECIFIED, Mistake
from broker_tck.properties.report.lines import both_text
from broker_tck.properties.search.failing import erred

UNANSWERED = {HANG: "does not come back from", "MemoryError": "runs out of memory at"}
"""The verbs for a subject that gave no answer; for other reasons its process has ended."""
NOT_NEARBY = "but not on some traces that differ from this one in one place"


def what_went_wrong(finding: Finding, sentence: str) -> str:
    """What the subject does wrong: the mistake that explains it, or else what was seen. ``sentence`` is the rule's.

    A mistake that few walks support is a guess, which :func:`how_sure` reports.
    """
    thing, diagnosis = finding.contract.thing, finding.diagnosis
    if diagnosis.invariant:
        return f"Your {thing} breaks what holds of every {thing}: {begun_small(sentence)}"
    if not diagnosis.mistakes or not diagnosis.likely:
        return by_what_was_seen(finding)
    return " Or: ".join(explanations(finding))


def explanations(finding: Finding) -> list[str]:
    """The mistakes that explain a finding in words; where there are several, the first of each rule."""
    model, mistakes = finding.contract.model(finding.profile), finding.diagnosis.mistakes
    firsts = {mistake.rule.number: mistake for mistake in reversed(mistakes)}
    told = (
        in_words(mistake, finding.contract.thing, model)
        for mistake in mistakes
        if firsts[mistake.rule.number] is mistake
    )
    return [*dict.fromkeys(told)]


def in_words(mistake: Mistake, thing: str, model: type[Reference]) -> str:
    """What a subject with a known mistake does: in words written for the mistake, or made from the rule's."""
    number, sentence = mistake.rule.number, begun_small(mistake.rule.sentence)
    if accepted := next((called(each) for each in model.ACCEPTS if each.rule == mistake.rule), ""):
        does = (
            f"keeps it: {sentence}"
            if mistake.name == AS_SPECIFIED
            else f"does something else. {by_name(mistake, thing)}"
        )
        return f"Your {thing} declares a deviation from {number} ({accepted}), but {does}"
    if mistake.name == AS_SPECIFIED:
        return f"Your {thing} keeps {number}, from which this profile deviates: {sentence}"
    if mistake.name.startswith("as ") and not mistake.stands_before:
        return f"Your {thing} does {mistake.name} does, and not as specified: {sentence}"
    return by_name(mistake, thing)


def by_name(mistake: Mistake, thing: str) -> str:
    """A known mistake in words written for it, or made from the name of a class and the rule's sentence."""
    if mistake.says:
        return mistake.says
    sentence = begun_small(mistake.rule.sentence)
    if mistake.stands_before:
        return f"In your {thing}, {called(mistake)}. The rule: {sentence}"
    return f"Your {thing} does not keep this rule: {sentence}"


def begun_small(sentence: str) -> str:
    """A sentence with a small first letter, to follow a colon."""
    return sentence[:1].lower() + sentence[1:]


def by_what_was_seen(finding: Finding) -> str:
    """The actual outcome at the end of the trace, and the expected one."""
    contract, difference, last = finding.contract, finding.difference, finding.operations[-1]
    clock = clock_of(finding.config)
    at, your = f"`{named_text(last, clock)}`", f"our {contract.thing}"
    if why := unanswered(difference):
        return f"Y{your} {UNANSWERED.get(why, 'ends its own process at')} {at}."
    expected, seen = both_text(contract, last, difference, clock)
    if erred(difference):
        return f"Y{your} raises {seen} at {at}; expected: {expected}."
    if finding.observed == RESULT:
        return f"Y{your} answers {at} with {seen}; expected: {expected}."
    return f"After {at} y{your} has {seen}; expected: {expected}."


def how_sure(diagnosis: Diagnosis, contract: Contract, told: Sequence[str] = ()) -> str:
    """How sure the diagnosis is; ``told`` are the mistakes in words, which appear here if they are guesses."""
    if diagnosis.invariant:
        return "certain: judged by what was observed, without the model"
    if not diagnosis.mistakes:
        nearest = "".join(f"; the known mistakes of {number} come nearest" for number in diagnosis.rules[1:])
        guess = f"{diagnosis.rules[0]} is a guess from the operation that failed"
        return f"unknown: no known mistake explains this trace; {guess}{nearest}"
    agrees = f"a model with this mistake agrees with your {contract.thing} on this trace"
    if diagnosis.whole:
        return f"certain: {agrees} and on {diagnosis.walks} whole walks, in every step"
    if diagnosis.likely:
        return f"likely: {agrees}{elsewhere(diagnosis)}{beside(diagnosis)}"
    guess = " Or: ".join(map(begun_small, told)).removesuffix(".")
    return (
        f"a guess from this trace: {guess}. But it explains the first failure {on_walks(diagnosis)}{beside(diagnosis)}"
    )


def elsewhere(diagnosis: Diagnosis) -> str:
    """The other traces or walks that the best mistake explains."""
    if diagnosis.walks == WALKS:
        return f" and on {WALKS} whole walks, {NOT_NEARBY}"
    return f", and explains the first failure {on_walks(diagnosis)}"


def on_walks(diagnosis: Diagnosis) -> str:
    """The number of failing walks whose first failure the first mistake explains."""
    often = "on" if diagnosis.likely else "only on"
    return f"{often} {diagnosis.shown} of {diagnosis.telling} other failing walks"


def beside(diagnosis: Diagnosis) -> str:
    """The reason why a second rule is named."""
    if len(diagnosis.rules) < 2:
        return ""
    second = diagnosis.rules[1]
    if any(mistake.rule.number == second for mistake in diagnosis.mistakes):
        return f". So does a model that breaks {second} instead"
    return f". It may be {second} instead, a guess from the operation that failed"
