"""A balanced tree whose keys are deleted while it is walked through: what the Go client's library makes of that.

It is an AVL tree with parent pointers. Deleting a node with a right child moves its successor's key into the very node,
so a walk that stands there goes on behind the successor and skips it; a rotation may take more keys out of its way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable


class Node:
    """A key with two subtrees; ``lean`` is the height of the right one less that of the left one."""

    __slots__ = ("child", "key", "lean", "parent")

    def __init__(self, key: int, parent: Node | None) -> None:
        self.key = key
        self.parent = parent
        self.child: list[Node | None] = [None, None]
        self.lean = 0


class WalkedTree:
    """The tree. Sides are 0, the left, and 1, the right."""

    def __init__(self) -> None:
        self.root: list[Node | None] = [None]
        self.keys: set[int] = set()

    def put(self, key: int) -> None:
        """Add a key, unless it is there."""
        if key not in self.keys:
            self.keys.add(key)
            self._put(key, None, self.root, 0)

    def delete(self, key: int) -> None:
        """Take a key out."""
        self.keys.remove(key)
        self._delete(key, self.root, 0)

    def walk_off(self, due: Callable[[int], bool]) -> Iterable[int]:
        """Walk through the keys in order up to the first that is not due, deleting each that is met."""
        node = self.root[0]
        while node and node.child[0]:
            node = node.child[0]
        while node and due(node.key):
            key = node.key
            yield key
            self.delete(key)
            node = following(node)

    # A place is the list and the index where a node hangs: it may come to hang elsewhere. Each step answers whether the
    # height below it has changed.

    def _put(self, key: int, parent: Node | None, at: list[Node | None], side: int) -> bool:
        node = at[side]
        if node is None:
            at[side] = Node(key, parent)
            return True
        towards = key > node.key
        return self._put(key, node, node.child, towards) and grown(at, side, 1 if towards else -1)

    def _delete(self, key: int, at: list[Node | None], side: int) -> bool:
        node = at[side]
        assert node
        if key != node.key:
            towards = key > node.key
            return self._delete(key, node.child, towards) and shrunk(at, side, -1 if towards else 1)
        if node.child[1] is None:
            if node.child[0]:
                node.child[0].parent = node.parent
            at[side] = node.child[0]
            return True
        return self._delete_least(node.child, 1, node) and shrunk(at, side, -1)

    def _delete_least(self, at: list[Node | None], side: int, into: Node) -> bool:
        node = at[side]
        assert node
        if node.child[0]:
            return self._delete_least(node.child, 0, into) and shrunk(at, side, 1)
        into.key = node.key
        if node.child[1]:
            node.child[1].parent = node.parent
        at[side] = node.child[1]
        return True


def grown(at: list[Node | None], side: int, lean: int) -> bool:
    """Put right a place whose subtree to one side (-1, 1) has grown; answers whether it has grown itself."""
    node = at[side]
    assert node
    if node.lean == 0:
        node.lean = lean
        return True
    if node.lean == -lean:
        node.lean = 0
        return False
    below = node.child[lean > 0]
    assert below
    at[side] = once(node, lean) if below.lean == lean else twice(node, lean)
    return False


def shrunk(at: list[Node | None], side: int, lean: int) -> bool:
    """Put right a place that leans to one side (-1, 1) as its other subtree has shrunk; answers whether it has too."""
    node = at[side]
    assert node
    if node.lean == 0:
        node.lean = lean
        return False
    if node.lean == -lean:
        node.lean = 0
        return True
    below = node.child[lean > 0]
    assert below
    if below.lean == 0:
        top = rotated(node, lean)
        top.lean = -lean
        at[side] = top
        return False
    at[side] = once(node, lean) if below.lean == lean else twice(node, lean)
    return True


def once(node: Node, lean: int) -> Node:
    """One rotation."""
    node.lean = 0
    top = rotated(node, lean)
    top.lean = 0
    return top


def twice(node: Node, lean: int) -> Node:
    """Two rotations."""
    side = lean > 0
    below = node.child[side]
    assert below
    node.child[side] = rotated(below, -lean)
    top = rotated(node, lean)
    node.lean = -lean if top.lean == lean else 0
    below.lean = lean if top.lean == -lean else 0
    top.lean = 0
    return top


def rotated(node: Node, lean: int) -> Node:
    """The child on one side in the place of its parent."""
    side = lean > 0
    top = node.child[side]
    assert top
    moved = top.child[not side]
    node.child[side] = moved
    if moved:
        moved.parent = node
    top.child[not side] = node
    top.parent = node.parent
    node.parent = top
    return top


def following(node: Node) -> Node | None:
    """The node that comes next in order, as far as pointers tell."""
    child = node.child[1]
    if child:
        while child.child[0]:
            child = child.child[0]
        return child
    parent = node.parent
    while parent and parent.child[1] is node:
        node, parent = parent, parent.parent
    return parent
