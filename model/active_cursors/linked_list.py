"""A linked list of cursors by position, as the broker's list of active cursors keeps it. Each position has a counter.

Cursors at one position share it. The order, the links and the counters are those of the class as released in 4.2.4, as
what comes of its defects depends on them. Where the last cursor stays the last one, it asks whether to count it anew.

One thing is put right: the class leaves the links of a cursor that lost its position as they are, and a list may come
to run in a circle. Here they are cleared, and nothing is unlinked twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from broker_tck.model.active_cursors.order import Cursor, Position

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
        if node is self.last and not self.recounts(node.cursor, (new[0], new[1])):
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
