"""The container ``lazy-list``: a linked list of cursors that is brought up to date when somebody asks.

Cursors at one position are one group. A group knows its rank, the number of cursors in it and before it, so a cursor
that moves changes the ranks of the groups that it passes. Where half of the cursors are to be moved, the list is built
anew. A cursor that only moves along with the others so costs nothing until somebody asks.
"""

from __future__ import annotations

from typing import ClassVar

from broker_tck.implementations.active_cursors.parts import Container
from broker_tck.implementations.interface import ActiveCursorsConfig, Clock, Cursor, Position


class Group:
    """All cursors at one position, and the groups beside it."""

    __slots__ = ("following", "members", "position", "preceding", "rank")

    def __init__(self, position: Position) -> None:
        self.position = position
        self.members = 0
        self.rank = 0
        self.preceding: Group = self
        self.following: Group = self


class Member:
    """A cursor: the group that it is in, and the position that it is to have."""

    __slots__ = ("cursor", "group", "wanted")

    def __init__(self, cursor: Cursor, wanted: Position | None) -> None:
        self.cursor = cursor
        self.group: Group | None = None
        self.wanted = wanted


class LazyList(Container[Member]):
    """Changes wait. The groups are linked in a ring through one that stands before the first and behind the last."""

    profiles: ClassVar[tuple[str, ...]] = ("ideal",)
    capabilities: ClassVar[dict[str, bool]] = {"versions": False, "durables": False}

    def __init__(self, config: ActiveCursorsConfig, clock: Clock) -> None:
        super().__init__(config, clock)
        self._ring = Group((0, 0))
        self._waiting: dict[Member, None] = {}
        self._tracked = 0

    def add(self, cursor: Cursor, position: Position | None) -> None:
        """Add a cursor, or update the one that has its name."""
        member = self._by_name.get(cursor.name)
        if member is None:
            member = self._by_name[cursor.name] = Member(cursor, position)
        self._want(member, position)

    def update_cursor(self, cursor: Cursor, position: Position | None) -> None:
        """Move a cursor, later."""
        member = self._by_name.get(cursor.name)
        if member is not None:
            self._want(member, position)

    def remove_cursor(self, name: str) -> bool:
        """Remove a cursor; its place in the list goes later."""
        member = self._by_name.pop(name, None)
        if member is None:
            return False
        self._want(member, None)
        self._left_at = self._clock()
        return True

    def get_slowest_cursor_position(self) -> Position | None:
        """The position of the first group."""
        self._bring_up_to_date()
        first = self._ring.following
        return None if first is self._ring else first.position

    def get_number_of_cursors_at_same_position_or_before(self, cursor: Cursor) -> int:
        """The rank of the cursor's group."""
        self._bring_up_to_date()
        member = self._by_name.get(cursor.name)
        return member.group.rank if member and member.group else 0

    def _want(self, member: Member, position: Position | None) -> None:
        member.wanted = position
        self._waiting[member] = None

    # ---- Bringing the list up to date

    def _bring_up_to_date(self) -> None:
        if not self._waiting:
            return
        if 2 * len(self._waiting) >= self._tracked:
            self._build_anew()
        else:
            for member in self._waiting:
                self._move(member)
        self._waiting.clear()

    def _build_anew(self) -> None:
        for member in self._waiting:
            member.group = None
        tracked = [member for member in self._by_name.values() if member.wanted is not None]
        tracked.sort(key=_wanted)
        self._tracked = len(tracked)
        ring = self._ring
        ring.following = ring.preceding = ring
        for rank, member in enumerate(tracked, 1):
            group = ring.preceding
            if group is ring or group.position != member.wanted:
                group = self._link(_wanted(member), ring)
            group.members += 1
            group.rank = rank
            member.group = group

    def _move(self, member: Member) -> None:
        """Leave the old group for the new one, and count anew the groups between."""
        old, wanted = member.group, member.wanted
        if old is None:
            if wanted is not None:
                self._enter(member, wanted)
        elif wanted is None:
            self._exit(member, old)
        elif old.position < wanted:
            self._move_on(member, old, wanted)
        elif wanted < old.position:
            self._move_back(member, old, wanted)

    def _enter(self, member: Member, wanted: Position) -> None:
        group = self._ring.following
        while group is not self._ring and group.position < wanted:
            group = group.following
        if group is self._ring or group.position != wanted:
            group = self._link(wanted, group)
        self._join(member, group)
        self._tracked += 1
        self._count_on(group, 1)

    def _exit(self, member: Member, old: Group) -> None:
        member.group = None
        self._tracked -= 1
        self._count_on(old, -1)
        self._leave(old)

    def _move_on(self, member: Member, old: Group, wanted: Position) -> None:
        group = old
        while group is not self._ring and group.position < wanted:
            group.rank -= 1
            group = group.following
        if group is self._ring or group.position != wanted:
            group = self._link(wanted, group)
            group.rank += 1
        self._join(member, group)
        self._leave(old)

    def _move_back(self, member: Member, old: Group, wanted: Position) -> None:
        group = old.preceding
        while group is not self._ring and wanted < group.position:
            group.rank += 1
            group = group.preceding
        if group is self._ring or group.position != wanted:
            group = self._link(wanted, group.following)
        group.rank += 1
        self._join(member, group)
        self._leave(old)

    def _count_on(self, group: Group, by: int) -> None:
        while group is not self._ring:
            group.rank += by
            group = group.following

    def _link(self, position: Position, following: Group) -> Group:
        """Link a group, still empty, before another. Its rank is that of the one before; the ring's is 0."""
        group = Group(position)
        group.preceding, group.following = following.preceding, following
        group.preceding.following = following.preceding = group
        group.rank = group.preceding.rank
        return group

    @staticmethod
    def _join(member: Member, group: Group) -> None:
        group.members += 1
        member.group = group

    @staticmethod
    def _leave(group: Group) -> None:
        group.members -= 1
        if not group.members:
            group.preceding.following, group.following.preceding = group.following, group.preceding


def _wanted(member: Member) -> Position:
    assert member.wanted is not None
    return member.wanted
