"""What a subject that holds nothing still refers to: numbers that it was given are followed by weak references.

An invariant asks for it, by :func:`asked_after` and :func:`nothing_left`. No walk hands over such numbers.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, cast
from weakref import ref

from msgspec import defstruct
from msgspec.structs import astuple

from broker_tck.properties.engine.contract import Step
from broker_tck.properties.engine.operation import POSITION, Operation, marked, tag_of

MOST_COLLECTIONS = 3
"""Maximum number of times that garbage is collected for a trace. It takes long if there is much else in memory."""


class Life:
    """Ends with its number."""

    __slots__ = ("__weakref__",)


class Followed(int):
    """A number of which one can see whether anything refers to it. Numbers computed from it are plain."""

    def __init__(self, _: int) -> None:
        self.life = Life()


class Lives:
    """The numbers that a subject was given, on an adapter or a model; an adapter may add other objects."""

    def __init__(self) -> None:
        self.given: list[ref[Any]] = []
        self.collections = 0

    def number(self, plain: int) -> Followed:
        """A number to hand over."""
        followed = Followed(plain)
        self.given.append(ref(followed.life))
        return followed

    def left(self) -> int:
        """How many of them something refers to."""
        return sum(life() is not None for life in self.given)


def lives_on(to: Any) -> Lives:
    """What was handed over to an adapter or a model."""
    lives: Lives = vars(to).setdefault("lives", Lives())
    return lives


@cache
def following(kind: type[Operation]) -> type[Operation]:
    """The kind of operation that does the same, and hands over numbers that are followed: those that name a message."""
    named = marked(kind, POSITION)

    def on(self: Any, to: Any) -> Any:
        fields = zip(kind.__struct_fields__, astuple(self), strict=True)
        numbers = lives_on(to).number
        return kind(*[numbers(value) if name in named else value for name, value in fields]).on(to)

    made: Any = defstruct(kind.__name__, (), bases=(kind,), namespace={"on": on}, frozen=True, tag=tag_of(kind))
    return cast(type[Operation], made)


class StillThere(Operation, frozen=True, tag="still_there"):
    """Ask for the numbers that are still there, if nothing is held; result: how many, null if nothing can be said.

    Garbage is collected first if there are any. A subject outside of Python has a method of its own for that, and an
    adapter may have one to let go of what it keeps itself.
    """

    traced = False

    closed: bool = False
    """The subject was closed, so it holds nothing, whatever is seen."""

    def holds_nothing(self, seen: tuple[Any, ...]) -> bool:
        """Whether, by what is seen, nothing is held: by default the first observable is a count of 0."""
        return type(seen[0]) is int and seen[0] == 0

    def on(self, to: Any) -> int | None:
        """Ask; null as well if garbage was collected often enough."""
        lives = lives_on(to)
        if not lives.given or not (self.closed or self.holds_nothing(to.seen())):
            return None
        getattr(to, "let_go", int)()
        if lives.left():
            if lives.collections == MOST_COLLECTIONS:
                return None
            lives.collections += 1
            getattr(to, "collect_garbage", gc.collect)()
        return lives.left()


def asked_after(
    adding: Any, removing: Any, still_there: type[StillThere] = StillThere, closing: Any = ()
) -> Callable[[Sequence[Operation]], list[Operation]]:
    """Has numbers followed that some kinds of operations hand over, and asks for them after each of some others."""

    def part(operations: Sequence[Operation]) -> list[Operation]:
        ask, ask_closed = still_there(), still_there(closed=True)
        asked: list[Operation] = []
        for operation in operations:
            kind = type(operation)
            asked.append(following(kind)(*astuple(operation)) if isinstance(operation, adding) else operation)
            asked += [ask] if isinstance(operation, removing) else []
            asked += [ask_closed] if isinstance(operation, closing) else []
        return asked

    return part


def nothing_left(_config: Any, steps: Sequence[Step]) -> Iterator[tuple[int, str | None]]:
    """A subject that holds nothing refers to none of the numbers that it was given."""
    index = -1
    for operation, result, _ in steps:
        if not isinstance(operation, StillThere):
            index += 1
        elif isinstance(result, int):
            yield index, f"nothing is held, but {result} objects that were given are kept" if result else None
