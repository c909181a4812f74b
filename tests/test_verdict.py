"""The three words that a check comes to."""

from __future__ import annotations

import pytest

from broker_tck.properties.verdict import BROKEN, CONFORMS, NOT_ENOUGH, status_of


@pytest.mark.parametrize(
    ("verdicts", "status"),
    [
        ([], 0),
        ([CONFORMS, CONFORMS], 0),
        ([CONFORMS, NOT_ENOUGH], 4),
        ([NOT_ENOUGH, BROKEN, CONFORMS], 1),
    ],
)
def test_difference_counts_before_what_is_not_enough(verdicts: list[str], status: int) -> None:
    assert status_of(verdicts) == status
