"""Right but unusual trackers of delayed messages."""

from __future__ import annotations

import sqlite3
import weakref
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from struct import Struct
from typing import Any, ClassVar, NamedTuple

from broker_tck.implementations.interface import Clock, DelayedDeliveryConfig, Position, Timeout, Timer

LAST = 2**63 - 1
LOWEST = -(2**63)


class Restless:
    """A timer that is armed anew at each update, for the deadline that it had."""

    def __init__(self, clock: Clock, timer: Timer) -> None:
        self.clock = clock
        self.timer = timer
        self.timeout: Timeout | None = None
        self.target = self.deadline = -1
        self.last_run: int | None = None

    def __call__(self, timeout: Timeout) -> bool:
        """The timeout fires: the timer is what it calls."""
        if timeout is not self.timeout:
            return False
        self.timeout, self.target, self.last_run = None, -1, self.clock()
        return True

    def update(self, wake: int | None, tick: int) -> None:
        """Aim at a time, or at nothing."""
        had, self.target = self.target, -1
        if self.timeout is not None:
            self.timeout.cancel()
            self.timeout = None
        if wake is None or (wake <= self.clock() and wake != had):
            return
        if wake != had:
            self.deadline = wake if self.last_run is None else max(wake, self.last_run + tick)
        self.target, self.timeout = wake, self.timer.new_timeout(self.deadline, self)


class Tracker:
    """What the trackers of this module have in common: the arithmetic. How messages are kept is up to each."""

    contract: ClassVar = "delayed-delivery"
    profiles: ClassVar = ("timebucket-ideal",)

    def __init__(self, config: DelayedDeliveryConfig, clock: Clock, timer: Timer) -> None:
        self.strict, self.lookahead, self.tick = config.strict, config.lookahead, config.tick
        self.clock = clock
        self.restless = Restless(clock, timer)
        self.width = 1 << max(config.tick, 1).bit_length() - 1
        self.fixed, self.highest = True, 0

    def first(self) -> int | None:
        """The first key."""
        raise NotImplementedError

    def keep(self, key: int, ledger: int, entry: int) -> None:
        """Keep a copy, unless it is there."""
        raise NotImplementedError

    def take(self, last: int, most: int) -> Iterable[Position]:
        """Take the first copies out, with keys up to one."""
        raise NotImplementedError

    def answer(self, positions: Sequence[Position]) -> Any:
        """Positions in the shape that the tracker likes."""
        return positions

    def window(self) -> int:
        """How much too early a message may come."""
        return 0 if self.strict else self.tick

    def last_due(self) -> int:
        """The last key that is due."""
        return self.clock() + self.window() - (0 if self.strict else self.width - 1)

    def update(self) -> None:
        """Have the timer fire when the first bucket is due."""
        key = self.first()
        late = 0 if self.strict else max(0, self.width - 1 - self.tick)
        self.restless.update(None if key is None else key + late, self.tick)

    def add_message(self, ledger_id: int, entry_id: int, deliver_at: int) -> bool:
        if deliver_at < 0 or deliver_at <= self.clock() + self.window():
            self.fixed = False
            return False
        self.keep(
            min(deliver_at + (self.width - 1) * self.strict, LAST) // self.width * self.width, ledger_id, entry_id
        )
        self.update()
        self.fixed = self.fixed and deliver_at >= self.highest - self.tick
        self.highest = max(self.highest, deliver_at)
        return True

    def has_message_available(self) -> bool:
        key = self.first()
        if key is not None and key <= self.last_due():
            return True
        self.update()
        return False

    def get_scheduled_messages(self, max_messages: int) -> Any:
        taken = sorted({*self.take(self.last_due(), max(max_messages, 0))})
        if self.first() is None:
            self.fixed, self.highest = True, 0
        self.update()
        return self.answer(taken)

    def should_pause_all_deliveries(self) -> bool:
        enough = 0 < self.lookahead <= self.get_number_of_delayed_messages()
        return bool(enough and self.fixed and not self.has_message_available())

    def reset_tick_time(self, tick: int) -> None:
        self.tick = tick

    def get_number_of_delayed_messages(self) -> int:
        raise NotImplementedError

    def close(self) -> None:
        self.restless.update(None, 0)


