"""The verdict of a check: one of three words, each with an exit status."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import ROUND_CEILING, Context

CONFORMS = "conforms"
"""No difference was found, and every required rule came up."""
BROKEN = "broken"
"""A difference was found, or an invariant did not hold."""
NOT_ENOUGH = "not enough"
"""No difference was found, but some required rule or deviation never came up."""
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
    """A bound with two significant digits, rounded up."""
    return f"{UP.create_decimal(repr(bound)).normalize():f}"
