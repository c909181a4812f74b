"""What is stored: buckets cut into segments, the cursor's properties, and the calls that change both.

A flow is an ``async`` method: it waits for the outcomes of calls, and of other flows. Calls end when an operation ends
them. While a tracker recovers, they end at once.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator, Sequence
from typing import Any, NamedTuple

from broker_tck.model.parts.calls import CallsUnderWay

# ---- What is to come


class Promise:
    """An outcome that is not there yet. Those who wait for it go on in the order in which they came."""

    __slots__ = "outcome", "settled", "waiting"

    def __init__(self) -> None:
        self.settled = False
        self.outcome: Any = None
        self.waiting: list[Callable[[Any], None]] = []

    def settle(self, outcome: Any) -> None:
        """The outcome is there."""
        self.settled, self.outcome = True, outcome
        waiting, self.waiting = self.waiting, []
        for go_on in waiting:
            go_on(outcome)

    def then(self, go_on: Callable[[Any], None]) -> None:
        """Go on with the outcome, at once if it is there."""
        if self.settled:
            go_on(self.outcome)
        else:
            self.waiting.append(go_on)

    def __await__(self) -> Generator[Promise, None, Any]:
        if not self.settled:
            yield self
        return self.outcome


def settled(outcome: Any) -> Promise:
    """An outcome that is there."""
    promise = Promise()
    promise.settle(outcome)
    return promise


def started(flow: Coroutine[Promise, None, Any]) -> Promise:
    """Run a flow until it waits, and on from there; settles with what it returns."""
    ended = Promise()

    def go_on(_: Any = None) -> None:
        try:
            awaited = flow.send(None)
        except StopIteration as end:
            ended.settle(end.value)
        else:
            awaited.then(go_on)

    go_on()
    return ended


def all_of(promises: Sequence[Promise]) -> Promise:
    """The outcomes of all, in a list, when the last one is there."""
    whole = Promise()
    left = len(promises)

    def one_more(_: Any) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            whole.settle([promise.outcome for promise in promises])

    for promise in promises:
        promise.then(one_more)
    return whole if promises else settled([])


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

    def __init__(self, ledgers: Range, sources: Sequence[Bucket] = ()) -> None:
        self.ledgers = ledgers
        self.sources = sources
        """The buckets that it was merged of."""
        self.about: Sequence[About] = []
        """What is known of each segment."""
        self.size = 0
        """Number of indexes that it had when it was made."""
        self.current = 1
        """The number of the segment that was loaded last, counted from 1."""
        self.held: set[Position] = set()
        """The positions that it had when it was made."""
        self.created = Promise()
        """Settles with whether the snapshot is stored, after its key was put, or could not be."""
        self.id: int | None = None
        """The number of its snapshot; None: there is none yet."""
        self.keyed = False
        """Whether its key was put."""
        self.merging = False
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
Answer = tuple[int, Any]
"""How a call ended, and with what."""
Effect = Callable[[], Answer]
"""What a call does to what is durable."""


class Call:
    """A call that waits for its end."""

    def __init__(self, label: str, effect: Effect, owner: object) -> None:
        self.label = label
        self.effect = effect
        self.owner = owner
        """Whoever made it."""
        self.ended = Promise()
        """Settles with its :data:`Answer`."""

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
        """Number of ids that were given."""
        self.keys: dict[Range, int] = {}
        """The snapshot of each range, by its number."""
        self.first_live: int | None = None
        """The ledger of the cursor's mark-delete position."""
        self.calls: CallsUnderWay[Call] = CallsUnderWay()
        self.answers_at_once = False
        """Whether calls take effect and end as they are made."""

    # ---- What calls do

    def create(self, snapshot: Snapshot) -> Answer:
        """Store a snapshot under a new number."""
        self.made += 1
        self.snapshots[self.made] = snapshot
        return OK, self.made

    def read(self, number: int | None, part: Callable[[Snapshot], Any]) -> Answer:
        """Read a part of a snapshot."""
        if number not in self.snapshots:
            return MISSING, None
        if number in self.unreadable:
            return UNREADABLE, None
        return OK, part(self.snapshots[number])

    def delete(self, number: int) -> Answer:
        """Delete a snapshot. One that is not there is as good as deleted."""
        self.snapshots.pop(number, None)
        return OK, None

    def put(self, ledgers: Range, number: int) -> Answer:
        """Write down which snapshot is of a range."""
        self.keys[ledgers] = number
        return OK, None

    def remove(self, ledgers: Range) -> Answer:
        """Strike the property of a range out."""
        self.keys.pop(ledgers, None)
        return OK, None
