"""The time for which added entries are cached though there is no cursor."""

from __future__ import annotations

from broker_tck.model.rules import Part, rule
from broker_tck.model.said import said


class Grace(Part):
    """A clock, and the time from which the grace time counts: the start, or the last removal."""

    def __init__(self, now: int, length: int) -> None:
        self.now = now
        self.length = length
        self.since = now

    @said(
        at_the_grace_time_as_well=(
            "Your container caches for one millisecond too long; the grace time ends before its last."
        ),
        absent="Your container has no grace time: without a cursor it caches nothing at once.",
    )
    @rule(
        "EC-58",
        "Added entries are cached while there is a cursor, and for less than the grace time after the start or a "
        "removal; there is no such time where reads are not counted.",
        source="PR 24656",
        look="equality: exactly the grace time later it is over; the time before the first cursor",
        needs="grace reads",
        absent=lambda g: False,
        at_the_grace_time_as_well=lambda g: g.now - g.since <= g.length,
    )
    def lasts(self) -> bool:
        return self.now - self.since < self.length

    def restart(self) -> None:
        """A cursor was removed."""
        self.since = self.now

    def advance(self, ms: int) -> None:
        """Time passes."""
        self.now += ms
