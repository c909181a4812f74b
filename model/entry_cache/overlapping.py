"""Calls of the entry caches that overlap: each goes on step by step, and another may come in between.

A subject tells what each step did as far as others can notice, one word and, where one is concerned, a position. The
model judges whether the rules allow that now, and does the same: where they leave a choice, it follows. So it knows at
each moment what is cached and what is queued. Sizes may be off until all calls have ended; then everything is exact.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from broker_tck.model.entry_cache.entries import Cache, Cached, Position, Removed, add
from broker_tck.model.entry_cache.eviction import Judges
from broker_tck.model.rules import Part, rule

if TYPE_CHECKING:
    from broker_tck.model.entry_cache.specification import EntryCaches

Did = list[Any]
"""What a step did: a word, and the position that it is about; or ``ends`` and the call's result."""
LOOKS: Did = ["looks"]
WAITS: Did = ["waits"]
MOST_LOOKS = 24
"""Maximum number of steps in a row that do nothing else; six more for each entry of the queue. So a call ends."""
WRAPPER = "RangeCacheEntryWrapper"


class Steps:
    """What calls under way know of each other."""

    def __init__(self) -> None:
        self.putting: list[Cached] = []
        """Entries whose insertion has not ended."""
        self.unqueued: list[Cached] = []
        """Those of them that are mapped and not yet in the queue."""
        self.passing: list[Removed] = []
        """What each of the passes has removed so far that have begun to look at the queue."""


class Call(Part, ABC):
    """A call that was begun: what it may do next, and what that does. Its kinds say how."""

    CHANGES_SIZES: ClassVar[bool] = False
    """Whether sizes may be off while it is under way."""

    def __init__(self, model: EntryCaches) -> None:
        self.model = model
        self.steps = model.steps
        self.looks = 0

    def permits(self, did: Did) -> bool:
        """Whether the next step may do this."""
        if did == WAITS:
            return self.must_wait()
        if self.blocked():
            return False
        if did == LOOKS:
            return self.looks < MOST_LOOKS + 6 * len(self.model.store.queue)
        return did in self.choices()

    def follow(self, did: Did) -> None:
        """Do what the next step does. One that looks does nothing that others notice."""
        if did == LOOKS:
            self.looks += 1
        elif did != WAITS:
            self.looks = 0
            self.do(did)

    def must_wait(self) -> bool:
        """Whether another call holds what this one may need."""
        return self.blocked() or bool(self.steps.unqueued)

    def blocked(self) -> bool:
        """Whether nothing can be done before another call has ended."""
        return False

    def notice(self) -> None:
        """Another call has done something."""

    @abstractmethod
    def choices(self) -> list[Did]:
        """What the rules allow now, beside looking and waiting."""

    @abstractmethod
    def do(self, did: Did) -> None:
        """Do it."""

    def example(self) -> Did:
        """What the model itself does next."""
        return self.choices()[0]

    @abstractmethod
    def says(self) -> str:
        """What is allowed next, in words."""


class Putting(Call):
    """An insertion."""

    CHANGES_SIZES = True

    def __init__(self, model: EntryCaches, topic: int, position: Position, size: int, expected: int) -> None:
        super().__init__(model)
        self.topic, self.position, self.size, self.expected = topic, position, size, expected
        self.cache = model.caches[topic]
        self.entry: Cached | None = None
        self.was_refused = False
        self.notice()

    def notice(self) -> None:
        self.was_refused = self.was_refused or self.refused()

    def refused(self) -> bool:
        """Whether the insertion would be refused now."""
        return self.position in self.cache.entries or self.model.manager.keeps_nothing(self.cache)

    def must_wait(self) -> bool:
        return False

    def choices(self) -> list[Did]:
        if self.entry:
            return [["queues"] if self.entry in self.steps.unqueued else ["ends", True]]
        may_map = [] if self.refused() else [["maps"]]
        return [*may_map, ["ends", False]] if self.was_refused else may_map

    def do(self, did: Did) -> None:
        if did == ["maps"]:
            self.map()
        elif self.entry and did == ["queues"]:
            self.steps.unqueued.remove(self.entry)
            self.model.store.queue.append(self.entry)
        elif self.entry:
            self.finish(self.entry)

    def map(self) -> None:
        """Make the entry, and put it into its cache."""
        count = self.model.read_counts.new(self.expected)
        self.entry = Cached(self.cache, self.position, self.size, count, self.model.now)
        self.model.store.map(self.entry)
        self.steps.unqueued.append(self.entry)
        self.steps.putting.append(self.entry)

    def finish(self, entry: Cached) -> None:
        """Count the entry, and order a pass if it is one too many."""
        model = self.model
        model.store.count_in(entry)
        model.manager.order_pass(model.store.total)
        model.stored[self.topic, self.position] = entry
        self.steps.putting.remove(entry)

    def says(self) -> str:
        return "the insertion to go on, or to be refused where its position was cached"


