"""Known mistakes in the order of cursors: the slowest position, ranks, moves, and what a removal leaves."""

from __future__ import annotations

from collections.abc import Callable
from operator import ge, lt

from broker_tck.model.active_cursors.heap import HeapOrder
from broker_tck.model.active_cursors.lazy_list import LazyOrder
from broker_tck.model.active_cursors.specification import Cursor, Order, Position
from broker_tck.model.rules import Method
from broker_tck.properties.mistakes.book import around, instead, look_at, mistake, of

UNSIGNED = 2**64 - 1


def ranked(not_after: Callable[[Position, Position], bool]) -> Method:
    """A rank by another comparison: whether a position is at another one, or before it."""
    return lambda o, cursor, at: sum(not_after(position, at) for position in o.positions.values())


of(Order.first, look="the order of positions; a cursor that the order misses")(
    instead(
        "absent",
        "Your container answers with the position that came first; it must be the least.",
        lambda o, positions: next(iter(positions), None),
    ),
    instead(
        "the greatest",
        "Your container answers with the fastest position; it must be the slowest.",
        lambda o, positions: max(positions, default=None),
    ),
    instead(
        "unsigned",
        "Your container takes negative ids for large ones; it must compare ids as signed numbers.",
        lambda o, positions: min(positions, default=None, key=lambda at: (at[0] & UNSIGNED, at[1] & UNSIGNED)),
    ),
    instead(
        "by entry",
        "Your container compares entries before ledgers; it must compare ledgers first.",
        lambda o, positions: min(positions, default=None, key=lambda at: (at[1], at[0])),
    ),
    instead(
        "by ledger",
        "Your container compares ledgers alone; in one ledger it must compare entries, too.",
        lambda o, positions: min(positions, default=None, key=lambda at: at[0]),
    ),
    instead(
        "not of one alone",
        "Your container does not answer with the position of a cursor that is alone; it must.",
        lambda o, positions: min(positions) if len(positions) > 1 else None,
    ),
)
of(Order.rank, breaks="CC-02")(
    instead(
        "absent",
        "Your container counts all cursors for a rank; it must count those at the position or before it.",
        lambda o, cursor, at: len(o.positions),
    ),
    instead(
        "strictly before",
        "Your container counts only the cursors before a position; it must count those at it as well.",
        ranked(lt),
    ),
    instead(
        "at or after",
        "Your container counts the cursors at a position or after it; it must count those at it or before.",
        ranked(ge),
    ),
    instead(
        "of those with names",
        "Your container leaves cursors with later names out of a rank; it must count them, too.",
        lambda o, cursor, at: sum(
            position <= at for other, position in o.positions.items() if other.name <= cursor.name
        ),
    ),
    instead(
        "ledgers shifted by 32 bits",
        "Your container packs a position into one number, with 32 bits for the entry; it must keep all 64.",
        ranked(lambda one, other: (one[0] << 32) + one[1] <= (other[0] << 32) + other[1]),
    ),
    instead(
        "by a difference of 32 bits",
        "Your container compares entries by a difference of 32 bits; it must use all 64.",
        ranked(lambda one, other: (one[0], (one[1] - other[1] + 2**31) % 2**32) <= (other[0], 2**31)),
    ),
    instead(
        "in doubles",
        "Your container compares entries in floating point; it must use all 64 bits.",
        ranked(lambda one, other: (float(one[0]), float(one[1])) <= (float(other[0]), float(other[1]))),
    ),
    instead(
        "in a byte",
        "Your container keeps 8 bits of a rank; it must keep all of it.",
        lambda o, cursor, at: Order.rank(o, cursor, at) % 256,
    ),
)
of(Order.beside, look="ties: those at the same position count, whatever their order")(
    instead(
        "absent",
        "Your container ranks cursors at one position in the order of their names; they must share a rank.",
        lambda o, cursor, at: sum(other.name <= cursor.name for other in o.tied(at)),
    ),
    instead(
        "in order of adds",
        "Your container ranks cursors at one position in the order of their adds; they must share a rank.",
        lambda o, cursor, at: o.tied(at).index(cursor) + 1,
    ),
    instead(
        "none of the others",
        "Your container leaves other cursors at the same position out of a rank; it must count all of them.",
        lambda o, cursor, at: 1,
    ),
)
of(Order.recounts, look="the shortcut for a node that stays in its place at the end of the list")(
    instead(
        "absent",
        "Your container does not count a cursor anew if it was the last one and stays the last one; it must.",
        lambda o, cursor, at: not o.stays_last(cursor, at),
    ),
)
of(Order.forgets, look="a position, a counter or links that a null leaves behind")(
    instead(
        "absent",
        "Your container goes on ranking a cursor whose position was taken away; it must stop.",
        lambda o, cursor: False,
    ),
)


# ---- Removals

look_at("CC-11", "the last item of a heap, swapped into the gap and sifted down only")


@around(Order.take_out, "CC-09", "stays in the order", was="RemovedStaysInOrder: a removed cursor stays in the order")
def stays_in_the_order(_: Method, o: Order, cursor: Cursor) -> None:
    """A removed cursor still counts in the order of your container; it must be nowhere."""


@mistake(
    "CC-11",
    "a removal loses sight of the last cursor",
    "After a removal, your container loses sight of the last cursor; it must leave the others in order.",
)
class LosesSight(Order):
    """The cursor that was put in order last is not counted as slowest until it moves."""

    def __init__(self) -> None:
        super().__init__()
        self.unseen: set[Cursor] = set()

    def put(self, cursor: Cursor, at: Position) -> None:
        """Give a cursor another position, by which it comes into sight."""
        super().put(cursor, at)
        self.unseen.discard(cursor)

    def take_out(self, cursor: Cursor) -> None:
        """Take a cursor out, and lose sight of the last one."""
        super().take_out(cursor)
        self.unseen.update([*self.positions][-1:])

    def slowest(self) -> Position | None:
        """The slowest position in sight."""
        return self.first([at for cursor, at in self.positions.items() if cursor not in self.unseen])


of(HeapOrder.mends)(
    instead(
        "absent",
        "Your heap moves the cursor that takes the place of a removed one down only; it must move up as well.",
        lambda o: False,
    ),
)
of(LazyOrder.releases)(
    instead(
        "absent",
        "Your list keeps the object of a removed cursor if one of its name is added soon; it must let go of it.",
        lambda o, cursor: False,
    ),
)

# ---- Invariants

look_at("CC-P14", "whatever orders the cursors")
look_at("CC-P15", "a cursor that was lost sight of, and comes up again")
look_at("CC-P16", "counters that are not brought up to date")
look_at("CC-P17", "changes that wait until somebody asks: each leads to its cursor")


@mistake(
    "CC-P17",
    "a removed cursor is kept until somebody asks",
    "Your container keeps a removed cursor until somebody asks for a position or a rank; it must let go of it at once.",
    seen="4.2.4",
)
class KeptUntilAsked(Order):
    """Removed cursors wait for the next question."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting: list[Cursor] = []

    def drop(self, cursor: Cursor) -> None:
        """Remove a cursor, which waits."""
        self.waiting.append(cursor)
        super().drop(cursor)

    def kept(self) -> list[Cursor]:
        """The cursors that are there, and those that wait."""
        return [*super().kept(), *self.waiting]

    def slowest(self) -> Position | None:
        """The slowest position; nothing waits any more."""
        self.waiting.clear()
        return super().slowest()

    def count(self, cursor: Cursor | None) -> int:
        """The rank of a cursor; nothing waits any more."""
        self.waiting.clear()
        return super().count(cursor)
