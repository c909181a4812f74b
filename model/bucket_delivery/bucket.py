"""A sealed bucket: a range of ledgers, and the indexes that were cut into segments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from broker_tck.model.bucket_delivery.promise import Promise

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
