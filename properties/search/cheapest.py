"""Which failing walk is reduced, where one will do: each probe of a walk that does much in bulk costs as much as it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from broker_tck.properties.engine.check import unanswered
from broker_tck.properties.engine.walk import Walk

MUCH = 1_000
"""A walk that does more is dear to reduce."""
OTHERS = 16
"""Where one is dear, so many others are made: most subjects fail on one that is not."""


def cheapest(failed: Walk, others: Iterator[Walk]) -> Walk:
    """A failing walk; where it is dear to reduce, that which does least, of it and of those among others that fail."""
    for other in islice(others, OTHERS) if is_dear(failed) else ():
        if other.difference and unanswered(other.difference):
            break
        if other.difference and other.effort < failed.effort:
            failed = other
        if not is_dear(failed):
            break
    return failed


def is_dear(failed: Walk) -> bool:
    """Whether a walk is dear to reduce. One without an answer is made once more alone, whatever it does."""
    return failed.effort > MUCH and not (failed.difference and unanswered(failed.difference))
