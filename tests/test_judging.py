"""Programs of threads, and what the judge says of histories. No Java is needed: histories are written by hand.

The programs that are explored here run on subjects in Python, see ``racing``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from racing import ByHand

from broker_tck.implementations.jvm.weaving import Seen
from broker_tck.properties.contracts.entry_cache.concurrent import IN_STEPS
from broker_tck.properties.contracts.entry_cache.operations import Put
from broker_tck.properties.contracts.entry_cache.stepped_adapter import SteppedCalls
from broker_tck.properties.engine.check import concrete
from broker_tck.properties.engine.choices import SeededChoices
from broker_tck.properties.engine.operation import by_tag
from broker_tck.properties.engine.registry import CONTRACTS
from broker_tck.properties.engine.state import state_of
from broker_tck.properties.engine.subjects import contract_named, resolve
from broker_tck.properties.engine.walk import walk_seed
from broker_tck.properties.errors import BadInput
from broker_tck.properties.report.threads import race_result
from broker_tck.properties.threads import reduce
from broker_tck.properties.threads.drawn import drawn
from broker_tck.properties.threads.history import history_of
from broker_tck.properties.threads.judge import Judge
from broker_tck.properties.threads.program import Program, parsed, replay_text, replayed
from broker_tck.properties.threads.reduce import Reducer
from broker_tck.properties.threads.search import Budget, Race, Searched, Searcher
from broker_tck.properties.threads.verdict import Promise, Verdict, judged

CURSORS = "active-cursors ideal; add a [1,0] | slowest | update a [1,5] | size"
CACHE = "entry-cache pip-430; put 0 1 1 10 0 | remove 0 1 1 1 1 1 | clear 0 | pinned"
STRAY = "entry-cache pip-430-5.0; put 0 1 1 10 0; adv 10 | size 10; put 0 1 2 5 0 | get 0 1 1 | adv 10; ttl 0"
REFUSED = "entry-cache {}; put 0 1 1 10 0 | put 0 1 1 10 2 | read 0 1 1 | pinned"
NACKS = "negative-acks pip-393-java-4.2 precision_bits=0; id 1 1 | adv 1000; id 1 2 | close | adv 0"
ACKS = "ack-timeout ack-timeout-java-4.2; add 1 1 0 | adv 1000 | close | adv 0"
DELAYS = "delayed-delivery timebucket-2026 tick=1; add 1 1 +2; add 1 2 +5 | adv 2 | {} | {}"
BUCKET = "bucket-delivery bucket-5.0; add 1 1 +100; add 1 2 +200; add 2 1 +300; complete 0; complete 0; adv 100"
FULL, EMPTY, FIVE = "[[[1,10],[0,0],[0,0]],1]", "[[[0,0],[0,0],[0,0]],0]", "[[[1,5],[0,0],[0,0]],1]"
START = 1_700_000_000_000


def verdict(program: str, history: str, kind: str = "") -> Verdict | None:
    """The verdict on a history, its lines in one; of a kind of classes that are a part of a contract."""
    made = parsed(program, PARTS.get(kind))
    return judged(Judge(made, made.contract.model(made.profile)), history_of(history.replace(", ", "\n")))


def promise(program: str, history: str) -> Promise | None:
    """The promise that a history breaks."""
    found = verdict(program, history)
    return found and found.promise


# ---- Calls at one moment


@pytest.mark.parametrize(
    ("history", "broken"),
    [
        ("=[null,[]], +0 0, +1 0, -0 0 [1,0], -1 0 null, =[1,[]]", None),
        ("=[null,[]], +0 0, +1 0, -0 0 [1,5], -1 0 null, =[1,[]]", None),
        ("=[null,[]], +0 0, +1 0, -1 0 null, -0 0 [1,0], =[1,[]]", None),
        ("=[null,[]], +0 0, -0 0 [1,0], +1 0, -1 0 null, =[1,[]]", None),
        ("=[null,[]], +0 0, -0 0 [1,5], +1 0, -1 0 null, =[1,[]]", Promise.MOMENT),
        ("=[null,[]], +1 0, -1 0 null, +0 0, -0 0 [1,0], =[1,[]]", Promise.MOMENT),
        ("=[null,[]], +0 0, +1 0, -0 0 null, -1 0 null, =[1,[]]", Promise.MOMENT),
        ('=[null,[]], +0 0, +1 0, -0 0 {"raises":"NullPointerException"}, -1 0 null, =[1,[]]', Promise.MOMENT),
        ("=[null,[]], +0 0, +1 0, -0 0 [1,0], -1 0 null, =[2,[]]", Promise.REST),
        ("=[true,[]], +0 0, +1 0, -0 0 [1,0], -1 0 null, =[1,[]]", Promise.ALONE),
        ("=[null,[]], +0 0, +1 0, -0 0 [1,0], !deadlock", Promise.ENDS),
        ("=[null,[]], +0 0, +1 0, -0 0 [1,0], -1 0 null, !endless", Promise.ENDS),
        ("!endless", Promise.ALONE),
    ],
)
def test_call_takes_effect_at_one_moment(history: str, broken: Promise | None) -> None:
    assert promise(CURSORS, history) == broken


def test_verdict_says_what_is_allowed() -> None:
    found = verdict(CURSORS, "=[null,[]], +0 0, +1 0, -0 0 null, -1 0 null, =[1,[]]")
    assert found == Verdict(Promise.MOMENT, "CC-02", "slowest", ("[1 0]", "[1 5]"), "null")
    stuck = verdict(CURSORS, "=[null,[]], +0 0, +1 0, -0 0 [1,0], !deadlock")
    assert stuck == Verdict(Promise.ENDS, "CC-05", "update a [1,5]", ("an end",), "deadlock")
    rest = verdict(CURSORS, "=[null,[]], +0 0, +1 0, -0 0 [1,0], -1 0 null, =[2,[]]")
    assert rest == Verdict(Promise.REST, "CC-09", "size", ("1 cursor",), "2 cursors")


# ---- Calls in steps


@pytest.mark.parametrize(
    ("program", "history", "broken"),
    [
        (CACHE, f"=[true,{FULL}], +0 0, +1 0, -0 0 [1,10], -1 0 [0,0], =[[0,0],{EMPTY}]", None),
        (CACHE, f"=[true,{FULL}], +0 0, +1 0, -0 0 [0,0], -1 0 [1,10], =[[0,0],{EMPTY}]", None),
        (CACHE, f"=[true,{FULL}], +0 0, +1 0, -0 0 [1,10], -1 0 [1,10], =[[0,0],{EMPTY}]", Promise.STEPS),
        (CACHE, f"=[true,{FULL}], +0 0, -0 0 [0,0], +1 0, -1 0 [1,10], =[[0,0],{EMPTY}]", Promise.STEPS),
        (CACHE, f"=[true,{FULL}], +0 0, +1 0, -0 0 [1,10], -1 0 [0,0], =[[0,0],{FULL}]", Promise.REST),
        (CACHE, f"=[true,{FULL}], +0 0, +1 0, -0 0 [1,10], -1 0 [0,0], =[[0,0],[null,1]]", Promise.REST),
        (CACHE, f"=[true,{FULL}], +0 0, +1 0, -0 0 [1,10], -1 0 [0,0], =[[0,0],[null,null]]", None),
        (CACHE, f"=[true,{EMPTY}], +0 0, +1 0, -0 0 [1,10], -1 0 [0,0], =[[0,0],{EMPTY}]", Promise.ALONE),
    ],
)
def test_call_takes_effect_in_steps(program: str, history: str, broken: Promise | None) -> None:
    assert promise(program, history) == broken


EVICTED = f"=[true,{FULL}], =[null,{FULL}], +1 0, +0 0, -0 0 [1,10], +0 1, -0 1 true, -1 0"


@pytest.mark.parametrize(
    ("rest", "broken"),
    [
        (f'{EVICTED} "miss", =[null,{FIVE}], =[[1,5],{EMPTY}]', None),
        (f'{EVICTED} "hit", =[null,{FIVE}], =[[1,5],{EMPTY}]', None),
        (f'{EVICTED} "miss", =[null,{FIVE}], =[[0,0],{FIVE}]', Promise.HINT),
        (f'{EVICTED} "hit of 1 2", =[null,{FIVE}], =[[1,5],{EMPTY}]', Promise.STEPS),
    ],
)
def test_mark_is_a_hint_that_may_be_late_but_not_stray(rest: str, broken: Promise | None) -> None:
    """A hit whose entry has left need not have been marked (IL-13)."""
    assert promise(STRAY, rest) == broken


def test_hit_need_not_be_marked_in_time_if_its_entry_has_left() -> None:
    """A mark in time would have the time pass keep the entry (IL-13)."""
    program = "entry-cache pip-430; put 0 1 1 10 0; adv 10 | ttl 0 | get 0 1 1 | adv 0"
    before = f"=[true,{FULL}], =[null,{FULL}], +1 0, +0 0"
    assert promise(program, f'{before}, -0 0 [1,10], -1 0 "hit", =[null,{EMPTY}]') is None
    assert promise(program, f'{before}, -0 0 [0,0], -1 0 "hit", =[null,{FULL}]') is None
    assert promise(program, f'{before}, -0 0 [0,0], -1 0 "miss", =[null,{FULL}]') == Promise.STEPS


def test_refused_insertion_hands_its_count_on_in_a_step() -> None:
    """To what is there by then: another entry, which reads are then expected of (IL-14)."""
    program = "entry-cache {}; put 0 1 1 10 0 | put 0 1 1 10 2 | remove 0 1 1 1 1 1; put 0 1 1 10 0 | pinned"
    history = f"=[true,{FULL}], +0 0, +1 0, -1 0 [1,10], +1 1, -1 1 true, -0 0 false, =[{{}},{FULL}]"
    assert promise(program.format("pip-430-5.0"), history.format("[1,10]")) is None
    assert promise(program.format("pip-430-5.0"), history.format("[0,0]")) is None
    assert promise(program.format("ideal"), history.format("[0,0]")) == Promise.REST


LIMITED = (
    "entry-cache pip-430 max_reads_in_flight=11000 acquire_queue=1; storage 1; single 0 1 0 "
    "| done 0; permits | single 0 1 1; single 0 1 2 | permits"
)
UNCACHED = "[[0,0],[0,0],[0,0]]"
NONE, ONE = f"{UNCACHED},0", f"{UNCACHED},1"
TAKEN = f'=[null,[{NONE}]], =[[["answers",1,[0],[null]],["asks",0,1,0,0]],[{ONE}]]'
SECOND, THIRD = '["answers",2,[1],[null]],["asks",0,1,1,1]', '["answers",3,[2],[null]],["asks",0,1,2,2]'


@pytest.mark.parametrize(
    ("history", "broken"),
    [
        (f"+1 0, -1 0 [], +0 0, -0 0 [{SECOND}], +0 1, -0 1 696, +1 1, -1 1 [], =[696,[{ONE}]]", None),
        (f"+1 0, +0 0, -0 0 [], -1 0 [{SECOND}], +0 1, -0 1 696, +1 1, -1 1 [], =[696,[{ONE}]]", None),
        (f"+1 0, +0 0, -0 0 [], -1 0 [], +0 1, -0 1 10304, +1 1, -1 1 [{THIRD}], =[696,[{ONE}]]", Promise.STEPS),
        (f"+1 0, -1 0 [], +1 1, -1 1 [], +0 0, -0 0 [{SECOND}], +0 1, -0 1 696, =[696,[{ONE}]]", Promise.STEPS),
        (
            f'+1 0, -1 0 [], +1 1, -1 1 [["fails",3]], +0 0, -0 0 [{SECOND}], +0 1, -0 1 10304, =[696,[{ONE}]]',
            Promise.MOMENT,
        ),
        (
            f'+1 0, -1 0 [], +1 1, +0 0, -0 0 [{SECOND}], -1 1 [["fails",3]], +0 1, -0 1 696, =[10304,[{ONE}]]',
            Promise.REST,
        ),
    ],
)
def test_permits_are_acquired_and_released_in_steps(history: str, broken: Promise | None) -> None:
    """There are permits for one entry, and room for one who waits."""
    found = verdict(LIMITED, f"{TAKEN}, {history}", "reads-limiter")
    assert (found and found.promise) == broken


RUNS = "entry-cache pip-430; fetch 0 0 1 0 1 0 | complete 0 | single 0 1 0 | complete 0"
ASKS, EVALUATED = '["asks",0,1,0,0]', '["counts",1]'
FIRST, OTHER = '["answers",1,[0],[null]]', '["answers",2,[0],[null]]'
AT_ONCE = "entry-cache pip-430 | fetch 0 0 1 0 1 0 | complete 0 | complete 0"


@pytest.mark.parametrize(
    ("program", "history", "broken"),
    [
        (RUNS, f"+0 0, +1 0, -1 0 [], -0 0 [{FIRST},{OTHER},{EVALUATED}], =[[],[{UNCACHED},2]]", None),
        (RUNS, f"+0 0, +1 0, -0 0 [{FIRST},{EVALUATED}], -1 0 [{ASKS}], =[[{OTHER}],[{UNCACHED},2]]", None),
        (RUNS, f"+0 0, +1 0, -0 0 [{FIRST},{EVALUATED}], -1 0 [], =[[],[{UNCACHED},1]]", Promise.STEPS),
        (RUNS, f"+0 0, +1 0, -0 0 [{FIRST},{EVALUATED}], -1 0 [{ASKS}], =[[],[{UNCACHED},1]]", Promise.REST),
        (RUNS, f"+0 0, -0 0 [{FIRST},{EVALUATED}], +1 0, -1 0 [], =[[],[{UNCACHED},1]]", Promise.STEPS),
        (AT_ONCE, f"+0 0, +1 0, -1 0 [], -0 0 [{FIRST},{ASKS},{EVALUATED}], =[[],[{UNCACHED},1]]", None),
        (AT_ONCE, f"+0 0, +1 0, -1 0 [{FIRST},{EVALUATED}], -0 0 [{ASKS}], =[[],[{UNCACHED},1]]", None),
        (AT_ONCE, f"+0 0, -0 0 [{FIRST},{ASKS},{EVALUATED}], +1 0, -1 0 [], =[[],[{UNCACHED},1]]", Promise.STEPS),
        (AT_ONCE, f"+0 0, +1 0, -1 0 [{FIRST},{EVALUATED}], -0 0 [{FIRST},{ASKS}], !deadlock", Promise.ENDS),
    ],
)
def test_reads_go_on_in_steps(program: str, history: str, broken: Promise | None) -> None:
    """A read joins one that runs, or comes too late; what follows from an answer may be left to who has just asked."""
    before = f"=[[{ASKS}],[{UNCACHED},0]], " if program == RUNS else ""
    found = verdict(program, before + history, "pending-reads")
    assert (found and found.promise) == broken


WAITS = (
    "entry-cache pip-430 max_reads_in_flight=11000; fetch 0 0 1 0 1 0; complete 0 "
    "| done 0 | single 0 1 1 | complete 0; permits"
)
SERVED, ANSWERED = '["asks",0,1,1,1]', '["answers",2,[1],[null]]'


@pytest.mark.parametrize(
    ("history", "left", "broken"),
    [
        (f"+1 0, -1 0 [], +0 0, -0 0 [{SERVED}]", 696, None),
        (f"+0 0, +1 0, -1 0 [{SERVED}], -0 0 []", 696, None),
        (f"+1 0, -1 0 [], +0 0, -0 0 [{SERVED}]", 11_000, Promise.REST),
        (f"+1 0, -1 0 [{SERVED}], +0 0, -0 0 []", 696, Promise.STEPS),
        ("+1 0, -1 0 [], +0 0, -0 0 []", 696, Promise.STEPS),
    ],
)
def test_a_read_waits_for_the_permits_of_another(history: str, left: int, broken: Promise | None) -> None:
    """There are permits for one entry, which a reader holds."""
    before = f"=[[{ASKS}],[{UNCACHED},0]], =[[{FIRST},{EVALUATED}],[{UNCACHED},1]]"
    rest = f"=[[{ANSWERED}],[{UNCACHED},1]], =[{left},[{UNCACHED},1]]"
    found = verdict(WAITS, f"{before}, {history}, {rest}", "pending-reads")
    assert (found and found.promise) == broken


# ---- Time that passes on a thread of its own


@pytest.mark.parametrize(
    ("rest", "broken"),
    [
        (f"-1 0 null, -0 0 [], +0 1, -0 1 null, =[[],[1,[{START + 2000}]]]", None),
        (f"-0 0 [[{START + 1000},[[1,1]],1]], -1 0 null, +0 1, -0 1 null, =[[],[1,[{START + 2000}]]]", None),
        ("-0 0 [], +0 1, -0 1 null, -1 0 null, =[[],[0,[]]]", Promise.REST),
        ('-1 0 null, -0 0 {"raises":"NullPointerException"}, +0 1, -0 1 null, =[[],[1,[]]]', Promise.STEPS),
        (f"-1 0 null, -0 0 [], +0 1, -0 1 null, =[[],[1,[{START + 1000},{START + 2000}]]]", Promise.REST),
    ],
)
def test_timeout_fires_while_another_thread_closes(rest: str, broken: Promise | None) -> None:
    assert promise(NACKS, f"=[null,[1,[{START + 1000}]]], +0 0, +1 0, {rest}") == broken


@pytest.mark.parametrize(
    ("seen", "broken"),
    [
        ("[2,[{0}]]", None),
        ("[1,[{0}]]", None),
        ("[2,[{1}]]", None),
        ("[1,[{1}]]", Promise.REST),
        ("[3,[{0}]]", Promise.REST),
    ],
)
def test_nack_may_have_read_the_clock_before_time_went_on(seen: str, broken: Promise | None) -> None:
    """It holds its item after that, in a bucket of its own, and arms the timer as late as if it had come later."""
    program = "negative-acks pip-393-java-4.2 precision_bits=0 | adv 500; id 1 1 | id 1 1 | adv 0"
    history = f"+1 0, +0 0, -0 0 [], +0 1, -1 0 null, -0 1 null, =[[],{seen.format(START + 1500, START + 1000)}]"
    assert promise(program, history) == broken


@pytest.mark.parametrize(("armed", "broken"), [("", None), (f"{START + 2000}", Promise.REST)])
def test_closed_tracker_arms_no_timeout(armed: str, broken: Promise | None) -> None:
    history = f"=[true,[1,[{START + 1000}]]], +0 0, +1 0, -1 0 null, -0 0 [], =[[],[0,[{armed}]]]"
    assert promise(ACKS, history) == broken


@pytest.mark.parametrize(
    ("rest", "broken"),
    [
        (f"-1 0 [[1,1]], -0 0 [{START + 2}], =[false,[1,[{START + 5}]]]", None),
        (f"-0 0 [{START + 2}], -1 0 [], =[true,[2,[]]]", None),
        (f"-1 0 [[1,1]], -0 0 [], =[false,[1,[{START + 5}]]]", Promise.STEPS),
        (f"-1 0 [[1,1]], -0 0 [{START + 2}], =[false,[1,[{START + 5},{START + 5}]]]", Promise.REST),
    ],
)
def test_expired_timeout_fires_though_another_is_armed_by_then(rest: str, broken: Promise | None) -> None:
    history = f"=[true,[1,[{START + 2}]]], =[true,[2,[{START + 2}]]], +0 0, +1 0, {rest}"
    assert promise(DELAYS.format("get 1", "has"), history) == broken


@pytest.mark.parametrize(
    ("rest", "broken"),
    [
        (f"-1 0 null, -0 0 [{START + 2}], =[[],[2,[]]]", None),
        ("-1 0 null, -0 0 [], =[[],[2,[]]]", None),
        (f"-1 0 null, -0 0 [{START + 2}], =[[],[2,[{START + 5}]]]", Promise.REST),
        (f'-0 0 [{START + 2}], -1 0 {{"raises":"NullPointerException"}}, =[[],[2,[]]]', Promise.MOMENT),
    ],
)
def test_timeout_may_expire_while_a_dispatcher_closes(rest: str, broken: Promise | None) -> None:
    history = f"=[true,[1,[{START + 2}]]], =[true,[2,[{START + 2}]]], +0 0, +1 0, {rest}"
    assert promise(DELAYS.format("close", "adv 0"), history) == broken


def alone(text: str) -> str:
    """What the model shows of the calls of a program before its threads start, as a history has it."""
    made = parsed(text)
    model = made.contract.model(made.profile)(made.config)
    lines = []
    for operation in made.before:
        result = concrete(operation.on(model))
        lines.append(f"={msgspec.json.encode([result, [concrete(each) for each in model.seen()]]).decode()}")
    return ", ".join(lines)


@pytest.mark.parametrize(
    ("events", "broken"),
    [
        ('+0 0, -0 0 "{0}", +1 0, -1 0 [1000100], +1 1, -1 1 [[1,1]]', None),
        ('+0 0, +1 0, -1 0 [], +1 1, -1 1 [], -0 0 "{0}"', None),
        ('+0 0, +1 0, -1 0 [1000100], +1 1, -1 1 [[1,1]], -0 0 "{0}"', None),
        ('+0 0, +1 0, -1 0 [1000100], +1 1, -1 1 [], -0 0 "{0}"', Promise.STEPS),
        ('+0 0, -0 0 "{0}", +1 0, -1 0 [], +1 1, -1 1 [[1,1]]', Promise.STEPS),
        ('+0 0, -0 0 "load:1:1-1", +1 0, -1 0 [1000100], +1 1, -1 1 [[1,1]]', Promise.STEPS),
    ],
)
def test_when_a_load_ends_the_timer_fires(events: str, broken: Promise | None) -> None:
    program = f"{BUCKET}; get 10 | complete 0 | adv 0; get 10 |"
    assert promise(program, f"{alone(program)}, {events.format('load:1:2-2')}") == broken


@pytest.mark.parametrize(
    ("events", "broken"),
    [
        ('+0 0, +1 0, -1 0 "{0}", -0 0 [[1,1]]', None),
        ('+0 0, +1 0, -1 0 "{0}", -0 0 []', None),
        ('+0 0, -0 0 [], +1 0, -1 0 "{0}"', None),
        ('+0 0, -0 0 [[1,1]], +1 0, -1 0 "{0}"', Promise.STEPS),
        ("+0 0, +1 0, -1 0 null, -0 0 []", None),
        ("+0 0, -0 0 [], +1 0, -1 0 null", Promise.STEPS),
    ],
)
def test_get_goes_on_if_its_load_ends_in_time(events: str, broken: Promise | None) -> None:
    program = f"{BUCKET} | get 10 | complete 0 |"
    assert promise(program, f"{alone(program)}, {events.format('load:1:2-2')}") == broken


@pytest.mark.parametrize(
    ("events", "broken"),
    [
        ('+0 0, +1 0, -1 0 "{0}", +1 1, -1 1 null, -0 0 true', None),
        ('+0 0, +1 0, -1 0 "{0}", +1 1, -1 1 "{0}", -0 0 true', None),
        ('+0 0, -0 0 true, +1 0, -1 0 "{0}", +1 1, -1 1 null', Promise.STEPS),
        ('+0 0, -0 0 true, +1 0, -1 0 "{0}", +1 1, -1 1 "{0}"', None),
    ],
)
def test_who_makes_a_call_may_wait_for_its_end_later(events: str, broken: Promise | None) -> None:
    program = "bucket-delivery bucket-5.0; add 1 1 +100; add 1 2 +200 | add 2 1 +300 | fail 0; complete 0 |"
    assert promise(program, f"{alone(program)}, {events.format('create:1-1:2')}") == broken


def test_states_of_a_model_are_equal_if_nothing_else_may_come_of_them() -> None:
    made = parsed(f"{BUCKET} | get 10 | complete 0 |")

    def state(count: int) -> bytes:
        model = made.contract.model(made.profile)(made.config)
        for operation in made.operations[:count]:
            concrete(operation.on(model))
        return state_of(model)

    states = [state(count) for count in range(len(made.operations) + 1)]
    assert len({*states}) == len(states)
    assert states == [state(count) for count in range(len(made.operations) + 1)]


def test_move_from_a_state_is_made_once_whatever_path_has_led_there() -> None:
    """In both histories the reads may take turns as they like: what is made for the first serves the second."""
    made = parsed("entry-cache pip-430; put 0 1 1 10 0 | get 0 1 1 | get 0 1 1 | pinned")
    judge = Judge(made, made.contract.model(made.profile))
    for ends, moves in (('-0 0 "hit", -1 0 "hit"', 10), ('-1 0 "hit", -0 0 "hit"', 15)):
        text = f"=[true,{FULL}], +0 0, +1 0, {ends}, =[[1,10],{FULL}]"
        assert judged(judge, history_of(text.replace(", ", "\n"))) is None
        assert judge.moves == moves


def test_call_is_not_taken_for_another_call_of_its_thread() -> None:
    """Two passes that have only begun differ in what they were called with. The first one cannot evict anything."""
    made = parsed("entry-cache pip-430; put 0 1 1 10 0 | ttl 100; size 10 | get 0 1 3 | pinned")
    judge = Judge(made, made.contract.model(made.profile))
    before, rest = f"=[true,{FULL}], +0 0", f'+1 0, -1 0 "miss", =[[0,0],{EMPTY}]'
    for passes, broken in (("-0 0 [1,10], +0 1, -0 1 [0,0]", True), ("-0 0 [0,0], +0 1, -0 1 [1,10]", False)):
        verdict = judged(judge, history_of(f"{before}, {passes}, {rest}".replace(", ", "\n")))
        assert (verdict is not None) == broken


# ---- Programs


@pytest.mark.parametrize(
    "text",
    [
        CURSORS,
        CACHE,
        STRAY,
        NACKS,
        ACKS,
        DELAYS.format("close", "adv 0"),
        "active-cursors ideal grace=5 | size | size |",
    ],
)
def test_text_of_a_program_is_read_as_it_is_written(text: str) -> None:
    assert str(parsed(text)) == text


def test_replay_is_read_as_it_is_written() -> None:
    text = f"{CURSORS} @ 12>1 30>0"
    assert replayed(text)[1] == ((12, 1), (30, 0))
    assert replay_text(*replayed(text)) == text
    assert replayed(CURSORS) == (parsed(CURSORS), ())


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "'' is not a program of threads; write 'before | calls of a thread | calls of another | after'"),
        ("active-cursors ideal | size |", "'active-cursors ideal | size |' is not a program of threads"),
        ("size | size | size |", "a program begins with its contract (delayed-delivery, "),
        ("active-cursors odd | size | size |", "before: unknown profile 'odd'"),
        (
            "active-cursors ideal; sise | size | size |",
            "before: step 1: unknown operation 'sise'; did you mean 'size'?",
        ),
        ("active-cursors ideal | size | size; add a |", "thread 1: step 2: add takes 2 fields (name at), not 1"),
        ("active-cursors ideal | size |  |", "thread 1: a thread must make a call"),
        ("active-cursors ideal | size | list |", "thread 1: a thread cannot call 'list'; it can call: add, update"),
        ("topic-delivery | clear | clear |", "topic-delivery promises nothing of calls of several threads; these"),
        (f"active-cursors ideal {9 * '| size '}|", "9 threads; there may be 8"),
        (f"{CURSORS} @ 12", "schedule: '12' is not 'point>thread', for example 12>1"),
        (f"{CURSORS} @ 12>1 x", "schedule: 'x' is not 'point>thread', for example 12>1"),
    ],
)
def test_bad_program_is_a_clear_line(text: str, complaint: str) -> None:
    with pytest.raises(BadInput) as raised:
        replayed(text)
    assert complaint in str(raised.value)
    assert "\n" not in str(raised.value)


WHOLE = {name: contract for name, contract in CONTRACTS.items() if contract.concurrent}
PARTS = {kind: contract.under_threads(kind) for contract in CONTRACTS.values() for kind in contract.concurrent_parts}
THREADED = WHOLE | PARTS


def draw(name: str, number: int, **capabilities: Any) -> Program:
    """A program of a contract, or of a class that is a part of it, under its first profile."""
    contract = THREADED[name]
    lacking = contract.capabilities(**capabilities)
    return drawn(contract, contract.specification, lacking, SeededChoices(walk_seed(0, number)))


def test_threads_do_not_make_what_stays_apart() -> None:
    contract = contract_named("active-cursors")
    lacking = contract.capabilities(**LACKING)
    drawn_anew = [
        drawn(contract, contract.specification, lacking, SeededChoices(number), ("size",)) for number in range(60)
    ]
    assert not [call for program in drawn_anew for calls in program.threads for call in calls if call.tag == "size"]
    assert all("size" in {call.tag for call in program.after} for program in drawn_anew)


@pytest.mark.parametrize("name", THREADED)
def test_drawn_programs_are_what_threads_can_call(name: str) -> None:
    programs = [draw(name, number) for number in range(60)]
    assert [parsed(str(program), THREADED[name]) for program in programs] == programs
    assert programs == [draw(name, number) for number in range(60)]
    concurrent = THREADED[name].concurrent
    assert concurrent
    assert {len(program.threads) for program in programs} == {number for number, _ in concurrent.threads}
    assert {program.before[: len(concurrent.opening)] for program in programs} == {concurrent.opening}
    called = {type(call) for program in programs for calls in program.threads for call in calls}
    assert called == {*concurrent.able}
    later = {type(call) for program in programs for calls in program.threads[1:] for call in calls}
    assert later == called - {*concurrent.of_one}


@pytest.mark.parametrize(
    ("name", "last", "beside"),
    [
        ("delayed-delivery", "close", {"adv"}),
        ("bucket-delivery", "reopen", {"adv", "complete", "fail", "conflict", "stored"}),
    ],
)
def test_what_ends_an_object_comes_last_and_only_some_calls_beside_it(name: str, last: str, beside: set[str]) -> None:
    programs = [draw(name, number) for number in range(100)]
    ending = [program.threads for program in programs if last in {call.tag for call in program.operations}]
    assert len(ending) > 5
    assert {call.tag for other, _ in ending for call in other} == beside
    for _, caller in ending:
        assert [call.tag for call in caller].index(last) == len(caller) - 1


def test_seed_has_the_same_program_everywhere() -> None:
    assert str(draw("active-cursors", 5)) == (
        "active-cursors ideal; add c [2,268]; add a [1,277]; add d [1,276]; add b [2,275]; update d [2,255]; slowest; "
        "count f | remove e | size | slowest | size | count c; count a; count d; count b; slowest; size; durables"
    )


def test_drawn_programs_have_no_call_that_a_subject_lacks() -> None:
    programs = [draw("active-cursors", number, ranks=False, null_updates=False) for number in range(60)]
    operations = [operation for program in programs for operation in program.operations]
    assert "count" not in {operation.tag for operation in operations}
    assert None not in {operation.at for operation in operations if hasattr(operation, "at")}


@pytest.mark.parametrize(("profile", "asked"), [("legacy", False), ("pip-430", True)])
def test_cache_makes_passes_at_rest_only_if_threads_may_order_them(profile: str, asked: bool) -> None:
    """Caches that evict for themselves have passes that the model of overlapping calls does not know."""
    contract = contract_named("entry-cache")
    program = drawn(contract, contract.model(profile), contract.capabilities(), SeededChoices(0))
    assert any(call.tag == "ttl" for call in program.after) == asked


def ledgers(program: Program) -> set[tuple[int, int]]:
    """The caches that a program inserts into, each with a ledger."""
    return {(put.cache, put.ledger) for put in program.operations if isinstance(put, Put)}


def test_ledger_belongs_to_one_cache_and_stays_there() -> None:
    """A broker's ledger belongs to one topic, so another topic's cache never has an entry of it."""
    found = set.union(*(ledgers(draw("entry-cache", number)) for number in range(60)))
    assert {cache for cache, _ in found} == {0, 1, 2}
    assert {ledger % 3 - cache for cache, ledger in found} == {0}
    program = parsed("entry-cache ideal; put 1 4 0 0 0 | put 2 8 0 0 0 | get 1 4 0 | ")

    def likewise(other: Program, race: Race) -> tuple[Race | None, int]:
        return (replace(race, program=other) if len(other.operations) == len(program.operations) else None), 1

    race = Reducer(Race(program, Seen("", 1, ()), Verdict(Promise.REST, "", "", (), "")), likewise).reduced()
    assert str(race.program) == "entry-cache ideal; put 1 1 0 0 0 | put 2 2 0 0 0 | get 0 1 0 |"


# ---- The search

SHORTEST = "active-cursors ideal | add b [0,0] | add a [0,0] | size @ 2>1"
STORY = [
    "sorted-cursors (ideal) breaks a promise: What is observed is right when no call is under way.",
    "  where      size",
    "  expected   2 cursors",
    "  seen       1 cursor",
    "  look at    CC-09: A removal answers whether the name was there; from then on, no answer has the",
    "             cursor.",
    "",
    "  thread 0                  thread 1",
    "  add b [0,0]",
    "    call:0 lock",
    "    call:1 write size",
    "                            add a [0,0]",
    "                              call:2 lock",
    "                              call:3 write size",
    "                            -> null",
    "  -> null",
    "  after      size -> 1 cursor",
    "",
    f"  broker-tck threads --subject sorted-cursors --replay '{SHORTEST}'",
]


class Cursors:
    """A container with a lock, but for its size, which ``careless`` ones count outside of it."""

    careless = True

    def __init__(self, _config: dict[str, Any]) -> None:
        self.at: dict[str, Any] = {}
        self.number = 0

    def call(self, name: str, arguments: list[Any]) -> Any:
        """Make a call; before each step another thread may come."""
        yield "lock"
        if name == "add":
            number = self.number + (arguments[0] not in self.at)
            if self.careless:
                yield "write size"
            self.number = number
            self.at[arguments[0]] = arguments[1]
        elif name == "update" and arguments[0] in self.at:
            self.at[arguments[0]] = arguments[1]
        elif name == "remove":
            self.number -= arguments[0] in self.at
            return self.at.pop(arguments[0], self) is not self
        elif name == "slowest":
            return min((tuple(at) for at in self.at.values() if at), default=None)
        elif name == "size":
            return self.number
        return None

    def seen(self) -> list[Any]:
        """Nothing."""
        return []


class Careful(Cursors):
    """One that counts them with its lock held."""

    careless = False


LACKING = {"ranks": False, "versions": False, "durables": False}


def searched(box: Callable[[Any], Any], programs: int, seed: int = 0, first: int = 0) -> tuple[Searcher, Searched]:
    """Search the races of a container."""
    contract = contract_named("active-cursors")
    lacking = contract.capabilities(**LACKING)
    searcher = Searcher(ByHand(box), contract.specification, Budget(programs, preemptions=1), seed)

    def one(number: int) -> Program:
        return drawn(contract, contract.specification, lacking, SeededChoices(walk_seed(seed, number)))

    told: list[int] = []
    found = searcher.search(one, lambda so_far, _: told.append(so_far.programs), first)
    assert told == [*range(1, programs + 1)]
    return searcher, found


def test_what_is_right_is_quiet() -> None:
    _, found = searched(Careful, 60)
    assert (found.programs, found.failing, found.races) == (60, 0, {})
    assert found.schedules >= found.histories > 500


def test_race_is_found_and_made_short() -> None:
    searcher, found = searched(Cursors, 40)
    assert found.failing > 0
    race = Reducer(found.races[Promise.REST], searcher.likewise).reduced()
    assert replay_text(race.program, race.seen.schedule) == SHORTEST
    told = race_result(resolve("sorted-cursors"), searcher.model, searcher.explorer, race.program, race.seen.schedule)
    assert told.story(100).splitlines() == STORY


def test_race_is_made_shorter_until_enough_schedules_were_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    searcher, found = searched(Cursors, 40)
    told: list[int] = []
    monkeypatch.setattr(reduce, "MOST_SCHEDULES", 10)
    reducer = Reducer(found.races[Promise.REST], searcher.likewise, lambda so_far: told.append(so_far.schedules))
    race = reducer.reduced()
    assert replay_text(race.program, race.seen.schedule) != SHORTEST
    assert len(told) > 1
    assert told == sorted(told)
    assert told[-2] < 10 <= told[-1]


def test_ranges_of_programs_add_up() -> None:
    whole, *parts = (searched(Cursors, *of)[1] for of in ((40,), (15,), (25, 0, 15)))
    for name in ("programs", "schedules", "histories", "failing"):
        assert getattr(whole, name) == sum(getattr(part, name) for part in parts) > 0
    for promise, numbers in whole.breaking.items():
        assert numbers == [number for part in parts for number in part.breaking.get(promise, [])]
    assert whole.breaking.keys() == whole.races.keys()


def test_run_that_got_stuck_before_its_threads_has_no_table_of_them() -> None:
    searcher, found = searched(Cursors, 40)
    race = found.races[Promise.REST]
    told = race_result(resolve("sorted-cursors"), searcher.model, searcher.explorer, race.program, race.seen.schedule)
    assert "thread 0" in told.story(100)
    assert "thread 0" not in msgspec.structs.replace(told, threads=[]).story(100)


def test_names_numbers_and_configuration_are_made_plain() -> None:
    program = parsed(
        "active-cursors ideal grace=7; add q [5,5]; size | add x [3,9] | add y [4,4]; slowest | size; slowest"
    )
    searcher = Searcher(ByHand(Cursors), program.contract.specification, Budget(programs=1), 0)
    found = searcher.search(lambda _: program, lambda *_: None)
    race = Reducer(found.races[Promise.REST], searcher.likewise).reduced()
    assert (
        replay_text(race.program, race.seen.schedule) == "active-cursors ideal | add a [0,0] | add b [0,0] | size @ 2>1"
    )


def test_search_ends_when_its_time_is_over() -> None:
    contract = contract_named("active-cursors")
    searcher = Searcher(ByHand(Careful), contract.specification, Budget(seconds=0.2), 0)
    lacking = contract.capabilities(**LACKING)
    found = searcher.search(
        lambda n: drawn(contract, contract.specification, lacking, SeededChoices(n)), lambda *_: None
    )
    assert 0 < found.programs < 10_000


def stepped(name: str) -> Callable[[Any], Any]:
    """Boxes of a subject whose calls are made step by step."""
    subject = resolve(name)
    known = by_tag(subject.contract.operations)

    class Stepped:
        def __init__(self, config: dict[str, Any]) -> None:
            self.adapter = subject.fresh(msgspec.convert(config, subject.contract.config))
            self.seen = self.adapter.seen

        def call(self, name: str, arguments: list[Any]) -> Any:
            operation = known[name](*arguments)
            if type(operation) not in IN_STEPS:
                return operation.on(self.adapter)
            steps = operation.on(SteppedCalls(self.adapter))
            try:
                while True:
                    yield next(steps)[0]
            except StopIteration as end:
                return end.value

    return Stepped


@pytest.mark.parametrize(("name", "broken"), [("stepwise-queue", None), ("mutant:removed-twice", Promise.STEPS)])
def test_caches_are_judged_in_steps(name: str, broken: Promise | None) -> None:
    program = parsed(
        "entry-cache ideal; put 0 1 1 10 0; get 0 1 1 | remove 0 1 1 1 1 1 | clear 0; put 0 1 1 5 1 | pinned"
    )
    searcher = Searcher(ByHand(stepped(name)), program.contract.specification, Budget(programs=1), 0)
    found = searcher.search(lambda _: program, lambda *_: None)
    assert [*found.races] == [broken] * (broken is not None)
    assert found.schedules > 20
