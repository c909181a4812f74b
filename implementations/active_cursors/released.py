"""The managed ledger's own containers of active cursors, of any release."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from broker_tck.implementations.interface import ActiveCursorsConfig, Clock, Cursor, Position
from broker_tck.implementations.jvm.errors import guarded, translating
from broker_tck.implementations.jvm.loader import Loader, classes_in
from broker_tck.implementations.jvm.positions import position_maker
from broker_tck.implementations.jvm.releases import Release
from broker_tck.implementations.jvm.subject import Boxed, Kind, Line

PACKAGE = "org.apache.bookkeeper.mledger.impl."
HEAP = PACKAGE + "ManagedCursorContainerImpl"
EARLIER_HEAP = PACKAGE + "ManagedCursorContainer"
"""The heap before there were others: later, what they all implement."""
TREE_SET = PACKAGE + "ActiveManagedCursorContainerNavigableSetImpl"
LIST = PACKAGE + "ActiveManagedCursorContainerImpl"
CONTAINERS = (EARLIER_HEAP, PACKAGE + "ActiveManagedCursorContainer")
"""How the names of all classes begin that containers are made of."""


class Containers:
    """Makes containers of a class."""

    def __init__(self, loader: Loader, name: str, wrapper: type[JavaCursors]) -> None:
        """Load the class."""
        loader.hold(classes_in(loader.place_of(name), CONTAINERS))
        self.loader, self.wrapper = loader, wrapper
        self.made: Callable[..., Any] = loader.named(name)
        self.cursor: Callable[..., Any] = loader.named("broker_tck.Cursor")
        self.position = position_maker(loader)
        self.stream: Callable[..., Any] = loader.jpype.JClass("java.util.stream.StreamSupport").stream

    def __call__(self, config: ActiveCursorsConfig, clock: Clock) -> JavaCursors:
        """Make one."""
        return self.wrapper(self, config, clock)


@translating
class JavaCursors:
    """A container of Java's behind the kit's interface. Each object that it is given has one stand-in in Java."""

    def __init__(self, kind: Containers, config: ActiveCursorsConfig, clock: Clock) -> None:
        self._kind, self._clock, self._loader_ready = kind, clock, kind.loader.ready
        self._cursors: list[Any] = []
        """By the numbers of their stand-ins; None for one whose stand-in Java has let go of."""
        self._stand_ins: dict[Cursor, Any] = {}
        self._loader_ready(clock())
        self._container = self._new(config)

    def _new(self, _config: ActiveCursorsConfig) -> Any:
        return self._kind.made()

    def _ready(self) -> Any:
        self._loader_ready(self._clock())
        return self._container

    def _stand_in(self, cursor: Cursor) -> Any:
        found = self._stand_ins.get(cursor)
        if found is None:
            found = self._stand_ins[cursor] = self._kind.cursor(cursor.name, cursor.durable, len(self._cursors))
            self._cursors.append(cursor)
        return found

    def _position(self, position: Position | None) -> Any:
        return None if position is None else self._kind.position(position)

    def add(self, cursor: Cursor, position: Position | None) -> None:
        """Add a cursor."""
        self._ready().add(self._stand_in(cursor), self._position(position))

    def update_cursor(self, cursor: Cursor, position: Position | None) -> None:
        """Move a cursor."""
        self._ready().updateCursor(self._stand_in(cursor), self._position(position))

    def remove_cursor(self, name: str) -> bool:
        """Remove a cursor."""
        return bool(self._ready().removeCursor(name))

    def get(self, name: str) -> Cursor | None:
        """The cursor of a name."""
        found = self._ready().get(name)
        return None if found is None else self._cursors[found.number]

    @guarded
    def __iter__(self) -> Iterator[Cursor]:
        """All cursors."""
        return iter([self._cursors[found.number] for found in self._ready()])

    def size(self) -> int:
        """How many cursors there are."""
        return int(self._ready().size())

    def get_slowest_cursor_position(self) -> Position | None:
        """The least position."""
        return read(self._ready().getSlowestCursorPosition())

    def should_cache_added_entry(self) -> bool:
        """Whether an entry that is added now is cached."""
        return bool(self._ready().shouldCacheAddedEntry())

    def collect_garbage(self) -> None:
        """Have Java collect its garbage, and let go of the objects whose stand-ins it has let go of."""
        java = self._kind.loader.jpype.java.lang
        weakly = [(cursor, java.ref.WeakReference(stand_in)) for cursor, stand_in in self._stand_ins.items()]
        self._stand_ins.clear()
        java.System.gc()
        self._stand_ins = {cursor: found for cursor, there in weakly if (found := there.get()) is not None}
        self._cursors = [cursor if cursor in self._stand_ins else None for cursor in self._cursors]

    # ---- What only some classes have, as their capabilities say

    def get_number_of_cursors_at_same_position_or_before(self, cursor: Cursor) -> int:
        """The rank of a cursor."""
        return int(self._ready().getNumberOfCursorsAtSamePositionOrBefore(self._stand_in(cursor)))

    def has_durable_cursors(self) -> bool:
        """Whether a cursor is durable."""
        return bool(self._ready().hasDurableCursors())

    def get_cursor_with_oldest_position(self) -> tuple[Cursor, Position | None, int] | None:
        """What is at the root of the heap."""
        found = self._ready().getCursorWithOldestPosition()
        if found is None:
            return None
        return self._cursors[found.getCursor().number], read(found.getPosition()), int(found.getVersion())


class Graceful(JavaCursors):
    """One that goes on caching for some time."""

    def _new(self, config: ActiveCursorsConfig) -> Any:
        return self._kind.made(config.grace)


@translating
class EarlierHeap(JavaCursors):
    """The heap before 4.2, whose callers cached what was added while it was not empty."""

    def update_cursor(self, cursor: Cursor, position: Position | None) -> None:
        """Move a cursor."""
        self._ready().cursorUpdated(self._stand_in(cursor), self._position(position))

    def size(self) -> int:
        """How many cursors there are, counted."""
        return int(self._kind.stream(self._ready().spliterator(), False).count())

    def get_slowest_cursor_position(self) -> Position | None:
        """The root's position."""
        return read(self._ready().getSlowestReaderPosition())

    def should_cache_added_entry(self) -> bool:
        """Whether there is a cursor."""
        return not self._ready().isEmpty()


