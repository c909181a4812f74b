"""The manager and the tracker of PIP-448's branch, as it was seen to behave. The branch was never merged."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, isnan
from typing import Any, ClassVar

from pyroaring import BitMap
from sortedcontainers import SortedDict

from broker_tck.implementations.interface import (
    Clock,
    Dispatcher,
    IllegalStateException,
    Position,
    Timeout,
    Timer,
    TopicDeliveryConfig,
)

NO_TARGET = -1
LEAST_INTERVAL, MOST_INTERVAL = 5, 50
USUAL_RATIO = 0.5


class NullPointerException(Exception):
    """The smallest mark-delete position of nobody was asked for."""


class SubContext:
    """What the manager knows of a subscription."""

    def __init__(self, dispatcher: Dispatcher, tick: int, strict: bool) -> None:
        self.dispatcher = dispatcher
        self.tick = tick
        self.strict = strict
        self.mark_delete: Position | None = None

    def cutoff(self, now: int) -> int:
        """The last time that is not delayed."""
        return now if self.strict else now + self.tick

    def sees(self, position: Position) -> bool:
        """Whether a position is behind the mark-delete position."""
        return self.mark_delete is None or position > self.mark_delete


class Index448:
    """Entries by bucket and ledger. Their ids stay below 65,536, so that sizes are those of sets of one container."""

    def __init__(self) -> None:
        self.sets: Any = SortedDict()
        """By the key of a bucket and the id of a ledger."""
        self.count = 0
        self.memory = 0

    def add(self, key: int, ledger: int, entry: int) -> None:
        """Add a position to a bucket, if it is not there."""
        entries = self.sets.setdefault((key, ledger), BitMap())
        if entry not in entries:
            self.memory -= size(entries)
            entries.add(entry)
            self.memory += size(entries)
            self.count += 1

    def first(self) -> int | None:
        """The key of the first bucket; None if there is none."""
        return self.sets.keys()[0][0] if self.sets else None

    def up_to(self, key: int) -> Iterator[Position]:
        """The positions of the buckets up to a key, by bucket, ledger and entry."""
        for place in self.sets.irange(None, (key + 1,), (True, False)):
            for entry in self.sets[place]:
                yield place[1], entry

    def prune(self, bound: Position) -> None:
        """Remove every position up to a bound, from all buckets.

        A set of an earlier ledger goes as a whole, and takes the size of an empty one off as well.
        """
        for place, entries in [*self.sets.items()]:
            if place[1] > bound[0]:
                continue
            whole, left = place[1] < bound[0], entries.copy()
            left.remove_range(0, 1 << 16 if whole else bound[1] + 1)
            self.count -= len(entries) - len(left)
            self.memory -= size(entries) - (0 if whole else size(left))
            if left:
                self.sets[place] = left
            else:
                del self.sets[place]

    def clear(self) -> None:
        """Remove everything."""
        self.sets.clear()
        self.count = self.memory = 0


def size(entries: BitMap) -> int:
    """What the branch's library says that a set of entries in one container takes, as recorded."""
    return 58 + 2 * len(entries) if entries else 1


class Tracker448:
    """One subscription's tracker: while it is open, it passes everything on to the manager."""

    def __init__(self, manager: SharedIndex448, context: SubContext) -> None:
        self._manager = manager
        self._context = context
        self._closed = False

    def add_message(self, ledger_id: int, entry_id: int, deliver_at: int) -> bool:
        """Track a message."""
        return self._asked().add(self._context, ledger_id, entry_id, deliver_at)

    def has_message_available(self) -> bool:
        """Whether the first bucket is within the cut-off, whoever sees anything in it."""
        return self._asked().is_available(self._context)

    def get_scheduled_messages(self, max_messages: int) -> list[Position]:
        """What is due and not acknowledged, handed out before or not."""
        return self._asked().scheduled(self._context, max_messages)

    def should_pause_all_deliveries(self) -> bool:
        """Whether the topic has so many messages of one delay that reading on is of no use."""
        return self._asked().pauses(self._context)

    def get_number_of_delayed_messages(self) -> int:
        """How many copies the topic holds."""
        return self._asked().get_number_of_delayed_messages()

    def get_buffer_memory_usage(self) -> int:
        """The sizes of the topic's sets."""
        return self._asked().get_buffer_memory_usage()

    def update_mark_delete_position(self, position: Position) -> None:
        """Note the mark-delete position, and do no more."""
        self._asked()
        self._context.mark_delete = position

    def reset_tick_time(self, tick: int) -> None:
        """Change the tick of the topic."""
        self._asked().reset_tick(tick)

    def clear(self) -> None:
        """Do nothing: the index is shared."""
        self._asked()

    def close(self) -> None:
        """Leave, by the name of the subscription."""
        if not self._closed:
            self._closed = True
            self._manager.unregister(self._context)

    def _asked(self) -> SharedIndex448:
        if self._closed:
            raise IllegalStateException("the tracker is closed")
        return self._manager


