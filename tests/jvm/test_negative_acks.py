"""The client's own trackers of negative acks: each release keeps to its profile, and has the defects known of it."""

from __future__ import annotations

import pytest
from jvm.same import subjects
from kit import run_subject

from broker_tck.implementations.jvm.releases import Release
from broker_tck.implementations.jvm.unavailable import Unavailable
from broker_tck.implementations.negative_acks.released import KINDS
from broker_tck.implementations.released import released
from broker_tck.properties.engine.subjects import resolve
from broker_tck.properties.report.parts import came_to
from broker_tck.properties.search.replay import golden_traces
from broker_tck.properties.search.run import Run, checked

RELEASED = subjects("negative-acks")
PROFILES = {
    "3.0.7": "legacy-java-3.0",
    "3.3.2": "legacy-java-3.0",
    "3.3.6": "legacy-java",
    "4.0.0": "legacy-java-3.0",
    "4.0.1": "legacy-java",
    "4.0.5": "pip-393-java",
    "4.0.8": "pip-393-java",
    "4.1.1": "pip-393-java",
    "4.2.4": "pip-393-java-4.2",
    "5.0.0-M1": "pip-393-java-4.2",
}
WALKS = 20
SHORT = 4
DEFECTS = [
    pytest.param("3.0.7", "NA-35", id="3.0.7: what throws ends all redelivery"),
    pytest.param("4.0.0", "NA-35", id="4.0.0: what throws ends all redelivery"),
    pytest.param("4.0.1", "NA-06", id="4.0.1: the last chunk alone comes back"),
    pytest.param("4.0.8", "NA-23", id="4.0.8: what is due sooner waits for the timer"),
    pytest.param("4.1.1", "NA-06", id="4.1.1: the last chunk alone comes back"),
    pytest.param("4.2.4", "NA-06", id="4.2.4: the second bucket has the last chunk alone"),
    pytest.param("5.0.0-M1", "NA-23", id="5.0.0-M1: what is due sooner waits for the timer"),
]


def test_each_release_declares_its_profile() -> None:
    declared = {release: resolve(f"pulsar-{release}/negative-acks").profiles for release in PROFILES}
    assert declared == {release: (profile,) for release, profile in PROFILES.items()}


@pytest.mark.parametrize("name", RELEASED)
def test_a_release_keeps_to_its_profile(name: str) -> None:
    """A released tracker of negative acks does on random walks what its profile says."""
    subject = resolve(name)
    run = Run(subject, subject.profiles[0], seed=0)
    failing = [done for done in checked(run, range(WALKS), WALKS) if done.difference]
    assert (failing, run.walks) == ([], WALKS)


@pytest.mark.parametrize("name", RELEASED)
def test_a_release_does_as_was_recorded(name: str) -> None:
    """A released tracker of negative acks does what was recorded of its profile."""
    subject = resolve(name)
    assert golden_traces("negative-acks", subject.profiles[0])
    found = came_to(subject, subject.profiles[0], "golden")[0]
    assert (found.findings, found.complaints) == ((), ())


@pytest.mark.deep
@pytest.mark.parametrize(("release", "rule"), DEFECTS)
def test_a_known_defect_is_found_by_its_rule(release: str, rule: str) -> None:
    """Walks find each known defect of a released tracker of negative acks; a short trace names its rule."""
    subject = resolve(f"pulsar-{release}/negative-acks")
    run = run_subject(subject, f"{PROFILES[release]}+{rule}", seed=0, count=WALKS, failing=2)
    named = {number for finding in run.findings for number in finding.diagnosis.rules}
    assert rule in named, [finding.diagnosis for finding in run.findings]
    assert min(len(finding.operations) for finding in run.findings) <= SHORT


def test_a_class_is_of_its_own_release() -> None:
    with pytest.raises(Unavailable, match=r"pulsar-client-original:4\.0\.2 is in no repository"):
        released("pulsar-4.0.2/negative-acks")


def test_a_release_without_a_broker_has_a_client() -> None:
    with pytest.raises(Unavailable, match=r"pulsar-broker:4\.1\.1 is in no repository"):
        released("pulsar-4.1.1/in-memory")
    assert not any("broker" in path.name for path in Release("4.1.1").paths(KINDS[0].jars))
