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

    @abstractmethod
    def now(self) -> int:
        """The time of the model."""

    @abstractmethod
    def move_to(self, time: int) -> None:
        """Move the clock of the model, and fire nothing."""

    @abstractmethod
    def armed(self) -> Sequence[int]:
        """The times of all timeouts of the model that are armed."""

    def first(self) -> int:
        """The time of the next timeout on the way, or the end."""
        return max(self.now(), min([self.until, *self.armed()]))

    def words(self) -> Sequence[Word]:
        """A timeout that is due may fire; otherwise time may go on to the next."""
        if not self.on_the_way():
            return []
        return [("fires",) if self.first() == self.now() else ("goes on",)]

    def on_the_way(self) -> bool:
        """Whether a timeout is to fire before the end."""
        return any(at <= self.until for at in self.armed())

    def step(self, word: Word) -> None:
        """It fires, or time goes on."""
        if word == ("fires",):
            self.said += self.model.advance(0)
        else:
            self.move_to(self.first())

    def ends(self, result: Any) -> bool:
        """Whether all has fired on the way, and called the application back as it says."""
        if self.on_the_way() or not agree(self.said, result):
            return False
        self.move_to(self.until)
        return True

    def says(self) -> str:
        """What it calls back until now."""
        return f"{self.said}, after all that is due has fired"


class ExpiringTime(PassingTime):
    """Time on which a timeout that has expired fires later, even if it is cancelled in between."""

    expired: tuple[Any, int] | None = None
    """The timeout that has expired, with its timer: there may be another timer by the time it fires."""

    @property
    @abstractmethod
    def timer(self) -> Any:
        """The timer of the model."""

    def armed(self) -> Sequence[int]:
        """The times of all timeouts."""
        return list(self.timer.armed)

    def on_the_way(self) -> bool:
        """Whether a timeout is to fire before the end."""
        return self.expired is not None or super().on_the_way()

    def words(self) -> Sequence[Word]:
        """A timeout that has expired fires; otherwise time may go on to the next, which expires."""
        if not self.on_the_way():
            return []
        return [("expires",) if self.expired is None else ("fires",)]

    def step(self, word: Word) -> None:
        """It fires, or the next one expires."""
        if word == ("expires",):
            self.move_to(self.first())
            self.expired = self.timer, self.timer.armed.pop(0)
        elif self.expired:
            timer, at = self.expired
            timer.fire(at)
            self.said.append(self.now())
            self.expired = None
