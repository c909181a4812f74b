"""A run: what makes it green, and what a green one is worth."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import kit
import pytest
from kit import CONTRACT, MODEL, run_subject, subject_of, wrong

from broker_tck.implementations.delayed_delivery.time_bucket import TimeBucketTracker
from broker_tck.model.delayed_delivery.releases import PROFILES
from broker_tck.model.rules import replaced, rules_of
from broker_tck.properties.contracts.delayed_delivery.operations import Fill
from broker_tck.properties.engine.registry import CONTRACTS
from broker_tck.properties.engine.subjects import Subject, bundled, resolve
from broker_tck.properties.explain import checked as checking
from broker_tck.properties.explain import deviating, failing_walks
from broker_tck.properties.explain.checked import PARTS, Checked, check_subject, see_deviations
from broker_tck.properties.explain.finding import Finding
from broker_tck.properties.mistakes.book import deviations_of
from broker_tck.properties.report import parts
from broker_tck.properties.report.parts import asked_for, cases, conformance, of_part, of_rule, run_part
from broker_tck.properties.report.result import ProfileResult
from broker_tck.properties.search import run as running
from broker_tck.properties.search.budget import FAILING, Budget
from broker_tck.properties.search.exercised import Exercised
from broker_tck.properties.search.run import Run, checked, judge, until_all_came_up
from broker_tck.properties.verdict import BROKEN, NOT_ENOUGH

IDEAL = "timebucket-ideal"


def test_run_without_walks_is_not_green() -> None:
    run = run_subject(subject_of(TimeBucketTracker), IDEAL, 0, 0)
    assert not run.green
    assert run.vacuous == [rule.number for rule in run.rules] == sorted(rule.number for rule in run.rules)
    assert run.failure_bound == 1.0


def test_run_of_one_walk_says_what_it_did_not_exercise() -> None:
    run = run_subject(subject_of(TimeBucketTracker), IDEAL, 0, 1)
    assert not run.findings
    assert run.exercised
    assert run.vacuous
    assert not run.green
    checked = check_subject(subject_of(TimeBucketTracker), IDEAL, Budget(0, 1, 0), parts=PARTS[1:])
    assert (checked.verdict, checked.complaints) == (NOT_ENOUGH, [])
    assert [each.partition(" ")[0] for each in checked.unseen] == run.vacuous


@pytest.mark.parametrize("subject", [s for c in CONTRACTS.values() for s in bundled(c)], ids=lambda s: s.name)
def test_bundled_subject_agrees_on_a_walk_and_keeps_its_invariants(subject: Subject) -> None:
    run = Run(subject, subject.profiles[0], 0)
    assert [done.difference for done in checked(run, range(2), judged=1)] == [None, None]
    assert (run.counted, run.breaches) == (1, [])


@pytest.mark.slow
def test_run_of_many_walks_is_green() -> None:
    run = run_subject(subject_of(TimeBucketTracker), IDEAL, 3, 120)
    assert run.vacuous == []
    assert run.green
    assert run.exercised == [rule.number for rule in rules_of(MODEL) if rule.checkable]
    assert (run.walks, run.counted) == (120, 30)
    assert run.operations > 120 * 300
    assert run.complaints == []


@pytest.mark.parametrize(("count", "rate"), [(1, 0.95), (2, 0.7764), (59, 0.0495), (300, 0.00994), (10_000, 0.0002995)])
def test_failure_bound_is_the_rate_that_is_excluded_at_95_percent(count: int, rate: float) -> None:
    run = Run(subject_of(TimeBucketTracker), IDEAL, 0, walks=count)
    assert run.failure_bound == pytest.approx(rate, rel=0.01)
    assert (1 - run.failure_bound) ** count == pytest.approx(0.05)


# ---- Deviations


def under(monkeypatch: pytest.MonkeyPatch, model: Any, factory: Any) -> Checked:
    """A run of a subject under a profile of its own."""
    monkeypatch.setitem(PROFILES, model.PROFILE, model)
    return Checked(subject_of(factory), model.PROFILE, 0)


@pytest.mark.slow
def test_deviation_that_is_none_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clause that is replaced by one that answers the same."""

    def cutoff(self: Any, now: int) -> int:
        return now if self.strict else now + self.tick

    model = replaced(MODEL, {"PROFILE": "same", "buckets.cutoff": cutoff}, "Same")
    monkeypatch.setattr(deviating, "DEVIATION_WALKS", 12)
    run = under(monkeypatch, model, TimeBucketTracker)
    see_deviations(run)
    assert run.deviations == {"DD-04 (buckets.cutoff)": False}
    assert run.gone == ["DD-04 (buckets.cutoff)"]
    assert not run.green
    checked = check_subject(run.subject, "same", Budget(0, 100, 0), parts=PARTS[1:])
    assert checked.verdict == NOT_ENOUGH
    assert checked.unseen[-1] == "the deviation of same from DD-04 (buckets.cutoff)"


