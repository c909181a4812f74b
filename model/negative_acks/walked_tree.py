"""A balanced tree whose keys are deleted during a walk through it, as the Go client's library does it.

It is an AVL tree. If a key with a right subtree is deleted, the next key moves into its node; a walk at that node goes
on behind that key and skips it. After any other deletion a walk goes on to the node above, which may be before it,
because a walk does not notice that the tree was turned.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Callable, Iterator
from typing import NamedTuple


class Node(NamedTuple):
    """A key between two subtrees, and the height of all that."""

    left: Node | None
    key: int
    right: Node | None
    height: int


class WalkedTree:
    """The tree."""

    def __init__(self) -> None:
        self.root: Node | None = None
        self.keys: list[int] = []
        """In order."""

    def put(self, key: int) -> None:
        """Add a key, unless it is there."""
        if self.after(key - 1) != key:
            insort(self.keys, key)
            self.root = with_key(self.root, key)

    def walk_off(self, due: Callable[[int], bool]) -> Iterator[int]:
        """Walk through the keys in order up to the first that is not due, deleting each that is met."""
        at = self.keys[0] if self.keys else None
        while at is not None and due(at):
            yield at
            above, node = self.place(at)
            self.root = without(self.root, at)
            moved_in = self.after(at)
            self.keys.remove(at)
            at = above if node.right is None else None if moved_in is None else self.after(moved_in)

    def after(self, key: int) -> int | None:
        """The next key in order."""
        at = bisect_right(self.keys, key)
        return self.keys[at] if at < len(self.keys) else None

    def place(self, key: int) -> tuple[int | None, Node]:
        """The key above a key, and its node."""
        above, node = None, self.root
        while node and node.key != key:
            above, node = node.key, node.left if key < node.key else node.right
        assert node
        return above, node


def with_key(node: Node | None, key: int) -> Node:
    """A tree with another key in it."""
    if node is None:
        return Node(None, key, None, 1)
    if key < node.key:
        return balanced(with_key(node.left, key), node.key, node.right)
    return balanced(node.left, node.key, with_key(node.right, key))


def without(node: Node | None, key: int) -> Node | None:
    """A tree without a key; in the place of one with a right subtree comes the next."""
    assert node
    if key < node.key:
        return balanced(without(node.left, key), node.key, node.right)
    if key > node.key:
        return balanced(node.left, node.key, without(node.right, key))
    if node.right is None:
        return node.left
    following = node.right
    while following.left:
        following = following.left
    return balanced(node.left, following.key, without(node.right, following.key))


def balanced(left: Node | None, key: int, right: Node | None) -> Node:
    """A tree of two subtrees, turned if one is two higher than the other; twice if its inner subtree makes it so."""
    lean = height(right) - height(left)
    if right and lean > 1:
        inner = right.left
        if inner and inner.height > height(right.right):
            return joined(joined(left, key, inner.left), inner.key, joined(inner.right, right.key, right.right))
        return joined(joined(left, key, inner), right.key, right.right)
    if left and lean < -1:
        inner = left.right
        if inner and inner.height > height(left.left):
            return joined(joined(left.left, left.key, inner.left), inner.key, joined(inner.right, key, right))
        return joined(left.left, left.key, joined(inner, key, right))
    return joined(left, key, right)


def joined(left: Node | None, key: int, right: Node | None) -> Node:
    """A tree of two subtrees as they are."""
    return Node(left, key, right, 1 + max(height(left), height(right)))


def height(node: Node | None) -> int:
    """The height of a tree."""
    return node.height if node else 0
