"""What is stored: buckets cut into segments, the cursor's properties, and the calls that change both.

Whoever calls gets the outcome when an operation ends the call. While a tracker recovers, its calls end at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from broker_tck.model.parts.calls import CallsUnderWay

# ---- What is to come


class Promise:
    """An outcome that is not there yet. Those who wait for it are told in the order in which they came."""

    def __init__(self) -> None:
        self.settled = False
        self.outcome: Any = None
        self.waiting: list[Callable[[Any], None]] = []

    def settle(self, outcome: Any) -> None:
        """Tell the outcome, once."""
        self.settled, self.outcome = True, outcome
        waiting, self.waiting = self.waiting, []
        for told in waiting:
            told(outcome)

    def then(self, told: Callable[[Any], None]) -> None:
        """Go on with the outcome, at once if it is there."""
        if self.settled:
            told(self.outcome)
        else:
            self.waiting.append(told)


def settled(outcome: Any) -> Promise:
    """An outcome that is there."""
    promise = Promise()
    promise.settle(outcome)
    return promise


def all_of(promises: Sequence[Promise]) -> Promise:
    """The outcomes of all, in a list, when the last one is there."""
    whole = Promise()
    left = len(promises)

    def told(_: Any) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            whole.settle([promise.outcome for promise in promises])

    for promise in promises:
        promise.then(told)
    if not promises:
        whole.settle([])
    return whole


# ---- Buckets

Position = tuple[int, int]
"""Ledger and entry."""
Index = tuple[int, int, int]
"""When to deliver, ledger, and entry: sorted in this order."""
Segment = Sequence[Index]
Range = tuple[int, int]
"""The first and the last ledger."""


class About(NamedTuple):
    """What a snapshot says of a segment, so that it need not be read."""

    first_time: int
    last_time: int
    positions: frozenset[Position]


class Snapshot(NamedTuple):
    """A bucket as it is stored."""

    about: Sequence[About]
    segments: Sequence[Segment]


class Bucket:
    """A sealed bucket. Of its segments, one is loaded; those behind it are in the storage alone."""

    def __init__(self, ledgers: Range) -> None:
        self.ledgers = ledgers
        self.about: Sequence[About] = []
        """What is known of each segment."""
        self.size = 0
        """How many indexes it had when it was made."""
        self.current = 1
        """The number of the segment that was loaded last, counted from 1."""
        self.held: set[Position] = set()
        """The positions that it had when it was made."""
        self.created = Promise()
        """Settles with whether the snapshot is stored, after its key was put, or could not be."""
        self.id: int | None = None
        """The snapshot's; None: there is none yet."""
        self.keyed = False
        """Whether its key was put."""
        self.merging = False
        self.sources: Sequence[Bucket] = []
        """The buckets that it was merged of."""
        self.was_recovered = False
        self.given_up = False
        """Whether it was cleared, so that its snapshot is of no use."""
        self.deleted: Promise | None = None
        """The deletion of its snapshot and key, once that has begun; settles with whether it went well."""

    @property
    def last(self) -> int:
        """The number of its last segment."""
        return len(self.about)

    @property
    def unloaded(self) -> int:
        """How many segments were not loaded yet."""
        return self.last - self.current

    def held_behind(self, segment: int) -> set[Position]:
        """The positions in segments behind one, which is named by its number."""
        return {position for about in self.about[segment:] for position in about.positions}


# ---- What outlives a tracker

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
