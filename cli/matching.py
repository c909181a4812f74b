"""``-k``: which subjects and profiles an expression chooses, as pytest's option of the same name does with tests."""

from __future__ import annotations

import re
from collections.abc import Sequence

from broker_tck.properties.engine.subjects import Subject
from broker_tck.properties.errors import BadInput

Pair = tuple[Subject, str]
WORDS = ("and", "or", "not", "(", ")")


def matching(pairs: Sequence[Pair], expression: str | None) -> list[Pair]:
    """The subjects and profiles that an expression matches, all without one. BadInput: it is none, or matches none."""
    if expression is None:
        return [*pairs]
    tokens = re.findall(r"[()]|[^\s()]+", expression)
    found = [pair for pair in pairs if Expression(expression, tokens, text_of(*pair)).value()]
    if not found:
        raise BadInput(f"-k {expression!r} matches none of: {', '.join(f'{s.name} ({p})' for s, p in pairs)}")
    return found


def text_of(subject: Subject, profile: str) -> str:
    """What the words of an expression are looked for in."""
    return f"{subject.name} {profile} {subject.contract.name}".lower()


class Expression:
    """Words with ``and``, ``or``, ``not`` and brackets; a word is true where the text has it, in whatever case."""

    def __init__(self, expression: str, tokens: Sequence[str], text: str) -> None:
        self.expression, self.left, self.text = expression, [*tokens], text

    def value(self) -> bool:
        """Whether the text is as the expression says."""
        value = self.any_of()
        if self.left:
            raise self.wrong(f"{self.left[0]!r} stands where and or or has to")
        return value

    def any_of(self) -> bool:
        """One or more parts with ``or`` between them."""
        value = self.all_of()
        while self.taken("or"):
            value = self.all_of() or value
        return value

    def all_of(self) -> bool:
        """One or more parts with ``and`` between them."""
        value = self.one()
        while self.taken("and"):
            value = self.one() and value
        return value

    def one(self) -> bool:
        """A word, or what ``not`` or a bracket stands before."""
        if self.taken("not"):
            return not self.one()
        if self.taken("("):
            value = self.any_of()
            if not self.taken(")"):
                raise self.wrong("a bracket is not closed")
            return value
        if not self.left or self.left[0] in WORDS:
            raise self.wrong(
                f"a word is missing before {self.left[0]!r}" if self.left else "a word is missing at the end"
            )
        return self.left.pop(0).lower() in self.text

    def taken(self, token: str) -> bool:
        """Whether this comes next; it is taken then."""
        if self.left[:1] != [token]:
            return False
        del self.left[0]
        return True

    def wrong(self, why: str) -> BadInput:
        """What is wrong with the expression."""
        return BadInput(f"-k {self.expression!r}: {why}; such as: -k 'heap and not active-cursors'")