def test_deviation_of_what_a_subject_lacks_is_not_looked_for() -> None:
    """The per-cache policy answers no readers."""
    run = Checked(resolve("per-cache-policy"), "legacy", 0)
    assert "EC-45" in {mistake.rule.number for mistake in deviations_of(run.model)}
    see_deviations(run)
    assert not {"EC-45 (answers.missing)"} & run.deviations.keys()
    assert run.deviations
    assert not run.gone


# ---- Invariants


@pytest.mark.slow
def test_invariant_is_judged_where_model_and_subject_agree() -> None:
    """A model and a subject that are wrong alike: only the invariants see it."""
    subject = wrong("DD-06 absent")
    run = Checked(subject, IDEAL, 0)
    for done in [
        kit.walk(CONTRACT, n << 32, subject.adapter, subject.factory, subject.capabilities) for n in range(40)
    ]:
        assert done.difference is None
        judge(run, done)
    assert {invariant for _, invariant, _ in run.breaches} >= {"DD-07", "DD-08"}
    assert not run.green
    assert all(" does not hold: " in text for text in run.complaints)


@pytest.mark.slow
@pytest.mark.parametrize("fail_fast", [True, False])
def test_invariant_that_is_broken_where_no_walk_differs_gets_a_trace(
    monkeypatch: pytest.MonkeyPatch, fail_fast: bool
) -> None:
    subject = wrong("DD-05 buckets.key: by_the_tick")
    monkeypatch.setattr(Run, "model", property(lambda run: subject.factory))
    run = run_subject(subject, IDEAL, 0, 60, fail_fast=fail_fast)
    assert not run.failing
    assert run.walks < 60 if fail_fast else run.walks == 60
    assert ("DD-07" if fail_fast else "shift") in {number for finding in run.findings for number in finding.numbers}
    assert all(len(finding.operations) < 6 for finding in run.findings)
    assert (run.complaints, run.verdict) == ([], BROKEN)


@pytest.mark.parametrize("more", [0, 1])
def test_walk_that_does_much_in_bulk_is_made_and_not_counted(monkeypatch: pytest.MonkeyPatch, more: int) -> None:
    subject = subject_of(TimeBucketTracker)
    fill = Fill(ledger=0, entry=0, step=1, n=running.MOST_COUNTED + more, at=0, apart=0)
    done = replace(kit.walked(subject, 0), operations=[fill])
    monkeypatch.setattr(running, "walks", lambda *asked, **more: iter([done]))
    run = Run(subject, IDEAL, 0)
    assert [*checked(run, range(1), counted=1)] == [done]
    assert (run.walks, run.counted) == (1, 1 - more)


@pytest.mark.parametrize(
    ("missing", "made", "judged"), [([], 0, 0), (["DD-13"], 3, 0), (["DD-08"], 3, 3), (["shift"], 3, 3)]
)
def test_reserve_is_judged_where_a_invariant_may_show_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, missing: list[str], made: int, judged: int
) -> None:
    seen: list[int | None] = []
    monkeypatch.setattr(running, "judge", lambda run, done: seen.append(done.seed))
    monkeypatch.setattr(Run, "vacuous", property(lambda run: missing))
    run = Run(subject_of(TimeBucketTracker), IDEAL, 0)
    assert len([*until_all_came_up(run, 0, 3)]) == run.counted == made
    assert len(seen) == judged


# ---- Failing runs


@pytest.mark.slow
def test_run_ends_when_enough_was_found() -> None:
    subject = wrong("DD-28 index.count: of_buckets")
    run = run_subject(subject, IDEAL, 0, 100, failing=3)
    assert len(run.failing) == 3
    assert run.walks < 100
    assert {finding.rule for finding in run.findings} == {"DD-28"}
    assert run_subject(subject, IDEAL, 0, 100, fail_fast=True).walks <= run.walks


@pytest.mark.slow
@pytest.mark.parametrize(
    ("subject", "rule", "most_work", "reduced"),
    [
        (wrong("DD-04 absent"), "DD-04", failing_walks.MOST_WORK, 1 + failing_walks.ENOUGH),
        (subject_of(kit.Raising), "DD-09", failing_walks.MOST_WORK, 1 + failing_walks.ENOUGH),
        (subject_of(kit.Raising), "DD-09", 0, 1),
    ],
    ids=[
        "one mistake explains all, which fail in many ways",
        "no mistake does, and all fail alike",
        "each is much work",
    ],
)
def test_walks_that_say_nothing_new_are_not_reduced(
    monkeypatch: pytest.MonkeyPatch, subject: Subject, rule: str, most_work: int, reduced: int
) -> None:
    seeds: list[int | None] = []

    def find(*args: Any, **kwargs: Any) -> Finding | None:
        seeds.append(args[1].seed)
        return real(*args, **kwargs)

    real = checking.find
    monkeypatch.setattr(checking, "find", find)
    monkeypatch.setattr(failing_walks, "MOST_WORK", most_work)
    run = run_subject(subject, IDEAL, 0, 100)
    assert (len(run.failing), len(seeds)) == (FAILING, reduced)
    assert [finding.rule for finding in run.findings] == [rule]


