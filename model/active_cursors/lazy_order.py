"""The broker's list of active cursors: changes wait until somebody asks, then the list is mended or built anew.

Moves wait in a priority queue of Java, and cursors are listed as its hash tables list their names, as in the class that
was released in 4.2.4: what comes of its defects depends on the order.
"""

from __future__ import annotations

from broker_tck.model.active_cursors.linked_list import NOWHERE, CountedList, Node
from broker_tck.model.active_cursors.order import Cursor, Order, Position
from broker_tck.model.java_collections import ConcurrentHashOrder, HashOrder, PriorityQueue
from broker_tck.model.rules import rule


def farthest_first(one: Node, other: Node) -> int:
    """The order of waiting moves: the farthest first. What is not in the list comes last, after itself as well."""
    if not one.position:
        return 1
    if not other.position:
        return -1
    return (other.position > one.position) - (other.position < one.position)


class LazyOrder(Order):
    """The list, and what waits to be done to it."""

    def __init__(self) -> None:
        super().__init__()
        self.list = CountedList(self.recounts)
        self.nodes: dict[str, Node] = {}
        self.listing = ConcurrentHashOrder()
        """The names of the nodes, in the order in which the list is built anew."""
        self.leaving: dict[str, Node] = {}
        self.unlinking = HashOrder()
        """The names of those that leave, in the order in which they are unlinked."""
        self.moves = PriorityQueue(farthest_first)
        """What waits to be moved. It outlives its cursor, and where that is added again, it waits twice."""

    def holds(self, cursor: Cursor) -> bool:
        node = self.nodes.get(cursor.name)
        return node is not None and bool(node.position or node.pending)

    def stays_last(self, cursor: Cursor, at: Position) -> bool:
        """Yes: the list asks whether to count a cursor anew of no other."""
        return True

    # ---- Changes, which wait

    def add(self, cursor: Cursor, at: Position | None) -> None:
        node = self.leaving.get(cursor.name) if at else None
        if node is None:
            node = Node(cursor)
        else:
            self.take_back(node, cursor)
        self.nodes[cursor.name] = node
        self.listing.add(cursor.name)
        if at:
            self.queue(node, at)

    def take_back(self, node: Node, cursor: Cursor) -> None:
        """Take the node of a removed cursor for another one of its name."""
        self.stay(cursor.name, node)
        if not self.releases(cursor):
            cursor.become(node.cursor)
        node.cursor = cursor

    @rule("CC-09", when=lambda o, cursor: True)
    def releases(self, cursor: Cursor) -> bool:
        """A removed object is let go of, even if one of its name is added before the list unlinks it."""
        return True

    def add_again(self, cursor: Cursor, at: Position | None) -> None:
        if at is None:
            self.lose(cursor)
        else:
            node = self.nodes[cursor.name]
            if self.forgets(cursor):
                self.stay(cursor.name, node)
            self.queue(node, at)

    def put(self, cursor: Cursor, at: Position) -> None:
        node = self.nodes[cursor.name]
        self.stay(cursor.name, node)
        self.queue(node, at)

    def lose(self, cursor: Cursor) -> None:
        self.untrack(cursor.name, self.nodes[cursor.name])

    def drop(self, cursor: Cursor) -> None:
        node = self.nodes.pop(cursor.name)
        self.listing.discard(cursor.name)
        self.untrack(cursor.name, node)

    def untrack(self, name: str, node: Node) -> None:
        """Have a node unlinked when the list is brought up to date; a move of it that waits leads nowhere."""
        if node.position:
            self.leaving[name] = node
            self.unlinking.add(name)
            node.leaving = True
        node.pending = NOWHERE

    def stay(self, name: str, node: Node) -> None:
        """Do not have it unlinked."""
        if node.leaving:
            node.leaving = False
            self.leaving.pop(name, None)
            self.unlinking.discard(name)

    def queue(self, node: Node, position: Position) -> None:
        """Have a node moved when the list is brought up to date."""
        if not node.pending:
            self.moves.add(node)
        node.pending = position

    # ---- Questions, before which the list is brought up to date

    def slowest(self) -> Position | None:
        self.bring_up_to_date()
        at = self.list.first.position if self.list.first else NOWHERE
        return self.first([(at[0], at[1])] if at else [])

    def count(self, cursor: Cursor | None) -> int:
        self.bring_up_to_date()
        node = self.nodes.get(cursor.name) if cursor else None
        return node.counter[0] if node and node.position else 0

    def bring_up_to_date(self) -> None:
        """Do what waits; where as many moves wait as half of the list, or more, it is built anew."""
        if len(self.moves.items) >= self.list.linked // 2:
            if self.leaving or self.moves.items:
                self.build_anew()
        else:
            self.mend()

    def build_anew(self) -> None:
        """Link all that have a position: by position, then as their names are listed."""
        tracked = []
        for node in (self.nodes[name] for name in self.listing):
            if node.pending:
                node.position, node.pending = node.pending, NOWHERE
            if node.leaving and self.forgets(node.cursor):
                node.position = NOWHERE
            node.linked = bool(node.position) and not node.leaving
            node.before = node.after = None
            node.leaving = False
            if node.linked:
                tracked.append(node)
        self.leaving.clear()
        self.unlinking.clear()
        self.moves.items.clear()
        self.list.build(sorted(tracked, key=lambda node: node.position))

    def mend(self) -> None:
        """Unlink what leaves, then do the moves that wait; one that leads nowhere is left out."""
        for node in (self.leaving[name] for name in self.unlinking):
            self.list.unlink_counted(node)
            node.leaving = False
            if self.forgets(node.cursor):
                node.position = NOWHERE
        self.leaving.clear()
        self.unlinking.clear()
        while self.moves.items:
            node = self.moves.poll()
            if not node.pending:
                continue
            if node.position:
                self.list.move(node, node.pending)
            else:
                node.position = node.pending
                self.list.insert(node, node.position)
            node.pending = NOWHERE