def read(position: Any) -> Position | None:
    """A position out of Java."""
    return None if position is None else (int(position.getLedgerId()), int(position.getEntryId()))


def heap(loader: Loader, _release: Release) -> Containers:
    """Heaps, under the name that they have in a release."""
    if loader.has(HEAP):
        return Containers(loader, HEAP, JavaCursors)
    return Containers(loader, EARLIER_HEAP, EarlierHeap)


def tree_set(loader: Loader, _release: Release) -> Containers:
    """Sorted sets."""
    return Containers(loader, TREE_SET, JavaCursors)


def linked_list(loader: Loader, _release: Release) -> Containers:
    """Lists."""
    return Containers(loader, LIST, Graceful)


def boxed(box: str) -> tuple[Boxed, ...]:
    """How threads call a container since 4.2."""
    return (Boxed((4, 2), f"broker_tck.boxes.{box}", CONTAINERS),)


JARS = ("managed-ledger", "pulsar-client-admin-api")
"""The second has the statistics that a method of cursors answers with; no container asks for them."""
OF_ALL = {"ranks": False, "grace": False}
WITHOUT_VERSIONS = {"versions": False, "durables": False}
KINDS = (
    Kind(
        "cursor-heap",
        "active-cursors",
        "ManagedCursorContainer",
        heap,
        (
            Line((3,), "pulsar-heap", OF_ALL | {"versions": False}),
            Line((3, 0, 7), "pulsar-heap", OF_ALL),
            Line((3, 1), "pulsar-heap", OF_ALL | {"versions": False}),
            Line((3, 3), "pulsar-heap", OF_ALL),
        ),
        JARS,
        (Boxed((3,), "broker_tck.boxes.EarlierCursorHeap", CONTAINERS, apart=("size",)), *boxed("CursorHeap")),
    ),
    Kind(
        "cursor-tree-set",
        "active-cursors",
        "ActiveManagedCursorContainerNavigableSetImpl",
        tree_set,
        (Line((4, 2), "pulsar-tree-set", {"grace": False, **WITHOUT_VERSIONS}),),
        JARS,
        boxed("CursorTreeSet"),
    ),
    Kind(
        "cursor-list",
        "active-cursors",
        "ActiveManagedCursorContainerImpl",
        linked_list,
        (
            Line((4, 2), "pulsar-list-2025", {"null_updates": False, **WITHOUT_VERSIONS}),
            Line((5, 0, 1), "ideal", WITHOUT_VERSIONS),
        ),
        JARS,
        boxed("CursorList"),
    ),
)