def test_run_ends_at_the_first_hang() -> None:
    run = run_subject(subject_of(kit.Hanging), IDEAL, 0, 100)
    assert len(run.failing) == 1
    assert [finding.rule for finding in run.findings] == ["DD-20"]


# ---- As tests of other people


SMALL = Budget(walks=60, examples=30)


@pytest.fixture(autouse=True)
def nothing_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "TOLD", {})


def seen(part: str, subject: Subject, profile: str = IDEAL, budget: Budget = SMALL) -> ProfileResult:
    """What a part comes to, in this process."""
    return asked_for(profile, part, budget, subject, lambda run: None)[0]


def text(part: str, subject: Subject, profile: str = IDEAL, budget: Budget = SMALL) -> str:
    """All that is wrong."""
    return "\n\n".join(of_part(subject, part, seen(part, subject, profile, budget)))


@pytest.mark.slow
@pytest.mark.parametrize("part", ["walks", "machine"])
def test_parts_tell_a_story(part: str, request: pytest.FixtureRequest) -> None:
    subject = wrong("DD-28 index.count: of_buckets")
    said = text(part, subject)
    assert said.startswith("Your tracker counts buckets; it must count the messages in them.\n\n")
    assert "\nDD-28 is broken by DD-28 index.count: of_buckets (timebucket-ideal; " in said
    assert "  broker-tck replay --subject" in said
    with pytest.raises(pytest.fail.Exception, match=r"DD-28 is broken by DD-28 index\.count: of_buckets"):
        run_part(subject, IDEAL, part, SMALL, request)


@pytest.mark.parametrize("part", ["walks", "machine"])
def test_parts_say_what_does_not_happen_again(monkeypatch: pytest.MonkeyPatch, part: str) -> None:
    monkeypatch.setattr(kit.Flaky, "failures", 1)
    assert "the subject is not deterministic" in text(part, subject_of(kit.Flaky))


def test_golden_part_says_where() -> None:
    said = text("golden", subject_of(TimeBucketTracker), "heap")
    assert re.search(r"heap.jsonl:\d+: step \d+: \w+: expected .*, seen ", said)


def test_rule_that_is_broken_tells_its_story_and_no_other_does() -> None:
    subject = wrong("DD-28 index.count: of_buckets")
    found = seen("walks", subject)
    said = {rule.number: of_rule(subject, rule.number, found) for rule in Run(subject, IDEAL, 0).rules}
    assert {number for number, told in said.items() if told} == {"DD-28"}
    assert said["DD-28"][0].startswith("Your tracker counts buckets; ")


def test_conformance_makes_a_test_for_each_profile_and_part() -> None:
    both = type("Both", (TimeBucketTracker,), {"profiles": ("timebucket-ideal", "heap")})
    subject = subject_of(both)
    expected = ["timebucket-ideal-walks", "timebucket-ideal-machine"]
    expected += [f"timebucket-ideal-{rule.number}" for rule in Run(subject, IDEAL, 0).rules]
    expected += [f"heap-{part}" for part in PARTS]
    expected += [f"heap-{rule.number}" for rule in Run(subject, "heap", 0).rules]
    assert ["-".join(case) for case in cases(subject, None)] == expected
    (mark,) = conformance("delayed-delivery", both).pytestmark
    assert [case.id for case in mark.args[1]] == expected
    (mark,) = conformance("delayed-delivery", "heap", profile="timebucket-2026").pytestmark
    assert [case.id for case in mark.args[1]][: len(PARTS)] == [f"timebucket-2026-{part}" for part in PARTS]
    with pytest.raises(ValueError, match="unknown profile 'x' of delayed-delivery"):
        conformance("delayed-delivery", "heap", profile="x")


def test_counting_goes_on_after_a_block_in_which_it_was_paused_and_an_error_came() -> None:
    counting = Exercised(MODEL)
    with pytest.raises(LookupError), counting.but_for(True):
        raise LookupError
    model: Any = counting.model(CONTRACT.config())
    model.add(1, 0, CONTRACT.config().clock + 5_000)
    assert counting.met["DD-09 refuses no"] > 0
