"""The units of numbers: times counted from the clock at the start, and numbers of things."""

from __future__ import annotations

Unit = str | tuple[str, ...]
"""What numbers count, in the plural: ``messages``, or :data:`TIME`. Of a list whose places count different things, one
word for each. Empty: the number stands for itself, as an id does."""

TIME = "time"
"""Milliseconds since the epoch; a time is told from the clock at the start on: ``+512 ms``."""
NEAR = 2**42
"""Milliseconds: numbers no farther behind the clock than this are times, as ledger and entry ids are not."""


def number_text(number: int, clock: int | None, unit: str = "") -> str:
    """A number with its unit; without a unit, a number as large as the clock is a time."""
    time = unit == TIME or (not unit and clock is not None and 10**6 < clock <= number < clock + NEAR)
    if time and clock is not None and number >= clock:
        return f"+{number - clock} ms"
    if unit:
        return f"{number} {'ms' if time else counted(number, unit)}"
    return str(number)


def counted(number: int, unit: str) -> str:
    """A unit as it stands behind a number."""
    if number != 1 or not unit.endswith("s") or unit == "ms":
        return unit
    return f"{unit[:-3]}y" if unit.endswith("ies") else unit[:-1]
