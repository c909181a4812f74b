"""Time that passes on a thread of its own, that of the timer, while other threads make calls."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from broker_tck.properties.engine.answers import agree
from broker_tck.properties.engine.concurrent import Word


class PassingTime(ABC):
    """The call that lets time pass. The clock moves to each timeout on the way, which fires; then to the end.

    That the clock moves is one moment, and that a timeout fires is another: calls may come in between.
    """

    def __init__(self, model: Any, by: int) -> None:
        """Let time pass on a model, by so many of its units."""
        self.model = model
        self.until = self.now() + by
        self.said: list[Any] = []
        self.move()

    @abstractmethod
    def now(self) -> int:
        """The time of the model."""

    @abstractmethod
    def move_to(self, time: int) -> None:
        """Move the clock of the model, and fire nothing."""

    @abstractmethod
    def armed(self) -> Sequence[int]:
        """The times of all timeouts of the model that are armed."""

    def move(self) -> None:
        """Move the clock to the next timeout on the way, or to the end."""
        self.move_to(max(self.now(), min([self.until, *self.armed()])))

    def due(self) -> bool:
        """Whether a timeout is to fire at this time."""
        return min(self.armed(), default=self.until + 1) <= self.now()

    def words(self) -> Sequence[Word]:
        """A timeout that is due may fire."""
        return [("fires",)] if self.due() else []

    def step(self, _: Word) -> None:
        """It fires, and time goes on."""
        self.said += self.model.advance(0)
        self.move()

    def ends(self, result: Any) -> bool:
        """Whether all has fired on the way, and called the application back as it says."""
        return not self.due() and agree(self.said, result)

    def says(self) -> str:
        """What it calls back until now."""
        return f"{self.said}, after all that is due has fired"
