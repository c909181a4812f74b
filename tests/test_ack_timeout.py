"""What the released trackers of ack timeouts did, as recorded, and what the contract asks for."""

from __future__ import annotations

import pytest
from kit import ONE_IN, replay

from broker_tck import fixtures
from broker_tck.implementations.ack_timeout.timing_wheel import TimingWheel
from broker_tck.properties.contracts.ack_timeout.adapter import Adapter
from broker_tck.properties.contracts.ack_timeout.operations import Capabilities
from broker_tck.properties.engine.registry import CONTRACTS
from broker_tck.properties.engine.trace import from_text, load
from broker_tck.properties.search.replay import declaring

ACKS = CONTRACTS["ack-timeout"]
FILES = ("ack-timeout-java", "ack-timeout-java-4.2", "ack-timeout-java-5.0.0-M1")


def test_these_files_were_recorded() -> None:
    assert {path.stem for path in fixtures.golden("ack-timeout")} == set(FILES)


@pytest.mark.parametrize("profile", FILES)
def test_model_does_as_the_released_classes_did(profile: str) -> None:
    traces = load(str(fixtures.folder() / "ack-timeout" / f"{profile}.jsonl"))
    assert sum(len(trace.operations) for trace in traces) == 3_000
    subjects = declaring(ACKS, profile)
    assert subjects
    replays = [replay(trace, subjects) for trace in traces[::ONE_IN]]
    assert [d for each in replays for d in each.disagreements] == []
    assert sum(each.agreed for each in replays) == sum(each.steps for each in replays)


@pytest.mark.parametrize(
    ("text", "outcomes"),
    [
        ("add 0 1 0; adv 10999; adv 1", [True, [], [[11_000, [(0, 1, -1)], 1]]]),
        ("adv 1; add 0 1 0; adv 10998; adv 1", [[], True, [], [[11_000, [(0, 1, -1)], 1]]]),
        ("tick=3000; add 0 1 0; adv 14999; adv 1", [True, [], [[15_000, [(0, 1, -1)], 1]]]),
        ("tick=20000; add 0 1 0; adv 19999; adv 1", [True, [], [[20_000, [(0, 1, -1)], 1]]]),
        ("backoff=[0,1]; add 0 1 1; adv 11999; adv 1", [True, [], [[12_000, [(0, 1, -1)], 1]]]),
        (
            "backoff=[5]; add 0 1 0; jump 3600000; adv 11000; jump -7000; adv 1000",
            [True, None, [], None, [[12_000, [(0, 1, -1)], 1]]],
        ),
        ("add 0 1 0 2; add 0 1 0; till 0 1; till 0 1 2", [True, True, 1, 1]),
        ('topics=["t-partition-0","t-1"]; add 0 0 0; add 1 0 0; leave t', [True, True, 1]),
        ("add 0 2 0 -1 2; adv 11000", [True, [[11_000, [(0, 1, -1), (0, 2, -1)], 1]]]),
    ],
)
def test_time_and_removal_are_as_worked_out(text: str, outcomes: list[object]) -> None:
    """Worked out by hand; model and subject agree. Times are counted from the start."""
    trace = from_text(f"ack-timeout ack-timeout-spec clock=0{' ' if '=' in text.partition(';')[0] else '; '}{text}")
    for run in (
        ACKS.specification(trace.config),
        Adapter(TimingWheel, trace.config, Capabilities()),
    ):
        assert [operation.on(run) for operation in trace.operations] == outcomes


def test_an_idle_tracker_need_not_tick() -> None:
    """A subject with no timeout conforms as long as it tracks nothing; with two, never."""
    model = ACKS.specification(ACKS.config())
    allowed = model.seen()[1]
    assert allowed.permits([])
    assert not allowed.permits([1, 2])
    from_text("ack-timeout; add 0 1 0").operations[0].on(model)
    assert not model.seen()[1].permits([])


def test_an_entry_is_in_chunks_or_not_for_good() -> None:
    operations = from_text(
        "ack-timeout; add 0 5 0 -1 3; add 0 4 0; add 0 5 0; add 0 5 0 1 3; add 0 6 0; add 0 5 0 -1 3"
    )
    assert [*ACKS.asks(operations.operations, Capabilities())] == [True, False, False, False, True, True]
