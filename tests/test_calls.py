"""Calls under way: in which order they are listed, and which one is to end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from broker_tck.model.parts import calls as of_models
from broker_tck.properties.engine import calls as of_adapters

Made = Callable[[Any], tuple[Callable[[str], None], Callable[[int], str | None]]]


def model(order: Any) -> tuple[Callable[[str], None], Callable[[int], str | None]]:
    calls: of_models.CallsUnderWay[str] = of_models.CallsUnderWay(order)
    return calls.begin, calls.take


def adapter(order: Any) -> tuple[Callable[[str], None], Callable[[int], str | None]]:
    calls: of_adapters.CallsUnderWay[str] = of_adapters.CallsUnderWay(order)
    return calls.hold, calls.release


@pytest.mark.parametrize("side", [model, adapter])
@pytest.mark.parametrize(("order", "ended"), [(None, ["c", "a", "b2", "b1"]), (str, ["a", "b1", "b2", "c"])])
def test_calls_are_listed_as_they_were_made_or_in_an_order(side: Made, order: Any, ended: list[str]) -> None:
    make, end = side(order)
    for call in ("c", "a", "b2", "b1"):
        make(call)
    assert [end(0) for _ in range(5)] == [*ended, None]


@pytest.mark.parametrize("side", [model, adapter])
def test_place_is_counted_round_and_round(side: Made) -> None:
    make, end = side(None)
    for call in "abc":
        make(call)
    assert [end(4), end(3), end(2), end(7)] == ["b", "c", "a", None]
