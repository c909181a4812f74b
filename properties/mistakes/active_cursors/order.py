"""Known mistakes: where cursors are, and who is behind: the part of a container that orders its cursors."""

from __future__ import annotations

from broker_tck.model.active_cursors.order import UNSIGNED, Order
from broker_tck.properties.mistakes.book import instead, look_at, of

of(Order.recounts, look="the shortcut for a node that stays in its place at the end of the list")(
    instead(
        "absent",
        "Your container does not count a cursor anew that was the last and stays it.",
        lambda o, cursor, at: not o.stays_last(cursor, at),
    ),
)
of(Order.forgets, look="a position, a counter or links that a null leaves behind")(
    instead(
        "absent", "Your container goes on ranking a cursor whose position was taken away.", lambda o, cursor: False
    ),
)
look_at("CC-11", "the last item of a heap, swapped into the gap and sifted down only")
of(Order.first, look="the order of positions; a cursor that the order misses")(
    instead(
        "absent",
        "Your container tells the position that came first; it has to tell the least.",
        lambda o, positions: next(iter(positions), None),
    ),
    instead(
        "the greatest",
        "Your container answers with the fastest position; it is asked for the slowest.",
        lambda o, positions: max(positions, default=None),
    ),
    instead(
        "unsigned",
        "Your container takes negative ids for large ones; positions are compared as signed numbers.",
        lambda o, positions: min(positions, default=None, key=lambda at: (at[0] & UNSIGNED, at[1] & UNSIGNED)),
    ),
    instead(
        "by entry",
        "Your container compares entries before ledgers; the slowest position is the least by ledger, then by entry.",
        lambda o, positions: min(positions, default=None, key=lambda at: (at[1], at[0])),
    ),
    instead(
        "by ledger",
        "Your container compares ledgers alone; of one ledger, the lower entry is the slower.",
        lambda o, positions: min(positions, default=None, key=lambda at: at[0]),
    ),
    instead(
        "not of one alone",
        "Your container does not tell the position of a cursor that is alone.",
        lambda o, positions: min(positions) if len(positions) > 1 else None,
    ),
)
of(Order.rank, breaks="CC-02")(
    instead(
        "absent",
        "Your container counts all cursors, wherever they are; those at a position or before it count.",
        lambda o, cursor, at: len(o.positions),
    ),
    instead(
        "strictly before",
        "Your container counts only the cursors before a position; those at it count as well.",
        lambda o, cursor, at: sum(position < at for position in o.positions.values()),
    ),
    instead(
        "at or after",
        "Your container counts the cursors at a position or after it; it has to count those at it or before.",
        lambda o, cursor, at: sum(position >= at for position in o.positions.values()),
    ),
    instead(
        "of those with names",
        "Your container leaves out cursors whose names come later when it counts; names do not matter.",
        lambda o, cursor, at: sum(
            position <= at for other, position in o.positions.items() if other.name <= cursor.name
        ),
    ),
)
of(Order.beside, look="ties: those at the same position count, whatever their order")(
    instead(
        "absent",
        "Your container ranks cursors at one position in the order of their names; they share a rank.",
        lambda o, cursor, at: sum(other.name <= cursor.name for other in o.tied(at)),
    ),
    instead(
        "in order of adds",
        "Your container ranks cursors at one position in the order of their adds; they share a rank.",
        lambda o, cursor, at: o.tied(at).index(cursor) + 1,
    ),
    instead(
        "none of the others",
        "Your container does not count other cursors at the same position; each counts all of them.",
        lambda o, cursor, at: 1,
    ),
)
