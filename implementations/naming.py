"""Messages about unknown names."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

NEAR = 0.7
"""How alike two names must be for one to be meant by the other, as `difflib` counts it."""


def meant(name: str, known: Iterable[str]) -> str | None:
    """The known name that is nearest to a name, whatever their case; None if no name is near."""
    names = {each.lower(): each for each in known}
    near = get_close_matches(name.lower(), names, n=1, cutoff=NEAR)
    return names[near[0]] if near else None


def asked_back(name: str, known: Iterable[str]) -> str:
    """``; did you mean 'NAME'?``, or nothing if no known name is near."""
    near = meant(name, known)
    return f"; did you mean {near!r}?" if near else ""


def unknown(what: str, name: object, known: Iterable[str], of: str = "", told: str = "") -> str:
    """``unknown contract 'x'; there are: …``, after the name that was meant, if one is near.

    ``of`` is the kind of thing that has these names. ``told`` replaces the list of names.
    """
    names = [*known]
    near = asked_back(name, names) if isinstance(name, str) else ""
    there = told or f"there are: {', '.join(names) or 'none'}"
    says = f"{near} {there[0].upper()}{there[1:]}" if near else f"; {there}"
    return f"unknown {what} {name!r}{f' of {of}' if of else ''}{says}"
