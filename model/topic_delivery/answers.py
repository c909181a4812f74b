"""What a view answers: each as a tracker of delayed delivery that holds what the view sees of the shared index."""

from __future__ import annotations

from broker_tck.model.delayed_delivery.index import Position
from broker_tck.model.rules import rule
from broker_tck.model.topic_delivery.shared_index import SharedIndex
from broker_tck.model.topic_delivery.view import SubscriptionView


class Answers(SharedIndex):
    """Adds, takes, counts and pauses of one view at a time."""

    # ---- Adding

    @rule("TD-06", source="InMemoryTopicDelayedDeliveryTrackerManager")
    def refuses(self, view: SubscriptionView, at: int) -> bool:
        """A time that is negative or not after the cut-off is refused; that ends the fixed delay of this view alone."""
        return at < 0 or at <= self.cutoff(view)

    def cutoff(self, view: SubscriptionView) -> int:
        """The latest time for which a view is handed messages."""
        return self.buckets.cutoff(self.timer.now)

    def add(self, handle: str, ledger: int, entry: int, at: int) -> bool | None:
        """A view adds a message."""
        view = self.view(handle)
        if view is None:
            return None
        if self.refuses(view, at):
            view.fixed_delay.refused()
            return False
        position, key = self.index.stored(ledger, entry), self.buckets.key(at)
        self.memory_estimate.grew = True
        self.inserted(self.index.insert(position, key), key, position)
        self.held_for(view, key, position)
        self.update_timer()
        view.fixed_delay.taken(at, self.buckets.tick)
        return True

    def inserted(self, new: bool, key: int, position: Position) -> None:
        """A copy was put in, or was there already."""

    def held_for(self, view: SubscriptionView, key: int, position: Position) -> None:
        """A view has added a copy, which leaves the index at once where nobody sees it."""
        placed = key, (*position, self.index.serial(position, key))
        view.adds(placed)
        self.release([placed])

    def fill(
        self, handle: str, ledger: int, entry: int, step: int, n: int, at: int, apart: int, each: int
    ) -> int | None:
        """A view adds n messages, ``each`` of a ledger, ``apart`` in time; answers how many it took."""
        if self.view(handle) is None:
            return None
        each = each or n
        messages = [(ledger + i // each, entry + i % each * step, at + i * apart) for i in range(n)]
        return sum([bool(self.add(handle, *message)) for message in messages])

    # ---- Handing out

    def is_due(self, key: int, view: SubscriptionView) -> bool:
        """Whether a bucket is due for a view."""
        return self.buckets.due(key, self.timer.now)

    @rule("TD-10", source="PIP-448: the semantics for users stay identical; T-09")
    def is_available(self, view: SubscriptionView) -> bool:
        """A message is available to a view while a bucket that is due holds a copy that the view sees."""
        return self.sees_due(view)

    def sees_due(self, view: SubscriptionView) -> bool:
        """Whether a bucket that is due holds a copy that a view sees."""
        return any(
            view.sees((key, copy))
            for key, bucket in self.index.held.items()
            if self.is_due(key, view)
            for copy in bucket
        )

    def has(self, handle: str) -> bool | None:
        """Whether a message is available to a view."""
        view = self.view(handle)
        return None if view is None else self.is_available(view)

    def get(self, handle: str, most: int) -> list[Position] | None:
        """Hand out to a view what is due."""
        view = self.view(handle)
        return None if view is None else self.hand_out(view, most)

    def hand_out(self, view: SubscriptionView, most: int) -> list[Position]:
        """Hand out what is due, of what a view sees."""
        seen = self.seen_by(view)
        shown = self.index_of(seen)
        taken = shown.taken(sorted(key for key in shown.held if self.is_due(key, view)), most)
        done = shown.removed(taken)
        view.takes(done)
        view.fixed_delay.left(bool(taken), len(done) == len(seen))
        self.settle(done)
        return shown.handed_out(taken)

    # ---- Counting and pausing

    @rule("TD-11", source="PIP-448: no change of metrics")
    def count_of(self, view: SubscriptionView) -> int:
        """The number of delayed messages of a view is the number of copies that it sees."""
        return len(self.seen_by(view))

    def count(self, handle: str) -> int | None:
        """The number of delayed messages of a view."""
        view = self.view(handle)
        return None if view is None else self.count_of(view)

    @rule("TD-12", source="PIP-448: the semantics for users stay identical; T-08, T-09")
    def wants_pause(self, view: SubscriptionView) -> bool:
        """A view pauses while it looks ahead, its own delay is fixed, it sees at least `lookahead` messages and none is
        available to it.
        """
        return self.looks_ahead(view) and self.count_of(view) >= self.lookahead

    @rule("TD-12")
    def may_pause(self, view: SubscriptionView) -> bool:
        return not self.is_available(view)

    def looks_ahead(self, view: SubscriptionView) -> bool:
        """Whether a view would pause with enough messages."""
        return self.lookahead > 0 and view.fixed_delay.fixed

    def all_fixed(self) -> bool:
        """Whether the delay of every view is fixed."""
        return all(view.fixed_delay.fixed for view in self.registry.registered.values())

    def pauses(self, view: SubscriptionView) -> bool:
        """Whether the deliveries of a view should pause."""
        return self.wants_pause(view) and self.may_pause(view)

    def pause(self, handle: str) -> bool | None:
        """Whether the deliveries of a view should pause."""
        view = self.view(handle)
        return None if view is None else self.pauses(view)
