"""A sealed bucket: a range of ledgers whose indexes are cut into segments and stored in a snapshot."""

from __future__ import annotations

from array import array

from broker_tck.implementations.bucket_delivery.inventory import Inventory
from broker_tck.implementations.bucket_delivery.packed import Packed
from broker_tck.implementations.bucket_delivery.promise import Promise
from broker_tck.implementations.interface import BUCKET_PROPERTY_PREFIX, DelayedIndex


class SealedBucket:
    """What a tracker knows of a bucket. Of its segments one was loaded last; those behind it are in the storage."""

    __slots__ = (
        "_first_current",
        "boundary",
        "created",
        "current",
        "deletion",
        "first_ledger",
        "first_times",
        "given_up",
        "inventory",
        "keyed",
        "last",
        "last_ledger",
        "merging",
        "number",
        "placed",
        "size",
    )

    def __init__(self, first_ledger: int, last_ledger: int) -> None:
        self.first_ledger = first_ledger
        self.last_ledger = last_ledger
        self.number: int | None = None
        """The number of its snapshot; None: it has none."""
        self.created: Promise[bool] = Promise()
        """Whether the snapshot is stored: told once its key was put, or could not be."""
        self.deletion: Promise[bool] | None = None
        """The deletion of snapshot and key that began last; whether both went well."""
        self.keyed = False
        """Whether its key was put."""
        self.given_up = False
        """Whether it was cleared, so that no key is put for it."""
        self.placed = False
        """Whether it lies over its ledgers."""
        self.merging = False
        self.boundary: DelayedIndex | None = None
        """The last index of what was loaded, before which the next segment has to be."""

    def describe(self, first_times: array[int], current: int, size: int, inventory: Inventory) -> None:
        """Say what it has, from the segment on that is loaded now: ``current``, counted from 1.

        ``first_times`` are those of all segments, in milliseconds.
        """
        self.first_times = first_times
        self.last = len(first_times)
        """The number of its last segment."""
        self.current = self._first_current = current
        self.size = size
        """How many messages it had then, by which those are chosen that are merged."""
        self.inventory = inventory

    @property
    def key(self) -> str:
        """The key of its property."""
        return f"{BUCKET_PROPERTY_PREFIX}_{self.first_ledger}_{self.last_ledger}"

    @property
    def next_time(self) -> int:
        """The first time of the next segment, of which there must be one; milliseconds."""
        return self.first_times[self.current]

    def go_on(self, segment: Packed) -> None:
        """The next segment was loaded."""
        self.current += 1
        self.inventory.loaded(self.current - self._first_current, segment)
