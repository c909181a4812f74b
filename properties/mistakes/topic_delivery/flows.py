"""Known mistakes of a shared index that take more than a clause."""

from __future__ import annotations

from collections.abc import Iterable

from broker_tck.model.delayed_delivery.index import Position
from broker_tck.model.topic_delivery.answers import Answers
from broker_tck.model.topic_delivery.specification import TopicDelivery
from broker_tck.model.topic_delivery.view import Placed, SubscriptionView
from broker_tck.properties.mistakes.book import mistake

# ---- Mark-delete positions


@mistake("TD-15", "where it goes back, what was handed out comes back")
class RewindsWithTheMark(SubscriptionView):
    """Whoever goes back begins anew."""

    def move(self, position: Position) -> None:
        """Move, and where that leads back, forget what it was done with."""
        if self.mark is not None and position < self.mark:
            self.handed, self.cleared = set(), set()
        super().move(position)


# ---- Views go


@mistake(
    "TD-28",
    "the last view leaves the index as it is",
    "Your tracker keeps its index when the last view goes; everything has to go.",
)
class LastLeavesIndex(TopicDelivery):
    """Somebody may come back."""

    def left(self, view: SubscriptionView) -> None:
        """Let go of what the view saw, if there are others."""
        if self.registry.registered:
            super().left(view)


@mistake(
    "TD-28",
    "only the last view lets go of anything",
    "A view that goes takes nothing along in your tracker; what only it saw has to go.",
)
class OnlyLastLetsGo(TopicDelivery):
    """While others are there, nothing goes."""

    def left(self, view: SubscriptionView) -> None:
        """Let go of everything, if there are no others."""
        if not self.registry.registered:
            super().left(view)


@mistake("TD-28", "whoever leaves takes everything along")
class LeavesNothing(TopicDelivery):
    """A view that leaves empties the index."""

    def left(self, view: SubscriptionView) -> None:
        """Let go of everything."""
        self.forget()


@mistake("TD-28", "the timer outlives the last view")
class LeavesTimer(TopicDelivery):
    """Nobody tells the timer of what has gone."""

    def left(self, view: SubscriptionView) -> None:
        """Let go of what the view saw."""
        self.release(self.seen_by(view))


@mistake("TD-31", "the timer outlives a shutdown")
class ShutdownLeavesTimer(TopicDelivery):
    """Nobody disarms it."""

    def shutdown(self) -> None:
        """End, with the timer armed or not."""
        armed = self.timer.armed.copy()
        super().shutdown()
        self.timer.armed = armed


@mistake(
    "TD-16",
    "a closed view has no messages",
    "A closed view of your tracker answers that it has no messages; it has to refuse the call.",
)
class ClosedHasNone(Answers):
    """It is no error to ask one."""

    def count(self, handle: str) -> int | None:
        """None, once closed."""
        return 0 if self.registry.is_closed(handle) else super().count(handle)


@mistake("TD-26", "the first dispatcher is asked to read")
class FirstDispatcherIsAsked(TopicDelivery):
    """A subscription goes on with the dispatcher that it had first."""

    def open(self, name: str) -> str:
        """Open a view, for an earlier dispatcher."""
        earlier = self.registry.registered.get(name)
        handle = super().open(name)
        if earlier:
            self.registry.views[handle].handle = earlier.handle
        return handle


@mistake("TD-32", "a view goes on where the earlier one of its subscription was")
class GoesOnWhereTheEarlierWas(TopicDelivery):
    """What one view was handed or has cleared, the next one of its subscription does not see."""

    def open(self, name: str) -> str:
        """Open a view, and hand over to it."""
        earlier = self.registry.registered.get(name)
        handle = super().open(name)
        if earlier:
            view = self.registry.views[handle]
            view.passed, view.again = earlier.passed, earlier.again
            view.handed, view.cleared = earlier.handed, earlier.cleared
        return handle


@mistake("TD-32", "a view sees nothing of what was held when it came")
class BeginsAtTheEnd(TopicDelivery):
    """A view begins with what is added next."""

    def open(self, name: str) -> str:
        """Open a view that is done with all that is held."""
        handle = super().open(name)
        held = self.index.held.items()
        self.registry.views[handle].takes([(key, copy) for key, bucket in held for copy in bucket])
        return handle


# ---- Prunes


