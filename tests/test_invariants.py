"""Invariants and relations: each is seen to fail on something, and none on what is right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from kit import CONTRACT, MODEL, START, mistake_of, trace_of, wrong

from broker_tck.properties.engine.check import kept, record, recorder
from broker_tck.properties.engine.choices import SeededChoices
from broker_tck.properties.engine.contract import Step
from broker_tck.properties.engine.registry import CONTRACTS
from broker_tck.properties.engine.trace import from_text
from broker_tck.properties.search.run import broken_invariants

INVARIANTS = {invariant.number: invariant for invariant in CONTRACT.invariants}
RELATIONS = {relation.name: relation for relation in CONTRACT.relations}
BREAKERS = {
    "DD-07": "DD-05 buckets.key: nearest",
    "DD-08": "DD-06 absent",
    "DD-23": "DD-23 timer.replace: arms_another_without_cancelling",
    "DD-34": "DD-06 buckets.due: strictly_before",
    "DD-35": "DD-35 index.removed: whole_ledgers",
    "DD-39": "DD-38 absent",
    "DD-41": "DD-06 buckets.due: strictly_before",
    "shift": "DD-05 buckets.key: by_the_tick",
    "order": "DD-11 add: the_answer_is_no",
}
"""A known mistake that breaks each, as far as the first of many tried does."""


def broken(way: str, count: int = 30) -> dict[str, int]:
    subject = wrong(way)
    return dict(broken_invariants(subject, MODEL, count, 0))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "way"), BREAKERS.items())
def test_invariant_is_seen_to_be_broken(name: str, way: str) -> None:
    assert broken(way, 20)[name] > 0


def steps_of(text: str, **changes: Any) -> tuple[Any, list[Step]]:
    """The steps of a trace; ``changes`` are other results, by number of the step."""
    trace = trace_of(text)
    steps = record(trace.operations, MODEL(trace.config))
    for name, result in changes.items():
        number = int(name[1:])
        steps[number] = steps[number]._replace(result=result)
    return trace.config, steps


def judged(number: str, text: str, **changes: Any) -> tuple[int, int | None, str]:
    return INVARIANTS[number].check(*steps_of(text, **changes))


def test_early_and_late_are_said_with_milliseconds() -> None:
    early = "delayed-delivery strict=true; add 1 0 +5000; adv 3; get 5"
    assert judged("DD-07", early, _2=[[1, 0]]) == (1, 2, "handed out 4997 ms early")
    late = "delayed-delivery strict=true; add 1 0 +5000; adv 5511; has; adv 1; has"
    assert judged("DD-07", late, _2=False) == (1, 2, "not available 0 ms after its window")
    assert judged("DD-07", late, _4=False)[2] == "not available 1 ms after its window"
    assert judged("DD-07", late) == (0, None, "")
    assert judged("DD-07", "delayed-delivery strict=true; add 1 0 +5000; adv 3; has") == (1, None, "")
    assert judged("DD-07", "add 1 0 9223372036854775807; adv 50; has") == (0, None, "")


def test_message_that_bounces_is_seen() -> None:
    text = "add 1 0 +5000; adv 9000; get 1; add 1 0 +5000"
    assert judged("DD-08", text) == (1, None, "")
    assert judged("DD-08", text, _3=True) == (1, 3, "accepted again after it was handed out")
    for between in ("tick 500", "jump -9000"):
        assert judged("DD-08", f"add 1 0 +5000; adv 9000; get 1; {between}; add 1 0 +5000") == (0, None, "")


def test_second_timeout_is_seen() -> None:
    config, steps = steps_of("add 1 0 +5000; has")
    assert INVARIANTS["DD-23"].check(config, steps) == (2, None, "")
    steps[1] = steps[1]._replace(seen=(1, [START, START + 1]))
    assert INVARIANTS["DD-23"].check(config, steps) == (2, 1, "2 timeouts are armed")


def test_unarmed_timer_is_seen() -> None:
    config, steps = steps_of("add 1 0 +5000; has; get 2000000")
    assert INVARIANTS["DD-34"].check(config, steps) == (2, None, "")
    steps[2] = steps[2]._replace(seen=(1, []))
    assert INVARIANTS["DD-34"].check(config, steps) == (2, 2, "1 held, nothing due, no timeout armed")


def test_timeout_for_an_old_time_is_seen() -> None:
    config, steps = steps_of("add 1 0 +5000; adv 5000; jump -3600000; tick 2000; jump 70; add 1 1 +5000")
    assert INVARIANTS["DD-39"].check(config, steps) == (2, None, "")
    for late in (0, 1):
        steps[5] = steps[5]._replace(seen=(2, [START + 5000 + 512 + 70 + late]))
        told = (2, 5, "the timeout is armed 1 ms too late") if late else (2, None, "")
        assert INVARIANTS["DD-39"].check(config, steps) == told
    shorter = "strict=true; add 1 0 +1500; adv 1600; get 1; tick 60000; add 1 1 +3000; tick 1; add 1 2 +3000"
    assert judged("DD-39", f"delayed-delivery {shorter}") == (3, None, "")


def test_timeout_of_a_topic_for_an_old_time_is_seen() -> None:
    held = "open A; add A1 1 0 +5000; adv 5000; jump -3600000; tick A1 2000; jump 70"
    trace = from_text(f"topic-delivery ideal; {held}; add A1 1 1 +5000; add A1 1 1 +5000")
    steps = record(trace.operations, trace.contract.model(trace.profile)(trace.config))
    judge = next(each for each in trace.contract.invariants if each.number == "TD-40")
    assert judge.check(trace.config, steps) == (2, None, "")
    for late in (0, 1):
        (count, memory, _, *others) = steps[6].seen
        armed = [START + 5000 + 512 + 70 + late]
        steps[6] = steps[6]._replace(seen=(count, memory, armed, *others))
        told = (2, 6, "the timeout is armed 1 ms too late") if late else (2, None, "")
        assert judge.check(trace.config, steps) == told


def test_strangers_and_losses_are_seen() -> None:
    text = "add 1 0 +5000; adv 9000; get 1; get 1"
    assert judged("DD-35", text) == (2, None, "")
    assert judged("DD-35", text, _3=[[1, 0]]) == (2, 3, "(1, 0) was handed out but is not held")
    assert judged("DD-35", text, _2=[])[1:] == (2, "1 positions were accepted and not handed out, 0 are counted")
    assert judged("DD-35", "fill 1 0 1 5 +5000; get 1", _0=3) == (0, None, "")
    assert judged("DD-35", "fill 1 0 1 5 +5000; clear; has") == (0, None, "")


def test_nothing_is_judged_after_an_error_or_the_end() -> None:
    error = {"error": "KeyError"}
    assert judged("DD-35", "add 1 0 +5000; adv 9000; get 1; get 1", _2=error) == (0, None, "")
    assert judged("DD-23", "add 1 0 +5000; close; close") == (1, None, "")


# ---- Relations


def varied(name: str, text: str) -> Any:
    trace = trace_of(text)
    return RELATIONS[name].vary(trace.config, trace.operations, SeededChoices(1))


def test_shifting_moves_clock_and_times_by_whole_buckets() -> None:
    config, operations = varied("shift", "add 1 0 +5000; add 1 1 -1; adv 5; get 1")
    by = config.clock - START
    assert by > 0
    assert by % 2**22 == 0
    assert [getattr(o, "at", None) for o in operations] == [START + 5000 + by, -1, None, None]
    assert varied("shift", "add 1 0 9223372036854775807") is None


def test_neighbours_of_one_time_change_places() -> None:
    _, operations = varied("order", "add 1 0 +5000; add 1 1 +5000; add 1 2 +5000; add 1 3 +6000; get 1")
    assert [getattr(o, "entry", None) for o in operations] == [1, 0, 2, 3, None]
    assert varied("order", "add 1 0 +5000; has; add 1 1 +5000") is None
    assert varied("order", "add 1 0 +5000; add 1 0 +5000") is None


def outcomes(config: Any, operations: Sequence[Any], model: type = MODEL) -> list[Step]:
    return record(operations, model(config))


def test_order_is_told_from_what_must_not_depend_on_it() -> None:
    trace = trace_of("add 1 0 +5000; add 1 1 +5000; adv 9000; get 1; get 1")
    config, operations = varied("order", "add 1 0 +5000; add 1 1 +5000; adv 9000; get 1; get 1")
    before, after = outcomes(trace.config, trace.operations), outcomes(config, operations)
    equal = RELATIONS["order"].equal
    assert equal(trace.config, before, config, after)
    after[3] = after[3]._replace(result=[[1, 1]])
    assert not equal(trace.config, before, config, after)


def test_shift_is_told_from_what_must_not_depend_on_it() -> None:
    text = "add 1 0 +5001; memory; adv 9000; get 1"
    trace = trace_of(text)
    config, operations = varied("shift", text)
    equal = RELATIONS["shift"].equal
    before = outcomes(trace.config, trace.operations)
    assert equal(trace.config, before, config, outcomes(config, operations))
    by_the_tick = mistake_of("DD-05 buckets.key: by_the_tick").applied_to(MODEL)
    trace = trace_of("delayed-delivery tick=1000 strict=true; add 1 0 +5001; adv 4900; has")
    config, operations = RELATIONS["shift"].vary(trace.config, trace.operations, SeededChoices(1)) or (None, [])
    before, after = outcomes(trace.config, trace.operations, by_the_tick), outcomes(config, operations, by_the_tick)
    assert not equal(trace.config, before, config, after)


WIDE = {
    "delayed-delivery": "delayed-delivery timebucket-ideal {config}; add 1 0 +2000; adv {tick}; tick {tick}; get 10",
    "topic-delivery": "topic-delivery ideal {config}; open A; add A1 1 0 +2000; adv {tick}; tick A1 {tick}; get A1 10",
    "bucket-delivery": "bucket-delivery ideal {config}; add 1 0 +2000; adv {tick}; tick {tick}; get 10",
}


@pytest.mark.parametrize("name", WIDE)
def test_shift_is_by_buckets_of_any_width_unless_a_tick_reaches_back_to_the_start_of_time(name: str) -> None:
    contract = CONTRACTS[name]
    (shift,) = [relation for relation in contract.relations if relation.name == "shift"]
    recorded = recorder(contract.specification)

    def holds(config: str) -> list[bool | None]:
        trace = from_text(WIDE[name].format(config=config, tick=2**40))
        return [kept(shift, trace.config, trace.operations, SeededChoices(n), recorded) for n in range(5)]

    assert holds(f"strict=true clock={START} tick={2**40}") == holds(f"strict=true clock={START} tick=1") == 5 * [True]
    assert holds(f"strict=true clock=5 tick={2**40}") == holds("strict=true clock=5 tick=1") == 5 * [None]
