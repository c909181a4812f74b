"""The broker's list of active cursors: changes wait until somebody asks, then the list is mended or built anew.

Cursors at one position share a counter. The order, the links and the counters are those of the class as released in
4.2.4, as what comes of its defects depends on them: moves wait in a priority queue of Java, and cursors are listed as
its hash tables list their names. Three things it does only where it is told to: count the last cursor anew when it
stays the last one, forget a position that was taken away, and take over the object of one that is added again.

One thing is put right: the class leaves the links of a cursor that lost its position as they are, and a list may come
to run in a circle. Here they are cleared, and nothing is unlinked twice.
"""

from __future__ import annotations

from broker_tck.model.java_collections import ConcurrentHashOrder, HashOrder, PriorityQueue

Place = tuple[int, ...]
"""A position, or :data:`NOWHERE`."""
NOWHERE: Place = ()


class Node:
    """A cursor in the list. A counter is a list with one number, shared by all nodes of a position."""

    __slots__ = ("after", "before", "counter", "leaving", "linked", "number", "pending", "position")

    def __init__(self, number: int) -> None:
        self.number = number
        self.position = NOWHERE
        self.pending = NOWHERE
        self.leaving = False
        self.linked = False
        self.counter = [0]
        self.before: Node | None = None
        self.after: Node | None = None


def farthest_first(one: Node, other: Node) -> int:
    """The order of waiting moves: the farthest first. What is not in the list comes last, after itself as well."""
    if not one.position:
        return 1
    if not other.position:
        return -1
    return (other.position > one.position) - (other.position < one.position)


class CursorList:
    """The list, and what waits to be done to it."""

    def __init__(self, recounts_last: bool, forgets: bool, releases: bool) -> None:
        self.recounts_last = recounts_last
        self.forgets = forgets
        self.releases = releases
        self.nodes: dict[str, Node] = {}
        self.listing = ConcurrentHashOrder()
        """The names of the nodes, in the order in which the list is built anew."""
        self.leaving: dict[str, Node] = {}
        self.unlinking = HashOrder()
        """The names of those that leave, in the order in which they are unlinked."""
        self.moves = PriorityQueue(farthest_first)
        """What waits to be moved. It outlives its cursor, and where that is added again, it waits twice."""
        self.first: Node | None = None
        self.last: Node | None = None
        self.linked = 0

    # ---- Changes, which wait

    def add(self, name: str, number: int, position: Place) -> None:
        """Add a cursor, or change the position of the one that has the name."""
        if name in self.nodes:
            if not position:
                self.untrack(name, self.nodes[name])
            else:
                if self.forgets:
                    self.stay(name, self.nodes[name])
                self.queue(self.nodes[name], position)
            return
        node = self.leaving.get(name) if position else None
        if node is None:
            node = Node(number)
        else:
            self.stay(name, node)
            if self.releases:
                node.number = number
        self.nodes[name] = node
        self.listing.add(name)
        if position:
            self.queue(node, position)

    def update(self, name: str, position: Place) -> None:
        """Change the position of a cursor."""
        node = self.nodes[name]
        if not position:
            self.untrack(name, node)
        else:
            self.stay(name, node)
            self.queue(node, position)

    def remove(self, name: str) -> None:
        """Remove a cursor."""
        node = self.nodes.pop(name)
        self.listing.discard(name)
        self.untrack(name, node)

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

    def queue(self, node: Node, position: Place) -> None:
        """Have a node moved when the list is brought up to date."""
        if not node.pending:
            self.moves.add(node)
        node.pending = position

    # ---- Questions, before which the list is brought up to date

    def slowest(self) -> Place:
        """The position of the first cursor."""
        self.bring_up_to_date()
        return self.first.position if self.first else NOWHERE

    def count(self, name: str) -> int:
        """What a cursor's counter says; 0 where there is none."""
        self.bring_up_to_date()
        node = self.nodes.get(name)
        return node.counter[0] if node and node.position else 0

    def bring_up_to_date(self) -> None:
        """Do what waits; where as many moves wait as half of the list, or more, it is built anew."""
        if len(self.moves.items) >= self.linked // 2:
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
            if node.leaving and self.forgets:
                node.position = NOWHERE
            node.linked = bool(node.position) and not node.leaving
            node.before = node.after = None
            node.leaving = False
            if node.linked:
                tracked.append((node.position, node))
        self.leaving.clear()
        self.unlinking.clear()
        self.moves.items.clear()
        tracked.sort(key=lambda pair: pair[0])
        self.linked = len(tracked)
        self.first = self.last = None
        for number, (position, node) in enumerate(tracked, 1):
            before: Node | None = self.last
            self.link(before, node, None)
            node.counter = before.counter if before and before.position == position else [0]
            node.counter[0] = number

    def mend(self) -> None:
        """Unlink what leaves, then do the moves that wait; one that leads nowhere is left out."""
        for node in (self.leaving[name] for name in self.unlinking):
            self.unlink_counted(node)
            node.leaving = False
            if self.forgets:
                node.position = NOWHERE
        self.leaving.clear()
        self.unlinking.clear()
        while self.moves.items:
            node = self.moves.poll()
            if not node.pending:
                continue
            if node.position:
                self.move(node, node.pending)
            else:
                node.position = node.pending
                self.insert(node, node.position)
            node.pending = NOWHERE

    # ---- Links and counters

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
        if old == new:
            return
        if not (node.before and node.before.position > new) and not (node.after and node.after.position < new):
            self.move_in_place(node, old, new)
            return
        self.unlink(node)
        if old < new:
            self.move_on(node, old, new)
        else:
            self.move_back(node, old, new)
        node.position = new

    def move_in_place(self, node: Node, old: Place, new: Place) -> None:
        """Change the position of a node that has not to be linked otherwise for it."""
        node.position = new
        if node is self.last and not self.recounts_last:
            return
        if old < new:
            node.counter[0] -= 1
        if node.before and node.before.position == new:
            node.counter = node.before.counter
            node.counter[0] += 1
        elif node.after and node.after.position == new:
            node.counter = node.after.counter
        else:
            node.counter = [(node.before.counter[0] if node.before else 0) + 1]

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
