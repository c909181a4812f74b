"""Calls of the entry caches that overlap: each goes on step by step, and another may come in between.

A subject tells what each step did as far as others can notice, one word and, where one is concerned, a position. The
model judges whether the rules allow that now, and does the same: where they leave a choice, it follows. So it knows at
each moment what is cached and what is queued. Sizes may be off until all calls have ended; then everything is exact.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

from broker_tck.model.entry_cache.entries import Cache, Cached, Position
from broker_tck.model.entry_cache.specification import EntryCaches, Removed, add
from broker_tck.model.reference import UNDEFINED, Allowed, Reference
from broker_tck.model.rules import also, informative, rule

Did = list[Any]
"""What a step did: a word, and the position that it is about; or ``ends`` and the call's result."""
Begun = Callable[[Any], Any]
"""Asks something that has the calls as methods for one of them."""

ORDINARY = (
    *("put", "late", "misput", "get", "hold", "spoil", "range", "remove", "invalidate", "trim", "clear", "reopen"),
    *("evict_old", "evict_size", "background", "run", "counters", "resize", "set_watermark", "requeues", "extend"),
    *("append", "write", "cursor", "uncursor", "fetch", "fetch_one", "complete", "fail", "storage"),
    *("done", "replay", "share", "timeouts", "advance"),
)
"""Calls that are not made while others are under way: they do nothing then."""
WAITING = "to wait, as another pass is under way"
BUSY = "busy"
"""What an ordinary call answers then."""
LOOKS: Did = ["looks"]
WAITS: Did = ["waits"]
MOST_LOOKS = 24
"""So many steps in a row that do nothing else are enough, and six more for each entry of the queue: a call ends."""


def refuse_ordinary(to: Any) -> None:
    """Have the ordinary calls do nothing."""
    vars(to).update(dict.fromkeys(ORDINARY, lambda *arguments: BUSY))


def admit_ordinary(to: Any) -> None:
    """Have them do again what they are for."""
    for name in ORDINARY:
        del vars(to)[name]


