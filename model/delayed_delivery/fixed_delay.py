"""Whether all delays are alike so far: then messages become due in the order in which they come."""

from __future__ import annotations

from broker_tck.model.rules import Part, rule


class FixedDelay(Part):
    """The detection of a fixed delay: it holds until a time lies too far back, or a message is refused."""

    def __init__(self) -> None:
        self.fixed = True
        self.highest = 0

    @rule("DD-15", source="InMemoryDelayedDeliveryTracker, PRs 16609, 17907", when=lambda d: d.fixed)
    def refused(self) -> None:
        """A refusal ends the fixed delay, one for want of a time as well."""
        self.fixed = False

    @rule("DD-14", source="InMemoryDelayedDeliveryTracker, PRs 16609, 17907")
    def still_fixed(self, at: int, tick: int) -> bool:
        """A time that lies more than a tick below the highest so far ends the fixed delay."""
        return self.fixed and not at < self.highest - tick

    @rule("DD-14")
    def highest_after(self, at: int) -> int:
        return max(self.highest, at)

    def taken(self, at: int, tick: int) -> None:
        """A message was taken, with its time."""
        self.fixed = self.still_fixed(at, tick)
        self.highest = self.highest_after(at)

    @rule("DD-16", source="InMemoryDelayedDeliveryTracker")
    def starts_anew(self, taken: bool, empty: bool) -> bool:
        """Only a get that leaves the index empty starts the detection of a fixed delay anew."""
        return empty

    @rule("DD-16", when=lambda d: not d.fixed or d.highest)
    def starts_anew_on_clear(self) -> bool:
        return False

    def left(self, taken: bool, empty: bool) -> None:
        """A get was made: whether it took something, and whether it left nothing."""
        if self.starts_anew(taken, empty):
            self.begin()

    def cleared(self) -> None:
        """Every message was forgotten."""
        if self.starts_anew_on_clear():
            self.begin()

    @rule("DD-16", when=lambda d: d.highest)
    def begin(self) -> None:
        """Start anew."""
        self.fixed = True
        self.highest = 0
