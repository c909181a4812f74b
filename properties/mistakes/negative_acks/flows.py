"""Known mistakes of negative acks that take more than a clause."""

from __future__ import annotations

from broker_tck.model.negative_acks.specification import MS, Buckets, Clock, Item, NegativeAcks
from broker_tck.properties.mistakes.book import mistake

# ---- What is held


class CountsNacks(Buckets):
    """Has a number for each nack."""

    def __init__(self, bits: int, scale: int) -> None:
        super().__init__(bits, scale)
        self.nacks = 0

    def hold(self, item: Item, key: int, chunks: int) -> bool:
        """Count, and hold the item."""
        self.nacks += 1
        return super().hold(item, key, chunks)


@mistake("NA-38", "every nack is an item of its own")
class NacksAreItems(CountsNacks):
    """An entry that is nacked again is one item more."""

    def hold(self, item: Item, key: int, chunks: int) -> bool:
        """Hold the item with the number of its nack."""
        return super().hold((*item[:2], item[2] or self.nacks + 1), key, chunks)


@mistake("NA-43", "nacks are counted, until nothing is held")
class NacksAreCounted(CountsNacks):
    """A counter that only goes up."""

    def count(self) -> int:
        """How many nacks there were."""
        return self.nacks if self.held else 0


# ---- The timer


@mistake("NA-23", "what is sooner by no more than a bucket waits")
class WaitsWithinBucket(NegativeAcks):
    """The timer is moved for what is worth it."""

    def arm(self, deadline: int) -> None:
        """Move a timer that fires more than a bucket's width later."""
        pending = self.timer.deadline
        if pending is None:
            super().arm(deadline)
        elif deadline + (MS << self.buckets.bits) < pending:
            self.timer.move(deadline)


@mistake("NA-24", "a nack restarts the countdown while another is held")
class RestartsForSecond(NegativeAcks):
    """The first nack alone waits for its own delay."""

    def arm(self, deadline: int) -> None:
        """Move a timer that is pending, unless this is the only item."""
        pending = self.timer.deadline is not None
        if pending and self.buckets.count() > 1:
            self.timer.move(deadline)
        elif not pending or self.timer.is_sooner(deadline):
            super().arm(deadline)


# ---- Clocks


@mistake(
    "NA-26",
    "after a jump back the wall clock is read as it was",
    "After a jump back your tracker waits for its wall clock to catch up; it must read the clock as it is.",
)
class NeverGoesBack(Clock):
    """The latest reading counts."""

    def __init__(self, ms: int, scale: int) -> None:
        super().__init__(ms, scale)
        self.latest = ms * scale

    def reading(self) -> int:
        """The latest instant that was read."""
        self.latest = max(self.latest, super().reading())
        return self.latest


# ---- Close


@mistake(
    "NA-40", "the timer outlives its tracker", "Your tracker's timer stays armed after a close; it must be cancelled."
)
class CloseLeavesTimer(NegativeAcks):
    """Nothing is disarmed, where :meth:`disarms` does not say so."""

    def disarms(self) -> bool:
        """Whether to disarm, asked when all items are dropped."""
        return False

    def close(self) -> None:
        """End, with the timer armed or not."""
        armed = self.timer.deadline, self.timer.cancelled
        super().close()
        if not self.disarms():
            self.timer.deadline, self.timer.cancelled = armed


@mistake("NA-40", "the timer is disarmed while something is held, which by then is nothing")
class CloseLooksTooLate(CloseLeavesTimer):
    """The items are dropped before they are looked at."""

    def disarms(self) -> bool:
        """While something is held."""
        return bool(self.buckets.held)


@mistake("NA-40", "items outlive their tracker", "Your tracker keeps its items when it is closed; it must drop them.")
class CloseKeepsItems(NegativeAcks):
    """Nothing is dropped."""

    def close(self) -> None:
        """Disarm the timer alone."""
        held = self.buckets.held
        super().close()
        self.buckets.held = held