class Overlapping(EntryCaches):
    """Entry caches whose calls can be begun, and gone on with step by step."""

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.under_way: dict[int, Call] = {}
        """The calls that were begun and have not ended, by thread."""
        self.unqueued: list[Cached] = []
        """Entries that are mapped and not yet in the queue."""

    @rule(
        "IL-1",
        "An insertion maps its entry, queues it, and counts its size; until it is queued no removal takes it.",
        source="RangeCache.put, under the wrapper's lock",
        look="a removal that does not wait for the lock; a size that is read from an entry which may be gone",
        absent=lambda m, entry: True,
    )
    def removable(self, entry: Cached) -> bool:
        return entry not in self.unqueued

    @rule(
        "IL-2",
        "A pass judges the head when it has its lock: what has left its cache by then is dropped, uncounted.",
        source="RangeCacheRemovalQueue, PR 18076",
        look="what happens between the look at the head and the removal: which entry is taken then; what is recycled",
        absent=lambda m, now, then: then or now,
    )
    def judged(self, now: str, then: str) -> str:
        """What becomes of the head: by what it deserves now, not when it was looked at."""
        return now

    @rule(
        "IL-3",
        "A read answers with what was so at a moment of it: a hit if its entry was there, a miss if it was not.",
        source="RangeCacheEntryWrapper, optimistic reads",
        look="a value that cannot be retained any more; a miss where the entry was there all along",
        absent=lambda m, was: ("hit", "miss"),
        never_a_hit=lambda m, was: ("miss",),
    )
    def answers(self, was: tuple[str, ...]) -> tuple[str, ...]:
        """What a read may answer, by what was so while it was under way."""
        return was

    @rule(
        "IL-4",
        "A read never answers with the value of another position, although wrappers are used again.",
        source="RangeCacheEntryWrapper, recycled wrappers",
        look="a key that is not compared once the wrapper is read",
        absent=lambda m, answer: "hit of 0 0" if answer == "hit" else answer,
    )
    def named(self, answer: str) -> str:
        """What a read ends with, by whether it found its entry."""
        return answer

    @rule(
        "IL-5",
        "A removal takes all that was in its range from its begin on; what comes in meanwhile may go or stay.",
        source="RangeCache, weakly consistent iteration",
        look="entries that are skipped because another was removed beside them",
        absent=lambda m, due: [],
    )
    def owed(self, due: list[Cached]) -> list[Cached]:
        """What a removal still has to take."""
        return [entry for entry in due if entry.cached]

    @also(EntryCaches.cleared, absent=lambda m, due, removed: [len(due), sum(entry.size for entry in due)])
    def removed_by(self, due: list[Cached], removed: Removed) -> Removed:
        """What a removal answers with: what it took itself, not what was there before it."""
        return [*removed]

    @rule(
        "IL-11",
        "Passes are made one after the other: one that is begun while another is under way waits for its end.",
        source="RangeCacheRemovalQueue, the monitor of the queue",
        look="two passes that look at one head",
        absent=lambda m, others: False,
    )
    def waits_for(self, others: list[Passing]) -> bool:
        """Whether a pass has to wait, given the others that are going on."""
        return bool(others)

    @rule(
        "EC-17",
        "A pass takes what it removed off the broker's size at its end, and off the cache's at once.",
        source="RangeCacheRemovalQueue, PR 24623",
        look="a broker's size that is changed with each entry of a pass",
        absent=lambda m: m.total,
    )
    def total_shown(self) -> int:
        return self.total + sum(call.removed[1] for call in self.passes_under_way())

    def passes_under_way(self) -> list[Passing]:
        """The passes that have begun to look at the queue."""
        return [call for call in self.under_way.values() if isinstance(call, Passing) and call.going_on]

    def begin(self, thread: int, call: Begun) -> bool:
        """Begin a call; a thread that is in another does nothing. Nothing of the call is done before its first step."""
        if thread in self.under_way:
            return False
        if not self.under_way:
            refuse_ordinary(self)
        self.under_way[thread] = call(Calls(self))
        return True

    def step(self, thread: int) -> Allowed | None:
        """Go on with the call of a thread, if it is in one."""
        call = self.under_way.get(thread)
        if call is None:
            return None

        def follow(did: Did) -> None:
            call.follow(did)
            if did[0] == "ends":
                self.end(thread)
            for other in self.under_way.values():
                other.notice()

        return Allowed(call.permits, follow, call.example(), call.says())

    def end(self, thread: int) -> None:
        """A call has ended."""
        del self.under_way[thread]
        if not self.under_way:
            admit_ordinary(self)

    def size_of_all(self) -> Any:
        """The bytes of all caches: they may be anything for a moment, unless only passes are under way."""
        if self.sizes_are_exact():
            return self.total_shown()
        return Allowed(lambda got: True, lambda got: None, self.total, "a number that may be off for a moment")

    def sizes_are_exact(self) -> bool:
        """Whether no insertion, and no removal but by passes, is under way."""
        return not any(isinstance(call, Putting | Removing) for call in self.under_way.values())

    def seen(self) -> tuple[Any, ...]:
        """While calls are under way, sizes and references may be off for a moment."""
        caches, references = super().seen()
        if not self.under_way:
            return caches, references
        exact = self.sizes_are_exact()
        return [[entries, size if exact else UNDEFINED] for entries, size in caches], UNDEFINED


# ---- Calls under way


