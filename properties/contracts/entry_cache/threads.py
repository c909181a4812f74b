"""What a walk does while calls of the entry caches are under way on some threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from broker_tck.model.entry_cache.specification import EntryCaches
from broker_tck.properties.contracts.entry_cache.entries import Entries
from broker_tck.properties.contracts.entry_cache.operations import (
    AnyOperation,
    BeginClear,
    BeginGet,
    BeginInvalidate,
    BeginOld,
    BeginPut,
    BeginRemove,
    BeginSize,
    BeginTrim,
    Capabilities,
    Expect,
    Get,
    Pinned,
    Read,
    SizeOfAll,
    Step,
)
from broker_tck.properties.contracts.entry_cache.passes import Passes
from broker_tck.properties.engine.choices import Choices, one_of
from broker_tck.properties.engine.operation import Operation

THREADS = (3,) * 14 + (8, 16)
"""How many threads there are in a walk."""
MOST_QUEUED = 60
"""With more entries in the queue no calls overlap: a pass would not come to its end."""
PATIENCE = (2, 4, 12)
"""Another call is gone on with after so many steps, on average: how often is a bout's own."""
MOST_STEPS = 2_000
"""So many steps are enough for what is under way at a walk's end."""


class Threads:
    """Begins calls on threads and goes on with them."""

    def __init__(
        self, model: EntryCaches, choices: Choices, entries: Entries, passes: Passes, capabilities: Capabilities
    ) -> None:
        self.model = model
        self.capabilities = capabilities
        self.choices = choices
        self.below = choices.below
        self.entries, self.passes = entries, passes
        self.threads = one_of(choices, THREADS)
        self.last = entries.key()
        self.running = self.left = 0
        self.patience = PATIENCE[0]
        self.script: list[Callable[[int], Operation]] = []
        """What is begun before anything else, the last first."""
        self.scripts = ((), (), (self.put, self.size, self.get), (self.put, self.removal, self.removal))
        """An entry that is read while it is evicted, or removed twice, and another that takes its place; or nothing."""
        self.kinds = (self.put, self.put, self.get, self.get, *(self.removal,) * 3, self.old, self.size, self.size)

    def bout(self) -> Operation:
        """The first of some calls that overlap. Where the broker orders passes itself, there are none."""
        if self.model.manager.max_size is not None or len(self.model.store.queue) > MOST_QUEUED:
            return Get(*self.entries.known())
        self.left = 2 + self.below(4 if self.threads == THREADS[0] else self.threads)
        self.patience = one_of(self.choices, PATIENCE)
        self.script = [*one_of(self.choices, self.scripts)]
        self.last = self.entries.known() if self.below(2) else self.first()
        return self.begin()

    def first(self) -> tuple[int, int, int]:
        """Topic and position of the head of the queue."""
        model = self.model
        head = next((entry for entry in model.store.queue if entry.cache in model.caches), None)
        return (model.caches.index(head.cache), *head.position) if head else self.entries.key()

    def begin(self) -> Operation:
        """A call begun on a thread that is in no other."""
        self.left -= 1
        idle = [thread for thread in range(self.threads) if thread not in self.model.under_way]
        self.running = idle[self.below(len(idle))]
        make = self.script.pop() if self.script else self.kinds[self.below(len(self.kinds))]
        return make(self.running)

    def during(self) -> Operation:
        """What is done while calls are under way: mostly a step of one of them."""
        kind = self.below(16)
        if kind < 4 and self.left > 0 and len(self.model.under_way) < self.threads:
            return self.begin()
        if kind <= 12:
            return self.on()
        pinned, manager = self.capabilities.pinned, self.capabilities.manager
        questions = (Pinned() if pinned else None, SizeOfAll() if manager else None, self.count())
        return questions[kind - 13] or self.on()

    def on(self) -> Step:
        """A step of a call, mostly of the one that made the last."""
        if self.running not in self.model.under_way or self.below(self.patience) == 0:
            threads = sorted(self.model.under_way)
            self.running = threads[self.below(len(threads))]
        return Step(self.running)

    def count(self) -> Read | Expect:
        """A read count that changes."""
        return Read(*self.entries.known()) if self.below(2) else Expect(*self.entries.known())

    def key(self) -> tuple[int, int, int]:
        """A topic and a position, mostly those of the call that was begun last, as calls are to meet."""
        if self.below(4) == 0:
            self.last = self.entries.known()
        return self.last

    def put(self, thread: int) -> BeginPut:
        """An insertion."""
        if self.below(2):
            self.last = self.entries.key()
        return BeginPut(*self.last, *self.entries.entry(), thread)

    def get(self, thread: int) -> BeginGet:
        """A read."""
        return BeginGet(*self.key(), thread)

    def removal(self, thread: int) -> Operation:
        """A removal of one of its kinds."""
        cache, ledger, entry = self.key()
        kind = self.below(5)
        if kind == 0:
            return BeginInvalidate(cache, ledger, entry + 1, thread)
        if kind == 1:
            return BeginTrim(cache, ledger, thread)
        if kind == 2:
            return BeginRemove(cache, ledger, entry, ledger, entry, 1, thread)
        if kind == 3:
            return BeginRemove(cache, ledger, entry - self.below(2), ledger, entry + self.below(3), 0, thread)
        return BeginClear(cache, thread)

    def old(self, thread: int) -> BeginOld:
        """A time pass."""
        return BeginOld(self.passes.evict_old().age, thread)

    def size(self, thread: int) -> BeginSize:
        """A size pass."""
        return BeginSize(max(self.passes.evict_size().bytes, 1), thread)


def to_the_end(model: EntryCaches, choices: Choices) -> Iterator[AnyOperation]:
    """All that is under way comes to its end."""
    for _ in range(MOST_STEPS):
        if not model.under_way:
            return
        threads = sorted(model.under_way)
        yield Step(threads[choices.below(len(threads))])
