"""The time for which added entries are cached though there is no cursor."""

from __future__ import annotations

from broker_tck.model.rules import Part, rule


class Grace(Part):
    """A clock, and the time from which the grace time counts: the start, or the last removal."""

    def __init__(self, now: int, length: int) -> None:
        self.now = now
        self.length = length
        self.since = now

    @rule("EC-58", source="PR 24656", needs="grace reads")
    def lasts(self) -> bool:
        """The grace time runs from the start or a removal, and ends after its length; it needs counted reads."""
        return self.now - self.since < self.length

    def restart(self) -> None:
        """A cursor was removed."""
        self.since = self.now

    def advance(self, ms: int) -> None:
        """Time passes."""
        self.now += ms
