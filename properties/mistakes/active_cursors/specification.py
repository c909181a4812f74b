"""Known mistakes of a container: adds, updates, removals, questions, caching, the version, and durable cursors."""

from __future__ import annotations

from typing import Any

from broker_tck.model.active_cursors.specification import ActiveCursors, Config, Cursor, Grace, Position
from broker_tck.model.rules import Method
from broker_tck.properties.mistakes.book import around, instead, look_at, mistake, of
from broker_tck.properties.mistakes.parts.without import without

# ---- Adding

of(ActiveCursors.is_update, look="a second node, of which the first one can never be removed")(
    instead(
        "absent",
        "An add under a name that is there makes a second cursor in your container; it must update the first.",
        lambda m, name: False,
    ),
)


@around(
    ActiveCursors.add_object,
    "CC-04",
    "own object",
    was="NewObjectTakesOver: an add under a name that is there brings its own object",
)
def own_object(add: Method, m: ActiveCursors, name: str, at: Position | None, durable: bool) -> None:
    """An add under a name that is there puts its own object into your container; it must keep the first."""
    there = m.objects.get(name)
    add(m, name, at, durable)
    if there:
        there.become(Cursor(name, m.added, durable))


@around(
    ActiveCursors.add_object,
    "CC-04",
    "own object for a tracked one",
    was="NewObjectOfTrackedTakesOver: an add under the name of a tracked cursor brings its own object",
)
def own_object_for_a_tracked_one(add: Method, m: ActiveCursors, name: str, at: Position | None, durable: bool) -> None:
    """An add under the name of a tracked cursor puts its own object into your container; it must keep the first."""
    there = m.objects.get(name)
    if there and m.order.holds(there):
        own_object(add, m, name, at, durable)
    else:
        add(m, name, at, durable)


# ---- Updating

look_at("CC-05", "an update that adds")


@around(ActiveCursors.update, "CC-05", "adds", was="UpdateAdds: an update of a name that is not there adds it")
def update_adds(update: Method, m: ActiveCursors, name: str, at: Position | None) -> None:
    """An update of a name that is not there adds it to your container; it must change nothing."""
    if name not in m.objects:
        cursor = m.objects[name] = Cursor(name, 0)
        m.order.add(cursor, None)
    update(m, name, at)


@around(
    ActiveCursors.update, "CC-05", "in whatever case", was="UpdateIgnoresCase: an update finds a name in whatever case"
)
def update_in_whatever_case(update: Method, m: ActiveCursors, name: str, at: Position | None) -> None:
    """An update finds a cursor of your container whose name differs in case; it must change nothing."""
    update(m, next((each for each in m.objects if each.lower() == name.lower()), name), at)


of(ActiveCursors.tracks_late)(
    instead(
        "absent",
        "Your container does not track a cursor that gets its position later; it must from then on.",
        lambda m, at: False,
    ),
)


@mistake(
    "CC-14",
    "a cursor without position is removed",
    "Your container removes a cursor that is left without a position; it must stay.",
)
class NullRemoves(ActiveCursors):
    """A cursor that is added or updated to no position goes."""

    def update(self, name: str, at: Position | None) -> None:
        """Update a cursor, or remove it."""
        goes = at is None and self.goes(name)
        super().update(name, at)
        if goes:
            del self.objects[name]

    def add_object(self, name: str, at: Position | None, durable: bool) -> None:
        """Add a cursor, or remove the one that is there."""
        goes = at is None and self.goes(name)
        super().add_object(name, at, durable)
        if goes:
            del self.objects[name]

    def goes(self, name: str) -> bool:
        """Whether a cursor is there, and goes."""
        return name in self.objects


@mistake(
    "CC-14",
    "a cursor that loses its position is removed",
    "Your container removes a cursor that loses its position; it must stay.",
)
class NullOfTrackedRemoves(NullRemoves):
    """A cursor that had no position stays."""

    def goes(self, name: str) -> bool:
        """Whether a cursor is there, and has a position."""
        return name in self.objects and self.order.holds(self.objects[name])


# ---- Removing


of(ActiveCursors.remove)(
    instead(
        "absent",
        "Your container answers a removal with yes though the name was not there.",
        lambda m, name: ActiveCursors.remove(m, name) or True,
        was="answers: absent",
    ),
    instead(
        "answers no",
        "Your container answers a removal with no though the name was there.",
        lambda m, name: ActiveCursors.remove(m, name) and False,
        was="answers: answers no",
    ),
)
look_at("CC-09", "what of a removed cursor waits in a queue: its node, its object, its place in the count")