class SharedIndex448:
    """The manager of a topic."""

    contract: ClassVar[str] = "topic-delivery"
    profiles: ClassVar[tuple[str, ...]] = ("pip-448",)
    capabilities: ClassVar[dict[str, int]] = {"entry_id_bits": 16}

    def __init__(self, config: TopicDeliveryConfig, clock: Clock, timer: Timer) -> None:
        self._clock = clock
        self._new_timeout = timer.new_timeout
        self._tick = config.tick
        self._strict = bool(config.strict)
        self._lookahead = config.lookahead
        self._interval = config.prune_ms if config.prune_ms > 0 else clamped(config.tick, LEAST_INTERVAL, MOST_INTERVAL)
        ratio = config.ratio
        self._ratio = USUAL_RATIO if ratio is None or isnan(ratio) else clamped(ratio, 0, 1)
        self._index = Index448()
        self._contexts: dict[str, SubContext] = {}
        self._highest = 0
        self._all_fixed = True
        self._timeout: Timeout | None = None
        self._target = NO_TARGET
        self._last_run = 0
        self._last_prune = 0

    def create_or_get_tracker(self, dispatcher: Dispatcher) -> Tracker448:
        """A new tracker, of a context that is found by name."""
        context = self._contexts.setdefault(dispatcher.name, SubContext(dispatcher, self._tick, self._strict))
        return Tracker448(self, context)

    def unregister(self, context: SubContext) -> None:
        """Forget the context of that name; with the last one, everything that is held."""
        self._contexts.pop(context.dispatcher.name, None)
        if not self._contexts:
            self._let_go()

    def close(self) -> None:
        """Let go of everything. Trackers live on."""
        self._contexts.clear()
        self._let_go()

    def get_number_of_delayed_messages(self) -> int:
        """How many copies are held."""
        return self._index.count

    def get_buffer_memory_usage(self) -> int:
        """The sizes of the sets, as far as they were kept right."""
        return self._index.memory

    def get_index_sizes(self) -> tuple[int, int]:
        """How many buckets there are, and how many sets of entries."""
        return len({key for key, _ in self._index.sets}), len(self._index.sets)

    # ---- What trackers ask

    def add(self, context: SubContext, ledger: int, entry: int, deliver_at: int) -> bool:
        """Track a message."""
        if deliver_at < 0 or deliver_at <= context.cutoff(self._clock()):
            return False
        key = deliver_at - deliver_at % self._tick if self._tick > 0 else deliver_at
        self._index.add(key, ledger, entry)
        self._update_timer()
        if deliver_at < self._highest - self._tick:
            self._all_fixed = False
        self._highest = max(self._highest, deliver_at)
        return True

    def is_available(self, context: SubContext) -> bool:
        """Whether the first bucket is within the cut-off."""
        first = self._index.first()
        return first is not None and first <= context.cutoff(self._clock())

    def scheduled(self, context: SubContext, most: int) -> list[Position]:
        """The first copies that are due and behind the mark-delete position; then try to prune."""
        found: list[Position] = []
        for position in self._index.up_to(context.cutoff(self._clock())):
            if len(found) >= most:
                break
            if context.sees(position):
                found.append(position)
        self._try_to_prune()
        return sorted(set(found))

    def pauses(self, context: SubContext) -> bool:
        """Whether deliveries should pause."""
        enough = self._lookahead > 0 and self._all_fixed and self._index.count >= self._lookahead
        return enough and not self.is_available(context)

    def reset_tick(self, tick: int) -> None:
        """Change the tick of the manager and of those that are registered."""
        if tick == self._tick:
            return
        self._tick = tick
        for context in self._contexts.values():
            context.tick = tick
        self._update_timer()

    # ---- Inside

    def _let_go(self) -> None:
        self._cancel()
        self._index.clear()

    def _cancel(self) -> None:
        if self._timeout is not None:
            self._timeout.cancel()
            self._timeout = None
        self._target = NO_TARGET

    def _update_timer(self) -> None:
        first, now = self._index.first(), self._clock()
        if first is None:
            self._cancel()
            return
        if self._timeout is not None and first == self._target and self._target >= now:
            return
        self._cancel()
        self._timeout = self._new_timeout(max(first, now, self._last_run + self._tick), self._fired)
        self._target = first

    def _fired(self, timeout: Timeout) -> bool:
        if timeout.cancelled:
            return False
        now = self._clock()
        self._timeout, self._target, self._last_run = None, NO_TARGET, now
        eligible = [c for c in self._contexts.values() if any(map(c.sees, self._index.up_to(c.cutoff(now))))]
        if len(eligible) >= max(1, ceil(self._ratio * len(self._contexts))):
            self._try_to_prune()
        for context in eligible:
            context.dispatcher.read_more_entries()
        return bool(eligible)

    def _try_to_prune(self) -> None:
        now = self._clock()
        if now - self._last_prune < self._interval:
            return
        self._last_prune = now
        if not self._index.count:
            return
        marks = [context.mark_delete for context in self._contexts.values()]
        if not marks:
            raise NullPointerException("nobody is registered")
        known = [mark for mark in marks if mark is not None]
        if len(known) == len(marks):
            self._index.prune(min(known))


def clamped(value: float, least: int, most: int) -> float:
    """The value, or the bound that it is beyond."""
    return min(max(value, least), most)
