"""Known mistakes of active cursors that take more than a clause."""

from __future__ import annotations

from broker_tck.model.active_cursors.grace import Grace
from broker_tck.model.active_cursors.order import Cursor, Order, Position
from broker_tck.model.active_cursors.specification import ActiveCursors, Config
from broker_tck.model.active_cursors.version import Version
from broker_tck.properties.mistakes.book import mistake

# ---- Adding and updating


@mistake(
    "CC-04",
    "an add under a name that is there brings its own object",
    "An add under a name that is there puts its own object in; your container has to keep the first.",
)
class NewObjectTakesOver(ActiveCursors):
    """The new object takes the place of the one that is there, where :meth:`takes_over` says so."""

    def takes_over(self, there: Cursor) -> bool:
        """Whether the new object takes the place of the one that is there."""
        return True

    def add_object(self, name: str, at: Position | None, durable: bool) -> None:
        """Add a cursor object."""
        there = self.objects.get(name)
        replaces = there is not None and self.takes_over(there)
        super().add_object(name, at, durable)
        if there is not None and replaces:
            there.become(Cursor(name, self.added, durable))


@mistake("CC-04", "an add under the name of a tracked cursor brings its own object")
class NewObjectOfTrackedTakesOver(NewObjectTakesOver):
    """Only a cursor that has a position is replaced."""

    def takes_over(self, there: Cursor) -> bool:
        """Where it has a position."""
        return self.order.holds(there)


@mistake(
    "CC-05",
    "an update of a name that is not there adds it",
    "An update of a name that is not there adds it to your container; it has to change nothing.",
)
class UpdateAdds(ActiveCursors):
    """Whoever is updated is there from then on."""

    def update(self, name: str, at: Position | None) -> None:
        """Update a cursor, which may have to be added first."""
        if name not in self.objects:
            self.objects[name] = Cursor(name, 0)
            self.order.add(self.objects[name], None)
        super().update(name, at)


@mistake(
    "CC-05",
    "an update finds a name in whatever case",
    "An update finds a cursor of your container whose name differs in case; it has to change nothing.",
)
class UpdateIgnoresCase(ActiveCursors):
    """Whoever has the name, but for upper and lower case, is updated."""

    def update(self, name: str, at: Position | None) -> None:
        """Update the first cursor whose name is alike."""
        super().update(next((each for each in self.objects if each.lower() == name.lower()), name), at)


@mistake(
    "CC-14",
    "a cursor without position is removed",
    "Your container removes a cursor that has no position; it has to stay.",
)
class NullRemoves(ActiveCursors):
    """A cursor whose position is taken away goes with it, where :meth:`removes` says so."""

    def removes(self, tracked: bool) -> bool:
        """Whether it goes."""
        return True

    def update(self, name: str, at: Position | None) -> None:
        """Update a cursor."""
        there, tracked = self.found(name)
        super().update(name, at)
        if there and at is None and self.removes(tracked):
            del self.objects[name]

    def add_object(self, name: str, at: Position | None, durable: bool) -> None:
        """Add a cursor object."""
        there, tracked = self.found(name)
        super().add_object(name, at, durable)
        if there and at is None and self.removes(tracked):
            del self.objects[name]

    def found(self, name: str) -> tuple[bool, bool]:
        """Whether a cursor is there, and whether it has a position."""
        there = self.objects.get(name)
        return there is not None, there is not None and self.order.holds(there)


@mistake("CC-14", "a cursor that loses its position is removed")
class NullOfTrackedRemoves(NullRemoves):
    """A cursor that had no position stays."""

    def removes(self, tracked: bool) -> bool:
        """Where it had a position."""
        return tracked


# ---- Removing


@mistake(
    "CC-09",
    "a removed cursor stays in the order",
    "A removed cursor still counts in the order of your container; it has to be nowhere.",
)
class RemovedStaysInOrder(ActiveCursors):
    """Nobody takes it out."""

    def leave(self, cursor: Cursor) -> None:
        """Count the version and the grace time alone."""
        self.version.removed()
        self.grace.restart()


