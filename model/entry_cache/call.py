"""A call of the entry caches that is under way."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from broker_tck.model.entry_cache.specification import EntryCaches
from broker_tck.model.entry_cache.steps import Steps

Did = list[Any]
"""What a step did: a word, and the position that it is about; or ``ends`` and the call's result."""
LOOKS: Did = ["looks"]
WAITS: Did = ["waits"]
MOST_LOOKS = 24
"""So many steps in a row that do nothing else are enough, and six more for each entry of the queue: a call ends."""


class Call(ABC):
    """A call that was begun: what it may do next, and what that does. Its kinds say how."""

    CHANGES_SIZES: ClassVar[bool] = False
    """Whether sizes may be off while it is under way."""

    def __init__(self, model: EntryCaches, steps: Steps) -> None:
        self.model = model
        self.steps = steps
        self.looks = 0

    def permits(self, did: Did) -> bool:
        """Whether the next step may do this."""
        if did == WAITS:
            return self.must_wait()
        if self.blocked():
            return False
        if did == LOOKS:
            return self.looks < MOST_LOOKS + 6 * len(self.model.store.queue)
        return bool(did) and self.may(did)

    def follow(self, did: Did) -> None:
        """Do what the next step does."""
        if did == LOOKS:
            self.look()
        elif did != WAITS:
            self.looks = 0
            self.do(did)

    def must_wait(self) -> bool:
        """Whether another call holds what this one may need."""
        return self.blocked() or bool(self.steps.unqueued)

    def blocked(self) -> bool:
        """Whether nothing can be done before another call has ended."""
        return False

    def look(self) -> None:
        """Nothing is done that others notice; so many in a row are enough."""
        self.looks += 1

    @abstractmethod
    def notice(self) -> None:
        """Another call has done something."""

    @abstractmethod
    def may(self, did: Did) -> bool:
        """Whether the rules allow this now."""

    @abstractmethod
    def do(self, did: Did) -> None:
        """Do it."""

    @abstractmethod
    def example(self) -> Did:
        """What the model itself does next."""

    @abstractmethod
    def says(self) -> str:
        """What is allowed next, in words."""
