"""The door of Python: a check that answers with typed results."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace
from typing import Any

import kit
import pytest
from kit import OneTooMany, python, replay
from msgspec import structs

import broker_tck
from broker_tck import check
from broker_tck.implementations.delayed_delivery.time_bucket import TimeBucketTracker
from broker_tck.properties import rulebook
from broker_tck.properties.engine.subjects import resolve
from broker_tck.properties.engine.trace import from_text
from broker_tck.properties.errors import BadInput
from broker_tck.properties.mistakes.implementations import MUTANTS


def test_finding_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    result = check(OneTooMany, walks=20, examples=0, fail_fast=True)
    assert (result.subject, result.contract, result.verdict) == ("kit:OneTooMany", "delayed-delivery", "broken")
    (finding,) = result.findings
    assert (finding.rule, finding.rules, result.conforms) == ("DD-20", ("DD-20",), False)
    assert finding.story.startswith(
        "Your tracker takes one message more than it is asked for; it must not.\n\nDD-20 is broken by "
    )
    assert finding.story.endswith(finding.replay)
    assert finding.trace in finding.replay
    assert replay(from_text(finding.trace), [resolve("kit:OneTooMany")]).disagreements
    assert capsys.readouterr() == ("", "")


@pytest.mark.slow
def test_what_conforms_under_each_of_its_profiles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TimeBucketTracker, "profiles", ("timebucket-ideal",))
    result = check(TimeBucketTracker, walks=120, examples=1)
    assert (result.verdict, result.conforms, result.findings, result.unseen) == ("conforms", True, (), ())
    (only,) = result.profiles
    assert (only.profile, result.walks, result.complaints) == ("timebucket-ideal", 120, ())
    assert result.operations == only.operations > 120 * 400
    assert result.failure_bound == pytest.approx(0.0247, abs=1e-3)


@pytest.mark.slow
def test_profiles_are_put_together() -> None:
    two = type("Two", (TimeBucketTracker,), {"profiles": ("timebucket-ideal", "heap")})
    result = check(two, walks=3, examples=0)
    assert [each.verdict for each in result.profiles] == ["not enough", "broken"]
    assert result.verdict == "broken"
    assert result.walks == sum(each.walks for each in result.profiles)
    assert result.failure_bound == max(each.failure_bound for each in result.profiles)
    assert "DD-08" in result.unseen
    assert result.findings == result.profiles[1].findings != ()


def test_subject_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    bare: Any = MUTANTS["empty-set-called-back"].factory
    monkeypatch.setattr(kit, "Bare", type("Bare", (bare,), {}), raising=False)
    result = check("kit:Bare", contract="negative-acks", profile="pip-393-spec", walks=1, examples=0)
    assert (result.contract, result.profiles[0].profile) == ("negative-acks", "pip-393-spec")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"contract": "entry-cash"}, "unknown contract 'entry-cash'; did you mean 'entry-cache'"),
        ({"profile": "heaps"}, "kit:OneTooMany: unknown profile 'heaps' of delayed-delivery; did you mean 'heap'"),
        ({"walks": 0}, "walks is 0; it must be a whole number from 1 to 2147483647"),
        ({"walks": "many"}, "walks is 'many'; it must be a whole number"),
        ({"examples": -1}, "examples is -1; it must be a whole number from 0"),
        ({"seed": 2**31}, "seed is 2147483648; it must be"),
        ({"accepts": {"DD-99": "x"}}, "profile timebucket-ideal has no rule 'DD-99'; did you mean 'DD-39'"),
        ({"accepts": ["DD-05"]}, r"accepts is \['DD-05'\]; it must be like"),
    ],
)
def test_what_cannot_be_used_is_bad_input(given: dict[str, Any], says: str) -> None:
    with pytest.raises(BadInput, match=says):
        check(OneTooMany, **given)


def test_subject_that_is_none_is_bad_input() -> None:
    for subject, says in (("heaps", "unknown subject 'heaps'"), (kit.Unmakeable, "cannot be made: OSError: no disk")):
        with pytest.raises(BadInput, match=says):
            check(subject)
    with pytest.raises(BadInput, match="5 is not callable"):
        check(5)  # type: ignore[arg-type] # as people do who have no type checker


def test_results_are_shown_in_a_line() -> None:
    result = check(OneTooMany, walks=20, examples=0, fail_fast=True)
    says = f"broken, 1 finding, {result.walks} walk{'s' * (result.walks > 1)}, {result.operations:,} operations>"
    assert repr(result) == f"<Result kit:OneTooMany (timebucket-ideal): {says}"
    assert repr(result.profiles) == f"(<ProfileResult timebucket-ideal: {says},)"
    (finding,) = result.findings
    assert repr(finding) == f"<Finding DD-20: {finding.diagnosis}>"
    long = structs.replace(finding, rules=("DD-20", "DD-21"), diagnosis="word " * 50)
    assert repr(long).startswith("<Finding DD-20 or DD-21: word word ")
    assert len(repr(long)) < 140


def test_package_is_light() -> None:
    code = "import broker_tck, sys; print(len([name for name in sys.modules if 'broker_tck.' in name]))"
    assert python("-c", code).stdout == "0\n"


def test_package_has_what_it_names() -> None:
    for name in broker_tck.__all__:
        assert getattr(broker_tck, name)


def test_rulebook_is_that_of_the_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another sentence makes another version; what is said besides does not."""
    contract = rulebook.CONTRACTS["delayed-delivery"]
    known = broker_tck.RULEBOOK
    assert len(known) == rulebook.DIGITS

    def with_rule(**change: str) -> str:
        rules = {**contract.rules, "DD-01": dataclasses.replace(contract.rules["DD-01"], **change)}
        changed = SimpleNamespace(name=contract.name, rules=rules)
        monkeypatch.setattr(rulebook, "CONTRACTS", {**rulebook.CONTRACTS, contract.name: changed})
        return rulebook.rulebook.__wrapped__()

    assert with_rule(source="elsewhere") == known
    assert with_rule(sentence="Another.") != known
