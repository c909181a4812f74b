"""Calls of the entry caches under way: what each may do next, and what that does."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

from broker_tck.model.entry_cache.broker import Keeps, Stops
from broker_tck.model.entry_cache.entries import Cache, Cached, Position, Removed, add
from broker_tck.model.entry_cache.specification import EntryCaches
from broker_tck.model.entry_cache.steps import Steps

Did = list[Any]
"""What a step did: a word, and the position that it is about; or ``ends`` and the call's result."""
WAITING = "to wait, as another pass is under way"
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


class Putting(Call):
    """An insertion."""

    CHANGES_SIZES = True

    def __init__(
        self, model: EntryCaches, steps: Steps, number: int, position: Position, size: int, expected: int
    ) -> None:
        super().__init__(model, steps)
        self.number, self.cache = number, model.caches[number]
        self.position, self.size, self.expected = position, size, expected
        self.entry: Cached | None = None
        self.was_refused = False
        self.notice()

    def notice(self) -> None:
        self.was_refused = self.was_refused or self.refused()

    def refused(self) -> bool:
        """Whether it would be refused now."""
        return self.position in self.cache.entries or self.model.manager.keeps_nothing(self.cache)

    def must_wait(self) -> bool:
        return False

    def may(self, did: Did) -> bool:
        if did == ["maps"]:
            return self.entry is None and not self.refused()
        if did == ["queues"]:
            return self.entry in self.steps.unqueued
        if did == ["ends", True]:
            return self.entry is not None and self.entry not in self.steps.unqueued
        return did == ["ends", False] and self.entry is None and self.was_refused

    def do(self, did: Did) -> None:
        if did == ["maps"]:
            self.map()
        elif self.entry and did == ["queues"]:
            self.steps.unqueued.remove(self.entry)
            self.model.store.enqueue(self.entry)
        elif self.entry:
            self.finish(self.entry)

    def map(self) -> None:
        """Make the entry, and put it into its cache."""
        model, steps = self.model, self.steps
        count = model.read_counts.new(self.expected)
        self.entry = Cached(self.cache, self.position, self.size, count, model.now)
        model.store.map(self.entry)
        steps.unqueued.append(self.entry)
        steps.putting.append(self.entry)

    def finish(self, entry: Cached) -> None:
        """Count the entry, and order a pass if it is one too many."""
        model = self.model
        model.store.count_in(entry)
        model.manager.order_pass(model.store.total)
        model.stored[self.number, self.position] = entry
        self.steps.putting.remove(entry)

    def example(self) -> Did:
        if self.entry is None:
            return ["ends", False] if self.refused() else ["maps"]
        return ["queues"] if self.entry in self.steps.unqueued else ["ends", True]

    def says(self) -> str:
        return "the insertion to go on, or to be refused where its position was cached"


class Reading(Call):
    """A read of one entry."""

    def __init__(self, model: EntryCaches, steps: Steps, cache: Cache, position: Position) -> None:
        super().__init__(model, steps)
        self.cache, self.position = cache, position
        self.was: tuple[str, ...] = ()
        self.marked = False
        self.notice()

    def notice(self) -> None:
        entry = self.there()
        now = "hit" if entry and self.model.lookup.hands_out(entry) else "miss"
        self.was = (now, *(answer for answer in self.was if answer != now))

    def there(self) -> Cached | None:
        """The entry that is there now."""
        return self.model.lookup.find(self.cache, self.position)

    def may(self, did: Did) -> bool:
        if did == ["marks"]:
            return self.there() is not None
        steps = self.steps
        answers = steps.answers(self.was)
        return (did == ["ends", steps.named("miss")] and "miss" in answers) or (
            did == ["ends", steps.named("hit")] and "hit" in answers and self.marked
        )

    def do(self, did: Did) -> None:
        entry = self.there()
        if did == ["marks"] and entry:
            self.marked = True
            self.model.touch(entry, True)

    def example(self) -> Did:
        answer = self.steps.answers(self.was)[0]
        ends = self.marked or answer == "miss" or not self.there()
        return ["ends", self.steps.named(answer)] if ends else ["marks"]

    def says(self) -> str:
        return f"{' or '.join(self.steps.answers(self.was))}, the entry marked as accessed before a hit"