@mistake("TD-13", "what has left the index is new to whoever was done with it")
class ForgetsWhatHasLeft(TopicDelivery):
    """What is not held need not be kept in mind."""

    def release(self, copies: Iterable[Placed]) -> None:
        """Let go of copies, and of who was done with them."""
        copies = [*copies]
        super().release(copies)
        for key, copy in copies:
            if copy not in self.index.held.get(key, ()):
                for view in self.registry.registered.values():
                    view.handed.discard((key, copy))
                    view.cleared.discard((key, copy))


@mistake("TD-17", "a mark-delete position leaves the timer as it is")
class MarkLeavesTimer(TopicDelivery):
    """Nobody tells the timer of what was acknowledged."""

    def mark_delete(self, handle: str, ledger: int, entry: int) -> None:
        """Acknowledge, and do not tell the timer."""
        self.view(handle)
        self.is_told = False
        super().mark_delete(handle, ledger, entry)
        self.is_told = True

    is_told = True

    def update_timer(self) -> None:
        """Tell the timer, of anything else."""
        if self.is_told:
            super().update_timer()


@mistake("TD-20", "a mark-delete position is heeded by the next get")
class PrunesWithGets(TopicDelivery):
    """A push of the position is cheap."""

    def mark_delete(self, handle: str, ledger: int, entry: int) -> None:
        """Note the position."""
        self.put_off = True
        super().mark_delete(handle, ledger, entry)
        self.put_off = False

    put_off = False

    def release(self, copies: Iterable[Placed]) -> None:
        """Let go of copies, later."""
        if not self.put_off:
            super().release(copies)

    def hand_out(self, view: SubscriptionView, most: int) -> list[Position]:
        """Hand out, then let go of all that nobody sees."""
        out = super().hand_out(view, most)
        self.release([(key, copy) for key, bucket in self.index.held.items() for copy in bucket])
        return out


@mistake("TD-20", "what is not due yet is not pruned")
class PrunesWhatIsDue(TopicDelivery):
    """Only the buckets that are due are looked at."""

    def release(self, copies: Iterable[Placed]) -> None:
        """Let go of what is due."""
        super().release([(key, copy) for key, copy in copies if self.buckets.due(key, self.timer.now)])


# ---- The fixed delay


@mistake(
    "DD-15",
    "a refusal leaves the fixed delay",
    "A refused message leaves the fixed delay of its view as it is; it has to end it.",
)
class RefusalLeavesFixedDelay(Answers):
    """Nothing was taken, so nothing was learnt."""

    def add(self, handle: str, ledger: int, entry: int, at: int) -> bool | None:
        """Add, and look away where it is refused."""
        view = self.view(handle)
        fixed = view is not None and view.fixed_delay.fixed
        taken = super().add(handle, ledger, entry, at)
        if view is not None and not taken:
            view.fixed_delay.fixed = fixed
        return taken


@mistake("TD-06", "a refusal ends the fixed delay of all views")
class RefusalIsForAll(Answers):
    """The delay is the topic's."""

    def add(self, handle: str, ledger: int, entry: int, at: int) -> bool | None:
        """Add, and tell all where it is refused."""
        taken = super().add(handle, ledger, entry, at)
        if taken is False:
            for view in self.registry.registered.values():
                view.fixed_delay.refused()
        return taken


@mistake(
    "TD-12",
    "what one view adds counts for the fixed delay of all",
    "What one view adds counts for the fixed delay of all views; each has its own.",
)
class DelayOfTheTopic(Answers):
    """The delay is the topic's."""

    def add(self, handle: str, ledger: int, entry: int, at: int) -> bool | None:
        """Add, and tell all."""
        taken = super().add(handle, ledger, entry, at)
        for name, view in self.registry.registered.items():
            if taken and not handle.startswith(name):
                view.fixed_delay.taken(at, self.buckets.tick)
        return taken


# ---- What is asked


@mistake(
    "TD-10",
    "available to one, available to all",
    "Your tracker says that a message is available to all views where one of them sees it.",
)
class FirstViewAlone(Answers):
    """What the view sees that was registered first is taken for what all see."""

    def is_available(self, view: SubscriptionView) -> bool:
        """Whether that one sees anything that is due."""
        return self.sees_due(next(iter(self.registry.registered.values()), view))