@mistake(
    "CC-09",
    "the object of a removed cursor comes back with the next add",
    "The object of a removed cursor comes back to your container with the next add; it must stay away.",
    seen="PR 26511",
)
class OldObjectComesBack(ActiveCursors):
    """Removed objects are kept by name."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.kept: dict[str, Cursor] = {}

    def remove(self, name: str) -> bool:
        """Remove a cursor, and keep its object."""
        if name in self.objects:
            self.kept[name] = self.objects[name]
        return super().remove(name)

    def add_object(self, name: str, at: Position | None, durable: bool) -> None:
        """Add a cursor object, or bring back the one that was removed."""
        super().add_object(name, at, durable)
        if name in self.kept:
            self.objects[name].become(self.kept.pop(name))


@mistake(
    "CC-09",
    "a removed cursor stays in the size",
    "A removed cursor still counts in the size of your container; it must be nowhere.",
)
class RemovedStaysInSize(ActiveCursors):
    """The size never shrinks."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.gone = 0

    def remove(self, name: str) -> bool:
        """Remove a cursor, and go on counting it."""
        removed = super().remove(name)
        self.gone += removed
        return removed

    def size(self) -> int:
        """The number of cursors that are there, or were."""
        return super().size() + self.gone


# ---- Questions

look_at("CC-07", "changes that wait in a queue, and the order in which they are applied; answers that are kept")


@mistake(
    "CC-07",
    "the slowest position stays as it was told first",
    "Your container keeps its first answer for the slowest position; it must follow the cursors.",
)
class SlowestKept(ActiveCursors):
    """The first answer is kept."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.kept: Position | None = None

    def slowest(self) -> Position | None:
        """The first answer."""
        self.kept = self.kept or super().slowest()
        return self.kept


of(ActiveCursors.size)(
    instead(
        "absent",
        "Your container leaves cursors without a position out of its size; it must count them.",
        lambda m: len(m.tracked),
    ),
)

of(
    ActiveCursors.count,
    look="the reader itself; readers that are not active, or have no position; positions of an earlier time",
)(
    instead(
        "absent",
        "Your container leaves the reader out when it counts the expected reads; it must count the reader as well.",
        lambda m, name: max(0, ActiveCursors.count(m, name) - 1),
        was="start: absent",
    ),
    instead(
        "one more",
        "Your container expects one read more than the reader's rank, which counts the reader already.",
        lambda m, name: (rank := ActiveCursors.count(m, name)) + bool(rank),
        was="start: one more",
    ),
    instead(
        "one at least",
        "Your container expects a read for a reader that is not tracked; it must expect 0.",
        lambda m, name: ActiveCursors.count(m, name) or 1,
        was="start: one at least",
    ),
    instead(
        "of untracked as of the last",
        "Your container expects the reads of all cursors for a reader that is not tracked; it must expect 0.",
        lambda m, name: ActiveCursors.count(m, name) or len(m.tracked),
        was="start: of untracked as of the last",
    ),
)
of(ActiveCursors.listed, look="cursors without position; removed ones whose nodes are still there")(
    instead(
        "absent",
        "A pass over your container leaves cursors without a position out; it must meet them.",
        lambda m: sorted(m.objects[name].number for name in m.tracked),
    ),
    instead(
        "replaced ones too",
        "A pass over your container also meets cursors that are gone; it must meet only those that are there.",
        lambda m: [*range(1, m.added + 1)],
    ),
)

# ---- Caching of added entries

of(ActiveCursors.caches)(
    instead(
        "absent",
        "Your container caches every added entry; it must only if there is a cursor, or in the grace time.",
        lambda m: True,
    ),
    instead(
        "in grace alone",
        "Your container caches added entries only in the grace time; it must also while there is a cursor.",
        lambda m: m.grace.lasts(),
    ),
    instead(
        "while one is tracked",
        "Your container caches added entries only while a cursor has a position; a cursor without one is enough.",
        lambda m: bool(m.tracked) or m.grace.lasts(),
    ),
)
of(Grace.lasts, look="equality: exactly the grace time later it is over; the time before the first cursor")(
    instead(
        "absent",
        "Your container has no grace time; it must cache for that time after the last cursor has left.",
        lambda g: False,
    ),
    instead(
        "at the grace time as well",
        "Your container caches for one millisecond too long; the grace time must end before its last.",
        lambda g: g.now - g.since <= g.length,
    ),
    instead(
        "elapsed time in 32 bits",
        "Your container keeps 32 bits of the time since the last removal; it must keep all of it.",
        lambda g: (g.now - g.since) % 2**32 < g.length,
    ),
    instead(
        "none from time 0",
        "Your container takes a clock at 0 for no time; its grace time must begin at 0 as well.",
        lambda g: g.since != 0 and Grace.lasts(g),
    ),
    instead(
        "-1 for ever",
        "Your container takes a grace time of -1 for one without end; it must take it for no grace time.",
        lambda g: g.length == -1 or Grace.lasts(g),
    ),
    instead(
        "an int",
        "Your container keeps 32 bits of the grace time; it must keep all of it.",
        lambda g: g.now - g.since < (g.length + 2**31) % 2**32 - 2**31,
    ),
)
of(Grace.restart, breaks="EC-58")(
    instead(
        "none after a removal",
        "Your container begins no grace time with a removal; it must cache until that is over.",
        lambda g: None,
        was="NoGraceAfterRemoval: a removal begins no grace time",
    ),
)


@mistake(
    "EC-58",
    "the start begins no grace time",
    "Your container begins no grace time at its start; it must cache until that is over.",
)
class NoGraceAtStart(Grace):
    """At the start, the grace time has just ended."""

    def __init__(self, now: int, length: int) -> None:
        super().__init__(now, length)
        self.since = now - max(length, 0)


@around(ActiveCursors.remove, "EC-58", "none after one without position")
def no_grace_after_one_without_position(remove: Method, m: ActiveCursors, name: str) -> bool:
    """Your container begins no grace time if a cursor without position is removed; it must after every removal."""
    since, tracked = m.grace.since, name in m.tracked
    removed = bool(remove(m, name))
    if not tracked:
        m.grace.since = since
    return removed


# ---- Version

look_at("CC-12", "updates of names that are not there; updates to the same position, which count")


@around(ActiveCursors.add_object, "CC-12", "adds", was="version.AddsNotCounted: an add leaves the version as it is")
def adds_not_counted(add: Method, m: ActiveCursors, *cursor: Any) -> None:
    """An add leaves your container's version as it is; it must raise it by one."""
    without("changed", m, add, *cursor)


