"""Traces: as JSON lines and as text, there and back, and the schema that says what they are."""

from __future__ import annotations

import json
from itertools import islice
from typing import Any, get_args

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kit import CONTRACT, START, trace_of, walked

from broker_tck import fixtures
from broker_tck.properties.engine.check import record
from broker_tck.properties.engine.operation import TIME, Operation, marked, shifted
from broker_tck.properties.engine.schema import schema
from broker_tck.properties.engine.subjects import bundled
from broker_tck.properties.engine.trace import Trace, from_json, from_text, load, to_json, to_text

SUBJECTS = {profile: s for s in bundled(CONTRACT) for profile in s.profiles}


def walk_trace(profile: str, number: int, outcomes: bool = True) -> Trace:
    """A walk under a profile, with the model's outcomes."""
    done = walked(SUBJECTS[profile], number, profile)
    steps = record(done.operations, CONTRACT.model(profile)(done.config))
    with_outcome = [[step.result, *step.seen] if outcomes else None for step in steps]
    return Trace(CONTRACT, profile, done.config, done.operations, with_outcome)


@pytest.fixture(scope="module")
def validator() -> Any:
    written = json.loads(fixtures.schema("delayed-delivery").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(written)
    return jsonschema.Draft202012Validator(written)


def test_schema_is_the_code_s(validator: Any) -> None:
    assert validator.schema == json.loads(json.dumps(schema(CONTRACT)))


@pytest.mark.slow
def test_schema_holds_for_what_was_recorded(validator: Any) -> None:
    for path in fixtures.golden("delayed-delivery"):
        with path.open(encoding="utf-8") as lines:
            for line in islice(lines, 0, None, 24):
                assert not list(validator.iter_errors(json.loads(line)))


@pytest.mark.parametrize(
    "change",
    [
        {"version": 2},
        {"contract": "redelivery"},
        {"profile": "legacy-java"},
        {"config": {"tick": -1}},
        {"config": {"tock": 1}},
        {"steps": [["leap", 1]]},
        {"steps": [["add", 1, -1, 5]]},
        {"steps": [["add", 1, 5]]},
        {"steps": [[["has"], False, 0]]},
        {"more": 1},
    ],
)
def test_schema_refuses_what_the_loader_refuses(validator: Any, change: dict[str, Any]) -> None:
    record = {"version": 1, "contract": "delayed-delivery", "profile": "heap", "config": {}, "steps": [["has"]]}
    validator.validate(record)
    assert not validator.is_valid(record | change)


def test_text_may_leave_out_what_has_its_default() -> None:
    short = trace_of("add 1 0 +2000; adv 2000;; get 10;")
    assert (short.profile, short.config) == ("timebucket-ideal", CONTRACT.config())
    assert to_text(CONTRACT, short.profile, short.config, short.operations).startswith(
        "delayed-delivery timebucket-ideal;"
    )
    full = trace_of("delayed-delivery timebucket-ideal; add 1 0 +2000\nadv 2000\nget 10")
    assert full.operations == short.operations
    assert trace_of("delayed-delivery tick=5; has").profile == "timebucket-ideal"
    assert trace_of("delayed-delivery heap").operations == []


def test_times_in_text_count_from_the_clock() -> None:
    trace = trace_of("delayed-delivery heap clock=5000; add 1 2 +30; fill 1 5 1 2 +40; add 1 2 17; add 7 8 -1")
    operations: list[Any] = trace.operations
    assert [o.at for o in operations] == [5030, 5040, 17, -1]
    assert (operations[0].ledger, operations[0].entry) == (1, 2)
    written = to_text(CONTRACT, "heap", trace.config, trace.operations)
    assert written.endswith("clock=5000; add 1 2 +30; fill 1 5 1 2 +40; add 1 2 17; add 7 8 -1")


def test_text_may_have_outcomes() -> None:
    trace = trace_of(f"add 1 0 +2000 -> [true, 1, [{START + 1999}]]; has; get 1 ->")
    assert trace.outcomes == [[True, 1, [START + 1999]], None, None]


FIELDS: dict[str, Any] = {
    "at": st.integers(-(2**63), 2**63 - 1),
    "by": st.integers(-(2**41), 2**41),
    "ledger": st.integers(-(2**63), 2**63 - 1),
    "entry": st.integers(0, 2**63 - 1),
    "step": st.integers(1, 65_536),
    "n": st.integers(0, 1_000_000),
    "apart": st.integers(-(2**40), 2**40),
    "most": st.integers(-(2**31), 2**31 - 1),
    "ms": st.integers(0, 2**53),
    "tick": st.integers(0, 2**40),
}
OPERATIONS = st.one_of(
    [st.builds(kind, **{f: FIELDS[f] for f in kind.__struct_fields__}) for kind in get_args(CONTRACT.operations)]
)
CONFIGS = st.builds(
    CONTRACT.config,
    tick=FIELDS["tick"],
    strict=st.booleans(),
    lookahead=st.integers(0, 2**31 - 1),
    clock=st.integers(1, 2**53),
)


@given(CONFIGS, st.lists(OPERATIONS, max_size=8), st.sampled_from(list(CONTRACT.profiles)))
def test_any_trace_comes_back(config: Any, operations: list[Operation], profile: str) -> None:
    back = from_text(to_text(CONTRACT, profile, config, operations))
    assert (back.profile, back.config, back.operations) == (profile, config, operations)
    line = to_json(Trace(CONTRACT, profile, config, operations, [None] * len(operations)))
    again = from_json(line, "here")
    assert (again.config, again.operations) == (config, operations)


@given(st.lists(OPERATIONS, min_size=1, max_size=4), st.integers(0, 2**40))
def test_shifted_operations_move_their_times_alone(operations: list[Operation], ms: int) -> None:
    for operation in operations:
        if getattr(operation, "at", 0) > 2**62:
            continue
        moved = shifted(operation, ms)
        for name in operation.__struct_fields__:
            value = getattr(operation, name)
            by = ms if name in marked(type(operation), TIME) and value >= 0 else 0
            assert getattr(moved, name) == value + by


def test_standard_input_is_a_source(monkeypatch: pytest.MonkeyPatch) -> None:
    trace = walk_trace("heap", 1)
    monkeypatch.setattr("sys.stdin", [to_json(trace), "\n", to_json(trace)])
    first, second = load("-")
    assert first.operations == second.operations == trace.operations
    assert (first.where, second.where) == ("standard input:1", "standard input:3")
