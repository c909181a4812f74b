"""What the broker's own classes did: the model and the bundled subjects do the same, and any change of it is found."""

from __future__ import annotations

import copy
import json
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec
import pytest
from conftest import Cli
from kit import CONTRACT, ONE_IN, replay

from broker_tck import fixtures
from broker_tck.properties.engine.registry import CONTRACTS
from broker_tck.properties.engine.trace import Head, Trace, from_json, load, profile_in
from broker_tck.properties.search.replay import MODEL, declaring, golden_traces

STEPS = {"heap": 5_959, "timebucket-2025": 5_973, "timebucket-2026": 5_919, "timebucket-5.0": 4_000}


@cache
def recorded(profile: str) -> tuple[Trace, ...]:
    return tuple(load(str(fixtures.folder() / "delayed-delivery" / f"{profile}.jsonl")))


def test_these_files_were_recorded() -> None:
    assert {path.stem for path in fixtures.golden("delayed-delivery")} == set(STEPS)
    assert sum(STEPS.values()) == 21_851


@pytest.mark.parametrize("path", [*chain.from_iterable(map(fixtures.golden, CONTRACTS))], ids=lambda path: path.stem)
def test_all_traces_of_a_file_are_of_one_profile(path: Path) -> None:
    with path.open("rb") as lines:
        assert {msgspec.json.decode(line, type=Head).profile for line in lines} == {profile_in(path)}


@pytest.mark.slow
@pytest.mark.parametrize("profile", STEPS)
def test_model_and_subjects_do_as_the_broker_did(profile: str) -> None:
    traces = recorded(profile)
    subjects = declaring(CONTRACT, profile)
    assert subjects
    assert {trace.profile for trace in traces} == {profile}
    assert [t.operations for t in golden_traces("delayed-delivery", profile)] == [t.operations for t in traces]
    assert sum(len(trace.operations) for trace in traces) == STEPS[profile]
    replays = [replay(trace, subjects) for trace in traces[::ONE_IN]]
    assert [d for each in replays for d in each.disagreements] == []
    assert sum(each.agreed for each in replays) == sum(each.steps for each in replays)
    assert all(outcome is not None for trace in traces for outcome in trace.outcomes)


def altered(outcome: list[Any], which: int) -> list[Any]:
    """The outcome with the result (0), the count (1) or the armed timeouts (2) changed, and its type kept."""
    changed = copy.deepcopy(outcome)
    value = changed[which]
    if isinstance(value, bool):
        changed[which] = not value
    elif isinstance(value, int):
        changed[which] = value + 1
    elif isinstance(value, list):
        changed[which] = value[1:] if value else [1]
    else:
        changed[which] = False if value is None else None
    return changed


@pytest.mark.parametrize("which", [0, 1, 2], ids=["result", "count", "armed"])
@pytest.mark.parametrize("profile", STEPS)
def test_altered_outcome_is_found_where_it_is(profile: str, which: int) -> None:
    observed = ("result", "count", "armed")[which]
    changed = 0
    for number, trace in enumerate(recorded(profile)[:60]):
        at = (7 * number) % len(trace.operations)
        outcomes = [*trace.outcomes[:at], altered(trace.outcomes[at] or [], which), *trace.outcomes[at + 1 :]]
        wrong = Trace(trace.contract, trace.profile, trace.config, trace.operations, outcomes, trace.where)
        if trace.operations[at].tag == "close" and profile == "timebucket-ideal" and which == 1:
            continue
        changed += 1
        (found,) = replay(wrong, []).disagreements
        assert (found.who, found.step, found.observed) == (MODEL, at, observed)
    assert changed == 60


@pytest.mark.parametrize(("wrong", "right"), [(1, True), (0, False), (None, False), ("", [])])
def test_kind_of_a_recorded_result_counts(wrong: object, right: object) -> None:
    """A result that is another kind of nothing is another result."""
    operation = ["pause"] if right is False else ["adv", 0] if right == [] else ["add", 1, 1, 1_700_000_009_000]
    seen = [1, [1_700_000_008_704]] if right is True else [0, []]
    record = {"version": 1, "contract": "delayed-delivery", "profile": "timebucket-ideal", "config": {}}
    good = from_json(json.dumps(record | {"steps": [[operation, right, *seen]]}), "here")
    bad = from_json(json.dumps(record | {"steps": [[operation, wrong, *seen]]}), "here")
    assert not replay(good, []).disagreements
    assert replay(bad, []).disagreements[0].observed == "result"


@pytest.mark.parametrize("which", [0, 1, 2], ids=["result", "count", "armed"])
def test_altered_file_ends_in_1(cli: Cli, tmp_path: Path, which: int) -> None:
    text = (fixtures.folder() / "delayed-delivery" / "heap.jsonl").read_text(encoding="utf-8").splitlines()[2:4]
    record = json.loads(text[1])
    at = len(record["steps"]) // 2
    record["steps"][at][1:] = altered(record["steps"][at][1:], which)
    changed = tmp_path / "changed.jsonl"
    changed.write_text("\n".join([text[0], json.dumps(record)]))
    status, out, err = cli("replay", changed)
    assert (status, err) == (1, "")
    assert f"{changed}:2: step {at + 1}: model differs (heap)" in out
    total = sum(len(json.loads(line)["steps"]) for line in text)
    lost = len(record["steps"]) - at
    assert out.splitlines()[-1] == f"{total - lost} of {total} steps agreed"


@pytest.mark.deep
@pytest.mark.parametrize("contract", CONTRACTS)
def test_recorded_files_end_in_0(cli: Cli, contract: str) -> None:
    """Every recorded trace is replayed without a difference; the tests of each contract replay only some."""
    files = fixtures.golden(contract)
    steps = sum(len(trace.operations) for file in files for trace in load(str(file)))
    status, out, err = cli("replay", *files)
    assert (status, err) == (0, "")
    assert out.splitlines()[-1] == f"{steps} of {steps} steps agreed"
