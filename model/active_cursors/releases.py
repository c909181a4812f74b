"""The broker's containers: each replaces the clauses of the specification in which it differs, and nothing else."""

from __future__ import annotations

from broker_tck.model.active_cursors.heap import HeapOrder
from broker_tck.model.active_cursors.lazy_list import LazyOrder
from broker_tck.model.active_cursors.specification import ActiveCursors, Cursor, Oldest, Position
from broker_tck.model.reference import Allowed


class PulsarTreeSet(ActiveCursors):
    """The tree set of 2025-09-20: an add under a name that is there leaves the old position behind."""

    PROFILE = "pulsar-tree-set"
    BREAKS = ("CC-P14", "CC-P16", "CC-P17")

    def is_update(self, name: str) -> bool:
        return False


class HeapOf2025(HeapOrder):
    """A heap that a removal leaves out of order, and that keeps a cursor whose position was taken away."""

    def mends(self) -> bool:
        return False

    def forgets(self, cursor: Cursor) -> bool:
        return False


class PulsarHeap(ActiveCursors):
    """The heap of all cursors of 2025-09-20: a removal leaves it out of order, and it cannot do without a position."""

    PROFILE = "pulsar-heap"
    BREAKS = ("CC-P14", "CC-P15", "CC-P17")
    NOT_APPLICABLE = ("CC-03", "CC-10", "CC-P16")
    Order = HeapOf2025
    order: HeapOrder

    def is_update(self, name: str) -> bool:
        return False

    def tracks_late(self, at: Position | None) -> bool:
        return False

    def oldest(self) -> Oldest | Allowed | None:
        items = self.order.heap
        if not items:
            return None
        at = items[0].position
        if self.order.mends() and at is not None:
            return self.any_of([item.cursor.number for item in items if item.position == at], at)
        return items[0].cursor.number, at, self.version

    def has_durable(self) -> bool:
        return self.order.durables > 0


class ListOf2025(LazyOrder):
    """A list that miscounts what the last cursor leaves, and keeps what it should let go of."""

    def recounts(self, cursor: Cursor, at: Position) -> bool:
        return False

    def forgets(self, cursor: Cursor) -> bool:
        return False

    def releases(self, cursor: Cursor) -> bool:
        return False


class PulsarList2025(ActiveCursors):
    """The list of 2025-09-20: it miscounts what the last cursor leaves, and keeps what it should let go of."""

    PROFILE = "pulsar-list-2025"
    BREAKS = ("CC-07", "CC-P14", "CC-P15", "CC-P16", "CC-P17", "rename")
    NOT_APPLICABLE = ("CC-03", "CC-11")
    Order = ListOf2025


PROFILES = {model.PROFILE: model for model in (ActiveCursors, PulsarList2025, PulsarHeap, PulsarTreeSet)}
"""Every profile of the contract; the first is the default."""
