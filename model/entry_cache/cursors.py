"""The cursors of a topic, as the caches see them: what is worth caching, for how many reads, and what goes again."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from broker_tck.model.active_cursors.specification import ActiveCursors
from broker_tck.model.entry_cache.entries import Position
from broker_tck.model.rules import Part, also, rule
from broker_tck.model.said import said


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

    @also(ActiveCursors.caches, when=lambda c, name: c.has(name))
    def remove(self, name: str) -> bool:
        """A cursor is removed; answers whether it was there. The grace time begins when none is left."""
        if not self.active.remove(name):
            return False
        self.caching.discard(name)
        return True

    # ---- Entries are added

    @said(
        at_the_grace_time_as_well=(
            "Your cache still caches added entries when the grace time is just over; it has to be less than that."
        ),
        in_grace_alone=(
            "Your cache caches added entries in the grace time alone; it has to while there is a cursor as well."
        ),
        whether_counted_or_not="Your cache has a grace time although reads are not counted; there is none then.",
        always="Your cache caches every added entry; it needs a cursor, or the grace time.",
        absent="Your cache has no grace time: without a cursor it caches nothing at once.",
    )
    @also(
        ActiveCursors.caches,
        absent=lambda c: c.active.size() > 0,
        at_the_grace_time_as_well=lambda c: (
            c.active.caches() or (c.config.by_read_count and c.active.now - c.active.grace.since <= c.config.grace)
        ),
        in_grace_alone=lambda c: c.active.now - c.active.grace.since < c.active.config.grace,
        whether_counted_or_not=lambda c: c.active.caches() or c.active.now - c.active.grace.since < c.config.grace,
        always=lambda c: True,
    )
    def caches_added(self) -> bool:
        """Whether an added entry is to be cached."""
        return self.active.caches()

    @said(
        whether_counted_or_not=(
            "Your cache expects reads of added entries although reads are not counted; then it is 0."
        ),
        one_for_all=(
            "Your cache expects one read of an added entry, however many cursors are active; each of them reads it."
        ),
        one_at_least="Your cache expects a read of an added entry although no cursor is active; then it is 0.",
        absent="Your cache expects no reads of an added entry; it has to expect one by each active cursor.",
    )
    @rule(
        "RC-03",
        "The count of an added entry starts with the number of active cursors, wherever they are; with 0 where reads "
        "are not counted.",
        source="PIP-430",
        look="cursors that are behind, or ahead",
        needs="reads",
        absent=lambda c: 0,
        whether_counted_or_not=lambda c: c.active.size(),
        one_for_all=lambda c: min(c.active.size(), 1) if c.config.by_read_count else 0,
        one_at_least=lambda c: max(c.active.size(), 1) if c.config.by_read_count else 0,
    )
    def start_on_add(self) -> int:
        return self.active.size() if self.config.by_read_count else 0

    # ---- Entries are read

    @said(
        without_the_reader=(
            "Your cache leaves out the reader itself when it counts who is yet to read; it is counted as well."
        ),
        before_the_reader=(
            "Your cache leaves out other cursors at the reader's position when it counts who is yet to read; they "
            "are counted as well."
        ),
        all_cursors=(
            "Your cache expects a read by every cursor of what was read; only those at the reader or behind it will "
            "read it."
        ),
        absent=(
            "Your cache expects one read of what a cursor read, however many are behind it; each of them reads it as "
            "well."
        ),
    )
    @also(
        ActiveCursors.start,
        absent=lambda c, name: 1,
        without_the_reader=lambda c, name: max(c.active.count(name) - 1, 0),
        before_the_reader=lambda c, name: (
            1 + sum(at < c.active.tracked[name] for at in c.active.tracked.values()) if name in c.active.tracked else 0
        ),
        all_cursors=lambda c, name: c.active.size() if name in c.active.tracked else 0,
    )
    def rank(self, name: str) -> int:
        """What the count of an entry that a cursor read starts with."""
        return self.active.count(name)

    @said(
        whatever_the_flag=(
            "Where reads are not counted, your cache expects a read of what any cursor reads; the cursor says "
            "whether it is to be cached."
        ),
        by_rank=(
            "Where reads are not counted, your cache still expects reads by rank; it has to expect one, if the "
            "cursor is to have it cached."
        ),
        absent=(
            "Where reads are not counted, your cache caches nothing that a cursor read; it has to if the cursor says "
            "so."
        ),
    )
    @rule(
        "RC-05",
        "Where reads are not counted, what a cursor reads is expected once if that cursor is to have it cached.",
        source="RangeEntryCacheImpl, cacheReadEntry",
        look="the cursor's flag; the number of cursors, which does not matter then",
        needs="reads",
        absent=lambda c, name: 0,
        whatever_the_flag=lambda c, name: 1,
        by_rank=lambda c, name: c.rank(name),
    )
    def start_uncounted(self, name: str) -> int:
        return int(name in self.caching)

    def start_on_read(self, name: str) -> int:
        """What the expected reads of an entry that a cursor reads start with, now."""
        return self.rank(name) if self.config.by_read_count else self.start_uncounted(name)

    # ---- What all have read

    @said(
        absent=(
            "Cursors that move or leave invalidate entries in your cache although reads are counted; then they may not."
        ),
    )
    @rule(
        "EC-56",
        "Where reads are counted, cursors that move or leave invalidate nothing.",
        source="PR 26511",
        look="entries that the slowest cursor has read",
        needs="reads",
        absent=lambda c: True,
    )
    def moves_invalidate(self) -> bool:
        return not self.config.by_read_count

    @said(
        of_the_first_cursor="Your cache invalidates up to the cursor that came first; the slowest one decides.",
        of_the_fastest_cursor="Your cache invalidates up to the fastest cursor; the slowest one decides.",
        absent=(
            "Your cache invalidates nothing when the slowest position changes; where reads are not counted, what is "
            "before it has to go."
        ),
    )
    @rule(
        "EC-57",
        "Where reads are not counted, what is before the slowest position goes when that changes; without a cursor, "
        "all goes.",
        source="PRs 12045, 16054, 17273",
        look="the least of all positions, not that of any cursor; the last cursor that leaves",
        needs="reads",
        absent=lambda c, before: before,
        of_the_first_cursor=lambda c, before: next(iter(c.active.tracked.values()), None),
        of_the_fastest_cursor=lambda c, before: max(c.active.tracked.values(), default=None),
    )
    def slowest(self, before: Position | None) -> Position | None:
        """The slowest position now, by what it was before."""
        return self.active.slowest()
