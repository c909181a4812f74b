"""Buckets in a balanced tree that is walked through while what is met is deleted, as the Go client does it.

The tree is kept in arrays, by the numbers of its nodes; 0 is no node. A deletion may move another key into the node on
which the walk stands, or turn the tree about it. Then the walk goes on elsewhere, and buckets are passed by.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from broker_tck.implementations.interface import Position

LEFT, RIGHT = 0, 1


class DeletingWalk:
    """An AVL tree with links to the parents: heights, keys and links are lists, one place for each node."""

    def __init__(self) -> None:
        self.buckets: dict[int, set[Position]] = {}
        self.key = [0]
        self.height = [0]
        self.up = [0]
        self.down: tuple[list[int], list[int]] = ([0], [0])
        self.root = 0

    def at(self, key: int) -> set[Position]:
        """The bucket of a key, a new one if there is none."""
        if key not in self.buckets:
            self.buckets[key] = set()
            self.insert(key)
        return self.buckets[key]

    def values(self) -> Iterator[set[Position]]:
        """Every bucket."""
        return iter(self.buckets.values())

    def walk_off(self, due: Callable[[int], bool]) -> Iterator[set[Position]]:
        """The buckets that a walk meets, up to the first that is not due. They are gone."""
        node = self.root
        while self.down[LEFT][node]:
            node = self.down[LEFT][node]
        while node and due(key := self.key[node]):
            yield self.buckets.pop(key)
            self.remove(key)
            node = self.next(node)

    def next(self, node: int) -> int:
        """The node that the links lead to as the next in order."""
        right = self.down[RIGHT]
        if right[node]:
            node = right[node]
            while self.down[LEFT][node]:
                node = self.down[LEFT][node]
            return node
        above = self.up[node]
        while above and right[above] == node:
            node, above = above, self.up[above]
        return above

    # ---- Inserting and removing

    def insert(self, key: int) -> None:
        """Hang in a new node."""
        above, node = 0, self.root
        while node:
            above, node = node, self.down[key > self.key[node]][node]
        new = len(self.key)
        for column, value in (
            (self.key, key),
            (self.height, 1),
            (self.up, above),
            (self.down[0], 0),
            (self.down[1], 0),
        ):
            column.append(value)
        self.link(above, key > self.key[above], new)
        self.balance(above)

    def remove(self, key: int) -> None:
        """Take a key out; where its node has a right child, the next key moves in, and that one's node goes."""
        node = self.root
        while self.key[node] != key:
            node = self.down[key > self.key[node]][node]
        gone = node
        if self.down[RIGHT][node]:
            gone = self.next(node)
            self.key[node] = self.key[gone]
        above, child = self.up[gone], self.down[LEFT][gone] or self.down[RIGHT][gone]
        self.link(above, above != 0 and self.down[RIGHT][above] == gone, child)
        if child:
            self.up[child] = above
        self.balance(above)

    def link(self, above: int, side: bool, node: int) -> None:
        """Hang a node below another, or make it the root."""
        if above:
            self.down[side][above] = node
        else:
            self.root = node

    def balance(self, node: int) -> None:
        """Put heights right from here up, turning where one side is two higher than the other."""
        while node:
            above = self.up[node]
            lean = self.lean(node)
            if abs(lean) > 1:
                heavy = lean > 0
                child = self.down[heavy][node]
                if self.lean(child) * lean < 0:
                    self.turn(child, not heavy)
                self.turn(node, heavy)
            else:
                self.measure(node)
            node = above

    def lean(self, node: int) -> int:
        """How much higher the right side is."""
        return self.height[self.down[RIGHT][node]] - self.height[self.down[LEFT][node]]

    def measure(self, node: int) -> None:
        """Set a node's height by its children's."""
        self.height[node] = 1 + max(self.height[self.down[LEFT][node]], self.height[self.down[RIGHT][node]])

    def turn(self, node: int, side: bool) -> None:
        """Put the child on one side in the place of its parent."""
        above, child = self.up[node], self.down[side][node]
        between = self.down[not side][child]
        self.link(above, above != 0 and self.down[RIGHT][above] == node, child)
        self.up[child], self.up[node] = above, child
        self.down[side][node], self.down[not side][child] = between, node
        if between:
            self.up[between] = node
        self.measure(node)
        self.measure(child)
