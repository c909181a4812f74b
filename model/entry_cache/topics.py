"""The topics behind the caches: the ledgers that store every entry, and the cursors that are to read them."""

from __future__ import annotations

from typing import NamedTuple

from broker_tck.model.active_cursors.specification import ActiveCursors
from broker_tck.model.entry_cache.entries import Config, Position
from broker_tck.model.rules import Part, rule

ENTRY_SIZES = (10, 30, 20, 40)
"""Sizes of the stored entries, by entry id, over and over."""


class Ledgers:
    """The ledgers of all topics. Every entry is stored there, cached or not."""

    def __init__(self) -> None:
        self.written: dict[tuple[int, int], int] = {}

    def write(self, topic: int, ledger: int, n: int) -> int:
        """A ledger has n entries more; answers with the first of them."""
        first = self.written.get((topic, ledger), 0)
        self.written[topic, ledger] = first + n
        return first

    def average(self, topic: int, ledger: int) -> int | None:
        """The average size of a ledger's entries; None if nothing is known of them."""
        n = self.written.get((topic, ledger), 0)
        rounds, rest = divmod(n, len(ENTRY_SIZES))
        return (rounds * sum(ENTRY_SIZES) + sum(ENTRY_SIZES[:rest])) // n if n else None


def size_of(entry: int) -> int:
    """The bytes of a stored entry."""
    return ENTRY_SIZES[entry % len(ENTRY_SIZES)]


class CursorsConfig(NamedTuple):
    """How the cursors of a topic start."""

    clock: int
    grace: int


class Cursors(Part):
    """The active cursors of one topic, as contract ``active-cursors`` specifies them, and what follows from them."""

    def __init__(self, config: Config, now: int) -> None:
        self.config = config
        self.active = ActiveCursors(CursorsConfig(now, config.grace if config.by_read_count else 0))
        self.caching: set[str] = set()
        """The cursors whose reads are to be cached if reads are not counted."""

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
        """The grace time begins when the last cursor is removed."""
        self.caching.discard(name)
        return self.active.remove(name)

    # ---- How many reads are expected

    @rule("EC-58", source="PR 24656", needs="grace reads")
    def caches_added(self) -> bool:
        """An added entry is cached while there is a cursor, or the grace time lasts."""
        return self.active.caches()

    @rule("RC-03", source="PIP-430", needs="reads")
    def start_on_add(self) -> int:
        """The count of an added entry starts with the number of all active cursors; with 0 if reads are not counted."""
        return self.active.size() if self.config.by_read_count else 0

    @rule("RC-04", source="PIP-430", needs="ranks reads")
    def rank(self, name: str) -> int:
        """The count of an entry that a cursor read starts with the cursor's rank."""
        return self.active.count(name)

    @rule("RC-05", source="RangeEntryCacheImpl, cacheReadEntry", needs="reads")
    def start_uncounted(self, name: str) -> int:
        """If reads are not counted, a count starts with 1 if the reading cursor asks to cache, else with 0."""
        return int(name in self.caching)

    def start_on_read(self, name: str) -> int:
        """What the expected reads of an entry that a cursor reads start with, now."""
        return self.rank(name) if self.config.by_read_count else self.start_uncounted(name)

    # ---- What all have read

    @rule("EC-56", source="PR 26511", needs="reads")
    def moves_invalidate(self) -> bool:
        """If reads are counted, cursors that move or leave invalidate nothing."""
        return not self.config.by_read_count

    @rule("EC-57", source="PRs 12045, 16054, 17273", needs="reads")
    def slowest(self, before: Position | None) -> Position | None:
        """If reads are not counted and the slowest position changes, all entries before it are removed."""
        return self.active.slowest()
