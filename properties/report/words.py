"""What went wrong, in a sentence that stands first, and how sure that is."""

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
"""How it is told that there was no answer; otherwise the subject's process has ended."""
NOT_NEARBY = "but not on some traces that differ from this one in one thing"


def what_went_wrong(finding: Finding, sentence: str) -> str:
    """What the subject does wrong: by the mistake that explains it, else by what was seen. ``sentence`` is the rule's.

    A mistake that few walks bear out is a guess, which is left to :func:`how_sure`.
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
    """What a subject does that behaves with a known mistake: in words made for it, or made of the rule's."""
    number, sentence = mistake.rule.number, begun_small(mistake.rule.sentence)
    if accepted := next((called(each) for each in model.ACCEPTS if each.rule == mistake.rule), ""):
        does = f"as specified: {sentence}" if mistake.name == AS_SPECIFIED else f"otherwise. {by_name(mistake, thing)}"
        return f"Your {thing} does not do {number} as it accepts ({accepted}), but {does}"
    if mistake.name == AS_SPECIFIED:
        return f"Your {thing} keeps {number}, from which this profile deviates: {sentence}"
    if mistake.name.startswith("as ") and not mistake.stands_before:
        return f"Your {thing} does {mistake.name} does, and not as specified: {sentence}"
    return by_name(mistake, thing)


def by_name(mistake: Mistake, thing: str) -> str:
    """A known mistake in words made for it, or made of the name of a class and the rule's sentence."""
    if mistake.says:
        return mistake.says
    sentence = begun_small(mistake.rule.sentence)
    if mistake.stands_before:
        return f"In your {thing}, {called(mistake)}. The rule: {sentence}"
    return f"Your {thing} does not keep this rule: {sentence}"


def begun_small(sentence: str) -> str:
    """A sentence as it goes on behind a colon."""
    return sentence[:1].lower() + sentence[1:]


def by_what_was_seen(finding: Finding) -> str:
    """What was seen where the trace ends, and what would be right."""
    contract, difference, last = finding.contract, finding.difference, finding.operations[-1]
    clock = clock_of(finding.config)
    at, your = f"`{named_text(last, clock)}`", f"our {contract.thing}"
    if why := unanswered(difference):
        return f"Y{your} {UNANSWERED.get(why, 'ends its own process at')} {at}."
    expected, seen = both_text(contract, last, difference, clock)
    if erred(difference):
        return f"Y{your} raises {seen} at {at}; expected is {expected}."
    if finding.observed == RESULT:
        return f"Y{your} answers {at} with {seen}; expected is {expected}."
    return f"After {at} y{your} has {seen}; expected is {expected}."


def how_sure(diagnosis: Diagnosis, contract: Contract, told: Sequence[str] = ()) -> str:
    """How sure the diagnosis is; ``told`` are the mistakes in words, which stand here while they are guesses."""
    if diagnosis.invariant:
        return "certain: judged on what was observed alone, without the model"
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
    """Where else the best of the mistakes agrees."""
    if diagnosis.walks == WALKS:
        return f" and on {WALKS} whole walks, {NOT_NEARBY}"
    return f", and explains the first failure {on_walks(diagnosis)}"


def on_walks(diagnosis: Diagnosis) -> str:
    """On how many failing walks the first mistake explains the first failure."""
    often = "on" if diagnosis.likely else "only on"
    return f"{often} {diagnosis.shown} of {diagnosis.telling} other failing walks"


def beside(diagnosis: Diagnosis) -> str:
    """Why a second rule is named."""
    if len(diagnosis.rules) < 2:
        return ""
    second = diagnosis.rules[1]
    if any(mistake.rule.number == second for mistake in diagnosis.mistakes):
        return f". So does a model that breaks {second} instead"
    return f". It may be {second} instead, a guess from the operation that failed"
