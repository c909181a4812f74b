"""What the clients' own trackers of negative acks do, as recorded and as replayed, and what walks ask of them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from kit import ONE_IN, replay

from broker_tck import fixtures
from broker_tck.properties.contracts.negative_acks.operations import (
    Capabilities,
    Config,
)
from broker_tck.properties.engine.answers import plain
from broker_tck.properties.engine.check import record
from broker_tck.properties.engine.registry import CONTRACTS
from broker_tck.properties.engine.subjects import resolve
from broker_tck.properties.engine.trace import from_text, load
from broker_tck.properties.engine.walk import Walk, walk, walk_seed
from broker_tck.properties.explain.checked import check_subject
from broker_tck.properties.search.budget import Budget
from broker_tck.properties.search.replay import declaring, golden_traces
from broker_tck.properties.search.run import to_exercise

NACKS = CONTRACTS["negative-acks"]
STEPS = {
    "pip-393-spec": 74,
    "pip-393-java": 5_465,
    "pip-393-java-4.2": 4_027,
    "legacy-java": 29,
    "legacy-java-3.0": 4_018,
    "go": 4_035,
    "go-old": 4_015,
    "cpp": 4_011,
}


def test_these_files_were_recorded() -> None:
    assert {path.stem for path in fixtures.golden("negative-acks")} == set(STEPS)


@pytest.mark.slow
@pytest.mark.parametrize("profile", STEPS)
def test_model_and_subjects_do_as_was_recorded(profile: str) -> None:
    traces = load(str(fixtures.folder() / "negative-acks" / f"{profile}.jsonl"))
    subjects = declaring(NACKS, profile)
    assert len(subjects) == 1
    assert {trace.profile for trace in traces} == {profile}
    assert len(golden_traces("negative-acks", profile)) == len(traces)
    assert sum(len(trace.operations) for trace in traces) == STEPS[profile]
    replays = [replay(trace, subjects) for trace in traces[::ONE_IN]]
    assert [d for each in replays for d in each.disagreements] == []


# ---- What the releases do, step by step


def outcomes(profile: str, text: str) -> list[tuple[object, int, list[int]]]:
    """Result, count and timeouts of each step, counted from the start; model and subject of the profile agree."""
    trace = from_text(f"negative-acks {profile} {text}")
    (subject,) = declaring(NACKS, profile)
    model, adapter = NACKS.model(profile)(trace.config), subject.adapter(trace.config, subject.capabilities)
    start, told = trace.config.clock, []
    for operation in trace.operations:
        result = operation.on(adapter)
        count, armed = adapter.seen()
        assert (operation.on(model), model.seen()) == (result, (count, armed))
        emitted = [[at - start, plain(ids), requests] for at, ids, requests in result] if result else result
        told.append((emitted, count, [at - start for at in armed]))
    return told


@pytest.mark.parametrize(
    ("profile", "armed"),
    [
        ("pip-393-java", [768, 1_000]),
        ("pip-393-java-4.2", [768, 1_000]),
        ("legacy-java", [334, 334]),
        ("legacy-java-3.0", [334, 334]),
    ],
)
def test_late_firing_arms_a_second_timer(profile: str, armed: list[int]) -> None:
    assert outcomes(profile, "; nack 0 0 0; close; nack 0 0 0; stale")[-1] == ([], 1, armed)
    assert outcomes(profile, "; nack 0 0 0; close; stale")[-1] == ([], 0, [])
    late = outcomes(profile, "; nack 0 0 0; close; nack 0 0 0; stale; close; adv 2000")
    assert late[-2][2] == armed[1:], "close knows of the last timer alone"
    assert late[-1] == ([], 0, [])


@pytest.mark.parametrize("profile", ["pip-393-spec", "cpp-old", "cpp", "go"])
def test_other_clients_ignore_a_late_firing(profile: str) -> None:
    before, after = outcomes(profile, "; nack 0 0 0; close; nack 0 0 0; stale")[-2:]
    assert after == ([], *before[1:])


def test_request_that_throws_stops_3_0_until_close() -> None:
    text = "delay_us=300000; fail; nack 0 0 0; adv 1000; nack 0 1 0; adv 100000; close; nack 0 2 0"
    assert [armed for _, _, armed in outcomes("legacy-java-3.0", text)] == [[], [100], [], [], [], [], [101_100]]
    assert outcomes("legacy-java", text)[3][2] == [1_100]


def test_close_inside_a_callback_stops_3_0_until_the_next_close() -> None:
    text = "delay_us=99999; nack 0 0 0; inside close 0 0 0; adv 134; adv 33; nack 0 0 0; adv 5000; close; nack 0 0 0"
    told = outcomes("legacy-java-3.0", text)
    assert told[2] == ([[134, [[0, 0]], 1]], 0, [167]), "the firing goes on and arms, though all is closed"
    assert [armed for _, _, armed in told[3:]] == [[], [], [], [], [5_201]]


def test_3_0_keeps_chunks_every_time() -> None:
    text = "delay_us=300000; chunked 0 5 2 0; adv 400; chunked 0 5 2 0; adv 401"
    assert [r for r, _, _ in outcomes("legacy-java-3.0", text)][1::2] == [
        [[400, [[0, 4], [0, 5]], 1]],
        [[800, [[0, 4], [0, 5]], 1]],
    ]
    assert outcomes("legacy-java", text)[1][0] == [[400, [[0, 5]], 1]]


@pytest.mark.parametrize(
    ("steps", "second", "third"),
    [
        ("chunked 0 5 2 0; chunked 0 5 2 1; adv 1000; chunked 0 5 2 2; adv 4000; adv 60000", [4, 5], [5]),
        ("chunked 0 5 2 0; chunked 0 5 2 1; chunked 0 5 2 2; adv 1000; adv 4000; adv 60000", [5], [5]),
        ("fail; chunked 0 5 2 0; chunked 0 5 2 1; chunked 0 5 2 2; adv 1000; adv 4000; adv 60000", [5], [5]),
    ],
)
def test_4_2_emits_all_chunks_once_for_each_nack_that_no_firing_followed(
    steps: str, second: list[int], third: list[int]
) -> None:
    told = outcomes("pip-393-java-4.2", f"backoff_ms=[1000,5000,60000] precision_bits=0; {steps}")
    emitted = [[entry for _, entry in ids] for result, _, _ in told for _, ids, _ in result or ()]
    assert emitted == [[4, 5], second, third]


# ---- What walks ask for


def walks_of(capabilities: Capabilities, count: int) -> list[Walk]:
    subject = resolve("sorted-buckets")
    return [walk(NACKS, walk_seed(5, n), subject.adapter, NACKS.specification, capabilities) for n in range(count)]


@pytest.mark.slow
def test_negative_ids_are_asked_of_who_takes_them_alone() -> None:
    for taken in (True, False):
        capabilities = Capabilities(negative_ids=taken)
        done = walks_of(capabilities, 20)
        assert all(NACKS.can_ask(each.operations, capabilities) for each in done)
        ids = [getattr(o, name, 0) for each in done for o in each.operations for name in ("ledger", "entry")]
        assert (min(ids) < 0) == taken


@pytest.mark.deep
def test_client_of_4_0_1_conforms_without_negative_ids() -> None:
    """The client of 4.0.1 passes the whole check if no ids are negative."""
    subject = replace(resolve("legacy-java"), capabilities=Capabilities(negative_ids=False))
    checked = check_subject(subject, "legacy-java", Budget(0, 500, 5))
    assert (checked.green, checked.complaints) == (True, [])
    assert all(checked.deviations.values())
    assert len(checked.deviations) == 13


@pytest.mark.slow
def test_timer_that_fires_without_end_ends_the_advance() -> None:
    trace = from_text("negative-acks go delay_us=3; nack 0 0 0; adv 5000; close; nack 0 0 1")
    client = resolve("go")
    assert replay(trace, [client]).agreed == len(trace.operations)
    steps = record(trace.operations, client.adapter(trace.config, client.capabilities))
    assert steps[1].result == {"error": "RuntimeError"}


def test_client_that_polls_is_not_made_to_wait_for_nothing() -> None:
    polling = Capabilities(no_delay=False)
    given = Config(backoff_ms=(1, 2)), Config(backoff_ms=(1, 0)), Config(multiplier=(0, 500, 2.0))
    assert [NACKS.edges.may_start(config, polling) for config in given] == [True, False, False]


@pytest.mark.parametrize(("name", "asked"), [("cpp-old", False), ("go", True)])
def test_rule_is_not_asked_for_if_each_clause_needs_what_is_lacked(name: str, asked: bool) -> None:
    subject = resolve(name)
    rules = {rule.number for rule in to_exercise(subject, NACKS.model(subject.profiles[0]))}
    assert ("NA-35" in rules) is asked