class Call(ABC):
    """A call that was begun: what it may do next, and what that does. Its kinds say how."""

    def __init__(self, model: Overlapping) -> None:
        self.model = model
        self.looks = 0

    def permits(self, did: Did) -> bool:
        """Whether the next step may do this."""
        if did == WAITS:
            return self.must_wait()
        if self.blocked():
            return False
        if did == LOOKS:
            return self.looks < MOST_LOOKS + 6 * len(self.model.queue)
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
        return self.blocked() or bool(self.model.unqueued)

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

    def __init__(self, model: Overlapping, number: int, position: Position, size: int, expected: int) -> None:
        super().__init__(model)
        self.number, self.cache = number, model.caches[number]
        self.position, self.size, self.expected = position, size, expected
        self.entry: Cached | None = None
        self.was_refused = False
        self.notice()

    def notice(self) -> None:
        self.was_refused = self.was_refused or self.refused()

    def refused(self) -> bool:
        """Whether it would be refused now."""
        return self.position in self.cache.entries or self.model.keeps_nothing(self.cache)

    def must_wait(self) -> bool:
        return False

    def may(self, did: Did) -> bool:
        if did == ["maps"]:
            return self.entry is None and not self.refused()
        if did == ["queues"]:
            return self.entry in self.model.unqueued
        if did == ["ends", True]:
            return self.entry is not None and self.entry not in self.model.unqueued
        return did == ["ends", False] and self.entry is None and self.was_refused

    def do(self, did: Did) -> None:
        model = self.model
        if did == ["maps"]:
            count = model.new_count(self.expected)
            self.entry = Cached(self.cache, self.position, self.size, count, model.stamp())
            self.cache.entries[self.position] = self.entry
            model.unqueued.append(self.entry)
            model.references += 1
        elif self.entry and did == ["queues"]:
            model.unqueued.remove(self.entry)
            model.place(self.entry, model.enters_at_tail())
        elif self.entry:
            model.grow(self.cache, self.size)
            self.cache.added += 1
            self.cache.added_size += self.size
            model.inserted += 1
            model.order_pass()
            model.stored[self.number, self.position] = self.entry

    def example(self) -> Did:
        if self.entry is None:
            return ["ends", False] if self.refused() else ["maps"]
        return ["queues"] if self.entry in self.model.unqueued else ["ends", True]

    def says(self) -> str:
        return "the insertion to go on, or to be refused where its position was cached"


class Reading(Call):
    """A read of one entry."""

    def __init__(self, model: Overlapping, cache: Cache, position: Position) -> None:
        super().__init__(model)
        self.cache, self.position = cache, position
        self.was: tuple[str, ...] = ()
        self.marked = False
        self.notice()

    def notice(self) -> None:
        entry = self.there()
        now = "hit" if entry and self.model.hands_out(entry) else "miss"
        self.was = (now, *(answer for answer in self.was if answer != now))

    def there(self) -> Cached | None:
        """The entry that is there now."""
        return self.model.find(self.cache, self.position)

    def may(self, did: Did) -> bool:
        if did == ["marks"]:
            return self.there() is not None
        answers = self.model.answers(self.was)
        return (did == ["ends", self.model.named("miss")] and "miss" in answers) or (
            did == ["ends", self.model.named("hit")] and "hit" in answers and self.marked
        )

    def do(self, did: Did) -> None:
        entry = self.there()
        if did == ["marks"] and entry:
            self.marked = True
            self.model.touch(entry, *self.model.marks())

    def example(self) -> Did:
        answer = self.model.answers(self.was)[0]
        ends = self.marked or answer == "miss" or not self.there()
        return ["ends", self.model.named(answer)] if ends else ["marks"]

    def says(self) -> str:
        return f"{' or '.join(self.model.answers(self.was))}, the entry marked as accessed before a hit"


