"""Calls of the entry caches step by step: on the rig, and what a walk does while some are under way."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from broker_tck.implementations.interface import Steps
from broker_tck.model.entry_cache.overlapping import Begun, Overlapping, admit_ordinary, refuse_ordinary
from broker_tck.properties.contracts.entry_cache import generator
from broker_tck.properties.contracts.entry_cache.generator import Entries, Passes
from broker_tck.properties.contracts.entry_cache.operations import (
    AnyOperation,
    Begin,
    BeginClear,
    BeginGet,
    BeginInvalidate,
    BeginOld,
    BeginPut,
    BeginRemove,
    BeginSize,
    BeginTrim,
    Capabilities,
    Clear,
    Config,
    EvictOld,
    EvictSize,
    Expect,
    Get,
    GoOn,
    Invalidate,
    Pinned,
    Put,
    Read,
    Remove,
    SizeOfAll,
    Trim,
)
from broker_tck.properties.contracts.entry_cache.rig import Rig, refused
from broker_tck.properties.contracts.entry_cache.values import Value
from broker_tck.properties.engine.choices import Choices, one_of
from broker_tck.properties.engine.contract import Law, Maker, Step, Variation
from broker_tck.properties.engine.operation import Operation

THREADS = 3
PATIENCE = (2, 4, 12)
"""Another call is gone on with after so many steps, on average: how often is a bout's own."""
MOST_STEPS = 2_000
"""So many steps are enough for what is under way at a walk's end."""


class SteppedRig(Rig):
    """A subject whose calls are there step by step, on its rig."""

    def __init__(self, factory: Any, config: Any, capabilities: Any) -> None:
        super().__init__(factory, config, capabilities)
        self.under_way: dict[int, Steps[Any]] = {}

    def begin(self, thread: int, call: Begun) -> bool:
        """Begin a call; a thread that is in another does nothing."""
        if thread in self.under_way:
            return False
        if not self.under_way:
            refuse_ordinary(self)
        self.under_way[thread] = call(SteppedCalls(self))
        return True

    def step(self, thread: int) -> list[Any] | None:
        """Go on with the call of a thread, if it is in one; what it did, or ``ends`` and its result."""
        steps = self.under_way.get(thread)
        if steps is None:
            return None
        try:
            word, position = next(steps)
        except StopIteration as end:
            self.end(thread)
            return ["ends", end.value]
        return [word] if position is None else [word, *position]

    def end(self, thread: int) -> None:
        """A call has ended."""
        del self.under_way[thread]
        if not self.under_way:
            admit_ordinary(self)


class SteppedCalls:
    """The calls that can be begun, by the names of the ordinary ones."""

    def __init__(self, rig: SteppedRig) -> None:
        self.rig = rig
        self.caches: list[Any] = rig.caches
        self.broker: Any = rig.broker

    def put(self, cache: int, ledger: int, entry: int, size: int, expected: int) -> Steps[bool]:
        """Insert a new value, and let go of it."""
        position = ledger, entry
        value = Value(self.rig.tally, position, size, self.broker.new_read_count(expected))
        inserted: bool = yield from self.caches[cache].put_steps(position, value)
        if inserted:
            self.rig.stored[cache, position] = value
        value.release()
        return inserted

    def get(self, cache: int, ledger: int, entry: int) -> Steps[str]:
        """Read an entry, and let go of it."""
        found = yield from self.caches[cache].get_steps((ledger, entry))
        if found is None:
            return "miss"
        position = found.position
        found.release()
        return "hit" if position == (ledger, entry) else f"hit of {position[0]} {position[1]}"

    def remove(self, cache: int, l1: int, e1: int, l2: int, e2: int, last_inclusive: int) -> Steps[list[int]]:
        """Remove a range."""
        if refused(l1, e1, l2, e2):
            return [0, 0]
        return [*(yield from self.caches[cache].remove_range_steps((l1, e1), (l2, e2), bool(last_inclusive)))]

    def invalidate(self, cache: int, ledger: int, entry: int) -> Steps[None]:
        """Remove what is before a position."""
        yield from self.caches[cache].invalidate_entries_steps((ledger, entry))

    def trim(self, cache: int, ledger: int) -> Steps[None]:
        """A ledger is dropped."""
        yield from self.caches[cache].invalidate_all_entries_steps(ledger)

    def clear(self, cache: int) -> Steps[list[int]]:
        """Empty a cache."""
        return [*(yield from self.caches[cache].clear_steps())]

    def evict_old(self, age: int) -> Steps[list[int]]:
        """A time pass."""
        return [*(yield from self.broker.evict_entries_before_timestamp_steps(self.rig.now - age))]

    def evict_size(self, asked: int) -> Steps[list[int]]:
        """A size pass."""
        return [*(yield from self.broker.evict_least_accessed_entries_steps(asked))]


