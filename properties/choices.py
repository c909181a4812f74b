"""The source of choices: the one thing that a generator draws from, and that each driver supplies."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Sequence
from itertools import accumulate
from random import Random
from typing import Protocol, TypeVar

T = TypeVar("T")


class Choices(Protocol):
    """Two ways to choose; all others are made of them."""

    def below(self, n: int) -> int:
        """A number from 0 to n - 1."""

    def weighted(self, cumulative: Sequence[int]) -> int:
        """An index, by cumulative weights."""


class SeededChoices(Random):
    """Choices of a walk. Only ``random()`` is used, the one method that Python promises not to change."""

    def below(self, n: int) -> int:
        """A number from 0 to n - 1."""
        return int(self.random() * n)

    def weighted(self, cumulative: Sequence[int]) -> int:
        """An index, by cumulative weights."""
        return bisect(cumulative, int(self.random() * cumulative[-1]))


class ByteChoices:
    """Choices out of the bytes that Hypothesis draws: one draw for each operation, however many choices it takes."""

    def __init__(self, entropy: bytes = b"") -> None:
        self.refill(entropy)

    def refill(self, entropy: bytes) -> None:
        """Take the choices that follow out of these bytes. When they are used up, every choice is the first."""
        self._left = int.from_bytes(entropy)

    def below(self, n: int) -> int:
        """A number from 0 to n - 1."""
        self._left, chosen = divmod(self._left, n)
        return chosen

    def weighted(self, cumulative: Sequence[int]) -> int:
        """An index, by cumulative weights."""
        return bisect(cumulative, self.below(cumulative[-1]))


def one_of(choices: Choices, options: Sequence[T]) -> T:
    """One of several options, each as likely."""
    return options[choices.below(len(options))]


def cumulated(weights: Sequence[int]) -> list[int]:
    """Weights as :meth:`Choices.weighted` takes them."""
    return list(accumulate(weights))
