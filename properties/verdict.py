"""What a check of a subject comes to: one of three words, each with its exit status."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import ROUND_CEILING, Context

CONFORMS = "conforms"
"""There was no difference, and every rule that has to be exercised came up."""
BROKEN = "broken"
"""There was a difference, or an invariant did not hold."""
NOT_ENOUGH = "not enough"
"""There was no difference, but something that has to come up did not."""
UP = Context(prec=2, rounding=ROUND_CEILING)
STATUS = {CONFORMS: 0, BROKEN: 1, NOT_ENOUGH: 4}


def worst(verdicts: Iterable[str]) -> str:
    """The verdict on all of several: ``broken`` if one is, else ``not enough`` if one is, else ``conforms``."""
    found = {*verdicts}
    return next((verdict for verdict in (BROKEN, NOT_ENOUGH) if verdict in found), CONFORMS)


def status_of(verdicts: Iterable[str]) -> int:
    """The exit status of a command that came to these verdicts."""
    return STATUS[worst(verdicts)]


def at_most(bound: float) -> str:
    """A bound as a number of two digits that count, never smaller than it is."""
    return f"{UP.create_decimal(repr(bound)).normalize():f}"