class Removing(Call):
    """A removal of what is in a range."""

    CHANGES_SIZES = True

    def __init__(
        self, model: EntryCaches, steps: Steps, cache: Cache, takes: Callable[[Position], bool], answers: bool
    ) -> None:
        super().__init__(model, steps)
        self.cache, self.takes, self.answers = cache, takes, answers
        self.removed: Removed = [0, 0]
        self.due = [entry for entry in self.targets() if entry not in steps.putting]

    def notice(self) -> None:
        """What others do is seen when it goes on."""

    def targets(self) -> list[Cached]:
        """What is in the range now."""
        return [entry for entry in self.cache.entries.values() if self.takes(entry.position)]

    def result(self) -> Any:
        """What the call answers with at its end."""
        return self.steps.removed_by(self.due, self.removed) if self.answers else None

    def may(self, did: Did) -> bool:
        if did[0] == "removes":
            return any([*e.position] == did[1:] and self.steps.removable(e) for e in self.targets())
        return did == ["ends", self.result()] and not self.steps.owed(self.due)

    def do(self, did: Did) -> None:
        if did[0] == "removes":
            add(self.removed, self.model.store.remove(self.cache.entries[did[1], did[2]]))

    def example(self) -> Did:
        owed = self.steps.owed(self.due)
        wanted = owed or [entry for entry in self.targets() if entry not in self.due]
        entry = next((entry for entry in wanted if self.steps.removable(entry)), None)
        if entry:
            return ["removes", *entry.position]
        return WAITS if owed else ["ends", self.result()]

    def says(self) -> str:
        return f"an entry of the range to be removed, or the end: with {self.result()} if none of it is left"


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


class Calls:
    """The calls that can be begun, by the names of the ordinary ones."""

    def __init__(self, model: EntryCaches, steps: Steps) -> None:
        self.model = model
        self.steps = steps

    def put(self, cache: int, ledger: int, entry: int, size: int, expected: int) -> Call:
        """Insert an entry."""
        return Putting(self.model, self.steps, cache, (ledger, entry), size, expected)

    def get(self, cache: int, ledger: int, entry: int) -> Call:
        """Read an entry, and let go of it."""
        return Reading(self.model, self.steps, self.model.caches[cache], (ledger, entry))

    def remove(self, cache: int, l1: int, e1: int, l2: int, e2: int, last_inclusive: int) -> Call:
        """Remove a range."""
        takes = self.model.lookup.in_removal
        return self.removing(cache, lambda p: takes(p, (l1, e1), (l2, e2), bool(last_inclusive)), True)

    def invalidate(self, cache: int, ledger: int, entry: int) -> Call:
        """Remove what is before a position."""
        last = ledger, entry
        lowest = min(self.model.caches[cache].entries, default=last)
        return self.removing(cache, lambda p: self.model.lookup.invalid(p, last, lowest), False)

    def trim(self, cache: int, ledger: int) -> Call:
        """A ledger is dropped."""
        self.model.forget_dropped(self.model.caches[cache], ledger)
        return self.removing(cache, lambda p: self.model.lookup.of_ledger(p, ledger), False)

    def clear(self, cache: int) -> Call:
        """Empty a cache."""
        self.model.forget_cleared(self.model.caches[cache])
        return self.removing(cache, lambda p: True, True)

    def removing(self, cache: int, takes: Callable[[Position], bool], answers: bool) -> Call:
        """Remove something of a cache."""
        return Removing(self.model, self.steps, self.model.caches[cache], takes, answers)

    def evict_old(self, age: int) -> Call:
        """A time pass."""
        passes, threshold = self.model.passes, self.model.now - age
        return self.passing(
            lambda head, removed: passes.stops_time_pass(head, threshold, removed),
            lambda head, first_round: passes.should_requeue(head),
        )

    def evict_size(self, asked: int) -> Call:
        """A size pass."""
        passes = self.model.passes
        return self.passing(
            lambda head, removed: passes.stops_size_pass(head, removed, asked), self.model.kept_in_size_pass
        )

    def passing(self, stops: Stops, keeps: Keeps) -> Call:
        """A pass over the queue."""
        return Passing(self.model, self.steps, stops, keeps)
