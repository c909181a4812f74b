"""``check --rule``: a check of which only what it says of some rules counts."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import structs

from broker_tck.cli.checking import Told
from broker_tck.cli.matching import Pair
from broker_tck.implementations.naming import unknown
from broker_tck.properties.contracts import CONTRACTS
from broker_tck.properties.engine.check import Difference, unanswered
from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.engine.subjects import Subject
from broker_tck.properties.errors import BadInput
from broker_tck.properties.report.check_document import SubjectDocument
from broker_tck.properties.report.document import Document
from broker_tck.properties.search.run import to_exercise
from broker_tck.properties.verdict import BROKEN, CONFORMS, NOT_ENOUGH


def named_rules(names: Sequence[str]) -> list[str]:
    """The rules, laws and variations of these names, whatever their case. BadInput where there is none of a name."""
    if not names:
        return []
    known = {name.lower(): name for contract in CONTRACTS.values() for name in rules_in(contract)}
    for name in names:
        if name.lower() not in known:
            raise BadInput(unknown("rule", name, known.values(), told="`broker-tck rules` lists those of a contract"))
    return [*dict.fromkeys(known[name.lower()] for name in names)]


def rules_in(contract: Contract) -> list[str]:
    """The rules of a contract by number, and its variations by name."""
    return [*contract.rules, *(variation.name for variation in contract.variations)]


def having(pairs: Sequence[Pair], rules: Sequence[str]) -> list[Pair]:
    """The subjects and profiles of which a rule can be checked; all without rules. BadInput where there are none."""
    found = [pair for pair in pairs if not rules or not checkable(*pair).isdisjoint(rules)]
    if not found:
        who = ", ".join(f"{subject.name} ({profile})" for subject, profile in pairs)
        raise BadInput(f"{', '.join(rules)} cannot be checked of {who}")
    return found


def checkable(subject: Subject, profile: str) -> set[str]:
    """What a subject has to keep under a profile."""
    model = subject.contract.model(profile)
    rules = {rule.number for rule in to_exercise(subject, model)}
    return rules | {each.name for each in subject.contract.variations if each.name not in model.BREAKS}


def limited(told: Told, rules: Sequence[str]) -> Told:
    """What a check says of these rules: their findings, what laws of them say, and whether they came up.

    That there was no answer counts in any case: nothing is known of what comes behind it.
    """
    whole = told.document
    findings = [each for each in whole.findings if no_answer(each) or not {*rules}.isdisjoint(each.rules)]
    complaints = [each for each in whole.complaints if not {*rules}.isdisjoint(re.findall(r"[\w-]+", each))]
    exercised, unseen = ([each for each in rules if each in of] for of in (whole.rules.exercised, whole.rules.vacuous))
    verdict = BROKEN if findings or complaints else NOT_ENOUGH if unseen else CONFORMS
    document = structs.replace(
        whole,
        verdict=verdict,
        findings=findings,
        complaints=complaints,
        unseen=unseen if verdict == NOT_ENOUGH else [],
        rules=structs.replace(whole.rules, exercised=exercised, vacuous=unseen),
    )
    came_up = f"{len(exercised)} of {len(exercised) + len(unseen)}"
    row = (verdict if verdict == CONFORMS else verdict.upper(), *told.row[1:4], came_up, *told.row[5:])
    kept = tuple(each for each in told.to_keep if each.rule in {finding.rules[0] for finding in findings})
    return told._replace(row=row, document=document, to_keep=kept, left_out=left_out(whole, document))


def no_answer(finding: Document) -> bool:
    """Whether a finding is that a subject gave no answer: it ended its process, say."""
    return bool(unanswered(Difference(finding.observed, finding.expected, finding.seen)))


def left_out(whole: SubjectDocument, part: SubjectDocument) -> str:
    """What a check found besides, in few words; empty where it found nothing else."""
    others = [each.rules[0] for each in whole.findings if each not in part.findings]
    others += [each.partition(" ")[0].rstrip(":") for each in whole.complaints if each not in part.complaints]
    return ", ".join(dict.fromkeys(others))
