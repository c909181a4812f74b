"""The broker's own delayed-delivery trackers: each release keeps to its profile, and has the defects known of it."""

from __future__ import annotations

import pytest
from jvm.same import subjects
from kit import CROWDED, run_subject

from broker_tck.implementations.released import tried
from broker_tck.properties.engine.subjects import resolve
from broker_tck.properties.engine.trace import Trace
from broker_tck.properties.explain.checked import Checked, see_deviations
from broker_tck.properties.explain.deviating import behaves_as, broken_rules
from broker_tck.properties.search.replay import asked, golden_traces, on_subject, witnesses
from broker_tck.properties.search.run import Run, checked

RELEASED = subjects("in-memory")
PROFILES = {
    "pulsar-3.0.7/in-memory": "heap",
    "pulsar-4.0.0/in-memory": "heap",
    "pulsar-4.0.1/in-memory": "timebucket-4.0.1",
    "pulsar-4.0.5/in-memory": "timebucket-4.0.4",
    "pulsar-4.0.8/in-memory": "heap",
    "pulsar-4.2.4/in-memory": "timebucket-2026",
    "pulsar-5.0.0-M1/in-memory": "timebucket-5.0-M1",
    "pulsar-5.0.1/in-memory": "timebucket-5.0",
}
RECORDED = {"heap": 180, "timebucket-2026": 180, "timebucket-5.0": 78}
"""How many traces were recorded of a profile; of the milestone, and of 4.0.1 and 4.0.4, none."""
WALKS = 40
SHORT = 7
DEFECTS = [
    # the subject, a profile that is its own but for a rule, the rule
    pytest.param("pulsar-5.0.1/in-memory", "timebucket-2026", "DD-16", id="5.0.1: a clear forgets the delay"),
    pytest.param("pulsar-3.0.7/in-memory", "heap+DD-32", "DD-32", id="3.0.7: a closed tracker refuses"),
    pytest.param("pulsar-4.0.1/in-memory", "timebucket-4.0.4", "DD-20", id="4.0.1: ledgers in no order"),
    pytest.param("pulsar-4.0.5/in-memory", "timebucket-2025", "DD-11", id="4.0.5: nothing is counted again"),
    pytest.param("pulsar-5.0.0-M1/in-memory", "timebucket-2026", "DD-06", id="5.0.0-M1: due at another time"),
]


def test_each_release_declares_its_profile() -> None:
    named = [name for name, _, _ in tried("delayed-delivery")]
    assert {name: resolve(name).profiles for name in named} == {name: (PROFILES[name],) for name in PROFILES}


@pytest.mark.parametrize("name", RELEASED)
def test_walks_agree_with_the_profile_of_the_release(name: str) -> None:
    """A released tracker does on random walks what its profile says."""
    run = Run(resolve(name), PROFILES[name], seed=0)
    failing = [done for done in checked(run, range(WALKS), WALKS) if done.difference]
    assert (failing, run.walks) == ([], WALKS)


@pytest.mark.parametrize("name", RELEASED)
def test_every_declared_deviation_is_seen(name: str) -> None:
    """A released tracker shows each deviation that its profile declares, and no other."""
    subject, profile = resolve(name), PROFILES[name]
    run = Checked(subject, profile, seed=0)
    see_deviations(run, witnesses(subject, profile))
    seen = {deviation.partition(" ")[0] for deviation, happened in run.deviations.items() if happened}
    assert seen
    assert seen == {*broken_rules(run.subject.contract, run.profile)} - run.subject.out_of_reach
    assert run.gone == []


@pytest.mark.parametrize("name", [each for each in RELEASED if PROFILES[each.values[0]] in RECORDED])
def test_recorded_traces_are_done_as_recorded(name: str) -> None:
    """A released tracker does what was recorded of its profile."""
    subject, profile = resolve(name), PROFILES[name]
    traces = [asked(trace, subject) for trace in golden_traces("delayed-delivery", profile)]
    assert [on_subject(trace, subject, profile) for trace in traces] == [None] * RECORDED[profile]


@pytest.mark.parametrize(("name", "profile", "rule"), DEFECTS)
def test_a_known_defect_is_found_by_its_rule(name: str, profile: str, rule: str) -> None:
    run = run_subject(resolve(name), profile, seed=0, count=3 * WALKS, failing=1)
    assert [finding.diagnosis.rules for finding in run.findings] == [(rule,)]
    assert len(run.findings[0].operations) <= SHORT


@pytest.mark.parametrize("trace", CROWDED)
def test_ledgers_of_4_0_1_are_taken_as_their_table_lists_them_however_many_there_are(trace: Trace) -> None:
    assert on_subject(trace, resolve("pulsar-4.0.1/in-memory"), trace.profile) is None


@pytest.mark.deep
@pytest.mark.parametrize("version", ["4.0.1", "4.0.5"])
def test_against_the_specification_the_defects_of_4_0_show(version: str) -> None:
    """Releases 4.0.1 and 4.0.5 fail against the specification, and the kit names the profile that they behave as."""
    subject = resolve(f"pulsar-{version}/in-memory")
    assert behaves_as(subject, seed=0) == subject.profiles[0]
    run = run_subject(subject, "timebucket-ideal", seed=0, count=WALKS, failing=2)
    assert run.findings
