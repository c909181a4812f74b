"""What outlives a tracker: snapshots by id, the cursor's properties, and the calls that change them.

Whoever calls is told the outcome when an operation ends the call. While a tracker recovers, its calls end at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from broker_tck.model.bucket_delivery.bucket import Range, Snapshot
from broker_tck.model.parts.calls import CallsUnderWay

OK, NOT_PERSISTED, BAD_VERSION, MISSING, UNREADABLE = range(5)
"""How a call ends: well, not persisted, at a version that has changed, not there, nothing that can be read."""
Ended = Callable[[int, Any], None]
"""Told how a call ended, and with what."""


@dataclass
class Call:
    """A call that waits for its end."""

    label: str
    effect: Callable[[], tuple[int, Any]]
    """What it does to what is durable; answers how it ends, and with what."""
    ended: Ended
    owner: object
    """Whoever made it."""

    @property
    def reads(self) -> bool:
        """Whether it changes nothing."""
        return self.label.startswith("load")

    @property
    def updates_key(self) -> bool:
        """Whether it changes a property of the cursor."""
        return self.label.startswith(("put", "remove"))


class Durable:
    """Snapshots, the properties of a cursor, and calls under way."""

    def __init__(self) -> None:
        self.snapshots: dict[int, Snapshot] = {}
        self.unreadable: set[int] = set()
        self.made = 0
        """Ids that were given."""
        self.keys: dict[Range, int] = {}
        """The id of each range."""
        self.first_live: int | None = None
        """The ledger of the cursor's mark-delete position."""
        self.calls: CallsUnderWay[Call] = CallsUnderWay()
        self.answers_at_once = False
        """Whether calls take effect and end as they are made."""

    # ---- What calls do

    def create(self, snapshot: Snapshot) -> tuple[int, Any]:
        """Store a snapshot under a new id."""
        self.made += 1
        self.snapshots[self.made] = snapshot
        return OK, self.made

    def read(self, number: int | None, part: Callable[[Snapshot], Any]) -> tuple[int, Any]:
        """Read a part of a snapshot."""
        if number not in self.snapshots:
            return MISSING, None
        if number in self.unreadable:
            return UNREADABLE, None
        return OK, part(self.snapshots[number])

    def delete(self, number: int) -> tuple[int, Any]:
        """Delete a snapshot. One that is not there is as good as deleted."""
        self.snapshots.pop(number, None)
        return OK, None

    def put(self, ledgers: Range, number: int) -> tuple[int, Any]:
        """Write down which snapshot is of a range."""
        self.keys[ledgers] = number
        return OK, None

    def remove(self, ledgers: Range) -> tuple[int, Any]:
        """Strike the property of a range out."""
        self.keys.pop(ledgers, None)
        return OK, None
