"""The source of choices: the one thing that a generator draws from, and that each driver supplies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import floor
from random import Random
from typing import Protocol, TypeVar

T = TypeVar("T")


class Choices(Protocol):
    """The one way to choose; all others are made of it."""

    @property
    def below(self) -> Callable[[int], int]:
        """Draws a number from 0 to n - 1."""


class SeededChoices:
    """Choices of a walk. Only ``Random.random()`` is used, the one method that Python promises not to change."""

    def __init__(self, seed: int) -> None:
        random = Random(seed).random
        self.below: Callable[[int], int] = lambda n: floor(random() * n)


def one_of(choices: Choices, options: Sequence[T]) -> T:
    """One of several options, each as likely."""
    return options[choices.below(len(options))]


def weighted(options: Iterable[tuple[T, int]]) -> list[T]:
    """A list to draw from, each option in it as often as its weight says."""
    drawn: list[T] = []
    for option, weight in options:
        drawn += [option] * weight
    return drawn
