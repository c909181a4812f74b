"""What the kit is done with is let go, on both sides: no circle leads through Java, where neither collector sees it."""

from __future__ import annotations

import gc
import weakref

import pytest

from broker_tck.properties.engine.check import record
from broker_tck.properties.engine.subjects import resolve
from broker_tck.properties.engine.trace import from_text

TRACES = {
    "pulsar-4.2.4/in-memory": "delayed-delivery timebucket-2026; add 0 0 +2000; adv 5000; get 1; add 0 1 +9000",
    "pulsar-4.2.4/negative-acks": "negative-acks pip-393-java-4.2; nack 0 0 0; adv 90000000000; nack 0 1 0",
    "pulsar-4.0.8/range-cache": "entry-cache legacy-4.0; put 0 0 0 10 1; fetch 0 0 0 0 2 0",
    "pulsar-4.2.4/range-cache": "entry-cache pip-430; put 0 0 0 10 1",
    "pulsar-4.2.4/cursor-heap": "active-cursors pulsar-heap; add a [0,0]; slowest",
    "pulsar-4.2.4/bucket": "bucket-delivery bucket-4.2 min_index_count=1; add 1 0 +99; add 2 0 +99; complete 0; adv 9",
}
"""Each leaves something behind that Java holds: a timeout that is armed, a value with a count, a cursor."""


@pytest.mark.parametrize("name", TRACES)
def test_subject_that_nobody_uses_is_let_go(name: str) -> None:
    subject, trace = resolve(name), from_text(TRACES[name])
    adapter = subject.adapter(trace.config, subject.capabilities)
    record(trace.operations, adapter)
    seen = weakref.ref(adapter)
    del adapter
    gc.collect()
    assert seen() is None
