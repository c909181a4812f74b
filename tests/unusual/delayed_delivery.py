"""Right but unusual trackers of delayed messages."""

from __future__ import annotations

import sqlite3
import weakref
from collections.abc import Iterator, Sequence
from struct import Struct
from typing import Any, ClassVar, NamedTuple

from broker_tck.implementations.delayed_delivery.in_memory import LAST_TIME, NEVER, InMemoryTracker
from broker_tck.implementations.delayed_delivery.time_bucket import bucket_width
from broker_tck.implementations.delayed_delivery.timer import DeliveryTimer
from broker_tck.implementations.interface import Clock, DelayedDeliveryConfig, Position, Timeout, Timer

LOWEST = -(2**63)
IDS = Struct(">QQ")
"""Bytes, which sort as ids do."""


class Number(int):
    """A number of a class of its own."""


class Place(NamedTuple):
    """A position with names."""

    ledger_id: Number
    entry_id: Number


class Table:
    """An index that is a table of sqlite in memory. The estimate grows with the square of the number of messages."""

    def __init__(self) -> None:
        self.base = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        weakref.finalize(self, self.base.close)
        self.base.execute("CREATE TABLE held (due INTEGER, id BLOB, PRIMARY KEY (due, id)) WITHOUT ROWID")

    @property
    def first(self) -> int:
        found = self.base.execute("SELECT min(due) FROM held").fetchone()[0]
        return NEVER if found is None else Number(found)

    @property
    def memory(self) -> int:
        return Number(self.base.execute("SELECT count(*) FROM held").fetchone()[0] ** 2 << 40)

    def add(self, key: int, ledger_id: int, entry_id: int) -> bool:
        row = key, IDS.pack(ledger_id - LOWEST, entry_id)
        return self.base.execute("INSERT OR IGNORE INTO held VALUES (?, ?)", row).rowcount > 0

    def take(self, last_key: int, max_copies: int) -> list[Position]:
        question = "SELECT due, id FROM held WHERE due <= ? ORDER BY due, id LIMIT ?"
        rows = self.base.execute(question, (min(last_key, LAST_TIME), max(max_copies, 0))).fetchall()
        if rows:
            self.base.execute("DELETE FROM held WHERE (due, id) <= (?, ?)", rows[-1])
        taken = [IDS.unpack(packed) for _, packed in rows]
        return [Place(Number(ledger + LOWEST), Number(entry)) for ledger, entry in taken]

    def clear(self) -> None:
        self.base.execute("DELETE FROM held")


class Restless(DeliveryTimer):
    """A timer that is armed anew, for the moment that it had, whenever it is asked what it aims at.

    If the clock was set since, it so fires sooner or later than the timeout that it had.
    """

    __slots__ = ("_aims_at", "_deadline")

    @property
    def target(self) -> int:
        if self._timeout is not None:
            self._timeout.cancel()
            self._timeout = self._timer.new_timeout(self._deadline, self._fired)
        return self._aims_at

    @target.setter
    def target(self, target: int) -> None:
        self._aims_at = target

    def _arm(self, wake: int, tick: int) -> None:
        super()._arm(wake, tick)
        self._deadline = wake if self._last_run is None else max(wake, self._last_run + tick)


class SqliteTracker(InMemoryTracker):
    """Entry ids have 63 bits. Answers are generators, numbers and positions of classes of their own.

    With its close it is gone, and knows no number of messages any more.
    """

    contract: ClassVar = "delayed-delivery"
    profiles: ClassVar = ("timebucket-ideal",)
    capabilities: ClassVar = {"entry_id_bits": 63, "jumps": False}
    index_class = Table
    timer_class = Restless

    def _width(self, tick: int) -> int:
        return bucket_width(tick)

    def get_scheduled_messages(self, max_messages: int) -> Any:
        return self.one_by_one(super().get_scheduled_messages(max_messages))

    def one_by_one(self, positions: list[Position]) -> Iterator[Position]:
        yield from positions

    def get_number_of_delayed_messages(self) -> int:
        return Number(self._count)

    def close(self) -> None:
        super().close()
        self.__dict__.pop("_count", None)


