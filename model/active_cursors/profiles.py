"""What the broker's containers do otherwise than the specification of active cursors: a profile for each."""

from __future__ import annotations

from typing import ClassVar

from broker_tck.model.active_cursors.heap import NOWHERE, CursorHeap, HeapItem
from broker_tck.model.active_cursors.linked_list import CursorList
from broker_tck.model.active_cursors.specification import ActiveCursors, Config, Oldest, Position
from broker_tck.model.reference import Allowed


class PulsarTreeSet(ActiveCursors):
    """The tree set of 2025-09-20: an add under a name that is there leaves the old position behind."""

    PROFILE = "pulsar-tree-set"
    BREAKS: ClassVar[tuple[str, ...]] = ("CC-P14", "CC-P16")

    def is_update(self, name: str) -> bool:
        return False


class PulsarHeap(ActiveCursors):
    """The heap of all cursors of 2025-09-20: a removal leaves it out of order, and positions have to be known."""

    PROFILE = "pulsar-heap"
    BREAKS: ClassVar[tuple[str, ...]] = ("CC-P14", "CC-P15")
    MOOT: ClassVar[tuple[str, ...]] = ("CC-03", "CC-10", "CC-P16")

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.heap = CursorHeap()
        self.items: dict[str, HeapItem] = {}
        self.durable_items = 0

    def is_update(self, name: str) -> bool:
        return False

    def tracks_late(self) -> bool:
        return False

    def forgets_position(self) -> bool:
        return False

    def mends(self) -> bool:
        return False

    def add_object(self, name: str, at: Position | None, durable: bool) -> None:
        self.added += 1
        if name in self.items and self.is_update(name):
            self.version += self.version_step()
            self.set_position(self.items[name], at)
            return
        item = self.items[name] = HeapItem(self.added, at, durable)
        self.objects[name] = self.added
        if durable:
            self.durables.add(self.added)
        if at is not None:
            self.heap.add(item)
        self.durable_items += durable
        self.version += self.version_step()

    def update(self, name: str, at: Position | None) -> None:
        item = self.items.get(name)
        if item is None:
            self.version += self.unknown_step()
            return
        if item.at == NOWHERE and not self.tracks_late():
            return
        if item.at != NOWHERE or at is not None:
            self.version += self.update_step()
            self.set_position(item, at)

    def set_position(self, item: HeapItem, at: Position | None) -> None:
        """Give an item another position, or none."""
        if item.at != NOWHERE and at is None and self.forgets_position():
            self.heap.remove(item, self.mends())
        item.position = at
        if item.at != NOWHERE:
            self.heap.moved(item)
        elif at is not None:
            self.heap.add(item)

    def take_out(self, name: str) -> None:
        item = self.items.pop(name)
        if item.at != NOWHERE:
            self.heap.remove(item, self.mends())
        self.durable_items -= item.durable

    def slowest(self) -> Position | None:
        return self.heap.items[0].position if self.heap.items else None

    def oldest(self) -> Oldest | Allowed | None:
        if not self.heap.items:
            return None
        item = self.heap.items[0]
        if self.mends() and item.position is not None:
            return self.any_of([i.number for i in self.heap.items if i.position == item.position], item.position)
        return item.number, item.position, self.version

    def has_durable(self) -> bool:
        return self.durable_items > 0


class PulsarList2025(ActiveCursors):
    """The list of 2025-09-20: it miscounts what the last cursor leaves, and keeps what it should let go of."""

    PROFILE = "pulsar-list-2025"
    BREAKS: ClassVar[tuple[str, ...]] = ("CC-07", "CC-P14", "CC-P15", "CC-P16", "rename")
    MOOT: ClassVar[tuple[str, ...]] = ("CC-03", "CC-11")

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.list = CursorList(self.recounts_last(), self.forgets_position(), self.releases())

    def recounts_last(self) -> bool:
        return False

    def forgets_position(self) -> bool:
        return False

    def releases(self) -> bool:
        return False

    def add_object(self, name: str, at: Position | None, durable: bool) -> None:
        self.added += 1
        if name in self.objects and not self.is_update(name):
            del self.list.nodes[name]
            self.list.listing.discard(name)
        self.list.add(name, self.added, at or ())
        self.objects[name] = self.list.nodes[name].number

    def place(self, name: str, at: Position | None) -> None:
        self.list.update(name, at or ())

    def take_out(self, name: str) -> None:
        self.list.remove(name)

    def slowest(self) -> Position | None:
        at = self.list.slowest()
        return (at[0], at[1]) if at else None

    def count(self, name: str) -> int:
        count = self.list.count(name)
        return self.start(count) if count else self.start_untracked(name)


PROFILES = {m.PROFILE: m for m in (ActiveCursors, PulsarList2025, PulsarHeap, PulsarTreeSet)}
"""Every profile of the contract; the first is the default."""
