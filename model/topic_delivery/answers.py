"""What a view answers: each as a tracker of delayed delivery that holds what the view sees of the shared index."""

from __future__ import annotations

from broker_tck.model.delayed_delivery.index import Position
from broker_tck.model.rules import also, rule
from broker_tck.model.said import said
from broker_tck.model.topic_delivery.shared_index import SharedIndex
from broker_tck.model.topic_delivery.view import SubscriptionView


class Answers(SharedIndex):
    """Adds, takes, counts and pauses of one view at a time."""

    # ---- Adding

    @said(
        equality_accepted=(
            "Your tracker takes a message whose time is exactly the cut-off; that one is due, and has to be refused."
        ),
        absent="Your tracker takes messages that are due already; it has to refuse them.",
        only_the_past=(
            "Your tracker refuses only what is not after now; it has to refuse all that is not after the cut-off."
        ),
        one_more_refused=(
            "Your tracker refuses a message that is due one millisecond after the cut-off; it has to take it."
        ),
        by_the_bucket="Your tracker refuses a message by the time of its bucket; its own time decides.",
    )
    @rule(
        "TD-06",
        "A time that is negative or not after the cut-off is refused; that ends the fixed delay of this view alone.",
        source="InMemoryTopicDelayedDeliveryTrackerManager",
        look="equality: the cut-off itself is refused, one millisecond later is accepted",
        absent=lambda m, view, at: False,
        equality_accepted=lambda m, view, at: at < 0 or at < m.cutoff(view),
        only_the_past=lambda m, view, at: at <= m.timer.now,
        one_more_refused=lambda m, view, at: at <= m.cutoff(view) + 1,
        by_the_bucket=lambda m, view, at: at < 0 or m.is_due(m.buckets.key(at), view),
    )
    def refuses(self, view: SubscriptionView, at: int) -> bool:
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

    @said(
        seen_or_not="Your tracker says that a message is available to a view that does not see it.",
        in_the_first_bucket_alone="Your tracker looks for an available message in the first bucket alone.",
        due_or_not=(
            "Your tracker says that a message is available to a view as soon as it sees one; its bucket has to be due."
        ),
        absent="Your tracker says that nothing is available to a view while a bucket that is due holds what it sees.",
    )
    @rule(
        "TD-10",
        "A message is available to a view while a bucket that is due holds a copy that the view sees.",
        source="PIP-448: the semantics for users stay identical; T-09",
        look="a first bucket in which only others see anything",
        absent=lambda m, view: False,
        seen_or_not=lambda m, view: any(m.is_due(key, view) for key in m.index.held),
        in_the_first_bucket_alone=lambda m, view: any(
            m.is_due(key, view) and key == min(m.index.held) for key, _ in m.seen_by(view)
        ),
        due_or_not=lambda m, view: bool(m.seen_by(view)),
    )
    def is_available(self, view: SubscriptionView) -> bool:
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

    @said(
        absent="Your tracker tells a view the number of all messages; it has to count what that view sees.",
        only_what_is_due="Your tracker counts for a view what is due alone; it has to count all that the view sees.",
    )
    @rule(
        "TD-11",
        "The number of delayed messages of a view is the number of copies that it sees.",
        source="PIP-448: no change of metrics",
        look="a total of the topic in place of the view's own",
        absent=lambda m, view: m.index.count(),
        only_what_is_due=lambda m, view: sum(m.is_due(key, view) for key, _ in m.seen_by(view)),
    )
    def count_of(self, view: SubscriptionView) -> int:
        return len(self.seen_by(view))

    def count(self, handle: str) -> int | None:
        """The number of delayed messages of a view."""
        view = self.view(handle)
        return None if view is None else self.count_of(view)

    @said(
        more_than_lookahead=(
            "A view of your tracker asks for a pause one message too late; `lookahead` messages are enough."
        ),
        fixed_or_not="A view of your tracker asks for a pause though its delay is not fixed.",
        without_lookahead_too=(
            "A view of your tracker asks for a pause although `lookahead` is 0, which means that it never does."
        ),
        counts_all=(
            "A view of your tracker asks for a pause by the number of all messages; it has to go by what it sees."
        ),
        fixed_for_all=(
            "A view of your tracker asks for a pause only if the delay of every view is fixed; its own delay decides."
        ),
        absent=(
            "A view of your tracker never asks for a pause; it has to while its delay is fixed, it sees `lookahead` "
            "messages and none is available."
        ),
    )
    @rule(
        "TD-12",
        "A view pauses while it looks ahead, its own delay is fixed, it sees at least `lookahead` messages and none is "
        "available to it.",
        source="PIP-448: the semantics for users stay identical; T-08, T-09",
        look="a fixed delay, a count or an availability that is the topic's",
        absent=lambda m, view: False,
        more_than_lookahead=lambda m, view: m.looks_ahead(view) and m.count_of(view) > m.lookahead,
        fixed_or_not=lambda m, view: m.lookahead > 0 and m.count_of(view) >= m.lookahead,
        without_lookahead_too=lambda m, view: view.fixed_delay.fixed and m.count_of(view) >= m.lookahead,
        counts_all=lambda m, view: m.looks_ahead(view) and m.index.count() >= m.lookahead,
        fixed_for_all=lambda m, view: m.all_fixed() and m.looks_ahead(view) and m.count_of(view) >= m.lookahead,
    )
    def wants_pause(self, view: SubscriptionView) -> bool:
        return self.looks_ahead(view) and self.count_of(view) >= self.lookahead

    @said(
        absent="A view of your tracker asks for a pause while a message is available to it; then it may not.",
    )
    @also(wants_pause, absent=lambda m, view: True)
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
