"""The one comparison of the kit, and the adapter that a subject sits on."""

from __future__ import annotations

from collections.abc import Callable
from signal import ITIMER_PROF, getitimer
from time import process_time
from typing import Any

import pytest
from kit import CONTRACT, MODEL, START, subject_of, trace_of, walked

from broker_tck.implementations.delayed_delivery.time_bucket import TimeBucketTracker
from broker_tck.implementations.interface import Hang, IllegalStateException, TooManyRequestsException
from broker_tck.implementations.jvm.unavailable import Unavailable
from broker_tck.model.reference import UNDEFINED, Allowed, Fault
from broker_tck.properties.contracts.delayed_delivery.adapter import Adapter
from broker_tck.properties.contracts.delayed_delivery.operations import (
    Advance,
    Capabilities,
    Config,
    Fill,
    Get,
    Has,
    Stale,
)
from broker_tck.properties.engine.answers import plain
from broker_tck.properties.engine.check import (
    RESULT,
    Difference,
    check,
    concrete,
    disallowed,
    failed,
    first_difference,
    named,
    record,
    unanswered,
)
from broker_tck.properties.engine.limit import Limit
from broker_tck.properties.engine.operation import Operation
from broker_tck.properties.engine.timer import MOST_FIRINGS
from broker_tck.properties.search.failing import broken_by

HAS, GET = Has(), Get(10)


class Side:
    """A model or an adapter that answers what it is told to."""

    def __init__(self, answer: Any = None, seen: Any = (0, [])) -> None:
        self.answer, self.shown = answer, seen

    def has(self) -> Any:
        return self.answer() if callable(self.answer) and not isinstance(self.answer, type) else self.answer

    def get(self, most: int) -> Any:
        return self.has()

    def seen(self) -> Any:
        return self.shown() if callable(self.shown) else self.shown


class Agreeable:
    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0


def raising(error: BaseException) -> Callable[[], Any]:
    def call() -> Any:
        raise error

    return call


def compared(want: Any, got: Any) -> Difference | None:
    return check(HAS, Side(want), Side(got))


ENDLESS: list[Any] = []
ENDLESS.append(ENDLESS)


@pytest.mark.parametrize(
    ("want", "got"), [(True, True), (None, None), ([(1, 2)], [(1, 2)]), ([(1, 2)], [[1, 2]]), (3, 3)]
)
def test_alike_answers_are_allowed(want: Any, got: Any) -> None:
    assert compared(want, got) is None


@pytest.mark.parametrize(
    ("want", "got"),
    [
        (True, 1),
        (False, 0),
        (1, True),
        (0, False),
        (False, None),
        (None, False),
        (None, 0),
        ([], None),
        ([], False),
        ([], {}),
        ([(1, 2)], [(2, 1)]),
        ([(1, 2), (3, 4)], [(1, 2)]),
        (3, 3.0),
        (True, "true"),
        (0, "0"),
        (False, object()),
        (True, Agreeable()),
        (True, object),
        ([], ENDLESS),
        (5, 2**70),
    ],
)
def test_answers_of_another_kind_are_not(want: Any, got: Any) -> None:
    found = compared(want, got)
    assert found is not None
    assert (found.observed, found.expected) == (RESULT, plain(want))


def test_errors_are_compared_by_name() -> None:
    class NoSuchElementException(Exception):
        pass

    def expects_a_fault(got: Any) -> Difference | None:
        return check(HAS, Side(raising(Fault("NoSuchElementException"))), Side(got))

    assert expects_a_fault(raising(NoSuchElementException("index is empty"))) is None
    for got in (raising(KeyError("x")), True, None, {}, {"message": "?"}):
        found = expects_a_fault(got)
        assert found is not None
        assert found.expected == {"error": "NoSuchElementException"}
    found = compared(True, raising(KeyError("x")))
    assert found is not None
    assert found.seen == {"error": "KeyError", "message": "'x'"}


def test_error_of_a_class_below_one_of_the_interface_is_that_one() -> None:
    class ViewIsGone(IllegalStateException):
        pass

    def expects(name: str) -> Difference | None:
        return check(HAS, Side(raising(Fault(name))), Side(raising(ViewIsGone("closed"))))

    assert expects("IllegalStateException") is None
    assert named(ViewIsGone()) == {"error": "IllegalStateException"}
    assert named(TooManyRequestsException()) == {"error": "TooManyRequestsException"}
    for name in ("IllegalArgumentException", "RuntimeError"):
        found = expects(name)
        assert found is not None
        assert found.seen == {"error": "ViewIsGone", "message": "closed"}


@pytest.mark.parametrize("error", [SystemExit(3), GeneratorExit(), MemoryError("much"), RecursionError()])
def test_whatever_a_subject_raises_is_an_outcome(error: BaseException) -> None:
    found = compared(True, raising(error))
    assert found is not None
    assert found.seen["error"] == type(error).__name__
    found = check(HAS, Side(True), Side(True, raising(error)))
    assert found is not None
    assert (found.observed, found.expected, found.seen["error"]) == (0, 0, type(error).__name__)
    (step,) = record([HAS], Side(raising(error), raising(error)))
    assert step.result["error"] == step.seen[0]["error"] == type(error).__name__


