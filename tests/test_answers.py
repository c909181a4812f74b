"""Answers of any kind: what is accepted, and what is shown of everything else."""

from __future__ import annotations

import json
from collections import OrderedDict, namedtuple
from collections.abc import Callable
from enum import Enum, IntEnum
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kit import CONTRACT, MODEL, found, subject_of, trace_of

from broker_tck.implementations.active_cursors.sorted_cursors import SortedCursors
from broker_tck.implementations.delayed_delivery.time_bucket import TimeBucketTracker
from broker_tck.properties.contracts.active_cursors.contract import ACTIVE_CURSORS
from broker_tck.properties.engine.answers import (
    MOST_DEEP,
    MOST_TEXT,
    MOST_VALUES,
    AnswerChanged,
    HandedOut,
    Odd,
    agree,
    listed,
    plain,
)
from broker_tck.properties.engine.check import first_difference
from broker_tck.properties.engine.subjects import declared
from broker_tck.properties.engine.trace import from_text
from broker_tck.properties.engine.walk import Walk
from broker_tck.properties.report.finding import FindingResult, finding_json
from broker_tck.properties.report.lines import lines
from broker_tck.properties.report.made import finding_result
from broker_tck.spark_fuzz.report.stories import read

HERE = __name__


@pytest.mark.parametrize("then", [lambda out, first: out.listed(first), lambda out, _: out.compare_all()])
def test_list_that_was_handed_out_before_the_last_one_must_not_change(then: Callable[[HandedOut, Any], Any]) -> None:
    out, first = HandedOut(), [(1, 0)]
    out.listed(first)
    out.listed([])
    first[:] = [(1, 1)]
    out.listed([])
    with pytest.raises(AnswerChanged):
        then(out, first)


class Numbered(int):
    """A number of a class of its own, which says that it equals everything."""

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = int.__hash__


class Hostile:  # noqa: PLW1641 # its hash raises like all else
    """Whatever it is asked raises, or lies."""

    @property
    def __class__(self) -> Any:
        return bool

    def _raises(self, *_: Any) -> Any:
        raise ValueError("no")

    __hash__ = __repr__ = __str__ = __len__ = __iter__ = __bool__ = __index__ = _raises  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return True


class Hanging:
    """It does not say whether it equals something."""

    def __eq__(self, other: object) -> bool:
        while True:
            pass

    __hash__ = None  # type: ignore[assignment]


class Items(list[Any]):
    """A list of a class of its own, which cannot be gone through."""

    def __iter__(self) -> Any:
        raise ValueError("no")


class Silent(Exception):
    """An error that cannot say anything."""

    def __str__(self) -> str:
        raise ValueError("no")


class One(IntEnum):
    ONE = 1


class Yes(Enum):
    YES = True


Place = namedtuple("Place", "ledger entry")


def holding_itself() -> list[Any]:
    held: list[Any] = []
    held.append(held)
    return held


def nested(times: int, wide: int = 1) -> list[Any]:
    """A list in a list and so on; of width 2, one that takes little memory and has very many places."""
    held: list[Any] = []
    for _ in range(times):
        held = [held] * wide
    return held


def raising(error: BaseException) -> Any:
    raise error


DELAYED = "add 1 0 +5000; add 1 1 +5000; adv 6000; get 5"
CURSORS = "active-cursors; add a [1,2]; size; slowest; list; get a; oldest"
TOO_MANY = f"that holds more than {MOST_VALUES:,} values>"
DEEP = "[" * MOST_DEEP + f"<a list that is more than {MOST_DEEP} deep>" + "]" * MOST_DEEP

