"""Whether all delays are alike so far: then messages become due in the order in which they come."""

from __future__ import annotations

from broker_tck.model.rules import Part, also, rule
from broker_tck.model.said import said


class FixedDelay(Part):
    """The detection of a fixed delay: it holds until a time lies too far back, or a message is refused."""

    def __init__(self) -> None:
        self.fixed = True
        self.highest = 0

    @rule(
        "DD-15",
        "A refusal ends the fixed delay, one for want of a time as well.",
        source="InMemoryDelayedDeliveryTracker, PRs 16609, 17907",
        look="the early return of a refused add",
        when=lambda d: d.fixed,
    )
    def refused(self) -> None:
        """A message was refused."""
        self.fixed = False

    @said(
        a_tick_back_ends_it="A step back of exactly a tick ends the fixed delay here; it has to be more than a tick.",
        absent="Nothing ends the fixed delay here; a time more than a tick below the highest has to.",
        any_step_back_ends_it="Any step back ends the fixed delay here; it has to be more than a tick.",
        two_ticks="Only a step back of more than two ticks ends the fixed delay here; more than one tick is enough.",
        comes_back="A fixed delay that has ended comes back with the next time here; it has to stay ended.",
    )
    @rule(
        "DD-14",
        "A time that lies more than a tick below the highest so far ends the fixed delay.",
        source="InMemoryDelayedDeliveryTracker, PRs 16609, 17907",
        look="a step back by exactly a tick, which is still fixed; the tick is the current one",
        absent=lambda d, at, tick: d.fixed,
        a_tick_back_ends_it=lambda d, at, tick: d.fixed and not at <= d.highest - tick,
        any_step_back_ends_it=lambda d, at, tick: d.fixed and not at < d.highest,
        two_ticks=lambda d, at, tick: d.fixed and not at < d.highest - 2 * tick,
        comes_back=lambda d, at, tick: not at < d.highest - tick,
    )
    def still_fixed(self, at: int, tick: int) -> bool:
        return self.fixed and not at < self.highest - tick

    @said(
        absent="Your tracker compares a time with the one before; it has to compare it with the highest so far.",
    )
    @also(still_fixed, absent=lambda d, at: at)
    def highest_after(self, at: int) -> int:
        return max(self.highest, at)

    def taken(self, at: int, tick: int) -> None:
        """A message was taken, with its time."""
        self.fixed = self.still_fixed(at, tick)
        self.highest = self.highest_after(at)

    @said(
        absent="The detection of a fixed delay never starts anew; a get that leaves the index empty has to start it.",
        always="Every get starts the detection of a fixed delay anew; only one that leaves the index empty may.",
        only_if_something_was_taken=(
            "A get that takes nothing from an empty index does not start the detection of a fixed delay anew; it "
            "has to."
        ),
    )
    @rule(
        "DD-16",
        "Only a get that leaves the index empty starts the detection of a fixed delay anew.",
        source="InMemoryDelayedDeliveryTracker",
        look="get on an empty index, get of 0; clear and close reset nothing",
        absent=lambda d, taken, empty: False,
        only_if_something_was_taken=lambda d, taken, empty: taken and empty,
        always=lambda d, taken, empty: True,
    )
    def starts_anew(self, taken: bool, empty: bool) -> bool:
        return empty

    @said(
        absent="A clear starts the detection of a fixed delay anew; only a get that leaves the index empty may.",
    )
    @also(starts_anew, when=lambda d: not d.fixed or d.highest, absent=lambda d: True)
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

    @also(starts_anew, when=lambda d: d.highest)
    def begin(self) -> None:
        """Start anew."""
        self.fixed = True
        self.highest = 0