class OneList:
    """All that was accepted, in one list as it came, each repeated add too. Whatever is asked, it is looked through.

    The estimate is the same for one message and for many. Answers are tuples.
    """

    contract: ClassVar = "delayed-delivery"
    profiles: ClassVar = ("timebucket-ideal",)
    capabilities: ClassVar = {"entry_id_bits": 63}

    def __init__(self, config: DelayedDeliveryConfig, clock: Clock, timer: Timer) -> None:
        self.config, self.clock, self.timer, self.tick = config, clock, timer, config.tick
        self.width = 2 ** max(config.tick.bit_length() - 1, 0)
        self.held: list[tuple[int, int, int]] = []
        self.alike, self.times = True, [0]
        self.timeout: Timeout | None = None
        self.aim = self.run = -1

    def cutoff(self) -> int:
        return self.clock() + (0 if self.config.strict else self.tick)

    def moment(self, key: int) -> int:
        return key if self.config.strict else max(key, key + self.width - 1 - self.tick)

    def due(self) -> list[tuple[int, int, int]]:
        last = self.cutoff() - (0 if self.config.strict else self.width - 1)
        return sorted({copy for copy in self.held if copy[0] <= last})

    def add_message(self, ledger_id: int, entry_id: int, deliver_at: int) -> bool:
        if deliver_at <= self.cutoff():
            self.alike = False
            return False
        late = min(deliver_at + self.width - 1, LAST_TIME) if self.config.strict else deliver_at
        self.held.append((late - late % self.width, ledger_id, entry_id))
        self.alike = self.alike and deliver_at >= max(self.times) - self.tick
        self.times = [max(*self.times, deliver_at)]
        self.update()
        return True

    def has_message_available(self) -> bool:
        return bool(self.due()) or bool(self.update())

    def get_scheduled_messages(self, max_messages: int) -> Sequence[Position]:
        taken = set(self.due()[: max(max_messages, 0)])
        self.held = [copy for copy in self.held if copy not in taken]
        if not self.held:
            self.alike, self.times = True, [0]
        self.update()
        return tuple(sorted({copy[1:] for copy in taken}))

    def should_pause_all_deliveries(self) -> bool:
        enough = 0 < self.config.lookahead <= len(set(self.held))
        return enough and self.alike and not self.has_message_available()

    def reset_tick_time(self, tick: int) -> None:
        self.tick = tick

    def get_number_of_delayed_messages(self) -> int:
        return len(set(self.held))

    def get_buffer_memory_usage(self) -> int:
        return 1 if self.held else 0

    def clear(self) -> None:
        self.held = []

    def close(self) -> None:
        self.disarm()
        self.held = []

    def update(self) -> None:
        """Arm for the first bucket, unless that is done."""
        first = self.moment(min(self.held)[0]) if self.held else -1
        if first != self.aim:
            self.disarm()
            if first > self.clock():
                self.aim, self.timeout = first, self.timer.new_timeout(max(first, self.earliest()), self.fired)

    def earliest(self) -> int:
        """A tick after the last run, unless that lies ahead now; it is kept even so."""
        return self.run + self.tick if 0 <= self.run <= self.clock() else 0

    def disarm(self) -> None:
        if self.timeout:
            self.timeout.cancel()
        self.timeout, self.aim = None, -1

    def fired(self, timeout: Timeout) -> bool:
        if timeout.cancelled:
            return False
        self.timeout, self.aim, self.run = None, -1, self.clock()
        return True


class Watchful(OneList):
    """Looks at the clock in each call, and forgets at once a last run that lies ahead."""

    def __getattribute__(self, name: str) -> Any:
        if name in ("add_message", "has_message_available", "get_scheduled_messages", "get_number_of_delayed_messages"):
            self.run = self.run if self.run <= self.clock() else -1
        return super().__getattribute__(name)


class Eager(OneList):
    """Brings its timer up to date whatever is called: an add that it refuses, a clear, a new tick, a firing."""

    def add_message(self, ledger_id: int, entry_id: int, deliver_at: int) -> bool:
        accepted = super().add_message(ledger_id, entry_id, deliver_at)
        self.update()
        return accepted

    def has_message_available(self) -> bool:
        self.update()
        return super().has_message_available()

    def clear(self) -> None:
        super().clear()
        self.update()

    def reset_tick_time(self, tick: int) -> None:
        super().reset_tick_time(tick)
        self.update()

    def fired(self, timeout: Timeout) -> bool:
        fired = super().fired(timeout)
        if fired:
            self.update()
        return fired


class Hoarder(OneList):
    """The estimate is that of the most that it held since it was empty.

    With its close it is broken, and so is the question how many messages there are.
    """

    most = 0

    def get_buffer_memory_usage(self) -> int:
        return self.most if self.held else 0

    def update(self) -> None:
        super().update()
        self.most = max(self.most, len(set(self.held))) if self.held else 0

    def clear(self) -> None:
        super().clear()
        self.most = 0

    def close(self) -> None:
        super().close()
        del self.held
