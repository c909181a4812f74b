"""The reference model of contract ``topic-delivery``: one index of delayed messages for all subscriptions of a topic.

The class :class:`TopicDelivery` is the specification (profile ``ideal``): what the proposal means. A short method with
a rule above it is a clause: it decides one thing. The methods named as operations are flows: the order of things.
Times are absolute milliseconds.
"""

from __future__ import annotations

from typing import Any, ClassVar

from broker_tck.model.reference import UNDEFINED, Allowed, Fault, Undefined
from broker_tck.model.rules import Rule, rule
from broker_tck.model.topic_delivery.answers import Answers
from broker_tck.model.topic_delivery.shared_index import CLOSED
from broker_tck.model.topic_delivery.unembodied import UNEMBODIED
from broker_tck.model.topic_delivery.view import SubscriptionView

MOST_FIRINGS = 1_000
"""A timer that fires more often than this in one step of the clock would never let it move."""


class TopicDelivery(Answers):
    """Delayed delivery for all subscriptions of a topic: the life of its views, the tick, and firings."""

    PROFILE = "ideal"
    UNEMBODIED: ClassVar[tuple[Rule, ...]] = UNEMBODIED

    # ---- Views come and go

    def open(self, name: str) -> str:
        """A dispatcher of a subscription asks for a tracker; answers with the handle of both."""
        if not self.registry.may_open():
            raise Fault(CLOSED)
        return self.registry.open(name, self.View)

    def close(self, handle: str) -> None:
        """A view is closed."""
        left = self.registry.close(handle)
        if left:
            self.left(left)

    @rule("TD-28", source="InMemoryTopicDelayedDeliveryTrackerManager, unregister", when=lambda m, view: m.index.held)
    def left(self, view: SubscriptionView) -> None:
        """With a view goes what only it saw; with the last one everything goes, and the timer is disarmed."""
        self.settle(self.seen_by(view))

    def shutdown(self) -> None:
        """The manager ends, and all its views with it."""
        self.registry.shutdown()
        if not self.registry.registered:
            self.forget()

    # ---- Mark-delete positions, ticks, clear

    def mark_delete(self, handle: str, ledger: int, entry: int) -> None:
        """The mark-delete position of a view moves."""
        view = self.view(handle)
        if view is None:
            return
        before = self.seen_by(view)
        self.registry.marks[view.name] = ledger, entry
        view.move((ledger, entry))
        self.settle([placed for placed in before if not view.sees(placed)])

    @rule("TD-13", when=lambda m, view: m.seen_by(view))
    def forget_for(self, view: SubscriptionView) -> None:
        """A view forgets every message."""
        self.clear_for(view)

    def clear_for(self, view: SubscriptionView) -> None:
        """Have a view forget what it sees, and let go of what no other sees."""
        seen = self.seen_by(view)
        left = self.index_of(seen).after_clear()
        done = [(key, copy) for key, copy in seen if copy not in left.get(key, ())]
        view.forgets(done)
        view.fixed_delay.cleared()
        self.release(done)

    def clear(self, handle: str) -> None:
        """A view forgets every message."""
        view = self.view(handle)
        if view is not None:
            self.forget_for(view)

    @rule(
        "TD-14",
        source="InMemoryTopicDelayedDeliveryTrackerManager, resetTickTime",
        when=lambda m, tick: tick != m.buckets.tick,
    )
    def change_tick(self, tick: int) -> None:
        """A new tick, told by any view, is the topic's; the timer is brought up to date."""
        if tick != self.buckets.tick:
            self.retick(tick)
            self.update_timer()

    def retick(self, tick: int) -> None:
        """Take over a new tick."""
        self.buckets.reset_tick(tick)

    def reset_tick(self, handle: str, tick: int) -> None:
        """A view tells a new tick."""
        if self.view(handle) is not None:
            self.change_tick(tick)

    # ---- Firings

    def advance(self, ms: int) -> list[list[Any]]:
        """Move the clock; timers fire on the way. Answers what came of each firing, see :meth:`fired`."""
        until, firings = self.timer.now + ms, []
        while self.timer.armed and self.timer.armed[0] <= until:
            self.timer.advance(max(self.timer.armed[0] - self.timer.now, 0))
            firings.append(self.fired())
            if len(firings) > MOST_FIRINGS:
                raise Fault("RuntimeError")
        self.timer.advance(until - self.timer.now)
        return firings

    def fired(self) -> list[Any]:
        """The timer has fired: when, whose dispatchers are asked to read, and what they took at once, if they did."""
        asked = sorted((view for view in self.registry.registered.values() if self.is_asked(view)), key=by_handle)
        self.rearm(len(asked))
        reads = self.registry.reads
        took = [[v.handle, self.hand_out(v, reads[v.handle])] for v in asked if reads.get(v.handle, -1) >= 0]
        return [self.timer.now, [view.handle for view in asked], *([took] if took else [])]

    @rule("TD-19", source="InMemoryTopicDelayedDeliveryTrackerManager, the timer's callback")
    def is_asked(self, view: SubscriptionView) -> bool:
        """A firing asks the dispatchers of those views to read to which a message is available, and no others."""
        return self.sees_due(view)

    @rule("TD-18", source="InMemoryTopicDelayedDeliveryTrackerManager; T-03", when=lambda m, asked: m.index.held)
    def rearm(self, asked: int) -> None:
        """A firing brings the timer up to date, so that what comes later needs no call."""
        self.update_timer()

    def reads(self, handle: str, most: int) -> None:
        """From now on a dispatcher takes so much at once whenever it is asked to read; below 0: nothing."""
        if self.view(handle) is not None:
            self.registry.reads[handle] = most

    def stale(self) -> bool:
        """The timeout that was cancelled last fires all the same; answers whether anybody was asked to read."""
        return self.timer.stale()

    # ---- What is seen

    def memory(self, handle: str) -> Allowed | int | None:
        """The memory estimate of the topic, in bytes."""
        if self.view(handle) is None:
            return None
        estimate, count = self.memory_estimate, self.index.count()
        return Allowed(
            permits=lambda seen: estimate.permits(seen, count),
            follow=estimate.follow,
            example=estimate.bytes_for(count),
            says="0 if nothing is held, else plausible",
        )

    def memory_seen(self) -> int | Undefined:
        """The memory estimate, as it is seen after every operation: any. ``memory`` looks at it."""
        return UNDEFINED

    def letter(self, handle: str, view: SubscriptionView) -> str:
        """What a view answers: h, a message is available; p, deliveries should pause; x, that it is stale."""
        if self.registry.refuses(handle):
            return "x"
        return "h" if self.is_available(view) else "p" if self.pauses(view) else "-"

    def state(self) -> str:
        """A letter for each view that is not closed, in the order of their handles."""
        return "".join(self.letter(handle, view) for handle, view in self.registry.in_order())

    def seen(self) -> tuple[Any, ...]:
        """Copies held, bytes, the times of all armed timeouts, what the index is made of, and the views' letters."""
        return self.index.count(), self.memory_seen(), self.timer.armed, self.sets(), self.state()

    def glimpsed(self) -> tuple[Any, ...]:
        """The number of copies held, and the times of all armed timeouts."""
        return self.index.count(), None, self.timer.armed, None, None


def by_handle(view: SubscriptionView) -> tuple[str, int, str]:
    """Sorts views by their handles: by name, then by number."""
    return view.name, len(view.handle), view.handle
