"""The cursors of a topic, as the caches see them: what is worth caching, for how many reads, and what goes again."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from broker_tck.model.active_cursors.specification import ActiveCursors
from broker_tck.model.entry_cache.entries import Position
from broker_tck.model.rules import Part, rule


class Config(Protocol):
    """What a trace configures of them."""

    @property
    def by_read_count(self) -> bool:
        """Whether reads are counted."""

    @property
    def grace(self) -> int:
        """Milliseconds for which added entries are cached after the last cursor has left."""


class CursorsConfig(NamedTuple):
    """What the cursors of a topic are configured with."""

    clock: int
    grace: int


class Cursors(Part):
    """The active cursors of one topic, as contract ``active-cursors`` specifies them, and what follows from them."""

    def __init__(self, config: Config, now: int) -> None:
        self.config = config
        self.active = ActiveCursors(CursorsConfig(now, config.grace if config.by_read_count else 0))
        self.caching: set[str] = set()
        """The cursors whose reads are to be cached where reads are not counted."""

    # ---- Cursors come, move and leave

    def advance_to(self, now: int) -> None:
        """Tell the cursors what time it is."""
        self.active.advance(now - self.active.now)

    def has(self, name: str) -> bool:
        """Whether there is a cursor of this name."""
        return self.active.get(name) is not None

    def move(self, name: str, at: Position, caching: bool) -> None:
        """A cursor is added, or moves."""
        (self.active.update if self.has(name) else self.active.add)(name, at)
        (self.caching.add if caching else self.caching.discard)(name)

    @rule("EC-58", source="PR 24656", needs="grace reads", when=lambda c, name: c.has(name))
    def remove(self, name: str) -> bool:
        """A cursor is removed; answers whether it was there. The grace time begins when none is left."""
        if not self.active.remove(name):
            return False
        self.caching.discard(name)
        return True

    # ---- Entries are added

    @rule("EC-58", source="PR 24656", needs="grace reads")
    def caches_added(self) -> bool:
        """Whether an added entry is to be cached."""
        return self.active.caches()

    @rule("RC-03", source="PIP-430", needs="reads")
    def start_on_add(self) -> int:
        """The count of an added entry starts with the number of active cursors, wherever they are; with 0 where reads
        are not counted.
        """
        return self.active.size() if self.config.by_read_count else 0

    # ---- Entries are read

    @rule("RC-04", source="PIP-430", needs="ranks reads")
    def rank(self, name: str) -> int:
        """What the count of an entry that a cursor read starts with."""
        return self.active.count(name)

    @rule("RC-05", source="RangeEntryCacheImpl, cacheReadEntry", needs="reads")
    def start_uncounted(self, name: str) -> int:
        """Where reads are not counted, what a cursor reads is expected once if that cursor is to have it cached."""
        return int(name in self.caching)

    def start_on_read(self, name: str) -> int:
        """What the expected reads of an entry that a cursor reads start with, now."""
        return self.rank(name) if self.config.by_read_count else self.start_uncounted(name)

    # ---- What all have read

    @rule("EC-56", source="PR 26511", needs="reads")
    def moves_invalidate(self) -> bool:
        """Where reads are counted, cursors that move or leave invalidate nothing."""
        return not self.config.by_read_count

    @rule("EC-57", source="PRs 12045, 16054, 17273", needs="reads")
    def slowest(self, before: Position | None) -> Position | None:
        """Where reads are not counted, what is before the slowest position goes when that changes; without a cursor,
        all goes.
        """
        return self.active.slowest()
