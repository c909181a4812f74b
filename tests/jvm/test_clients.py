"""The client's own trackers: each release keeps to its profile, and has the defects known of it."""

from __future__ import annotations

import pytest
from kit import run_subject

from broker_tck.implementations.jvm.releases import Release
from broker_tck.implementations.jvm.unavailable import Unavailable
from broker_tck.implementations.negative_acks.released import KINDS
from broker_tck.implementations.released import released
from broker_tck.properties.engine.subjects import resolve

WALKS = 40
SHORT = 5
DEFECTS = [
    pytest.param("3.0.7/negative-acks", "NA-35", id="3.0.7: what throws ends all redelivery"),
    pytest.param("4.0.0/negative-acks", "NA-35", id="4.0.0: what throws ends all redelivery"),
    pytest.param("4.0.1/negative-acks", "NA-06", id="4.0.1: the last chunk alone comes back"),
    pytest.param("4.0.8/negative-acks", "NA-23", id="4.0.8: what is due sooner waits for the timer"),
    pytest.param("4.1.1/negative-acks", "NA-06", id="4.1.1: the last chunk alone comes back"),
    pytest.param("4.2.4/negative-acks", "NA-06", id="4.2.4: the second bucket has the last chunk alone"),
    pytest.param("5.0.0-M1/negative-acks", "NA-23", id="5.0.0-M1: what is due sooner waits for the timer"),
    pytest.param("3.0.7/ack-timeout", "AT-05", id="3.0.7: a topic takes others along"),
    pytest.param("4.0.8/ack-timeout", "AT-06", id="4.0.8: what waits of a topic is left behind"),
    pytest.param("5.0.0-M1/ack-timeout", "AT-42", id="5.0.0-M1: a cancelled timeout ticks on"),
    pytest.param("4.2.4/ack-timeout", "AT-22", id="4.2.4: what waits comes by the wall clock"),
    pytest.param("4.2.4/ack-timeout", "AT-02", id="4.2.4: a message that waits is tracked twice"),
]


@pytest.mark.deep
@pytest.mark.parametrize(("name", "rule"), DEFECTS)
def test_a_known_defect_is_found_by_its_rule(name: str, rule: str) -> None:
    """Walks find each known defect of a released tracker of a client; a short trace names its rule."""
    subject = resolve(f"pulsar-{name}")
    run = run_subject(subject, f"{subject.profiles[0]}+{rule}", seed=0, count=WALKS, failing=2)
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
