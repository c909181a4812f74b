"""Which failing walk is reduced."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest

from broker_tck.properties.contracts.delayed_delivery.operations import Config, Fill, Has
from broker_tck.properties.engine.check import Difference, no_answer
from broker_tck.properties.engine.operation import Operation
from broker_tck.properties.engine.walk import Walk
from broker_tck.properties.explain.failing_walks import MUCH, OTHERS, cheapest

WRONG = Difference("result", True, False)
DEAR = Fill(0, 0, 1, 4 * MUCH, 0)


def walk_of(*operations: Operation, difference: Difference | None = WRONG) -> Walk:
    return Walk(None, Config(), [*operations], difference)


def never() -> Iterator[Walk]:
    pytest.fail("another walk was made")
    yield


def test_effort_is_what_is_done_in_bulk_as_well() -> None:
    assert walk_of(Has(), DEAR).effort == 2 + 4 * MUCH


@pytest.mark.parametrize("difference", [WRONG, no_answer("Hang", "no answer")])
def test_walk_that_is_cheap_or_has_no_answer_is_taken_as_it_is(difference: Difference) -> None:
    failed = walk_of(*[Has()] * MUCH if difference is WRONG else [DEAR], difference=difference)
    assert cheapest(failed, never()) is failed


def test_others_are_made_until_a_cheap_one_fails() -> None:
    cheap = walk_of(Has())
    others = iter([walk_of(Has(), difference=None), cheap, walk_of()])
    assert cheapest(walk_of(DEAR), others) is cheap
    assert next(others, None) is not None


def test_of_dear_ones_the_cheapest_is_taken() -> None:
    failed, less = walk_of(DEAR), walk_of(Fill(0, 0, 1, 2 * MUCH, 0))
    made = (less if number == 1 else walk_of(Has(), DEAR) for number in count())
    assert cheapest(failed, made) is less
    assert cheapest(failed, (walk_of(Has(), difference=None) for _ in range(OTHERS + 1))) is failed


def test_no_others_are_made_after_one_without_an_answer() -> None:
    failed = walk_of(DEAR)
    others = iter([walk_of(Has(), difference=no_answer("Hang", "no answer")), walk_of()])
    assert cheapest(failed, others) is failed
    assert next(others, None) is not None
