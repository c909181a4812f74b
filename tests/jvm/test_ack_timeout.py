"""The client's own trackers of ack timeouts: walks find what each release does otherwise than specified."""

from __future__ import annotations

import pytest
from kit import run_subject

from broker_tck.properties.engine.subjects import resolve

WALKS = 40
SHORT = 5
DEFECTS = [
    pytest.param("3.0.7", "AT-05", id="3.0.7: a topic takes others along"),
    pytest.param("4.0.8", "AT-06", id="4.0.8: what waits of a topic is left behind"),
    pytest.param("5.0.0-M1", "AT-42", id="5.0.0-M1: a cancelled timeout ticks on"),
    pytest.param("4.2.4", "AT-02", id="4.2.4: a message that waits is tracked twice"),
]


@pytest.mark.deep
@pytest.mark.parametrize(("release", "rule"), DEFECTS)
def test_a_known_defect_is_found_by_its_rule(release: str, rule: str) -> None:
    """Walks find each known defect of a released tracker of ack timeouts; a short trace names its rule."""
    subject = resolve(f"pulsar-{release}/ack-timeout")
    run = run_subject(subject, f"{subject.profiles[0]}+{rule}", seed=0, count=WALKS, failing=2)
    named = {number for finding in run.findings for number in finding.diagnosis.rules}
    assert rule in named, [finding.diagnosis for finding in run.findings]
    assert min(len(finding.operations) for finding in run.findings) <= SHORT
