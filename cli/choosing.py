"""The options that limit a check: ``-k`` chooses subjects and profiles, ``--rule`` chooses rules."""

from __future__ import annotations

import re
from collections.abc import Sequence
from warnings import catch_warnings

from msgspec import structs

from broker_tck.implementations.naming import unknown
from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.engine.registry import CONTRACTS
from broker_tck.properties.engine.subjects import Subject
from broker_tck.properties.errors import BadInput
from broker_tck.properties.report.result import ProfileResult
from broker_tck.properties.search.run import to_exercise
from broker_tck.properties.verdict import BROKEN, CONFORMS, NOT_ENOUGH

Pair = tuple[Subject, str]
"""A subject, and the profile under which it is checked."""
WORD = re.compile(r"[^\s()]+")
OPERATORS = ("and", "or", "not")


def matching(pairs: Sequence[Pair], expression: str | None) -> list[Pair]:
    """The pairs that match an expression; all if it is None. Raises BadInput if it is malformed or matches nothing."""
    if expression is None:
        return [*pairs]
    found = [pair for pair in pairs if matches(expression, text_of(*pair))]
    if not found:
        raise BadInput(f"-k {expression!r} matches none of: {', '.join(f'{s.name} ({p})' for s, p in pairs)}")
    return found


def text_of(subject: Subject, profile: str) -> str:
    """The text in which the words of an expression are looked for."""
    return f"{subject.name} {profile} {subject.contract.name}".lower()


def matches(expression: str, text: str) -> bool:
    """Whether an expression is true of a text: a word is true if the text contains it, in upper or lower case."""

    def truth(word: re.Match[str]) -> str:
        return word[0] if word[0] in OPERATORS else str(word[0].lower() in text)

    try:
        with catch_warnings(action="error"):  # of what is no expression
            return bool(eval(WORD.sub(truth, expression).strip()))  # True, False, operators and brackets
    except (SyntaxError, TypeError):
        why = "put and, or, not and brackets between words"
        raise BadInput(f"-k {expression!r}: {why}, for example -k 'heap and not active-cursors'") from None


# ---- Rules


def named_rules(names: Sequence[str]) -> list[str]:
    """The rules, invariants and relations with these names, in any case. Raises BadInput for an unknown one."""
    if not names:
        return []
    known = {name.lower(): name for contract in CONTRACTS.values() for name in rules_in(contract)}
    for name in names:
        if name.lower() not in known:
            raise BadInput(
                unknown("rule", name, known.values(), told="`broker-tck rules` lists the rules of a contract")
            )
    return [*dict.fromkeys(known[name.lower()] for name in names)]


def rules_in(contract: Contract) -> list[str]:
    """The rules of a contract by number, and its relations by name."""
    return [*contract.rules, *(relation.name for relation in contract.relations)]


def having(pairs: Sequence[Pair], rules: Sequence[str]) -> list[Pair]:
    """The pairs on which one of the rules can be checked; all without rules. Raises BadInput if there are none."""
    found = [pair for pair in pairs if not rules or not checkable(*pair).isdisjoint(rules)]
    if not found:
        who = ", ".join(f"{subject.name} ({profile})" for subject, profile in pairs)
        raise BadInput(f"{', '.join(rules)} cannot be checked on {who}")
    return found


def checkable(subject: Subject, profile: str) -> set[str]:
    """The rules and relations that a subject must keep under a profile."""
    model = subject.contract.model(profile)
    rules = {rule.number for rule in to_exercise(subject, model)}
    return rules | {each.name for each in subject.contract.relations if each.name not in model.BREAKS}


def limited(whole: ProfileResult, rules: Sequence[str]) -> tuple[ProfileResult, str]:
    """The part of a result that is about these rules, and the names of the other broken rules; all if no rule is given.

    A finding in which the subject gave no answer always counts, because nothing after it could be checked.
    """
    if not rules:
        return whole, ""
    findings = [each for each in whole.findings if each.unanswered or not {*rules}.isdisjoint(each.rules)]
    complaints = [each for each in whole.complaints if not {*rules}.isdisjoint(re.findall(r"[\w-]+", each))]
    exercised, unseen = ([each for each in rules if each in of] for of in (whole.rules.exercised, whole.rules.vacuous))
    verdict = BROKEN if findings or complaints else NOT_ENOUGH if unseen else CONFORMS
    part = structs.replace(
        whole,
        verdict=verdict,
        findings=tuple(findings),
        complaints=tuple(complaints),
        unseen=tuple(unseen) if verdict == NOT_ENOUGH else (),
        rules=structs.replace(whole.rules, exercised=exercised, vacuous=unseen),
    )
    return part, besides(whole, part)


def besides(whole: ProfileResult, part: ProfileResult) -> str:
    """The names of the other rules that a check found broken; empty if there are none."""
    others = [each.rule for each in whole.findings if each not in part.findings]
    others += [each.partition(" ")[0].rstrip(":") for each in whole.complaints if each not in part.complaints]
    return ", ".join(dict.fromkeys(others))
