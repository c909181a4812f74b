"""The order of the broker's list of active cursors, in which each position has a counter.

Changes wait until somebody asks, then the list is mended or built anew. Moves wait in a priority queue of Java, and
cursors are listed as its hash tables list their names. The order and the counters are those of the class as released in
4.2.4, as what comes of its defects depends on them.

One thing is put right: the class leaves the links of a cursor that lost its position as they are, and a list may come
to run in a circle. Here nothing is taken out twice.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from operator import attrgetter

from broker_tck.model.active_cursors.specification import Cursor, Order, Position
from broker_tck.model.java_collections import ConcurrentHashOrder, HashOrder, PriorityQueue
from broker_tck.model.rules import rule

Place = tuple[int, ...]
"""A position, or :data:`NOWHERE`."""
NOWHERE: Place = ()


class Node:
    """A cursor, in the list or not. A counter is a list with one number, shared by all nodes of a position."""

    __slots__ = ("counter", "cursor", "pending", "position")

    def __init__(self, cursor: Cursor) -> None:
        self.cursor = cursor
        self.position = NOWHERE
        self.pending = NOWHERE
        self.counter = [0]


PLACE = attrgetter("position")


class CountedList:
    """The nodes in order, and their counters."""

    def __init__(self, recounts: Callable[[Cursor, Position], bool]) -> None:
        self.recounts = recounts
        self.nodes: list[Node] = []

    def build(self, nodes: list[Node]) -> None:
        """Hold nodes that are in order, and no others."""
        self.nodes = nodes
        counter, position = [0], NOWHERE
        for number, node in enumerate(nodes, 1):
            if node.position != position:
                counter, position = [0], node.position
            node.counter = counter
            counter[0] = number

    def insert(self, node: Node) -> None:
        """Insert a node behind all that are not after it."""
        at = bisect_right(self.nodes, node.position, key=PLACE)
        tied = self.first_beside(at, node.position)
        node.counter = self.nodes[tied].counter if tied < at else [at]
        self.nodes.insert(at, node)
        self.recount(self.nodes[tied:], 1)

    def remove(self, node: Node) -> None:
        """Take a node out, if it is there, and count the others without it."""
        if node in self.nodes:
            at = self.nodes.index(node)
            del self.nodes[at]
            self.recount(self.nodes[self.first_beside(at, node.position) :], -1)

    def first_beside(self, at: int, position: Place) -> int:
        """The place of the first of the nodes right before a place that are all at one position."""
        while at and self.nodes[at - 1].position == position:
            at -= 1
        return at

    @staticmethod
    def recount(nodes: Iterable[Node], by: int, done: Place = NOWHERE) -> None:
        """Change the counter of each position of some nodes, except the one that is done."""
        for node in nodes:
            if node.position != done:
                done = node.position
                node.counter[0] += by

    def move(self, node: Node, new: Place) -> None:
        """Move a node, and count anew whatever it passes by."""
        old, at = node.position, self.nodes.index(node) if node in self.nodes else None
        if old == new:
            return
        if at is None:
            node.counter[0] -= old < new
            node.counter = [1]
        elif not self.stays_last(at, new) or self.recounts(node.cursor, (new[0], new[1])):
            del self.nodes[at]
            if old < new:
                self.move_on(node, at, new)
            else:
                self.move_back(node, at, new)
        node.position = new

    def stays_last(self, at: int, new: Place) -> bool:
        """Whether a node is the last one, and will be at another position."""
        return at == len(self.nodes) - 1 and (at == 0 or self.nodes[at - 1].position <= new)

    def move_on(self, node: Node, at: int, new: Place) -> None:
        """Insert a node behind those that it passes; each of their positions has one cursor less up to it."""
        start, at = at, bisect_left(self.nodes, new, at, key=PLACE)
        node.counter[0] -= 1
        self.recount(self.nodes[start:at], -1, done=node.position)
        if at < len(self.nodes) and self.nodes[at].position == new:
            node.counter = self.nodes[at].counter
        else:
            node.counter = [self.nodes[at - 1].counter[0] + 1 if at else 1]
        self.nodes.insert(at, node)

    def move_back(self, node: Node, at: int, new: Place) -> None:
        """Insert a node before those that it passes; each of their positions has one cursor more up to it."""
        end, at = at, bisect_right(self.nodes, new, 0, at, key=PLACE)
        self.recount(reversed(self.nodes[at:end]), 1, done=node.position)
        if at and self.nodes[at - 1].position == new:
            node.counter = self.nodes[at - 1].counter
        else:
            node.counter = [self.nodes[at - 1].counter[0] if at else 0]
        node.counter[0] += 1
        self.nodes.insert(at, node)


def farthest_first(one: Node, other: Node) -> int:
    """The order of waiting moves: the farthest first. A node that is not in the list comes last, even after itself."""
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
        """Moves that wait. A move outlives its cursor; if the cursor is added again, it waits twice."""

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
        """The list lets go of a removed object, even if a cursor of its name is added before the list unlinks it."""
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
        """Cancel the unlinking of a node."""
        if self.leaves(node):
            del self.leaving[node.cursor.name]
            self.unlinking.discard(node.cursor.name)

    def kept(self) -> Iterable[Cursor]:
        return (node.cursor for node in (*self.nodes.values(), *self.leaving.values(), *self.moves.items))

    def queue(self, node: Node, position: Position) -> None:
        """Have a node moved when the list is brought up to date."""
        if not node.pending:
            self.moves.add(node)
        node.pending = position

    # ---- Questions, before which the list is brought up to date

    def slowest(self) -> Position | None:
        self.bring_up_to_date()
        at = self.list.nodes[0].position if self.list.nodes else None
        return self.first([(at[0], at[1])] if at else [])

    def count(self, cursor: Cursor | None) -> int:
        self.bring_up_to_date()
        node = self.nodes.get(cursor.name) if cursor else None
        return node.counter[0] if node and node.position else 0

    def bring_up_to_date(self) -> None:
        """Make the waiting changes; if half of the list or more waits to be moved, build it anew."""
        if len(self.moves.items) >= len(self.list.nodes) // 2:
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
            if not self.leaves(node):
                tracked += [node] if node.position else []
            elif self.forgets(node.cursor):
                node.position = NOWHERE
        self.leaving.clear()
        self.unlinking.clear()
        self.moves.items.clear()
        self.list.build(sorted(tracked, key=lambda node: node.position))

    def mend(self) -> None:
        """Unlink the leaving nodes, then make the waiting moves, except those that lead nowhere."""
        for node in map(self.leaving.__getitem__, self.unlinking):
            self.list.remove(node)
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