class SqliteTracker(Tracker):
    """The index is a table of sqlite in memory. Ids are kept as bytes, which sort as ids do; answers are generators.

    Entry ids have 63 bits. The estimate of the memory grows with the square of the number of messages.
    """

    capabilities: ClassVar = {"entry_id_bits": 63}
    ids: ClassVar = Struct(">QQ")

    def __init__(self, config: DelayedDeliveryConfig, clock: Clock, timer: Timer) -> None:
        super().__init__(config, clock, timer)
        self.base = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        weakref.finalize(self, self.base.close)
        self.base.execute("CREATE TABLE held (due INTEGER, id BLOB, PRIMARY KEY (due, id)) WITHOUT ROWID")
        self.count = 0

    def first(self) -> int | None:
        found: int | None = self.base.execute("SELECT min(due) FROM held").fetchone()[0]
        return found

    def keep(self, key: int, ledger: int, entry: int) -> None:
        row = key, self.ids.pack(ledger - LOWEST, entry)
        self.count += self.base.execute("INSERT OR IGNORE INTO held VALUES (?, ?)", row).rowcount

    def take(self, last: int, most: int) -> Iterable[Position]:
        question = "SELECT due, id FROM held WHERE due <= ? ORDER BY due, id LIMIT ?"
        rows = self.base.execute(question, (min(last, LAST), most)).fetchall()
        if rows:
            self.base.execute("DELETE FROM held WHERE (due, id) <= (?, ?)", rows[-1])
            self.count -= len(rows)
        for _, packed in rows:
            ledger, entry = self.ids.unpack(packed)
            yield ledger + LOWEST, entry

    def answer(self, positions: Sequence[Position]) -> Iterator[Position]:
        return (position for position in positions)

    def get_number_of_delayed_messages(self) -> int:
        return self.count

    def get_buffer_memory_usage(self) -> int:
        return self.count**2 << 40

    def clear(self) -> None:
        self.base.execute("DELETE FROM held")
        self.count = 0


class Number(int):
    """A number of a class of its own."""


class Place(NamedTuple):
    """A position with names."""

    ledger_id: Number
    entry_id: Number


class CalendarTracker(Tracker):
    """A calendar: sixteen days, each with what is due on it in this year or another, in no order.

    Numbers are of a subclass of int, positions of one of tuple, and answers are keys of a dictionary. The estimate of
    the memory is 1 or 0. With its close the calendar is gone, and it knows no number of messages any more.
    """

    capabilities: ClassVar = {"entry_id_bits": 40}
    days: ClassVar = 16

    def __init__(self, config: DelayedDeliveryConfig, clock: Clock, timer: Timer) -> None:
        super().__init__(config, clock, timer)
        self.clear()

    def clear(self) -> None:
        self.calendar: list[dict[tuple[int, int, int], None]] = [{} for _ in range(self.days)]
        self.count = 0
        self.known: int | None = None

    def first(self) -> int | None:
        return self.known

    def look(self) -> int | None:
        """Turn the pages of a year from the first key on; what is not in it is looked for on all pages."""
        start = (self.known or 0) // self.width
        for day in range(start, start + self.days):
            keys = [key for key, _, _ in self.calendar[day % self.days] if key // self.width == day]
            if keys:
                return min(keys)
        return min((key for page in self.calendar for key, _, _ in page), default=None)

    def keep(self, key: int, ledger: int, entry: int) -> None:
        page = self.calendar[key // self.width % self.days]
        before = len(page)
        page[key, ledger, entry] = None
        self.count += len(page) - before
        self.known = key if self.known is None else min(self.known, key)

    def take(self, last: int, most: int) -> list[Position]:
        taken: list[Position] = []
        while self.known is not None and self.known <= last and len(taken) < most:
            page = self.calendar[self.known // self.width % self.days]
            due = islice(sorted(copy for copy in page if copy[0] == self.known), most - len(taken))
            for copy in due:
                del page[copy]
                taken.append(Place(Number(copy[1]), Number(copy[2])))
            self.known = self.look()
        self.count -= len(taken)
        return taken

    def answer(self, positions: Sequence[Position]) -> Any:
        return dict.fromkeys(positions).keys()

    def get_number_of_delayed_messages(self) -> int:
        return Number(self.count)

    def get_buffer_memory_usage(self) -> int:
        return Number(self.count > 0)

    def close(self) -> None:
        super().close()
        self.__dict__.pop("calendar", None)
        self.__dict__.pop("count", None)
