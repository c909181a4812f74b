"""A pass over the queue that is under way: what it may do next, and does."""

from __future__ import annotations

from broker_tck.model.entry_cache.broker import Keeps, Stops
from broker_tck.model.entry_cache.call import LOOKS, WAITS, Call, Did
from broker_tck.model.entry_cache.entries import Cached, Removed, add
from broker_tck.model.entry_cache.specification import EntryCaches
from broker_tck.model.entry_cache.steps import Steps

WAITING = "to wait, as another pass is under way"


class Passing(Call):
    """A pass over the queue."""

    def __init__(self, model: EntryCaches, steps: Steps, stops: Stops, keeps: Keeps) -> None:
        super().__init__(model, steps)
        self.stops, self.keeps = stops, keeps
        self.removed: Removed = [0, 0]
        self.going_on = self.stopped = False
        self.then = ""
        """What the head deserved when it was looked at; empty if it was not since the last was dealt with."""
        self.queued = self.visits = 0
        """How long the queue was at first, and how many of its places were dealt with."""

    def notice(self) -> None:
        """What others do is seen when it goes on."""

    def blocked(self) -> bool:
        return self.steps.waits_for(len(self.steps.passing) - self.going_on)

    def head(self) -> Cached | None:
        """The first in the queue that is in its cache."""
        return next((entry for entry in self.model.store.queue if not entry.blank), None)

    def deserved(self) -> str:
        """What is to become of the head."""
        head = self.head()
        if head is None or self.stops(head, self.removed):
            return "stops"
        return "requeues" if self.keeps(head, self.is_first_round(head)) else "removes"

    def is_first_round(self, head: Cached) -> bool:
        """Whether the pass has not gone round the queue yet when it judges the head."""
        queue = self.model.store.queue
        visits = self.visits + queue.index(head) + 1
        return visits <= (self.queued if self.going_on else len(queue))

    def go_on(self) -> None:
        """The pass has the queue, from the first step on that is not to wait."""
        if not self.going_on:
            self.going_on = True
            self.queued = len(self.model.store.queue)
            self.steps.passing.append(self.removed)

    def fate(self) -> Did:
        """What the pass does with the head if it does not look or wait."""
        head = self.head()
        if self.stopped or head is None:
            return ["ends", [*self.removed]]
        word = self.steps.judged(self.deserved(), self.then)
        return ["stops"] if word == "stops" else [word, *head.position]

    def look(self) -> None:
        super().look()
        self.go_on()
        self.then = self.deserved()

    def may(self, did: Did) -> bool:
        return did == self.fate() or (did == ["stops"] and self.head() is None and not self.stopped)

    def do(self, did: Did) -> None:
        head = self.head()
        self.go_on()
        self.then = ""
        if did == ["stops"]:
            self.stopped = True
        elif did[0] == "ends":
            self.end()
        elif head:
            self.deal_with(head, did[0])

    def deal_with(self, head: Cached, word: str) -> None:
        """Requeue or remove the head; what was before it is dropped."""
        model, queue = self.model, self.model.store.queue
        self.visits += queue.index(head) + 1
        while queue.popleft() is not head:
            pass
        if word == "requeues":
            model.requeue(head)
        else:
            add(self.removed, model.store.remove(head))

    def end(self) -> None:
        """The queue is free for another pass."""
        passing = self.steps.passing
        passing[:] = [removed for removed in passing if removed is not self.removed]

    def example(self) -> Did:
        if self.blocked():
            return WAITS
        return self.fate() if self.then or self.stopped or self.head() is None else LOOKS

    def says(self) -> str:
        return WAITING if self.blocked() else f"to look, or {' '.join(map(str, self.fate()))}"
