"""What is known of a mutant."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Mutant:
    """A production subject that was broken on purpose."""

    name: str
    factory: Callable[..., Any]
    rule: str
    """The one rule that it breaks."""
    wrong: str
    """What it does wrong, in a sentence."""
    source: str = ""
    """The report or change of the real broker in which this was seen; empty: made up."""
    conditions: int = 1
    """How many things have to come together before it shows."""
    deep: bool = False
    """Whether the median walk needs over 1,000 operations to kill it; the machine is not asked for these."""