def rig(factory: Any, config: Any, capabilities: Any) -> Rig:
    """A subject on the rig that it can be driven on."""
    return (SteppedRig if capabilities.steps else Rig)(factory, config, capabilities)


# ---- What a walk does


class Threads:
    """Begins calls on threads and goes on with them."""

    def __init__(
        self, model: Overlapping, choices: Choices, entries: Entries, passes: Passes, capabilities: Capabilities
    ) -> None:
        self.model = model
        self.capabilities = capabilities
        self.choices = choices
        self.below = choices.below
        self.entries, self.passes = entries, passes
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
        if self.model.max_size is not None:
            return self.entries.get()
        self.left = 2 + self.below(4)
        self.patience = one_of(self.choices, PATIENCE)
        self.script = [*one_of(self.choices, self.scripts)]
        self.last = self.entries.known() if self.below(2) else self.first()
        return self.begin()

    def first(self) -> tuple[int, int, int]:
        """Topic and position of the head of the queue."""
        model = self.model
        head = next((entry for entry in model.queue if entry.cache in model.caches), None)
        return (model.caches.index(head.cache), *head.position) if head else self.entries.key()

    def begin(self) -> Operation:
        """A call begun on a thread that is in no other."""
        self.left -= 1
        idle = [thread for thread in range(THREADS) if thread not in self.model.under_way]
        self.running = idle[self.below(len(idle))]
        make = self.script.pop() if self.script else self.kinds[self.below(len(self.kinds))]
        return make(self.running)

    def during(self) -> Operation:
        """What is done while calls are under way: mostly a step of one of them."""
        kind = self.below(16)
        if kind < 4 and self.left > 0 and len(self.model.under_way) < THREADS:
            return self.begin()
        if kind <= 12:
            return self.on()
        pinned, manager = self.capabilities.pinned, self.capabilities.manager
        questions = (Pinned() if pinned else None, SizeOfAll() if manager else None, self.count())
        return questions[kind - 13] or self.on()

    def on(self) -> GoOn:
        """A step of a call, mostly of the one that made the last."""
        if self.running not in self.model.under_way or self.below(self.patience) == 0:
            threads = sorted(self.model.under_way)
            self.running = threads[self.below(len(threads))]
        return GoOn(self.running)

    def count(self) -> Read | Expect:
        """A read count that changes."""
        return self.entries.read() if self.below(2) else self.entries.expect()

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


def makers(model: Overlapping, choices: Choices, capabilities: Capabilities) -> list[Maker]:
    """What a subject is asked for. While calls are under way, each maker makes what there is to do then."""
    entries, passes = Entries(model, choices), Passes(model, choices)
    made = generator.kinds(model, choices, entries, passes, capabilities)
    if not capabilities.steps:
        return made
    threads = Threads(model, choices, entries, passes, capabilities)

    def otherwise(make: Callable[[], Operation]) -> Callable[[], Operation]:
        return lambda: threads.during() if model.under_way else make()

    begin = Maker("begin", (0, 20, 60), threads.bout)
    return [Maker(maker.name, maker.weights, otherwise(maker.make)) for maker in [*made, begin]]


def drain(model: Overlapping, choices: Choices, capabilities: Capabilities) -> Iterator[AnyOperation]:
    """How a walk ends: what is under way comes to its end first."""
    if capabilities.steps:
        yield from to_the_end(model, choices)
    yield from generator.drain(model, choices, capabilities)


def draw_config(choices: Choices, capabilities: Capabilities) -> Config:
    """A configuration for a walk; calls overlap where the broker orders no passes itself."""
    config = generator.draw_config(choices, capabilities)
    return msgspec.structs.replace(config, max_size=None) if capabilities.steps and choices.below(2) else config


def to_the_end(model: Overlapping, choices: Choices) -> Iterator[AnyOperation]:
    """All that is under way comes to its end."""
    for _ in range(MOST_STEPS):
        if not model.under_way:
            return
        threads = sorted(model.under_way)
        yield GoOn(threads[choices.below(len(threads))])


# ---- Shorter traces of overlapping calls


ORDINARY: dict[type[Operation], type[Operation]] = {
    BeginPut: Put,
    BeginGet: Get,
    BeginRemove: Remove,
    BeginInvalidate: Invalidate,
    BeginTrim: Trim,
    BeginClear: Clear,
    BeginOld: EvictOld,
    BeginSize: EvictSize,
}
ROUNDS = (1, 2, 3, 4, 6, 10)
"""How many steps of a call in a row are left out at once: those of a blank head, say, or of so many requeueings."""


