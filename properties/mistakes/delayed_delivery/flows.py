"""Known mistakes of what is held, taken and detected that take more than a clause."""

from __future__ import annotations

from broker_tck.model.delayed_delivery.fixed_delay import FixedDelay
from broker_tck.model.delayed_delivery.index import Copy, Index, Position
from broker_tck.model.delayed_delivery.specification import DelayedDelivery
from broker_tck.properties.mistakes.book import mistake

# ---- Adding


@mistake(
    "DD-10",
    "the timer is left alone",
    "An add leaves your tracker's timer as it is; a message that was taken has to bring it up to date.",
)
class AddLeavesTimer(DelayedDelivery):
    """Nothing tells the timer of a message."""

    def added(self, new: bool, at: int) -> None:
        """Look at the fixed delay alone."""
        self.detect(at)


@mistake(
    "DD-10",
    "the timer is told of what is new",
    (
        "An add of what is there already leaves your tracker's timer as it is; each add that is taken has to bring it "
        "up to date."
    ),
)
class NewUpdatesTimer(DelayedDelivery):
    """A message that was there already leaves the timer alone."""

    def added(self, new: bool, at: int) -> None:
        """Update the timer where the message is new."""
        if new:
            self.update_timer()
        self.detect(at)


@mistake(
    "DD-10",
    "the timer is told of the first",
    "Only the first message is told to your tracker's timer; each add that is taken has to bring it up to date.",
)
class FirstUpdatesTimer(DelayedDelivery):
    """Only the message that ends the emptiness is told to the timer."""

    def added(self, new: bool, at: int) -> None:
        """Update the timer where nothing else is held."""
        if self.count() == 1:
            self.update_timer()
        self.detect(at)


@mistake(
    "DD-11",
    "the answer to what is there already is no",
    "Your tracker answers no to a message that is there already; the answer is still yes.",
)
class RefusesAgain(DelayedDelivery):
    """A message that was there already is not taken."""

    def add(self, ledger: int, entry: int, at: int) -> bool:
        """Answer whether the message is new."""
        new = not self.index.holds(self.index.stored(ledger, entry), self.buckets.key(at))
        return super().add(ledger, entry, at) and new


@mistake(
    "DD-12",
    "a position is in one bucket: that of its last add",
    "An add in your tracker moves the message out of its earlier bucket; that copy has to stay.",
)
class Superseded(Index):
    """A copy in another bucket is dropped, where :meth:`supersedes` says so."""

    def supersedes(self, key: int, other: int) -> bool:
        """Whether a copy under a key has the one under another dropped."""
        return True

    def insert(self, position: Position, key: int) -> bool:
        """Drop what is superseded."""
        for other in self.elsewhere(position, key):
            if self.supersedes(key, other):
                self.drop([(other, (*position, 0))])
        return super().insert(position, key)


@mistake("DD-12", "a later copy is dropped")
class LaterSuperseded(Superseded):
    """An add cancels what was to come later."""

    def supersedes(self, key: int, other: int) -> bool:
        """Of the later ones alone."""
        return other > key


@mistake("DD-12", "a sooner copy is dropped")
class SoonerSuperseded(Superseded):
    """An add cancels what was to come sooner."""

    def supersedes(self, key: int, other: int) -> bool:
        """Of the sooner ones alone."""
        return other < key


@mistake(
    "DD-12",
    "a position is in one bucket: that of its first add",
    "Your tracker ignores a message that it has in another bucket; the same position there is another copy.",
)
class FirstStays(Index):
    """A position that is held is not filed again."""

    def insert(self, position: Position, key: int) -> bool:
        """Hold a copy where there is none in another bucket."""
        return not self.elsewhere(position, key) and super().insert(position, key)


# ---- What is held


@mistake("DD-28", "only what is due is counted")
class CountsDue(DelayedDelivery):
    """What is not due yet does not count."""

    def count(self) -> int:
        """The number of copies that are due."""
        return sum(len(self.index.held[key]) for key in self.due_keys())


@mistake(
    "DD-11",
    "a repeated add is counted again while the detection holds",
    "Your tracker counts a message again that is added again while the delay is fixed; it stays one copy.",
)
class CountsAgainWhileFixed(DelayedDelivery):
    """The detection looks at every add, and so does the count."""

    def insert(self, position: Position, key: int) -> bool:
        """Count an add that changed nothing."""
        new = super().insert(position, key)
        self.index.counted_in_vain += not new and self.fixed_delay.fixed
        return new