class Removing(Call):
    """A removal of what is in a range."""

    def __init__(self, model: Overlapping, cache: Cache, takes: Callable[[Position], bool], answers: bool) -> None:
        super().__init__(model)
        self.cache, self.takes, self.answers = cache, takes, answers
        self.removed: Removed = [0, 0]
        putting = [call.entry for call in model.under_way.values() if isinstance(call, Putting)]
        self.due = [entry for entry in self.targets() if entry not in putting]

    def notice(self) -> None:
        """What others do is seen when it goes on."""

    def targets(self) -> list[Cached]:
        """What is in the range now."""
        return [entry for entry in self.cache.entries.values() if self.takes(entry.position)]

    def result(self) -> Any:
        """What the call answers with at its end."""
        return self.model.removed_by(self.due, self.removed) if self.answers else None

    def may(self, did: Did) -> bool:
        if did[0] == "removes":
            return any([*e.position] == did[1:] and self.model.removable(e) for e in self.targets())
        return did == ["ends", self.result()] and not self.model.owed(self.due)

    def do(self, did: Did) -> None:
        if did[0] == "removes":
            add(self.removed, self.model.remove_entry(self.cache.entries[did[1], did[2]]))

    def example(self) -> Did:
        owed = self.model.owed(self.due)
        wanted = owed or [entry for entry in self.targets() if entry not in self.due]
        entry = next((entry for entry in wanted if self.model.removable(entry)), None)
        if entry:
            return ["removes", *entry.position]
        return WAITS if owed else ["ends", self.result()]

    def says(self) -> str:
        return f"an entry of the range to be removed, or the end: with {self.result()} if none of it is left"


class Passing(Call):
    """A pass over the queue."""

    def __init__(
        self, model: Overlapping, stops: Callable[[Cached, Removed], bool], keeps: Callable[[Cached, bool], bool]
    ) -> None:
        super().__init__(model)
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
        return self.model.waits_for([call for call in self.model.passes_under_way() if call is not self])

    def head(self) -> Cached | None:
        """The first in the queue that is in its cache."""
        return next((entry for entry in self.model.queue if not entry.blank), None)

    def deserved(self) -> str:
        """What is to become of the head."""
        head = self.head()
        if head is None or self.stops(head, self.removed):
            return "stops"
        return "requeues" if self.keeps(head, self.is_first_round(head)) else "removes"

    def is_first_round(self, head: Cached) -> bool:
        """Whether the pass has not gone round the queue yet when it judges the head."""
        visits = self.visits + self.model.queue.index(head) + 1
        return visits <= (self.queued if self.going_on else len(self.model.queue))

    def go_on(self) -> None:
        """The pass has the queue, from the first step on that is not to wait."""
        if not self.going_on:
            self.going_on = True
            self.queued = len(self.model.queue)

    def fate(self) -> Did:
        """What the pass does with the head if it does not look or wait."""
        head = self.head()
        if self.stopped or head is None:
            return ["ends", [*self.removed]]
        word = self.model.judged(self.deserved(), self.then)
        return ["stops"] if word == "stops" else [word, *head.position]

    def look(self) -> None:
        super().look()
        self.go_on()
        self.then = self.deserved()

    def may(self, did: Did) -> bool:
        return did == self.fate() or (did == ["stops"] and self.head() is None and not self.stopped)

    def do(self, did: Did) -> None:
        model, head = self.model, self.head()
        self.go_on()
        self.then = ""
        if did == ["stops"]:
            self.stopped = True
        elif head and did[0] != "ends":
            self.visits += model.queue.index(head) + 1
            while model.queue.popleft() is not head:
                pass
            if did[0] == "requeues":
                model.requeue(head)
            else:
                add(self.removed, model.remove_entry(head))

    def example(self) -> Did:
        if self.blocked():
            return WAITS
        return self.fate() if self.then or self.stopped or self.head() is None else LOOKS

    def says(self) -> str:
        return WAITING if self.blocked() else f"to look, or {' '.join(map(str, self.fate()))}"