def rewrites(operations: Sequence[Operation]) -> Iterator[list[Operation]]:
    """Shorter traces: a call left out or made at once, steps of a call left out, reads that are not expected."""
    for call in calls(operations):
        rest = {i for i in range(len(operations)) if i not in call}
        yield [operations[i] for i in sorted(rest)]
        at_once = ordinary(operations[call[0]])
        for place in {call[0], call[-1]}:
            yield [at_once if i == place else operations[i] for i in sorted({*rest, place})]
    if any(plain(o) is not o for o in operations):
        yield [plain(o) for o in operations]
    for call in calls(operations):
        for size in ROUNDS:
            for start in range(1, len(call) - size + 1):
                yield from with_a_change(operations, {*call[start : start + size]})


def with_a_change(operations: Sequence[Operation], gone: set[int]) -> Iterator[list[Operation]]:
    """The trace without some steps; and, besides, without an operation, or with fewer reads that are expected."""
    left = [o for i, o in enumerate(operations) if i not in gone]
    yield left
    if any(plain(o) is not o for o in left):
        yield [plain(o) for o in left]
    for at, operation in enumerate(operations):
        if type(operation) in ORDINARY.values():
            yield [o for i, o in enumerate(operations) if i not in gone and i != at]
        if plain(operation) is not operation:
            yield [plain(o) if i == at else o for i, o in enumerate(operations) if i not in gone]


def plain(operation: Operation) -> Operation:
    """An insertion without reads that are expected; anything else as it is."""
    if isinstance(operation, Put) and operation.expected_reads:
        return msgspec.structs.replace(operation, expected_reads=0)
    return operation


def calls(operations: Sequence[Operation]) -> list[list[int]]:
    """Where each call is begun and gone on with."""
    found: list[list[int]] = []
    current: dict[int, list[int]] = {}
    for i, operation in enumerate(operations):
        if isinstance(operation, Begin):
            current[operation.thread] = [i]
            found.append(current[operation.thread])
        elif isinstance(operation, GoOn) and operation.thread in current:
            current[operation.thread].append(i)
    return found


def ordinary(operation: Operation) -> Operation:
    """The ordinary call of one that is begun."""
    kind: type[Operation] = ORDINARY[type(operation)]
    return kind(*(getattr(operation, name) for name in kind.__struct_fields__))


# ---- Which rule to name


REMOVALS = (BeginRemove, BeginInvalidate, BeginTrim, BeginClear)
PASSES = (BeginOld, BeginSize)


def overlap(operations: Sequence[Operation]) -> bool:
    """Whether calls are begun in a trace."""
    return any(isinstance(operation, GoOn) for operation in operations)


def blame(operations: Sequence[Operation]) -> str:
    """The rule to name for a difference between the steps of calls: by the call of the last step, and the others."""
    last = operations[-1]
    if isinstance(last, SizeOfAll):
        return "EC-17"
    begun: dict[int, Operation] = {}
    others: list[Operation] = []
    for operation in operations:
        if isinstance(operation, Begin):
            others += [begun[operation.thread]] if operation.thread in begun else []
            begun[operation.thread] = operation
    own = begun.pop(next(o.thread for o in reversed(operations) if isinstance(o, GoOn)), None)
    others += begun.values()
    puts, removals, passes = (sum(isinstance(o, kinds) for o in others) for kinds in (BeginPut, REMOVALS, PASSES))
    removing = any(isinstance(o, REMOVALS) for o in begun.values())
    if isinstance(last, Pinned) and (passes or isinstance(own, PASSES)) and not removing:
        return "IL-2"
    if puts and removals and removals + passes > 1:
        return "EC-12"
    if isinstance(own, BeginGet):
        elsewhere = any(isinstance(o, BeginPut) and place(o) != place(own) for o in others)
        return "IL-4" if elsewhere else "IL-3"
    if isinstance(own, REMOVALS):
        return "IL-1" if puts and not (removals or passes) else "EC-12"
    if isinstance(own, PASSES):
        return "IL-11" if passes else "IL-2"
    return ("EC-12" if removals > 1 else "IL-1") if isinstance(own, BeginPut) else "IL-2"


def place(call: BeginPut | BeginGet) -> tuple[int, int, int]:
    """The cache and the position that an insertion or a read is about."""
    return call.cache, call.ledger, call.entry


# ---- Laws and variations of calls that do not overlap


def without_overlap(law: Law) -> Law:
    """A law of calls that are made one after the other, judged of such traces alone."""

    def judge(config: Any, steps: Sequence[Step]) -> Iterator[tuple[int, str | None]]:
        return iter(()) if overlap([step.operation for step in steps]) else law.judge(config, steps)

    return Law(law.number, judge)


def unless_overlapping(variation: Variation) -> Variation:
    """A variation of calls that are made one after the other, of such traces alone."""

    def vary(config: Any, operations: Sequence[Operation], choices: Choices) -> Any:
        return None if overlap(operations) else variation.vary(config, operations, choices)

    return replace(variation, vary=vary)
