"""What a subject does that gets a rule wrong, in words made for that wrong way.

They stand above the rule that has the way, ``@said(rounded_down="In strict mode, …")``, or above the class that is one,
``@said("…")``. A class of which nothing is said is told in words made of its name and of the rule, see ``properties``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from broker_tck.model.rules import Clause, Way, embodied

T = TypeVar("T", bound=Callable[..., Any])

_SAID: dict[Clause, str] = {}


def said(of_class: str = "", **of_ways: str) -> Callable[[T], T]:
    """Put the wrong ways of the clause below into words, or the class below, which is one. KeyError for no such way."""

    def register(what: T) -> T:
        if of_class:
            _SAID[what] = of_class
        for name, sentence in of_ways.items():
            _SAID[embodied(what).ways[name]] = sentence
        return what

    return register


def words_of(way: Way) -> str:
    """The words made for a way; empty where there are none."""
    return _SAID.get(way.instead, "")