WRONG: dict[str, tuple[str, Callable[[Any], Any], str]] = {
    "huge": ("get_number_of_delayed_messages", lambda _: 10**5000, "count <a number of 16,610 bits>"),
    "nan": ("get_number_of_delayed_messages", lambda _: float("nan"), "count <nan>"),
    "infinity": ("add_message", lambda _: float("-inf"), "<-inf>"),
    "float": ("get_number_of_delayed_messages", float, "count 1.0"),
    "bool": ("get_number_of_delayed_messages", bool, "count true"),
    "int": ("add_message", int, "1"),
    "text": ("get_number_of_delayed_messages", str, 'count "1"'),
    "hostile": ("add_message", lambda _: Hostile(), f"<a {HERE}.Hostile>"),
    "hostile count": ("get_number_of_delayed_messages", lambda _: Hostile(), f"count <a {HERE}.Hostile>"),
    "hanging": ("add_message", lambda _: Hanging(), f"<a {HERE}.Hanging>"),
    "agreeing": ("get_number_of_delayed_messages", lambda _: Numbered(9), "count 9 messages"),
    "enumeration": ("add_message", lambda _: Yes.YES, f"<a {HERE}.Yes>"),
    "error that is returned": ("add_message", lambda _: {"error": "KeyError"}, "<a dict>"),
    "half a character": ("add_message", lambda _: "a\ud800", '"a\\ud800"'),
    "bytes": ("get_scheduled_messages", lambda _: b"ab", "<a bytes>"),
    "set": ("get_scheduled_messages", set, "<a set>"),
    "itself": ("get_scheduled_messages", lambda _: holding_itself(), "[<a list that holds itself>]"),
    "deep": ("add_message", lambda _: nested(100_000), DEEP),
    "many": ("get_scheduled_messages", lambda _: [(1, 2)] * 10_000_000, f"<a list {TOO_MANY}"),
    "endless": ("get_scheduled_messages", lambda _: iter(int, 1), f"<a list {TOO_MANY}"),
    "true for 1": ("get_scheduled_messages", lambda got: [(True, e) for _, e in got], "[[true 0] [true 1]]"),
    "float for 1": ("get_scheduled_messages", lambda got: [(1.0, e) for _, e in got], "[[1.0 0] [1.0 1]]"),
    "hanging inside": (
        "get_scheduled_messages",
        lambda _: [(1, Hanging()), (1, 1)],
        f"[[1, <a {HERE}.Hanging>] [1 1]]",
    ),
    "silent": ("add_message", lambda _: raising(Silent()), "Silent"),
    "error with a huge number": ("add_message", lambda _: raising(KeyError(10**5000)), "KeyError"),
}
WRONG_CURSORS: dict[str, tuple[str, Callable[[Any], Any], str]] = {
    "huge": ("size", lambda _: -(10**5000), "<a number of 16,610 bits>"),
    "bool": ("size", bool, "true"),
    "hostile": ("size", lambda _: Hostile(), f"<a {HERE}.Hostile>"),
    "hostile position": ("get_slowest_cursor_position", lambda _: Hostile(), f"<a {HERE}.Hostile>"),
    "true for 1": ("get_slowest_cursor_position", lambda got: (True, got[1]), "[true 2]"),
    "wide and deep": ("get_slowest_cursor_position", lambda _: nested(60, 9), f"<a list {TOO_MANY}"),
    "number of a cursor": ("get", lambda got: got.number, "<an int>"),
    "hostile cursor": ("get", lambda _: Hostile(), f"<a {HERE}.Hostile>"),
    "version": ("get_cursor_with_oldest_position", lambda got: (*got[:2], True), "[1 [1 2] true]"),
    "no triple": ("get_cursor_with_oldest_position", lambda _: Hostile(), f"<a {HERE}.Hostile>"),
    "endless": ("__iter__", lambda got: iter([*got] * 1_000_000), "[1 1]"),
}
RIGHT: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "number of a class of its own": ("get_number_of_delayed_messages", Numbered),
    "enumeration of numbers": ("get_number_of_delayed_messages", lambda got: One.ONE if got == 1 else got),
    "lists for tuples": ("get_scheduled_messages", lambda got: [[*each] for each in got]),
    "tuple for a list": ("get_scheduled_messages", tuple),
    "named tuples": ("get_scheduled_messages", lambda got: [Place(*each) for each in got]),
    "list of a class of its own": ("get_scheduled_messages", Items),
    "generator": ("get_scheduled_messages", lambda got: (each for each in got)),
    "keys": ("get_scheduled_messages", lambda got: OrderedDict.fromkeys(got).keys()),
}


def answering(base: type, method: str, answer: Callable[[Any], Any]) -> type:
    """A subject that makes something else of one of its answers."""
    return type("Answering", (base,), {method: lambda self, *given: answer(getattr(base, method)(self, *given))})


@pytest.mark.parametrize(("method", "answer", "seen"), WRONG.values(), ids=WRONG)
def test_wrong_answer_is_a_difference_that_can_be_shown(method: str, answer: Any, seen: str) -> None:
    subject, trace = subject_of(answering(TimeBucketTracker, method, answer)), trace_of(DELAYED)
    differs = first_difference(
        trace.operations, MODEL(trace.config), subject.adapter(trace.config, subject.capabilities)
    )
    assert differs
    told = lines(CONTRACT, MODEL, trace.config, trace.operations[: differs[0] + 1], differs[1])[-1]
    assert told.seen == seen
    assert len(json.dumps(plain(differs[1].seen))) < 2 * MOST_TEXT