class Getting(Call):
    """A read of one entry."""

    def __init__(self, model: EntryCaches, cache: Cache, position: Position) -> None:
        super().__init__(model)
        self.cache, self.position = cache, position
        self.was: tuple[str, ...] = ()
        self.hits: list[Cached] = []
        """The entries that it could have handed out, one after the other."""
        self.marked = False
        self.notice()

    def notice(self) -> None:
        entry = self.there()
        now = "hit" if entry and self.model.lookup.hands_out(entry) else "miss"
        self.was = (now, *(answer for answer in self.was if answer != now))
        if entry and now == "hit" and entry not in self.hits:
            self.hits.append(entry)

    @rule("IL-4", source=f"{WRAPPER}, recycled wrappers", needs="steps")
    def there(self) -> Cached | None:
        """A read never answers with the value of another position, although wrappers are reused."""
        return self.model.lookup.find(self.cache, self.position)

    @rule("IL-3", source=f"{WRAPPER}, optimistic reads", needs="steps")
    def choices(self) -> list[Did]:
        """A read's answer was true at some moment of the read: a hit if its entry was there, a miss if it was not."""
        ends = [["ends", answer] for answer in self.was if answer == "miss" or not self.owes_mark()]
        marks = [["marks"]] if self.there() else []
        return [*marks, *ends] if self.was[0] == "hit" and self.owes_mark() else [*ends, *marks]

    @rule("IL-13", source=f"{WRAPPER}, which marks an entry after it was looked up", needs="steps")
    def owes_mark(self) -> bool:
        """A read marks the entry of a hit before its end, unless that entry has left its cache by then."""
        return not self.marked and all(entry.cached for entry in self.hits)

    def do(self, did: Did) -> None:
        entry = self.there()
        if did == ["marks"] and entry:
            self.marked = True
            self.model.touch(entry, True)

    def says(self) -> str:
        return f"{' or '.join(self.was)}, the entry marked as accessed before a hit if it is there"


class Removing(Call):
    """A removal of what is in a range."""

    CHANGES_SIZES = True

    def __init__(self, model: EntryCaches, cache: Cache, takes: Callable[[Position], bool], answers: bool) -> None:
        super().__init__(model)
        self.cache, self.takes, self.answers = cache, takes, answers
        self.removed: Removed = [0, 0]
        self.due = [entry for entry in self.targets() if entry not in self.steps.putting]

    def targets(self) -> list[Cached]:
        """What is in the range now."""
        return [entry for entry in self.cache.entries.values() if self.takes(entry.position)]

    @rule("IL-1", source="RangeCache.put, under the wrapper's lock", needs="steps")
    def removable(self, entry: Cached) -> bool:
        """An insertion maps its entry, queues it, and counts its size; until it is queued no removal takes it."""
        return entry not in self.steps.unqueued

    @rule("IL-5", source="RangeCache, weakly consistent iteration", needs="steps")
    def owed(self) -> list[Cached]:
        """A removal takes all entries that were in its range at its begin; those that come meanwhile may go or stay."""
        return [entry for entry in self.due if entry.cached]

    @rule("EC-16", needs="steps")
    def result(self) -> Removed | None:
        """A removal answers with the entries that it removed itself, not with those that were there when it began."""
        return [*self.removed] if self.answers else None

    def choices(self) -> list[Did]:
        removes: list[Did] = [["removes", *e.position] for e in self.targets() if self.removable(e)]
        return removes if self.owed() else [*removes, ["ends", self.result()]]

    def do(self, did: Did) -> None:
        if did[0] == "removes":
            add(self.removed, self.model.store.remove(self.cache.entries[did[1], did[2]]))

    def example(self) -> Did:
        owed = self.owed()
        wanted = owed or [entry for entry in self.targets() if entry not in self.due]
        entry = next((entry for entry in wanted if self.removable(entry)), None)
        if entry:
            return ["removes", *entry.position]
        return WAITS if owed else ["ends", self.result()]

    def says(self) -> str:
        result = self.result()
        end = "the end" if result is None else f"the end, with {result},"
        return f"an entry of the range to be removed, or {end} if none of it is left"


