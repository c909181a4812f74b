"""The order of the broker's list of active cursors: a linked list, in which each position has a counter.

Changes wait until somebody asks, then the list is mended or built anew. Moves wait in a priority queue of Java, and
cursors are listed as its hash tables list their names. The order, the links and the counters are those of the class as
released in 4.2.4, as what comes of its defects depends on them.

One thing is put right: the class leaves the links of a cursor that lost its position as they are, and a list may come
to run in a circle. Here they are cleared, and nothing is unlinked twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from broker_tck.model.active_cursors.specification import Cursor, Order, Position
from broker_tck.model.java_collections import ConcurrentHashOrder, HashOrder, PriorityQueue
from broker_tck.model.rules import rule

Place = tuple[int, ...]
"""A position, or :data:`NOWHERE`."""
NOWHERE: Place = ()


class Node:
    """A cursor in the list; unlinked, it is its own neighbour.

    A counter is a list with one number, shared by all nodes of a position.
    """

    __slots__ = ("after", "before", "counter", "cursor", "pending", "position")

    def __init__(self, cursor: Cursor) -> None:
        self.cursor = cursor
        self.position = NOWHERE
        self.pending = NOWHERE
        self.counter = [0]
        self.before = self.after = self


class CountedList:
    """The links and the counters. The root is a node before the first and behind the last, at no position."""

    def __init__(self, recounts: Callable[[Cursor, Position], bool]) -> None:
        self.recounts = recounts
        self.root = Node(Cursor("", 0))
        self.linked = 0

    def build(self, nodes: Iterable[Node]) -> None:
        """Link nodes that are in order, and no others."""
        root = self.root
        root.before = root.after = root
        self.linked = 0
        for node in nodes:
            self.linked += 1
            before = root.before
            self.link(before, node)
            node.counter = before.counter if before.position == node.position else [0]
            node.counter[0] = self.linked

    def insert(self, node: Node) -> None:
        """Link a node behind all that are not after it."""
        self.linked += 1
        tied: Node | None = None
        current = self.root.after
        smaller = 0
        while current is not self.root and current.position <= node.position:
            if current.position < node.position:
                smaller += 1
            elif tied is None:
                tied = current
            current = current.after
        node.counter = tied.counter if tied else [smaller]
        self.link(current.before, node)
        self.recount(tied or node, 1)

    def unlink_counted(self, node: Node) -> None:
        """Unlink a node, if it is linked, and count the others without it."""
        if node.after is node:
            return
        start, current = node.after, node.before
        while current.position == node.position:
            start, current = current, current.before
        self.unlink(node)
        self.recount(start, -1)
        node.before = node.after = node
        self.linked -= 1

    def recount(self, start: Node, by: int) -> None:
        """Change the counter of each position from a node on."""
        done = NOWHERE
        while start is not self.root:
            if start.position != done:
                done = start.position
                start.counter[0] += by
            start = start.after

    def move(self, node: Node, new: Place) -> None:
        """Move a node, and count anew whatever it passes by."""
        old = node.position
        last = node.after is self.root and node.before.position <= new
        if old == new or (last and not self.recounts(node.cursor, (new[0], new[1]))):
            pass
        elif node.after is node:
            node.counter[0] -= old < new
            node.counter = [1]
        else:
            self.unlink(node)
            if old < new:
                self.link_farther_on(node, new)
            else:
                self.link_farther_back(node, new)
        node.position = new

    def link_farther_on(self, node: Node, new: Place) -> None:
        """Link a node behind those that it passes; each of their positions has one cursor less up to it."""
        node.counter[0] -= 1
        current, done = node.after, node.position
        while current is not self.root and current.position < new:
            if current.position != done:
                done = current.position
                current.counter[0] -= 1
            current = current.after
        before = current.before
        self.link(before, node)
        node.counter = current.counter if current.position == new else [before.counter[0] + 1]

    def link_farther_back(self, node: Node, new: Place) -> None:
        """Link a node before those that it passes; each of their positions has one cursor more up to it."""
        current, done = node.before, node.position
        while current.position > new:
            if current.position != done:
                done = current.position
                current.counter[0] += 1
            current = current.before
        self.link(current, node)
        node.counter = current.counter if current.position == new else [current.counter[0]]
        node.counter[0] += 1

    def link(self, before: Node, node: Node) -> None:
        """Put a node behind another."""
        node.before, node.after = before, before.after
        before.after = node.after.before = node

    def unlink(self, node: Node) -> None:
        """Close the gap around a node, which keeps its own links."""
        node.before.after, node.after.before = node.after, node.before


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
        """What waits to be moved. It outlives its cursor; if that is added again, it waits twice."""

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
            self.stay(node)
            if not self.releases(cursor):
                cursor.become(node.cursor)
            node.cursor = cursor
        self.nodes[cursor.name] = node
        self.listing.add(cursor.name)
        if at:
            self.queue(node, at)

    @rule("CC-09", when=lambda o, cursor: True)
    def releases(self, cursor: Cursor) -> bool:
        """A removed object is let go of, even if one of its name is added before the list unlinks it."""
        return True

    def add_again(self, cursor: Cursor, at: Position | None) -> None:
        if at and not self.forgets(cursor):
            self.queue(self.nodes[cursor.name], at)
        else:
            super().add_again(cursor, at)

    def put(self, cursor: Cursor, at: Position) -> None:
        node = self.nodes[cursor.name]
        self.stay(node)
        self.queue(node, at)

    def lose(self, cursor: Cursor) -> None:
        self.untrack(self.nodes[cursor.name])

    def drop(self, cursor: Cursor) -> None:
        node = self.nodes.pop(cursor.name)
        self.listing.discard(cursor.name)
        self.untrack(node)

    def untrack(self, node: Node) -> None:
        """Have a node unlinked when the list is brought up to date; a move of it that waits leads nowhere."""
        if node.position:
            self.leaving[node.cursor.name] = node
            self.unlinking.add(node.cursor.name)
        node.pending = NOWHERE

    def leaves(self, node: Node) -> bool:
        """Whether a node waits to be unlinked."""
        return self.leaving.get(node.cursor.name) is node

    def stay(self, node: Node) -> None:
        """Do not have it unlinked."""
        if self.leaves(node):
            del self.leaving[node.cursor.name]
            self.unlinking.discard(node.cursor.name)

    def queue(self, node: Node, position: Position) -> None:
        """Have a node moved when the list is brought up to date."""
        if not node.pending:
            self.moves.add(node)
        node.pending = position

    # ---- Questions, before which the list is brought up to date

    def slowest(self) -> Position | None:
        self.bring_up_to_date()
        at = self.list.root.after.position
        return self.first([(at[0], at[1])] if at else [])

    def count(self, cursor: Cursor | None) -> int:
        self.bring_up_to_date()
        node = self.nodes.get(cursor.name) if cursor else None
        return node.counter[0] if node and node.position else 0

    def bring_up_to_date(self) -> None:
        """Do what waits; if half of the list or more waits to be moved, build it anew."""
        if len(self.moves.items) >= self.list.linked // 2:
            if self.leaving or self.moves.items:
                self.build_anew()
        else:
            self.mend()

    def build_anew(self) -> None:
        """Link all that have a position: by position, then as their names are listed."""
        tracked = []
        for node in map(self.nodes.__getitem__, self.listing):
            if node.pending:
                node.position, node.pending = node.pending, NOWHERE
            node.before = node.after = node
            if not self.leaves(node):
                tracked += [node] if node.position else []
            elif self.forgets(node.cursor):
                node.position = NOWHERE
        self.leaving.clear()
        self.unlinking.clear()
        self.moves.items.clear()
        self.list.build(sorted(tracked, key=lambda node: node.position))

    def mend(self) -> None:
        """Unlink what leaves, then do the moves that wait; one that leads nowhere is left out."""
        for node in map(self.leaving.__getitem__, self.unlinking):
            self.list.unlink_counted(node)
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
                self.list.insert(node)
            node.pending = NOWHERE
