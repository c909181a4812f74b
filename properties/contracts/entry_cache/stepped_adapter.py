"""Calls of the entry caches step by step, on the adapter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from broker_tck.implementations.interface import Steps
from broker_tck.properties.contracts.entry_cache.adapter import Adapter, refused
from broker_tck.properties.contracts.entry_cache.values import Value

ORDINARY = (
    *("put", "fill", "late", "misput", "get", "hold", "spoil", "range", "remove", "invalidate", "trim", "clear"),
    *("reopen", "evict_old", "evict_size", "background", "run", "counters", "resize", "set_watermark", "requeues"),
    *("extend", "append", "write", "cursor", "uncursor", "crowd", "fetch", "fetch_one", "fetch_many", "complete"),
    *("short", "fail", "storage", "done", "replay", "share", "timeouts", "advance"),
)
"""Calls that are not made while others are under way: the subject is not asked for them."""
BUSY = "busy"
"""What such a call answers."""


class SteppedAdapter(Adapter):
    """A subject whose calls are there step by step, on its adapter."""

    def __init__(self, factory: Any, config: Any, capabilities: Any) -> None:
        super().__init__(factory, config, capabilities)
        self.under_way: dict[int, Steps[Any]] = {}

    def begin(self, thread: int, call: Callable[[Any], Any]) -> bool:
        """Begin a call; a thread that is in another does nothing."""
        if thread in self.under_way:
            return False
        if not self.under_way:
            vars(self).update(dict.fromkeys(ORDINARY, lambda *arguments: BUSY))
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
            for name in ORDINARY:
                del vars(self)[name]


class SteppedCalls:
    """The calls that can be begun, by the names of the ordinary ones."""

    def __init__(self, adapter: SteppedAdapter) -> None:
        self.adapter = adapter
        self.caches: list[Any] = adapter.caches
        self.broker: Any = adapter.broker

    def put(self, cache: int, ledger: int, entry: int, size: int, expected: int) -> Steps[bool]:
        """Insert a new value, and let go of it."""
        position = ledger, entry
        value = Value(self.adapter.tally, position, size, self.broker.new_read_count(expected))
        inserted: bool = yield from self.caches[cache].put_steps(position, value)
        if inserted:
            self.adapter.stored[cache, position] = value
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
        return [*(yield from self.broker.evict_entries_before_timestamp_steps(self.adapter.now - age))]

    def evict_size(self, asked: int) -> Steps[list[int]]:
        """A size pass."""
        return [*(yield from self.broker.evict_least_accessed_entries_steps(asked))]


def adapter(factory: Any, config: Any, capabilities: Any) -> Adapter:
    """A subject on the adapter that it can be driven on."""
    return (SteppedAdapter if capabilities.steps else Adapter)(factory, config, capabilities)
