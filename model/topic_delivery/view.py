"""A view: what one subscription sees of the shared index, behind its own mark-delete position."""

from __future__ import annotations

from collections.abc import Iterable

from broker_tck.model.delayed_delivery.fixed_delay import FixedDelay
from broker_tck.model.delayed_delivery.index import Copy, Position
from broker_tck.model.rules import Part, rule

Placed = tuple[int, Copy]
"""The key of a bucket, and a copy in it."""


class SubscriptionView(Part):
    """The tracker that one dispatcher of a subscription was given."""

    FixedDelay = FixedDelay

    def __init__(self, name: str, handle: str, mark: Position | None) -> None:
        self.name = name
        self.handle = handle
        """Names the view and its dispatcher, of which a subscription may have had several."""
        self.mark = mark
        """The mark-delete position; None: nothing is known to be acknowledged."""
        self.passed: Position | None = None
        """The furthest mark-delete position that it had before this one."""
        self.handed: set[Placed] = set()
        self.cleared: set[Placed] = set()
        self.again: set[Placed] = set()
        """What it has added since it was done with it."""
        self.fixed_delay = self.FixedDelay()

    # ---- What it sees

    @rule("TD-08", source="PIP-448, Security Considerations; InMemoryTopicDelayedDeliveryTrackerManager")
    def acknowledged(self, position: Position) -> bool:
        """A view sees no copy at or before its mark-delete position, of whatever bucket; without one it sees all."""
        return self.mark is not None and position <= self.mark

    @rule("TD-09", source="PIP-448: the semantics for users stay identical; T-01")
    def was_handed(self, placed: Placed) -> bool:
        """What was handed to a view is not handed to it again, unless it adds it again."""
        return placed in self.handed

    @rule("TD-13", source="PIP-448: the semantics for users stay identical; T-17")
    def was_cleared(self, placed: Placed) -> bool:
        """Clear has one view forget what it sees; what others see stays, and the timer is left alone."""
        return placed in self.cleared

    @rule("TD-15", source="PIP-448, updateMarkDeletePosition; InMemoryTopicDelayedDeliveryTrackerManager")
    def mark_after(self, position: Position) -> Position | None:
        """A mark-delete position is taken over as it is, also where it goes back; what the view had passed by then it
        sees only where it adds it again.
        """
        return position

    @rule("TD-15")
    def was_passed(self, position: Position) -> bool:
        return self.passed is not None and position <= self.passed

    def sees(self, placed: Placed) -> bool:
        """Whether it may still ask for a copy."""
        position = placed[1][:2]
        if self.acknowledged(position):
            return False
        done = (
            (self.handed and self.was_handed(placed))
            or (self.cleared and self.was_cleared(placed))
            or (self.passed and self.was_passed(position))
        )
        return not done or placed in self.again

    # ---- What it does

    def move(self, position: Position) -> None:
        """Its mark-delete position moves."""
        if self.mark is not None:
            self.passed = max(self.mark, self.passed or self.mark)
        self.mark = self.mark_after(position)
        self.again = {placed for placed in self.again if placed[1][:2] > position}

    def adds(self, placed: Placed) -> None:
        """It adds a copy, held before or not."""
        if self.asks_again(placed):
            self.handed.discard(placed)
            self.cleared.discard(placed)
            self.again.add(placed)

    @rule("TD-09")
    def asks_again(self, placed: Placed) -> bool:
        position = placed[1][:2]
        done = placed in self.handed or placed in self.cleared or self.was_passed(position)
        return done and not self.acknowledged(position)

    def takes(self, copies: Iterable[Placed]) -> None:
        """Copies are handed to it."""
        self.handed.update(copies)
        self.again.difference_update(copies)

    def forgets(self, copies: Iterable[Placed]) -> None:
        """Copies are cleared by it."""
        self.cleared.update(copies)
        self.again.difference_update(copies)