@around(
    ActiveCursors.update, "CC-12", "updates", was="version.UpdatesNotCounted: an update leaves the version as it is"
)
def updates_not_counted(update: Method, m: ActiveCursors, *cursor: Any) -> None:
    """An update leaves your container's version as it is; it must raise it by one."""
    without("changed", m, update, *cursor)


@around(
    ActiveCursors.remove, "CC-12", "removals", was="version.RemovalsNotCounted: a removal leaves the version as it is"
)
def removals_not_counted(remove: Method, m: ActiveCursors, name: str) -> bool:
    """A removal leaves your container's version as it is; it must raise it by one."""
    return bool(without("changed", m, remove, name))


@around(
    ActiveCursors.update,
    "CC-12",
    "unknown updates too",
    was="UnknownUpdatesCounted: an update of a name that is not there counts",
)
def unknown_updates_too(update: Method, m: ActiveCursors, name: str, at: Position | None) -> None:
    """An update of a name that is not there raises your container's version; it must leave it."""
    if name not in m.objects:
        m.changed()
    update(m, name, at)


@around(ActiveCursors.update, "CC-12", "moves alone")
def moves_alone(update: Method, m: ActiveCursors, name: str, at: Position | None) -> None:
    """An update to the same position leaves your container's version as it is; it must raise it by one."""
    if name not in m.tracked or m.tracked[name] != at:
        update(m, name, at)


@around(ActiveCursors.remove, "CC-12", "anew when empty")
def anew_when_empty(remove: Method, m: ActiveCursors, name: str) -> bool:
    """Your container begins its version anew when the last cursor is removed; the version must grow on."""
    removed = bool(remove(m, name))
    m.version *= bool(m.objects)
    return removed


# ---- Durable cursors

of(ActiveCursors.has_durable, look="a counter that a repeated add, or the removal of another kind, takes out of step")(
    instead(
        "absent",
        "Your container says that it has durable cursors as soon as it has a cursor; one must be durable.",
        lambda m: bool(m.objects),
    ),
    instead(
        "tracked ones",
        "Your container does not find durable cursors that have no position; it must count them.",
        lambda m: any(m.objects[name].durable for name in m.tracked),
    ),
)


@mistake(
    "CC-13",
    "a durable cursor counts for ever",
    "A durable cursor that was removed still counts as durable in your container; it must not.",
)
class DurableForEver(ActiveCursors):
    """That there was one is never forgotten."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.ever = False

    def add_object(self, name: str, at: Position | None, durable: bool) -> None:
        """Add a cursor object, and note whether it is durable."""
        super().add_object(name, at, durable)
        self.ever = self.ever or durable

    def has_durable(self) -> bool:
        """Whether there ever was a durable cursor."""
        return self.ever