@mistake(
    "CC-09",
    "the object of a removed cursor comes back with the next add",
    "The object of a removed cursor comes back to your container with the next add; it has to be nowhere.",
)
class OldObjectComesBack(ActiveCursors):
    """Removed objects are kept by name."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.kept: dict[str, Cursor] = {}

    def leave(self, cursor: Cursor) -> None:
        """Keep the object."""
        super().leave(cursor)
        self.kept[cursor.name] = cursor

    def add_object(self, name: str, at: Position | None, durable: bool) -> None:
        """Add a cursor object, or bring back the one that was removed."""
        super().add_object(name, at, durable)
        if name in self.kept:
            self.objects[name].become(self.kept.pop(name))


@mistake(
    "CC-09",
    "a removed cursor stays in the size",
    "A removed cursor still counts in the size of your container; it has to be nowhere.",
)
class RemovedStaysInSize(ActiveCursors):
    """The size never shrinks."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.gone = 0

    def leave(self, cursor: Cursor) -> None:
        """Go on counting it."""
        super().leave(cursor)
        self.gone += 1

    def size(self) -> int:
        """How many cursors there are, and were."""
        return super().size() + self.gone


@mistake(
    "CC-11",
    "a removal loses sight of the last cursor",
    "After a removal your container has the others out of order: it loses sight of the last cursor.",
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


# ---- Questions


@mistake(
    "CC-07",
    "the slowest position stays as it was told first",
    "Your container keeps the slowest position as it was told first; it has to follow the cursors.",
)
class SlowestKept(ActiveCursors):
    """The first answer is kept."""

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.told: Position | None = None

    def slowest(self) -> Position | None:
        """What was told first."""
        self.told = self.told or super().slowest()
        return self.told


@mistake(
    "EC-58",
    "the start begins no grace time",
    "Your container begins no grace time at its start; it has to cache until that is over.",
)
class NoGraceAtStart(Grace):
    """At the start, the grace time has just ended."""

    def __init__(self, now: int, length: int) -> None:
        super().__init__(now, length)
        self.since = now - max(length, 0)


@mistake(
    "EC-58",
    "a removal begins no grace time",
    "Your container begins no grace time with a removal; it has to cache until that is over.",
)
class NoGraceAfterRemoval(Grace):
    """Only the start counts."""

    def restart(self) -> None:
        """Leave it."""


# ---- Version and durable cursors


@mistake(
    "CC-12",
    "an add leaves the version as it is",
    "An add leaves your container's version as it is; it has to raise it by one.",
)
class AddsNotCounted(Version):
    """Adds do not count."""

    def added(self) -> None:
        """Leave it."""


@mistake(
    "CC-12",
    "an update leaves the version as it is",
    "An update leaves your container's version as it is; it has to raise it by one.",
)
class UpdatesNotCounted(Version):
    """Updates do not count."""

    def updated(self) -> None:
        """Leave it."""


@mistake(
    "CC-12",
    "a removal leaves the version as it is",
    "A removal leaves your container's version as it is; it has to raise it by one.",
)
class RemovalsNotCounted(Version):
    """Removals do not count."""

    def removed(self) -> None:
        """Leave it."""


@mistake(
    "CC-12",
    "an update of a name that is not there counts",
    "An update of a name that is not there raises your container's version; it has to leave it.",
)
class UnknownUpdatesCounted(ActiveCursors):
    """Every update counts."""

    def update(self, name: str, at: Position | None) -> None:
        """Update a cursor, and count that it was not there."""
        if name not in self.objects:
            self.version.updated()
        super().update(name, at)


@mistake(
    "CC-13",
    "a durable cursor counts for ever",
    "A durable cursor that was removed still counts as durable in your container.",
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