@pytest.mark.parametrize(("method", "answer", "seen"), WRONG_CURSORS.values(), ids=WRONG_CURSORS)
def test_wrong_answer_of_a_container_likewise(method: str, answer: Any, seen: str) -> None:
    subject = declared("answering", answering(SortedCursors, method, answer), ACTIVE_CURSORS)
    trace, model = from_text(CURSORS), ACTIVE_CURSORS.specification
    differs = first_difference(
        trace.operations, model(trace.config), subject.adapter(trace.config, subject.capabilities)
    )
    assert differs
    told = lines(ACTIVE_CURSORS, model, trace.config, trace.operations[: differs[0] + 1], differs[1])[-1]
    assert told.seen == seen


@pytest.mark.parametrize(("method", "answer"), RIGHT.values(), ids=RIGHT)
def test_right_answer_may_be_of_a_class_of_its_own(method: str, answer: Any) -> None:
    subject, trace = subject_of(answering(TimeBucketTracker, method, answer)), trace_of(DELAYED)
    adapter = subject.adapter(trace.config, subject.capabilities)
    assert first_difference(trace.operations, MODEL(trace.config), adapter) is None


@pytest.mark.parametrize("row", ["huge", "half a character", "hanging inside", "bytes"])
def test_wrong_answer_is_a_finding_in_every_form(row: str) -> None:
    method, answer, seen = WRONG[row]
    subject, trace = subject_of(answering(TimeBucketTracker, method, answer)), trace_of(DELAYED)
    finding = found(subject, Walk(0, trace.config, [*trace.operations], None))
    assert finding
    told = finding_json(finding_result(finding))
    kept = {name: value for name, value in told.items() if name in FindingResult.__struct_encode_fields__}
    again = read(json.dumps(kept))
    assert isinstance(again, FindingResult)
    assert again.lines[-1].seen.startswith(seen[:2])
    assert told["text"].encode()


@pytest.mark.parametrize("error", [KeyError("x" * 10**7), Silent(), KeyError(10**5000), OSError("x\n" * 10**6)])
def test_finding_of_an_error_is_bounded(error: Exception) -> None:
    subject = subject_of(answering(TimeBucketTracker, "add_message", lambda _: raising(error)))
    trace = trace_of(DELAYED)
    finding = found(subject, Walk(0, trace.config, [*trace.operations], None))
    assert finding
    assert len(json.dumps(finding_json(finding_result(finding)))) < 20_000


# ---- Anything at all

JUNK = st.recursive(
    st.sampled_from((None, True, 0, 1, 1.0, float("nan"), "a\ud800", "x" * 5000, b"x"))
    | st.builds(lambda: 10**5000)
    | st.builds(Hostile)
    | st.builds(Hanging)
    | st.builds(Numbered, st.integers())
    | st.builds(holding_itself),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.lists(inner, max_size=4).map(Items)
        | st.dictionaries(st.sampled_from(("a", "b", 1)), inner, max_size=3)
        | st.builds(Odd, inner)
    ),
)
PLAIN = st.recursive(
    st.none() | st.integers(-(2**64), 2**64) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.lists(inner, max_size=4).map(tuple),
)


def is_plain(value: Any) -> bool:
    if type(value) is list:
        return all(map(is_plain, value))
    if type(value) is dict:
        return all(type(key) is str and is_plain(held) for key, held in value.items())
    return value is None or type(value) in (bool, int, float, str)


@settings(max_examples=200, deadline=None)
@given(JUNK)
def test_anything_is_shown_as_plain_data(junk: Any) -> None:
    shown = plain(junk)
    assert is_plain(shown)
    assert json.loads(json.dumps(shown, allow_nan=False)) == shown
    assert json.dumps(shown).encode() == json.dumps(plain(junk)).encode()
    assert plain(shown) == shown


@settings(max_examples=200, deadline=None)
@given(PLAIN, JUNK)
def test_what_agrees_is_shown_alike(want: Any, junk: Any) -> None:
    assert agree(want, want)
    assert agree(want, plain(want))
    if agree(want, listed(junk) if type(junk) is tuple else junk):
        assert repr(plain(want)) == repr(plain(junk))
