"""Right but unusual trackers of delayed messages."""

from __future__ import annotations

import sqlite3
import weakref
from collections.abc import Iterator
from struct import Struct
from typing import Any, ClassVar, NamedTuple

from broker_tck.implementations.delayed_delivery.in_memory import LAST_TIME, NEVER, InMemoryTracker
from broker_tck.implementations.delayed_delivery.time_bucket import bucket_width
from broker_tck.implementations.delayed_delivery.timer import DeliveryTimer
from broker_tck.implementations.interface import Position

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
