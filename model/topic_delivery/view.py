"""A view: what one subscription sees of the shared index, behind its own mark-delete position."""

from __future__ import annotations

from collections.abc import Iterable

from broker_tck.model.delayed_delivery.fixed_delay import FixedDelay
from broker_tck.model.delayed_delivery.index import Copy, Position
from broker_tck.model.rules import Part, also, rule
from broker_tck.model.said import said

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

    @said(
        absent="A view of your tracker sees what lies before its mark-delete position.",
        the_position_itself_is_seen=(
            "A view of your tracker sees the message at its mark-delete position; that is acknowledged."
        ),
        by_ledger_alone=(
            "A view of your tracker compares ledgers alone with its mark-delete position; entries count as well."
        ),
        one_more_is_hidden=(
            "A view of your tracker does not see the message right behind its mark-delete position; it has to."
        ),
        earlier_ledgers_alone=(
            "A view of your tracker sees messages before its mark-delete position in the same ledger; those are "
            "acknowledged."
        ),
        entries_in_any_ledger=(
            "A view of your tracker compares entries alone with its mark-delete position; ledgers come first."
        ),
        nothing_without_a_mark=(
            "A view of your tracker without a mark-delete position sees nothing; it has to see all."
        ),
    )
    @rule(
        "TD-08",
        "A view sees no copy at or before its mark-delete position, of whatever bucket; without one it sees all.",
        source="PIP-448, Security Considerations; InMemoryTopicDelayedDeliveryTrackerManager",
        look="equality: the position itself is acknowledged; ledgers are compared first, then entries",
        absent=lambda v, position: False,
        the_position_itself_is_seen=lambda v, position: v.mark is not None and position < v.mark,
        one_more_is_hidden=lambda v, position: v.mark is not None and position <= (v.mark[0], v.mark[1] + 1),
        by_ledger_alone=lambda v, position: v.mark is not None and position[0] <= v.mark[0],
        earlier_ledgers_alone=lambda v, position: v.mark is not None and position[0] < v.mark[0],
        entries_in_any_ledger=lambda v, position: v.mark is not None and position[1] <= v.mark[1],
        nothing_without_a_mark=lambda v, position: v.mark is None or position <= v.mark,
    )
    def acknowledged(self, position: Position) -> bool:
        return self.mark is not None and position <= self.mark

    @said(
        absent="Your tracker hands the same copy to a view twice.",
        by_position=(
            "A view of your tracker that was handed a message does not see its copy in another bucket; that is "
            "another copy."
        ),
    )
    @rule(
        "TD-09",
        "What was handed to a view is not handed to it again, unless it adds it again.",
        source="PIP-448: the semantics for users stay identical; T-01",
        look="a head of the line that is handed out for as long as it is not acknowledged",
        absent=lambda v, placed: False,
        by_position=lambda v, placed: placed[1] in {copy for _, copy in v.handed},
    )
    def was_handed(self, placed: Placed) -> bool:
        return placed in self.handed

    @said(
        absent="A view still sees what it has cleared in your tracker.",
        by_position=(
            "A view of your tracker that has cleared a message does not see its copy in another bucket; that is "
            "another copy."
        ),
    )
    @rule(
        "TD-13",
        "Clear has one view forget what it sees; what others see stays, and the timer is left alone.",
        source="PIP-448: the semantics for users stay identical; T-17",
        look="a clear that does nothing, or that empties the index for all",
        absent=lambda v, placed: False,
        by_position=lambda v, placed: placed[1] in {copy for _, copy in v.cleared},
    )
    def was_cleared(self, placed: Placed) -> bool:
        return placed in self.cleared

    @said(
        never_back="A mark-delete position never goes back in your tracker; it has to be taken over as it is.",
        only_the_first=(
            "Your tracker keeps the first mark-delete position of a view; each new one has to be taken over."
        ),
        ledgers_alone=(
            "A mark-delete position that moves within its ledger is not taken over by your tracker; it has to be."
        ),
        absent="Your tracker ignores a new mark-delete position; it has to take it over.",
    )
    @rule(
        "TD-15",
        "A mark-delete position is taken over as it is, also where it goes back; what the view had passed by then it "
        "sees only where it adds it again.",
        source="PIP-448, updateMarkDeletePosition; InMemoryTopicDelayedDeliveryTrackerManager",
        look="a comparison with the earlier position; copies that others still hold, after a step back",
        absent=lambda v, position: v.mark,
        never_back=lambda v, position: max(position, v.mark or position),
        only_the_first=lambda v, position: v.mark or position,
        ledgers_alone=lambda v, position: v.mark if v.mark and position[0] == v.mark[0] else position,
    )
    def mark_after(self, position: Position) -> Position | None:
        return position

    @said(
        absent="What a view of your tracker had passed comes back when its mark-delete position goes back.",
    )
    @also(mark_after, absent=lambda v, position: False)
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

    @said(
        absent="A view of your tracker does not see what it adds again after it was handed out.",
        only_what_was_handed=(
            "A view of your tracker does not see what it adds again after it was cleared or passed; it has to."
        ),
    )
    @also(was_handed, absent=lambda v, placed: False, only_what_was_handed=lambda v, placed: placed in v.handed)
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
