"""Calls of the entry caches that overlap: each goes on step by step, and another may come in between.

A subject tells what each step did as far as others can notice, one word and, where one is concerned, a position. The
model judges whether the rules allow that now, and does the same: where they leave a choice, it follows. So it knows at
each moment what is cached and what is queued. Sizes may be off until all calls have ended; then everything is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from broker_tck.model.entry_cache.broker import Keeps, Stops
from broker_tck.model.entry_cache.call import Call, Did
from broker_tck.model.entry_cache.calls import Getting, Putting, Removing
from broker_tck.model.entry_cache.entries import Position
from broker_tck.model.entry_cache.passing import Passing
from broker_tck.model.entry_cache.specification import EntryCaches
from broker_tck.model.entry_cache.steps import Steps
from broker_tck.model.entry_cache.unembodied import OF_STEPS
from broker_tck.model.reference import UNDEFINED, Allowed, Reference
from broker_tck.model.rules import rule

Begun = Callable[[Any], Any]
"""Asks something that has the calls as methods for one of them."""

ORDINARY = (
    *("put", "fill", "late", "misput", "get", "hold", "spoil", "range", "remove", "invalidate", "trim", "clear"),
    *("reopen", "evict_old", "evict_size", "background", "run", "counters", "resize", "set_watermark", "requeues"),
    *("extend", "append", "write", "cursor", "uncursor", "crowd", "fetch", "fetch_one", "fetch_many", "complete"),
    *("fail", "storage", "done", "replay", "share", "timeouts", "advance"),
)
"""Calls that are not made while others are under way: they do nothing then."""
BUSY = "busy"
"""What an ordinary call answers then."""


def refuse_ordinary(to: Any) -> None:
    """Have the ordinary calls do nothing."""
    vars(to).update(dict.fromkeys(ORDINARY, lambda *arguments: BUSY))


def admit_ordinary(to: Any) -> None:
    """Have them do again what they are for."""
    for name in ORDINARY:
        del vars(to)[name]


class Overlapping(EntryCaches):
    """Entry caches whose calls can be begun, and gone on with step by step."""

    Steps = Steps

    def __init__(self, config: Any) -> None:
        super().__init__(config)
        self.steps = self.Steps()
        self.under_way: dict[int, Call] = {}
        """The calls that were begun and have not ended, by thread."""

    @rule("EC-17", source="RangeCacheRemovalQueue, PR 24623", needs="steps")
    def total_shown(self) -> int:
        """A pass takes what it removed off the broker's size at its end, and off the cache's at once."""
        return self.store.total + self.steps.removed_in_passes()

    def begin(self, thread: int, call: Begun) -> bool:
        """Begin a call; a thread that is in another does nothing. Nothing of the call is done before its first step."""
        if thread in self.under_way:
            return False
        if not self.under_way:
            refuse_ordinary(self)
            vars(self)["seen"] = self.seen_under_way
        self.under_way[thread] = call(Calls(self, self.steps))
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
            del vars(self)["seen"]

    def size_of_all(self) -> Any:
        """The bytes of all caches: they may be anything for a moment, unless only passes are under way."""
        if self.sizes_are_exact():
            return self.total_shown()
        return Allowed(lambda got: True, lambda got: None, self.store.total, "a number that may be off for a moment")

    def sizes_are_exact(self) -> bool:
        """Whether no insertion, and no removal but by passes, is under way."""
        return not any(call.CHANGES_SIZES for call in self.under_way.values())

    def seen_under_way(self) -> tuple[Any, ...]:
        """What is seen while calls are under way: sizes and references may be off for a moment."""
        caches, _ = type(self).seen(self)
        exact = self.sizes_are_exact()
        return [[entries, size if exact else UNDEFINED] for entries, size in caches], UNDEFINED


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
        return Getting(self.model, self.steps, self.model.caches[cache], (ledger, entry))

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


def overlapping(profiles: Mapping[str, type[EntryCaches]]) -> dict[str, type[Reference]]:
    """The models of these profiles, with calls that can overlap."""
    return {name: with_calls(model) for name, model in profiles.items()}


def with_calls(model: type[EntryCaches]) -> type[Reference]:
    """A model whose calls can overlap; what cannot be seen between calls can be seen between steps."""
    names = {"UNEMBODIED": (*model.UNEMBODIED, *OF_STEPS), "__doc__": model.__doc__}
    return type(model.__name__, (Overlapping, model), names)