@mistake(
    "DD-30", "a clear leaves what is due", "A clear leaves what is due in your tracker; it has to empty the index."
)
class ClearLeavesDue(DelayedDelivery):
    """What is due is as good as handed out."""

    def clear(self) -> None:
        """Forget what is not due."""
        left = {key: self.index.held[key] for key in self.due_keys()}
        super().clear()
        self.index.hold(left)


# ---- Handing out


@mistake(
    "DD-20", "the timer is left alone", "A get leaves your tracker's timer as it is; it has to bring it up to date."
)
class GetLeavesTimer(DelayedDelivery):
    """Nothing tells the timer of what has left, where :meth:`tells` does not say so."""

    def tells(self, taken: list[tuple[int, Copy]]) -> bool:
        """Whether the timer is told."""
        return False

    def left(self, taken: list[tuple[int, Copy]]) -> None:
        """Look at the fixed delay, and tell the timer or not."""
        self.restart(taken)
        if self.tells(taken):
            self.update_timer()


@mistake(
    "DD-20",
    "the timer is told where something was taken",
    "A get that takes nothing leaves your tracker's timer as it is; it has to bring it up to date.",
)
class TakesUpdateTimer(GetLeavesTimer):
    """A get of nothing leaves the timer alone."""

    def tells(self, taken: list[tuple[int, Copy]]) -> bool:
        """Where something was taken."""
        return bool(taken)


@mistake("DD-20", "the timer is told where nothing was taken")
class VainGetsUpdateTimer(GetLeavesTimer):
    """A get of something leaves the timer alone."""

    def tells(self, taken: list[tuple[int, Copy]]) -> bool:
        """Where nothing was taken."""
        return not taken


# ---- The fixed delay


@mistake(
    "DD-14",
    "a time more than the width of a bucket below the highest ends the fixed delay",
    "A step back by the width of a bucket ends the fixed delay here; it has to be more than a tick.",
)
class WidthForTick(DelayedDelivery):
    """The width of a bucket is taken for the tick."""

    def detect(self, at: int) -> None:
        """Look back as far as a bucket is wide."""
        self.fixed_delay.taken(self.compared(at), self.buckets.width)


@mistake(
    "DD-15", "a refusal leaves the fixed delay", "A refused message leaves the fixed delay as it is; it has to end it."
)
class RefusalLeavesFixedDelay(DelayedDelivery):
    """A refusal ends nothing, where :meth:`ends` does not say so."""

    def ends(self, at: int) -> bool:
        """Whether the refusal of a time ends the fixed delay."""
        return False

    def add(self, ledger: int, entry: int, at: int) -> bool:
        """Track a message."""
        fixed, ends = self.fixed_delay.fixed, self.ends(at)
        taken = super().add(ledger, entry, at)
        if not (taken or ends):
            self.fixed_delay.fixed = fixed
        return taken


@mistake("DD-15", "a refusal for want of a time leaves the fixed delay")
class NoTimeLeavesFixedDelay(RefusalLeavesFixedDelay):
    """What has no delay says nothing of delays."""

    def ends(self, at: int) -> bool:
        """Where there is a time."""
        return at >= 0


@mistake("DD-15", "only a refusal for want of a time ends the fixed delay")
class OnlyNoTimeEndsFixedDelay(RefusalLeavesFixedDelay):
    """What is due already says nothing of delays."""

    def ends(self, at: int) -> bool:
        """Where there is none."""
        return at < 0


@mistake("DD-15", "a refusal ends the fixed delay while something is held")
class RefusalByEmptyLeavesFixedDelay(RefusalLeavesFixedDelay):
    """With nothing held there should be nothing to end."""

    def ends(self, at: int) -> bool:
        """While something is held."""
        return bool(self.index.held)


@mistake("DD-16", "the detection starts anew whenever nothing is due")
class StartsAnewWithNothingDue(DelayedDelivery):
    """What is held for later is as good as nothing."""

    def restart(self, taken: list[tuple[int, Copy]]) -> None:
        """Start anew where nothing is available."""
        self.fixed_delay.left(bool(taken), not self.available())


@mistake(
    "DD-16",
    "the highest time outlives the start anew",
    "The highest time stays when the detection of a fixed delay starts anew; it has to be forgotten.",
)
class HighestStays(FixedDelay):
    """Only the answer is forgotten."""

    def begin(self) -> None:
        """Start anew, with the highest time so far."""
        self.fixed = True
