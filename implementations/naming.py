"""What is said of a name that there is not."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

NEAR = 0.7
"""How alike two names are that one may be mistaken for the other, as `difflib` counts it."""


def meant(name: str, known: Iterable[str]) -> str | None:
    """The known name that is nearest to one, whatever their case; None where none is near."""
    names = {each.lower(): each for each in known}
    near = get_close_matches(name.lower(), names, n=1, cutoff=NEAR)
    return names[near[0]] if near else None


def asked_back(name: str, known: Iterable[str]) -> str:
    """``; did you mean 'NAME'?``, or nothing where no known name is near."""
    near = meant(name, known)
    return f"; did you mean {near!r}?" if near else ""


def unknown(what: str, name: object, known: Iterable[str], of: str = "", told: str = "") -> str:
    """``unknown contract 'x'; there are: …``, after the name that was meant, if one is near.

    ``of`` is what has these names. ``told`` says in other words which there are.
    """
    names = [*known]
    near = asked_back(name, names) if isinstance(name, str) else ""
    there = told or f"there are: {', '.join(names) or 'none'}"
    says = f"{near} {there[0].upper()}{there[1:]}" if near else f"; {there}"
    return f"unknown {what} {name!r}{f' of {of}' if of else ''}{says}"
