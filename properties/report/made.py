"""Typed results, made once from a check, in the process that ran it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

import msgspec

from broker_tck.implementations.released import options
from broker_tck.model.reference import Reference
from broker_tck.model.rules import Rule, rules_of
from broker_tck.properties.engine.accepted import accepted
from broker_tck.properties.engine.answers import plain
from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.engine.subjects import Subject
from broker_tck.properties.engine.trace import to_text
from broker_tck.properties.explain.checked import Checked, check_subject
from broker_tck.properties.explain.finding import Finding
from broker_tck.properties.explain.regressions import Regression
from broker_tck.properties.mistakes.book import look
from broker_tck.properties.report.finding import Also, FindingResult
from broker_tck.properties.report.lines import lines
from broker_tck.properties.report.result import Golden, KeptTraces, ProfileResult, Rules, Source
from broker_tck.properties.report.words import by_what_was_seen, explanations, how_sure, what_went_wrong
from broker_tck.properties.search.budget import Budget
from broker_tck.properties.search.exercised import by_rule, situations_of
from broker_tck.properties.search.fitness import near
from broker_tck.properties.search.isolation.unloaded import source_of
from broker_tck.properties.search.run import Progress

UNASKED = (
    "this failure occurs only if some observables are not asked for; if all are, after each operation, it does not"
)


def checked_in(
    profile: str, budget: Budget, subject: Subject, progress: Progress, kept: Sequence[Regression] = ()
) -> ProfileResult:
    """Check a subject under a profile, in its own process."""
    return profile_result(check_subject(subject, profile, budget, progress, kept))


def profile_result(checked: Checked) -> ProfileResult:
    """The result of one subject under one profile."""
    subject, kept = checked.subject, checked.regressions
    return ProfileResult(
        subject=subject.name,
        contract=subject.contract.name,
        profile=checked.profile,
        source=place_of(subject),
        verdict=checked.verdict,
        golden=Golden(checked.golden_steps, checked.golden_agreed),
        rules=Rules(
            checked.exercised,
            checked.vacuous,
            by_rule(checked.model, checked.met, subject.lacked),
            {name: checked.met[name] for name in sorted(situations_of(checked.model, subject.lacked))},
        ),
        walks=checked.walks,
        walked=checked.operations,
        machine_steps=checked.machine_steps,
        failure_bound=checked.failure_bound,
        deviations=checked.deviations,
        left_out=subject.left_out,
        accepted=accepted(subject, checked.profile),
        kept=KeptTraces(
            [each.file for each, _ in kept.failing],
            [each.file for each in kept.passing],
            [each.file for each in kept.unasked],
        ),
        findings=tuple(map(finding_result, checked.findings)),
        complaints=tuple(checked.complaints),
        unseen=tuple(checked.unseen),
    )


def place_of(subject: Subject) -> Source | None:
    """The file and line of a subject's factory; None if unknown."""
    found = source_of(subject.factory)
    return Source(near(found[0]), found[1]) if found else None


def finding_result(finding: Finding) -> FindingResult:
    """The typed result of a finding."""
    contract, diagnosis, difference = finding.contract, finding.diagnosis, finding.difference
    model = contract.model(finding.profile)
    named = [rule_named(contract, model, number) for number in diagnosis.rules]
    return FindingResult(
        subject=finding.subject,
        contract=contract.name,
        profile=finding.profile,
        rules=diagnosis.rules,
        sentences=tuple(rule.sentence for rule in named),
        looks=tuple(look(rule.number) for rule in named),
        sources=tuple(rule.source for rule in named),
        mistakes=tuple(map(str, diagnosis.mistakes)),
        diagnosis=diagnosis.sentence,
        config=msgspec.to_builtins(finding.config),
        operations=tuple(map(msgspec.to_builtins, finding.operations)),
        lines=tuple(lines(contract, model, finding.config, finding.operations, difference, finding.answers)),
        observed=finding.observed,
        expected=plain(difference.expected),
        seen=plain(difference.seen),
        seed=finding.seed,
        found_after=finding.found_after,
        replay=replay_command(finding),
        traceback=finding.traceback,
        what=what_went_wrong(finding, named[0].sentence),
        certainty=how_sure(diagnosis, contract, explanations(finding)),
        unfinished=unfinished(finding),
        also=tuple(also(finding)),
        note=finding.note or (UNASKED if finding.unasked else ""),
    )


def also(finding: Finding) -> Iterator[Also]:
    """The other failures that show the same bug."""
    for each in finding.also:
        invariant = each.diagnosis.invariant and rule_named(each.contract, each.contract.model(each.profile), each.rule)
        yield Also(each.rule, what_went_wrong(each, invariant.sentence) if invariant else by_what_was_seen(each))
    yield from (Also(invariant, "This trace breaks it too.") for invariant in finding.invariants)


def rule_named(contract: Contract, model: type[Reference], name: str) -> Rule:
    """A rule of a model by its number; a relation, which every conforming subject keeps, by its name."""
    for rule in rules_of(model):
        if rule.number == name:
            return rule
    sentence = next(relation.sentence for relation in contract.relations if relation.name == name)
    return Rule(name, sentence, source="follows from the rules")


def unfinished(finding: Finding) -> str:
    """A note if a reduction ended early, with the way to continue it, which an invariant does not have."""
    if not finding.spent:
        return ""
    on = "" if finding.diagnosis.invariant else "; to reduce it further, replace `replay` by `reduce` in the last line"
    return f"the reduction reached its limit, so a shorter trace may exist{on}"


def replay_command(finding: Finding) -> str:
    """The one line that replays a finding."""
    text = to_text(finding.contract, finding.profile, finding.config, finding.operations)
    invariant = f"--invariant {finding.rule} " if finding.diagnosis.invariant else ""
    subject = f"{shlex.quote(finding.subject)} {options(finding.subject)}"
    return f"broker-tck replay --subject {subject}{invariant}{shlex.quote(text)}"