class Calls:
    """The calls that can be begun, by the names of the ordinary ones."""

    def __init__(self, model: Overlapping) -> None:
        self.model = model

    def put(self, cache: int, ledger: int, entry: int, size: int, expected: int) -> Call:
        """Insert an entry."""
        return Putting(self.model, cache, (ledger, entry), size, expected)

    def get(self, cache: int, ledger: int, entry: int) -> Call:
        """Read an entry, and let go of it."""
        return Reading(self.model, self.model.caches[cache], (ledger, entry))

    def remove(self, cache: int, l1: int, e1: int, l2: int, e2: int, last_inclusive: int) -> Call:
        """Remove a range."""
        takes = self.model.in_removal
        return self.removing(cache, lambda p: takes(p, (l1, e1), (l2, e2), bool(last_inclusive)), True)

    def invalidate(self, cache: int, ledger: int, entry: int) -> Call:
        """Remove what is before a position."""
        last = ledger, entry
        lowest = min(self.model.caches[cache].entries, default=last)
        return self.removing(cache, lambda p: self.model.invalid(p, last, lowest), False)

    def trim(self, cache: int, ledger: int) -> Call:
        """A ledger is dropped."""
        if self.model.forgets_running():
            self.model.forget_ledger(self.model.caches[cache], ledger)
        return self.removing(cache, lambda p: self.model.of_ledger(p, ledger), False)

    def clear(self, cache: int) -> Call:
        """Empty a cache."""
        if self.model.forgets_all_running():
            self.model.forget_ledger(self.model.caches[cache])
        return self.removing(cache, lambda p: True, True)

    def removing(self, cache: int, takes: Callable[[Position], bool], answers: bool) -> Call:
        """Remove something of a cache."""
        return Removing(self.model, self.model.caches[cache], takes, answers)

    def evict_old(self, age: int) -> Call:
        """A time pass."""
        model, threshold = self.model, self.model.now - age
        return Passing(
            model,
            lambda head, removed: model.stops_time_pass(head, threshold, removed),
            lambda head, first_round: model.should_requeue(head),
        )

    def evict_size(self, asked: int) -> Call:
        """A size pass."""
        model = self.model
        return Passing(
            model, lambda head, removed: model.stops_size_pass(head, removed, asked), model.kept_in_size_pass
        )


RULES = (
    informative(
        "IL-6",
        "A storage read that completes after its ledger was dropped may store entries; they leave by age or size.",
        source="RangeEntryCacheImpl",
        why="it is EC-15 and EC-47 once more: the storage answers in an operation of its own",
    ),
    informative(
        "IL-7",
        "Of two misses of one position the first to complete is inserted, and the second reader's count is its own.",
        source="RangeEntryCacheImpl",
        why="it is EC-05 and EC-48 once more: the storage answers in an operation of its own",
    ),
    informative(
        "IL-8",
        "A reader that would join a read which has completed begins anew, and finds the cache populated.",
        source="PendingReadsManager",
        why="it is EC-53 once more, where a reader reads on before it returns",
    ),
    informative(
        "IL-9",
        "A cursor that moves between a request and its answer counts as it stands at the answer.",
        source="PIP-430",
        why="it is RC-04 once more: the storage answers in an operation of its own",
    ),
    informative(
        "IL-10",
        "An entry that is added exactly the grace time after the last cursor has left is not cached.",
        source="PR 24656",
        why="it is EC-58 once more",
    ),
    informative(
        "IL-12",
        "A pass goes by the read count as it is when it judges an entry.",
        source="EntryReadCountHandlerImpl, an atomic number",
        why="it is RC-08 and EC-24 once more, asked between the steps of a pass",
    ),
)


def overlapping(profiles: Mapping[str, type[EntryCaches]]) -> dict[str, type[Reference]]:
    """The models of these profiles, with calls that can overlap."""
    return {name: with_calls(model) for name, model in profiles.items()}


def with_calls(model: type[EntryCaches]) -> type[Reference]:
    """A model whose calls can overlap; what cannot be seen between calls can be seen between steps."""
    kept = (rule for rule in model.UNEMBODIED if rule.number != "EC-17")
    names = {"UNEMBODIED": (*kept, *RULES), "__doc__": model.__doc__}
    return type(model.__name__, (Overlapping, model), names)
