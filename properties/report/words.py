"""What went wrong, in a sentence that stands first, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence

from broker_tck.model.reference import Reference
from broker_tck.properties.engine.check import HANG, RESULT, unanswered
from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.engine.operation import clock_of
from broker_tck.properties.engine.ways import called
from broker_tck.properties.engine.written import named_text
from broker_tck.properties.explain.diagnose import WALKS, Diagnosis
from broker_tck.properties.explain.finding import Finding
from broker_tck.properties.mistakes.book import AS_SPECIFIED, Way
from broker_tck.properties.report.lines import both_text
from broker_tck.properties.search.failing import erred

UNANSWERED = {HANG: "does not come back from", "MemoryError": "runs out of memory at"}
"""How it is told that there was no answer; otherwise the subject's process has ended."""
NOT_NEARBY = "but not wherever one thing in this trace is changed"


def what_went_wrong(finding: Finding, sentence: str) -> str:
    """What the subject does wrong: by the way that explains it, else by what was seen. ``sentence`` is the rule's.

    A way that few walks bear out is a guess, which is left to :func:`how_sure`.
    """
    thing, diagnosis = finding.contract.thing, finding.diagnosis
    if diagnosis.law:
        return f"Your {thing} breaks what holds of every {thing}: {begun_small(sentence)}"
    if not diagnosis.ways or not diagnosis.likely:
        return by_what_was_seen(finding)
    return " Or: ".join(explanations(finding))


def explanations(finding: Finding) -> list[str]:
    """The ways that explain a finding in words; where there are several, the first of each rule."""
    model, ways = finding.contract.model(finding.profile), finding.diagnosis.ways
    firsts = {way.rule.number: way for way in reversed(ways)}
    told = (in_words(way, finding.contract.thing, model) for way in ways if firsts[way.rule.number] is way)
    return [*dict.fromkeys(told)]


def in_words(way: Way, thing: str, model: type[Reference]) -> str:
    """What a subject does that behaves in a wrong way: in words made for it, or made of the rule's."""
    number, sentence = way.rule.number, begun_small(way.rule.sentence)
    if accepted := next((called(each) for each in model.ACCEPTS if each.rule == way.rule), ""):
        does = f"as specified: {sentence}" if way.name == AS_SPECIFIED else f"otherwise. {by_name(way, thing)}"
        return f"Your {thing} does not do {number} in the way that it accepts ({accepted}), but {does}"
    if way.name == AS_SPECIFIED:
        return f"Your {thing} keeps {number}, from which this profile deviates: {sentence}"
    if way.name.startswith("as ") and not way.stands_before:
        return f"Your {thing} does {way.name} does, and not as specified: {sentence}"
    return by_name(way, thing)


def by_name(way: Way, thing: str) -> str:
    """A wrong way in words made for it, or made of the name of a class and the rule's sentence."""
    if way.says:
        return way.says
    sentence = begun_small(way.rule.sentence)
    if way.stands_before:
        return f"In your {thing}, {called(way)}. The rule: {sentence}"
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
    """How sure the diagnosis is; ``told`` are the ways in words, which stand here while they are guesses."""
    if diagnosis.law:
        return "certain: judged on what was observed alone, without the model"
    if not diagnosis.ways:
        nearest = "".join(f", and {number} the one whose known mistakes come nearest" for number in diagnosis.rules[1:])
        first = diagnosis.rules[0]
        return f"open: no known wrong way does all of this; {first} is the rule for what differs here{nearest}"
    does = f"a model that does the same agrees with your {contract.thing}"
    if diagnosis.whole:
        return f"certain: on this trace and on {diagnosis.walks} whole walks {does} in every step"
    if diagnosis.likely:
        return f"likely: {does} on this trace{elsewhere(diagnosis)}{beside(diagnosis)}"
    looks = f"on this trace it looks as if {' Or as if '.join(map(begun_small, told)).removesuffix('.')}"
    return f"a guess: {looks}. But that explains what goes wrong first {on_walks(diagnosis)}{beside(diagnosis)}"


def elsewhere(diagnosis: Diagnosis) -> str:
    """Where else the best of the ways agrees, which does not explain the subject everywhere."""
    if diagnosis.walks == WALKS:
        return f" and on {WALKS} whole walks, {NOT_NEARBY}"
    return f", and explains what goes wrong first {on_walks(diagnosis)}"


def on_walks(diagnosis: Diagnosis) -> str:
    """On how many walks the first way explains what goes wrong first, of those on which something does."""
    often = "on" if diagnosis.likely else "only on"
    return f"{often} {diagnosis.shown} of {diagnosis.telling} whole walks"


def beside(diagnosis: Diagnosis) -> str:
    """Why a second rule is named."""
    if len(diagnosis.rules) < 2:
        return ""
    second = diagnosis.rules[1]
    if any(way.rule.number == second for way in diagnosis.ways):
        return f". So does one that breaks {second} instead"
    return f". It may be {second} instead, the rule for what differs here"
