"""Known mistakes: the reference model of contract ``active-cursors``: which cursors read a topic, who is behind, and how many."""

from __future__ import annotations

from broker_tck.model.active_cursors.specification import ActiveCursors
from broker_tck.properties.mistakes.book import instead, look_at, of

of(ActiveCursors.is_update, look="a second node, of which the first one can never be removed")(
    instead(
        "absent",
        "An add under a name that is there makes a second cursor in your container; it has to update the first.",
        lambda m, name: False,
    ),
)
look_at("CC-05", "an update that adds")
of(ActiveCursors.tracks_late)(
    instead(
        "absent",
        "Your container does not track a cursor that gets its position later; it has to from then on.",
        lambda m, at: False,
    ),
)
of(
    ActiveCursors.answers,
    look="what of a removed cursor waits in a queue: its node, its object, its place in the count",
)(
    instead("absent", "Your container answers a removal with yes though the name was not there.", lambda m, name: True),
    instead("answers no", "Your container answers a removal with no though the name was there.", lambda m, name: False),
)
look_at("CC-07", "changes that wait in a queue, and the order in which they are applied; answers that are kept")
of(ActiveCursors.size)(
    instead(
        "absent",
        "Your container leaves cursors without a position out of its size; they count.",
        lambda m: len(m.tracked),
    ),
)
of(
    ActiveCursors.start,
    look="the reader itself; readers that are not active, or have no position; positions of an earlier time",
)(
    instead(
        "absent",
        "Your container leaves out the reader itself when it counts who is yet to read; it is counted as well.",
        lambda m, rank: rank and rank - 1,
    ),
    instead(
        "one more",
        "Your container expects one read more than the reader's rank; the reader itself is counted in that already.",
        lambda m, rank: rank and rank + 1,
    ),
    instead(
        "one at least",
        "Your container expects a read for a reader that is not tracked; there it has to be 0.",
        lambda m, rank: rank or 1,
    ),
    instead(
        "of untracked as of the last",
        "Your container expects the reads of all cursors for a reader that is not tracked; there it has to be 0.",
        lambda m, rank: rank or len(m.tracked),
    ),
)
of(ActiveCursors.listed, look="cursors without position; removed ones whose nodes are still there")(
    instead(
        "absent",
        "Your container leaves cursors without a position out when it is gone through.",
        lambda m: sorted(m.objects[name].number for name in m.tracked),
    ),
    instead(
        "replaced ones too",
        "Who goes through your container also meets cursors that are gone; only those that were not removed may be met.",
        lambda m: [*range(1, m.added + 1)],
    ),
)
of(ActiveCursors.caches)(
    instead("absent", "Your container caches every added entry; it needs a cursor, or the grace time.", lambda m: True),
    instead(
        "in grace alone",
        "Your container caches added entries in the grace time alone; it has to while there is a cursor as well.",
        lambda m: m.grace.lasts(),
    ),
    instead(
        "while one is tracked",
        "Your container caches added entries only while a cursor has a position; a cursor without one is enough.",
        lambda m: bool(m.tracked) or m.grace.lasts(),
    ),
)
of(ActiveCursors.has_durable, look="a counter that a repeated add, or the removal of another kind, takes out of step")(
    instead(
        "absent",
        "Your container says that there are durable cursors as soon as there is any cursor.",
        lambda m: bool(m.objects),
    ),
    instead(
        "tracked ones",
        "Your container leaves out durable cursors without a position when it is asked for durable ones; they count.",
        lambda m: any(m.objects[name].durable for name in m.tracked),
    ),
)