@pytest.mark.parametrize("error", [Hang(), KeyboardInterrupt()])
def test_hang_and_interrupt_pass(error: BaseException) -> None:
    with pytest.raises(type(error)):
        compared(True, raising(error))
    with pytest.raises(type(error)):
        check(HAS, Side(True), Side(True, raising(error)))
    with pytest.raises(type(error)):
        failed(error)


def test_hang_is_what_a_trace_fails_with() -> None:
    """A wrapper raises it that has ended what it wraps."""
    found = first_difference([HAS, HAS], Side(True), Side(raising(Hang())))
    assert found is not None
    assert found[0] == 0
    assert unanswered(found[1])
    assert not unanswered(Difference(RESULT, True, {"error": "KeyError"}))


# ---- What the model leaves open


def test_allowed_answers_are_followed() -> None:
    followed: list[int] = []
    allowed = Allowed(lambda seen: seen > 5, followed.append, 9, "more than five")
    assert disallowed(allowed, 7) is None
    assert followed == [7]
    assert disallowed(allowed, 5) == Difference(RESULT, "more than five", 5)
    assert disallowed(allowed, True) == Difference(RESULT, "more than five", True)
    assert disallowed(allowed, "7") == Difference(RESULT, "more than five", "7")
    assert followed == [7]
    assert concrete(allowed) == 9
    assert followed == [7, 9]
    assert concrete(8) == 8


def test_a_list_of_floats_is_not_allowed_where_one_of_whole_numbers_is() -> None:
    allowed = Allowed([[[1, 2]], []].__contains__, lambda seen: None, [], "one position, or none")
    assert disallowed(allowed, [[1, 2]]) is None
    assert disallowed(allowed, [[1.0, 2]]) == Difference(RESULT, "one position, or none", [[1.0, 2]])


def test_a_pick_that_fails_is_alike_to_the_same_failure_alone() -> None:
    def fails(answer: int) -> None:
        raise Fault("RuntimeError")

    allowed = Allowed(lambda seen: True, fails, 9, "any number")
    assert disallowed(allowed, {"error": "RuntimeError"}) is None
    other = {"error": "KeyError"}
    assert disallowed(allowed, other) == Difference(RESULT, "any number", other)
    assert disallowed(allowed, {}) == Difference(RESULT, "any number", {})


def test_memory_may_be_anything_plausible() -> None:
    def judged(*answers: Any) -> bool:
        given = iter(answers)

        class Memory(TimeBucketTracker):
            def get_buffer_memory_usage(self) -> int:
                return next(given)

        trace = trace_of(
            "memory; add 1 0 +5000; memory; add 1 1 +5000; memory; memory; adv 9000; get 1; memory; get 1; memory"
        )
        adapter = Adapter(Memory, trace.config, Capabilities())
        return first_difference(trace.operations, MODEL(trace.config), adapter) is None

    assert judged(0, 10, 20, 20, 5, 0)
    assert judged(0, 10, 10, 10, 10, 0)
    assert not judged(1, 10, 20, 20, 5, 0)
    assert not judged(0, 10, 9, 9, 5, 0)
    assert not judged(0, 10, 20, 21, 5, 0)
    assert not judged(0, 10, 20, 20, 21, 0)
    assert not judged(0, 10, 20, 20, 0, 0)
    assert not judged(0, 10, 20, 20, 5, 1)
    assert not judged(0, None, 20, 20, 5, 0)
    assert not judged(False, 10, 20, 20, 5, 0)


def test_undefined_equals_everything() -> None:
    assert UNDEFINED == 5
    assert (UNDEFINED != 5) is False
    assert (UNDEFINED, []) == (None, [])
    assert repr(UNDEFINED) == "anything"
    assert len({UNDEFINED, UNDEFINED}) == 1
    assert check(HAS, Side(True, (UNDEFINED, [])), Side(True, (17, []))) is None
    found = check(HAS, Side(True, (UNDEFINED, [])), Side(True, (17, [5])))
    assert found == Difference(1, [], [5])


# ---- The adapter


class Timed:
    """A subject that arms what a test tells it to."""

    def __init__(self, config: Any, clock: Any, timer: Any) -> None:
        self.clock, self.timer = clock, timer
        self.fired: list[tuple[int, bool]] = []
        self.again = 0

    def arm(self, deadline: Any) -> Any:
        return self.timer.new_timeout(deadline, self.on)

    def on(self, timeout: Any) -> bool:
        self.fired.append((self.clock(), timeout.cancelled))
        if self.again:
            self.again -= 1
            self.arm(self.clock() + 5)
        return not timeout.cancelled

    def get_number_of_delayed_messages(self) -> int:
        return 0


@pytest.fixture
def adapter() -> Any:
    return adapted(Timed)


