"""Bugs of one instruction each, put into released classes as a patch would: each is found, by its rule."""

from __future__ import annotations

from pathlib import Path

import pytest
from jvm.bytecode import Slip, slipped
from kit import run_subject

from broker_tck.properties.engine.subjects import resolve

IN_MEMORY = "org.apache.pulsar.broker.delayed.InMemoryDelayedDeliveryTracker"
ABSTRACT = "org.apache.pulsar.broker.delayed.AbstractDelayedDeliveryTracker"
MOST_WALKS = 200
SHORT = 7
MOST_RULES = 2
"""That a finding names. One that names more does not say what is wrong."""

SLIPS = {
    "equality-accepted": (Slip(IN_MEMORY, "addMessage", 1, "IFGT", "IFGE"), "DD-09"),
    "bucket-due-late": (Slip(IN_MEMORY, "getBucketCutoffTime", 1, "LCONST_1", "LCONST_0"), "DD-06"),
    "available-late": (Slip(IN_MEMORY, "hasMessageAvailable", 1, "IFGT", "IFGE"), "DD-06"),
    "equal-delay-differs": (Slip(IN_MEMORY, "checkAndUpdateHighest", 1, "IFGE", "IFGT"), "DD-14"),
    "empty-bitmap-stays": (Slip(IN_MEMORY, "getScheduledMessages", 1, "IFGT", "IFGE"), "DD-01"),
    "rounded-the-other-way": (Slip(IN_MEMORY, "roundTimestamp", 1, "IFEQ", "IFNE"), "DD-05"),
    "refusal-keeps-the-delay": (Slip(IN_MEMORY, "addMessage", 1, "ICONST_0", "ICONST_1"), "DD-17"),
    "armed-for-now": (Slip(ABSTRACT, "doUpdateTimer", 1, "IFGT", "IFGE"), "DD-21"),
    "no-tick-between-runs": (Slip(ABSTRACT, "doUpdateTimer", 1, "LADD", "LSUB"), "DD-22"),
    "tick-stays": (Slip(ABSTRACT, "resetTickTime", 1, "IFEQ", "IFNE"), "DD-27"),
    "cancelled-runs": (Slip(ABSTRACT, "run", 2, "IFEQ", "IFNE"), "DD-24"),
}


@pytest.mark.parametrize("name", SLIPS)
def test_a_slip_is_found_by_its_rule(name: str, tmp_path: Path) -> None:
    slip, rule = SLIPS[name]
    subject = resolve(f"pulsar-4.2.4/in-memory@{slipped('4.2.4', slip, tmp_path)}")
    run = run_subject(subject, "timebucket-2026", seed=0, count=MOST_WALKS, failing=3)
    told = [(finding.diagnosis.rules, len(finding.operations)) for finding in run.findings]
    assert any(rule in rules and length <= SHORT for rules, length in told), told
    assert all(len(rules) <= MOST_RULES for rules, _ in told), told
