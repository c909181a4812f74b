"""Calls of the entry caches on entries: what an insertion, a read, or a removal under way may do next, and does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from broker_tck.model.entry_cache.call import WAITS, Call, Did
from broker_tck.model.entry_cache.entries import Cache, Cached, Position, Removed, add
from broker_tck.model.entry_cache.specification import EntryCaches
from broker_tck.model.entry_cache.steps import Steps


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


class Getting(Call):
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
        result = self.result()
        end = "the end" if result is None else f"the end, with {result},"
        return f"an entry of the range to be removed, or {end} if none of it is left"