class Passing(Call):
    """A pass over the queue."""

    def __init__(self, model: EntryCaches, judges: Judges) -> None:
        super().__init__(model)
        self.stops, self.keeps = judges
        self.queue = model.store.queue
        self.removed: Removed = [0, 0]
        self.going_on = self.stopped = False
        self.then = ""
        """The fate of the head at the last look; empty if no look followed the last head that was dealt with."""
        self.queued = self.visits = 0
        """How long the queue was at first, and how many of its places were dealt with."""

    @rule("IL-11", source="RangeCacheRemovalQueue, the monitor of the queue", needs="steps")
    def blocked(self) -> bool:
        """Passes run one after another: a pass that begins while another is under way waits for its end."""
        return len(self.steps.passing) > self.going_on

    def head(self) -> Cached | None:
        """The first in the queue that is in its cache."""
        return next((entry for entry in self.queue if not entry.blank), None)

    def deserved(self) -> str:
        """The fate of the head: whether the pass requeues or removes it."""
        head = self.head()
        if head is None or self.stops(head, self.removed):
            return "stops"
        visits = self.visits + self.queue.index(head) + 1
        first_round = visits <= (self.queued if self.going_on else len(self.queue))
        return "requeues" if self.keeps(head, first_round) else "removes"

    @rule("IL-15", source="RangeCacheRemovalQueue, the monitor of the queue", needs="steps")
    def takes_queue(self, did: Did) -> bool:
        """A pass begins at its first look at the queue. Its first round has the entries that are queued then."""
        return did != WAITS

    def go_on(self) -> None:
        """The pass has the queue."""
        if not self.going_on:
            self.going_on = True
            self.queued = len(self.queue)
            self.steps.passing.append(self.removed)

    @rule("IL-2", source="RangeCacheRemovalQueue, PR 18076", needs="steps")
    def fate(self) -> Did:
        """A pass judges the head when it has its lock; if the entry has left by then, it is dropped, uncounted."""
        head = self.head()
        if self.stopped or head is None:
            return ["ends", [*self.removed]]
        word = self.deserved()
        return ["stops"] if word == "stops" else [word, *head.position]

    def follow(self, did: Did) -> None:
        if self.takes_queue(did):
            self.go_on()
        super().follow(did)
        if did == LOOKS:
            self.then = self.deserved()

    def choices(self) -> list[Did]:
        return [self.fate(), ["stops"]] if self.head() is None and not self.stopped else [self.fate()]

    def do(self, did: Did) -> None:
        head = self.head()
        self.then = ""
        if did == ["stops"]:
            self.stopped = True
        elif did[0] == "ends":
            self.steps.passing[:] = [removed for removed in self.steps.passing if removed is not self.removed]
        elif head:
            self.deal_with(head, did[0])

    def deal_with(self, head: Cached, word: str) -> None:
        """Requeue or remove the head; blank places before it are dropped."""
        self.visits += self.queue.index(head) + 1
        while self.queue.popleft() is not head:
            pass
        if word == "requeues":
            self.model.store.requeue(head)
        else:
            add(self.removed, self.model.store.remove(head))

    def example(self) -> Did:
        if self.blocked():
            return WAITS
        return self.fate() if self.then or self.stopped or self.head() is None else LOOKS

    def says(self) -> str:
        if self.blocked():
            return "to wait, as another pass is under way"
        return f"to look, or {' '.join(map(str, self.fate()))}"


class Calls:
    """The calls that can be begun, by the names of the ordinary ones."""

    def __init__(self, model: EntryCaches) -> None:
        self.model = model

    def put(self, cache: int, ledger: int, entry: int, size: int, expected: int) -> Call:
        """Insert an entry."""
        return self.model.Putting(self.model, cache, (ledger, entry), size, expected)

    def get(self, cache: int, ledger: int, entry: int) -> Call:
        """Read an entry, and let go of it."""
        return self.model.Getting(self.model, self.model.caches[cache], (ledger, entry))

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
        return self.model.Removing(self.model, self.model.caches[cache], takes, answers)

    def evict_old(self, age: int) -> Call:
        """A time pass."""
        return self.model.Passing(self.model, self.model.passes.by_age(self.model.now - age))

    def evict_size(self, asked: int) -> Call:
        """A size pass."""
        return self.model.Passing(self.model, self.model.passes.by_size(asked))
