"""``-k``: which subjects and profiles an expression chooses, as pytest's option of the same name does with tests."""

from __future__ import annotations

import re
from collections.abc import Sequence
from warnings import catch_warnings

from broker_tck.properties.engine.subjects import Subject
from broker_tck.properties.errors import BadInput

Pair = tuple[Subject, str]
"""A subject, and the profile under which it is checked."""
WORD = re.compile(r"[^\s()]+")
OPERATORS = ("and", "or", "not")


def matching(pairs: Sequence[Pair], expression: str | None) -> list[Pair]:
    """The subjects and profiles that an expression matches, all without one. BadInput: it is none, or matches none."""
    if expression is None:
        return [*pairs]
    found = [pair for pair in pairs if matches(expression, text_of(*pair))]
    if not found:
        raise BadInput(f"-k {expression!r} matches none of: {', '.join(f'{s.name} ({p})' for s, p in pairs)}")
    return found


def text_of(subject: Subject, profile: str) -> str:
    """What the words of an expression are looked for in."""
    return f"{subject.name} {profile} {subject.contract.name}".lower()


def matches(expression: str, text: str) -> bool:
    """Whether an expression is true of a text: each word is true if the text has it, in whatever case."""

    def truth(word: re.Match[str]) -> str:
        return word[0] if word[0] in OPERATORS else str(word[0].lower() in text)

    try:
        with catch_warnings(action="error"):  # of what is no expression
            return bool(eval(WORD.sub(truth, expression).strip()))  # True, False, operators and brackets
    except (SyntaxError, TypeError):
        why = "put and, or, not and brackets between words"
        raise BadInput(f"-k {expression!r}: {why}; such as: -k 'heap and not active-cursors'") from None
