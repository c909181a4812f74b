"""Deviations one by one: profiles with rules kept, the shortest trace of each, and subjects side by side."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from conftest import Cli
from msgspec import structs

from broker_tck.cli import compare as pages
from broker_tck.model.negative_acks.specification import NegativeAcks
from broker_tck.model.rules import method_of
from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.engine.registry import CONTRACTS
from broker_tck.properties.engine.subjects import Modelled, Subject, as_subject, bundled, resolve
from broker_tck.properties.engine.walk import walk, walk_seed
from broker_tck.properties.explain import deviating
from broker_tck.properties.explain.checked import check_subject
from broker_tck.properties.explain.deviating import behaves_as, broken_rules, deviation, findings_by_rule
from broker_tck.properties.explain.finding import find_breach
from broker_tck.properties.report.compare import Verdict, column, compared_rules
from broker_tck.properties.report.finding import story
from broker_tck.properties.report.made import finding_result
from broker_tck.properties.search.failing import broken_by

NACKS = CONTRACTS["negative-acks"]
JAVA = resolve("pip-393-java")
PROFILES = [(contract, name) for contract in CONTRACTS.values() for name in contract.profiles]
DEFECTS = [
    ("pip-393-java", "pip-393-java", "NA-23"),
    ("pip-393-java-4.2", "pip-393-java-4.2", "NA-06"),
    ("go", "go", "NA-30"),
    ("cpp", "cpp", "NA-24"),
]


def walked(subject: Subject, number: int) -> Any:
    """A whole walk of the specification, for a subject to make alone."""
    return walk(NACKS, walk_seed(7, number), lambda config, _: NegativeAcks(config), NegativeAcks, subject.capabilities)


def test_rule_kept_is_that_of_the_specification() -> None:
    model = NACKS.model("go+NA-30+NA-31")
    assert model.PROFILE == "go+NA-30+NA-31"
    for path in ("buckets.selected", "buckets.emitted"):
        assert method_of(model, path) is method_of(NegativeAcks, path)
    assert method_of(model, "delays.count_of_id") is method_of(NACKS.model("go"), "delays.count_of_id")
    assert NACKS.model("go+NA-30+NA-31") is model
    assert model.BREAKS == ()


@pytest.mark.parametrize(
    ("profile", "line"),
    [
        ("go+NA-05", "profile go does not deviate from NA-05; of its rules NA-06, NA-10, .* can be kept"),
        ("pip-393-spec+NA-05", "profile pip-393-spec does not deviate from NA-05; of its rules none can be kept"),
        ("no+NA-05", "unknown profile 'no' of negative-acks; there are: pip-393-spec, .*"),
    ],
)
def test_rule_that_cannot_be_kept_is_refused(profile: str, line: str) -> None:
    with pytest.raises(ValueError, match=line):
        NACKS.model(profile)


@pytest.mark.slow
@pytest.mark.parametrize(
    "profile", [(kit, name) for kit in CONTRACTS.values() for name in kit.profiles], ids=lambda p: p[1]
)
def test_each_deviation_of_a_profile_is_needed_by_its_model(profile: tuple[Contract, str]) -> None:
    """The model of each profile does as was recorded; it differs from that as soon as one deviation is put back."""
    contract, name = profile
    own = next(subject for subject in bundled(contract) if name in subject.profiles)
    able = {} if isinstance(own, Modelled) else structs.asdict(own.capabilities)
    subject = as_subject(name, contract, contract.model(name), able)
    checked = check_subject(subject, name, parts=("golden", "deviations"))
    assert (checked.disagreements, checked.gone) == ([], [])


@pytest.mark.deep
@pytest.mark.parametrize("case", DEFECTS, ids=lambda case: case[0])
@pytest.mark.parametrize("seed", range(2))
def test_live_defect_is_found_from_nothing(case: tuple[str, str, str], seed: int) -> None:
    """Walks find each known defect of released classes without a hint; a short trace names its rule."""
    name, profile, rule = case
    finding = deviation(resolve(name), profile, rule, seed)
    assert finding is not None
    assert finding.profile == f"{profile}+{rule}"
    assert finding.diagnosis.rules == (rule,)
    assert len(finding.operations) <= 6
    assert f"as {profile}" in story(finding_result(finding))


@pytest.mark.slow
def test_subject_is_known_by_what_it_does_whatever_it_declares() -> None:
    undeclared = replace(JAVA, name="mine", profiles=("pip-393-spec",))
    assert behaves_as(undeclared, 0) == "pip-393-java"
    assert behaves_as(resolve("mutant:empty-set-called-back"), 0) is None


@pytest.mark.slow
def test_deviation_that_no_longer_happens_is_gone(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = "broker_tck.properties.explain.checked.happens"
    monkeypatch.setattr(kept, lambda subject, specified, *asked: "NA-23" not in specified.__name__)
    status, out, _ = cli("check", "--subject", "pip-393-java", "--walks", "40", "--examples", "0")
    assert status == 4
    assert "pip-393-java (pip-393-java): NOT ENOUGH: never came up: " in out
    assert "the deviation of pip-393-java from NA-23 (timer.is_sooner)" in out


def test_breach_is_reduced_while_it_is_one() -> None:
    slow = resolve("cpp")
    model = NACKS.model("cpp")
    walks = (walk(NACKS, walk_seed(0, n), slow.adapter, model, slow.capabilities) for n in range(50))
    done = next(done for done in walks if "NA-16" in broken_by(NACKS, done, slow.adapter, slow.capabilities))
    finding = find_breach(slow, model, "NA-16", done)
    assert finding is not None
    assert len(finding.operations) <= 3
    assert finding.diagnosis.sentence == "Judged by what was observed, without the model."
    assert find_breach(slow, model, "P7", done) is None


def silent(_run: Any) -> None:
    """Hears how far a run has come."""


@pytest.mark.deep
def test_columns_say_what_is_kept_broken_and_open() -> None:
    """`compare` says for each rule whether `pip-393-java` keeps it, with a short trace of each that it breaks."""
    found = column(60, 0, JAVA, silent)
    broken = ["NA-06", "NA-23", "NA-41", "NA-42", "NA-16", "P8", "P9", "P10", "P16"]
    assert broken_rules(NACKS, "pip-393-java") == broken
    assert found.profile == "pip-393-java"
    assert {n for n, v in found.verdicts.items() if v is Verdict.BREAKS} == {*broken}
    assert set(found.findings) == {*broken}
    assert max(len(finding.operations) for finding in found.findings.values()) <= 6
    assert found.verdicts["NA-01"] is Verdict.KEEPS
    assert set(found.verdicts) == {rule.number for rule in compared_rules(NACKS)}


@pytest.mark.slow
def test_nothing_is_said_to_be_kept_by_what_behaves_as_no_profile() -> None:
    told: list[int] = []
    stranger = column(20, 0, resolve("mutant:empty-set-called-back"), lambda run: told.append(run.walks))
    assert told[0] == 1
    assert stranger.profile is None
    assert stranger.verdicts["NA-25"] is Verdict.BREAKS
    assert Verdict.KEEPS not in stranger.verdicts.values()
    assert findings_by_rule(resolve("mutant:empty-set-called-back"), 0) == []


@pytest.mark.slow
def test_compare_prints_a_table(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of each broken rule the first trace that is found; a deep test sees that the shortest one is short."""
    for most in ("FAILING", "CANDIDATES", "BREACHES"):
        monkeypatch.setattr(deviating, most, 1)
    java = column(8, 0, JAVA, silent)
    monkeypatch.setattr(
        pages, "column", lambda n, seed, s, tell: java if s.name == "pip-393-java" else column(n, seed, s, tell)
    )
    status, out, err = cli("compare", "--subject", "sorted-buckets", "--subject", "pip-393-java", "--walks", "24")
    assert (status, err) == (0, "")
    lines = {line.split()[0]: line.split()[1:] for line in out.splitlines() if line}
    assert lines["rule"] == ["sorted-buckets", "pip-393-java"]
    assert lines["NA-23"] == ["keeps", "BREAKS"]
    broken = "NA-06, NA-16, NA-23, NA-41, NA-42, P8, P9, P10, P16"
    assert f"pip-393-java: behaves as profile pip-393-java; breaks {broken} (8 walks)" in out
    assert "sorted-buckets: behaves as profile pip-393-spec; breaks nothing (24 walks)" in out

    status, out, _ = cli("compare", "--subject", "pip-393-java", "--json")
    assert status == 0
    told = json.loads(out)
    assert told["contract"] == "negative-acks"
    (only,) = told["subjects"]
    assert only["behaves_as"] == "pip-393-java"
    assert {f["rules"][0] for f in only["findings"]} == {n for n, v in only["rules"].items() if v == "breaks"}