def adapted(factory: Any) -> Any:
    """The adapter of a subject that is hardly one."""
    return Adapter(factory, Config(), Capabilities())


def test_timers_fire_at_their_own_time(adapter: Any) -> None:
    subject = adapter.tracker
    subject.arm(START + 20)
    subject.arm(START + 10)
    assert adapter.seen() == (0, [START + 10, START + 20])
    assert Advance(9).on(adapter) == []
    assert Advance(1).on(adapter) == [START + 10]
    assert adapter.seen() == (0, [START + 20])
    assert Advance(100).on(adapter) == [START + 20]
    assert subject.fired == [(START + 10, False), (START + 20, False)]
    assert adapter.now == START + 110
    assert Advance(0).on(adapter) == []


@pytest.mark.parametrize("ms", [0, -1, -1000])
def test_timeout_for_now_or_the_past_fires_when_the_clock_moves_next(adapter: Any, ms: int) -> None:
    adapter.tracker.arm(START + ms)
    assert adapter.seen() == (0, [START + ms])
    assert Advance(0).on(adapter) == [START]
    assert adapter.seen() == (0, [])


def test_cancelled_timeout_may_be_on_its_way(adapter: Any) -> None:
    subject = adapter.tracker
    assert Stale().on(adapter) is False
    subject.arm(START + 5).cancel()
    assert Stale().on(adapter) is False
    assert subject.fired == [(START, True)]


def test_timeouts_armed_by_a_firing_fire_in_the_same_step(adapter: Any) -> None:
    subject = adapter.tracker
    subject.again = 2
    subject.arm(START + 1)
    assert Advance(8).on(adapter) == [START + 1, START + 6]
    assert adapter.seen() == (0, [START + 11])


def test_endless_arming_is_cut_off(adapter: Any) -> None:
    subject = adapter.tracker
    subject.again = 10**9
    subject.arm(START)
    with pytest.raises(RuntimeError, match="the timer fired 10000 times in one step of the clock"):
        Advance(10 * MOST_FIRINGS).on(adapter)


@pytest.mark.parametrize("deadline", [None, 1.5, "5"])
def test_deadline_is_an_integer(adapter: Any, deadline: object) -> None:
    with pytest.raises(TypeError, match=r"a deadline must be a whole number, not <an? "):
        adapter.tracker.arm(deadline)


def test_fill_is_so_many_adds() -> None:
    single = Adapter(TimeBucketTracker, Config(), Capabilities())
    batch = Adapter(TimeBucketTracker, Config(), Capabilities(batch_adds=True))
    model = MODEL(Config())
    for operation in trace_of(
        "fill 1 10 2 5 +5000; fill 1 10 1 5 +5000; fill 2 0 1 0 +5000; fill 1 0 1 3 +10; get 1"
    ).operations:
        answers = [operation.on(side) for side in (single, batch, model)]
        assert answers[0] == answers[1] == answers[2]
        assert single.seen() == batch.seen() == model.seen()


# ---- The limit of the kit's own models


def forever() -> None:
    while True:
        pass


@pytest.mark.parametrize("bulk", [0, 3000])
def test_model_that_comes_to_no_end_is_limited_and_bulk_is_given_time(bulk: int) -> None:
    began = process_time()
    with pytest.raises(Hang, match="no answer within the limit"), Limit(0.05, [Fill(1, 0, 1, bulk, 5)]):
        forever()
    assert 0.05 * (1 + bulk / 1000) <= process_time() - began < 2
    assert getitimer(ITIMER_PROF) == (0, 0)


def test_each_operation_has_the_limit_for_itself() -> None:
    begun: list[Operation] = []
    with Limit(0.05, begun):
        for _ in range(8):
            begun.append(HAS)
            until = process_time() + 0.03
            while process_time() < until:
                pass


class Addressed(TimeBucketTracker):
    """Raises, and says where it lies."""

    def has_message_available(self) -> bool:
        raise LookupError(f"nothing in {self!r} at {id(self)}")


def test_message_of_an_error_is_no_part_of_what_invariants_and_relations_compare() -> None:
    subject, trace = subject_of(Addressed), trace_of("add 1 0 +5000; has; adv 5; has")
    first, second = (record(trace.operations, subject.adapter(trace.config, subject.capabilities)) for _ in range(2))
    assert first == second
    assert first[1].result == {"error": "LookupError"}
    broken = record(trace.operations, Side(0, seen=None))
    assert broken[0].seen == ({"error": "TypeError"},)
    done = walked(subject_of(TimeBucketTracker), 1)
    assert broken_by(CONTRACT, done, subject.adapter, subject.capabilities, {"shift"}) == []
    told = check(trace.operations[1], MODEL(trace.config), subject.adapter(trace.config, subject.capabilities))
    assert "nothing in" in told.seen["message"], "a story still tells it"


def test_a_class_that_does_not_fit_is_no_outcome() -> None:
    with pytest.raises(Unavailable):
        failed(Unavailable("a class is missing"))
