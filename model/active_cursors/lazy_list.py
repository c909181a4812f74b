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
    """A cursor in the list. A counter is a list with one number, shared by all nodes of a position."""

    __slots__ = ("after", "before", "counter", "cursor", "leaving", "linked", "pending", "position")

    def __init__(self, cursor: Cursor) -> None:
        self.cursor = cursor
        self.position = NOWHERE
        self.pending = NOWHERE
        self.leaving = False
        self.linked = False
        self.counter = [0]
        self.before: Node | None = None
        self.after: Node | None = None


class CountedList:
    """The links and the counters."""

    def __init__(self, recounts: Callable[[Cursor, Position], bool]) -> None:
        self.recounts = recounts
        self.first: Node | None = None
        self.last: Node | None = None
        self.linked = 0

    def build(self, nodes: Iterable[Node]) -> None:
        """Link nodes that are in order, and no others."""
        self.first = self.last = None
        self.linked = 0
        for node in nodes:
            self.linked += 1
            before: Node | None = self.last
            self.link(before, node, None)
            node.counter = before.counter if before and before.position == node.position else [0]
            node.counter[0] = self.linked

    def insert(self, node: Node, position: Place) -> None:
        """Link a node behind all that are not after it."""
        self.linked += 1
        node.linked = True
        if self.first is None:
            self.first = self.last = node
            node.counter = [1]
            return
        tied: Node | None = None
        current: Node | None = self.first
        smaller = 0
        while current and current.position <= position:
            if current.position < position:
                smaller += 1
            elif tied is None:
                tied = current
            current = current.after
        node.counter = tied.counter if tied else [smaller + 1]
        self.link(current.before if current else self.last, node, current)
        self.recount(tied or node.after, 1)

    def unlink_counted(self, node: Node) -> None:
        """Unlink a node, if it is linked, and count the others without it."""
        if not node.linked:
            return
        tied, current = None, node.before
        while current and current.position == node.position:
            tied, current = current, current.before
        self.unlink(node)
        self.recount(tied or node.after, -1)
        node.before = node.after = None
        node.linked = False
        self.linked -= 1

    def recount(self, start: Node | None, by: int) -> None:
        """Change the counter of each position from a node on."""
        done = NOWHERE
        while start:
            if start.position != done:
                done = start.position
                start.counter[0] += by
            start = start.after

    def move(self, node: Node, new: Place) -> None:
        """Move a node, and count anew whatever it passes by."""
        old = node.position
        stays = not (node.before and node.before.position > new) and not (node.after and node.after.position < new)
        if old == new or (stays and node is self.last and not self.recounts(node.cursor, (new[0], new[1]))):
            node.position = new
        elif not node.linked:
            node.position = new
            node.counter[0] -= old < new
            node.counter = [1]
        else:
            self.unlink(node)
            if old < new:
                self.move_on(node, old, new)
            else:
                self.move_back(node, old, new)
            node.position = new

    def move_on(self, node: Node, old: Place, new: Place) -> None:
        """Link a node that was unlinked farther on."""
        node.counter[0] -= 1
        current, done = node.after, old
        while current and current.position < new:
            if current.position != done:
                done = current.position
                current.counter[0] -= 1
            current = current.after
        before = current.before if current else self.last
        self.link(before, node, current)
        if current and current.position == new:
            node.counter = current.counter
        else:
            node.counter = [(before.counter[0] if before else 0) + 1]

    def move_back(self, node: Node, old: Place, new: Place) -> None:
        """Link a node that was unlinked farther back."""
        current, done = node.before, old
        while current and current.position > new:
            if current.position != done:
                done = current.position
                current.counter[0] += 1
            current = current.before
        self.link(current, node, current.after if current else self.first)
        if current and current.position == new:
            node.counter = current.counter
            node.counter[0] += 1
        else:
            node.counter = [(current.counter[0] if current else 0) + 1]

    def link(self, before: Node | None, node: Node, after: Node | None) -> None:
        """Put a node between two."""
        node.before, node.after = before, after
        if before:
            before.after = node
        else:
            self.first = node
        if after:
            after.before = node
        else:
            self.last = node

    def unlink(self, node: Node) -> None:
        """Close the gap around a node, which keeps its own links."""
        if node.before:
            node.before.after = node.after
        else:
            self.first = node.after
        if node.after:
            node.after.before = node.before
        else:
            self.last = node.before


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
