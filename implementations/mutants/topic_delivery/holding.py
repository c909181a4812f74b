"""Mutants that go wrong over what is held and for how long: adds, prunes, views that come and go."""

from __future__ import annotations

from collections.abc import Iterable

from broker_tck.implementations.delayed_delivery.fixed_delay import FixedDelayDetector
from broker_tck.implementations.delayed_delivery.time_bucket import bucket_width
from broker_tck.implementations.interface import Clock, Dispatcher, Position, Timer, TopicDeliveryConfig
from broker_tck.implementations.mutants.mutant import mutant
from broker_tck.implementations.mutants.topic_delivery.parts import BRANCH
from broker_tck.implementations.topic_delivery.index import Entries
from broker_tck.implementations.topic_delivery.manager import SharedIndexManager
from broker_tck.implementations.topic_delivery.tracker import View

# ---- Adding


@mutant("TD-06")
class TopicEqualityAccepted(SharedIndexManager):
    """A message whose time is the cut-off itself is taken."""

    def add(self, view: View, ledger: int, entry: int, deliver_at: int) -> bool:
        """Track a message, the cut-off's own as if it were for a millisecond later."""
        at_the_edge = deliver_at >= 0 and deliver_at == self._buckets.cutoff(self._clock())
        return super().add(view, ledger, entry, deliver_at + at_the_edge)


@mutant("DD-05", source=BRANCH + "T-06", conditions=2)
class TopicStrictRoundedDown(SharedIndexManager):
    """In strict mode a time is rounded down to its bucket, so that it is handed out early."""

    def __init__(self, config: TopicDeliveryConfig, clock: Clock, timer: Timer) -> None:
        super().__init__(config, clock, timer)
        self._buckets.rounding = 0


@mutant("DD-06", source=BRANCH + "T-07")
class TopicBucketDueAtItsStart(SharedIndexManager):
    """A bucket is handed out when its first time is due."""

    def _look(self, view: View) -> bool:
        """Look a bucket further."""
        slack, self._buckets.slack = self._buckets.slack, 0
        available = super()._look(view)
        self._buckets.slack = slack
        return available

    def _taken(self, view: View, most: int) -> list[Entries]:
        slack, self._buckets.slack = self._buckets.slack, 0
        taken = super()._taken(view, most)
        self._buckets.slack = slack
        return taken


@mutant("DD-03", source=BRANCH + "T-02")
class TopicFollowsNewTick(SharedIndexManager):
    """A new tick changes the width of buckets, so that a message may be filed twice."""

    def reset_tick_time(self, tick: int) -> None:
        """Change the tick, and what follows from it."""
        width, strict = bucket_width(tick), self._buckets.strict
        self._buckets.mask = -width
        self._buckets.rounding = width - 1 if strict else 0
        self._buckets.slack = 0 if strict else width - 1
        super().reset_tick_time(tick)


# ---- Fixed delays


@mutant("DD-15")
class TopicRefusalEndsNothing(SharedIndexManager):
    """A refused message says nothing of delays."""

    def add(self, view: View, ledger: int, entry: int, deliver_at: int) -> bool:
        """Track a message, and look away where it is refused."""
        fixed = view.delays.fixed
        taken = super().add(view, ledger, entry, deliver_at)
        if not taken:
            view.delays.fixed = fixed
        return taken


class FixedForGood(FixedDelayDetector):
    """Starts anew once, when it is made."""

    __slots__ = ("_made",)

    def reset(self) -> None:
        """Start anew, the first time."""
        if not hasattr(self, "_made"):
            self._made = True
            super().reset()


@mutant("DD-16", source=BRANCH + "T-08")
class TopicDetectionNeverStartsAnew(SharedIndexManager):
    """Once a delay was not like the others, a view never pauses again."""

    def _made(self, dispatcher: Dispatcher) -> View:
        view = super()._made(dispatcher)
        view.delays = FixedForGood()
        return view


@mutant("DD-16", conditions=3)
class TopicClearStartsDelaysAnew(SharedIndexManager):
    """A clear starts the detection of a fixed delay anew."""

    def forget(self, view: View) -> None:
        """Forget the delays as well."""
        super().forget(view)
        view.delays.reset()


@mutant("TD-12", source=BRANCH + "T-09", conditions=2)
class OneDetectionForAll(SharedIndexManager):
    """Whether all delays are alike is a matter of the topic: what one view adds counts for all."""

    def add(self, view: View, ledger: int, entry: int, deliver_at: int) -> bool:
        """Track a message, and tell all views of its time."""
        taken = super().add(view, ledger, entry, deliver_at)
        for other in self._views.values():
            if taken and other is not view:
                other.delays.accepted(deliver_at, self._buckets.tick)
        return taken


# ---- What leaves


@mutant("TD-20", conditions=2)
class FurthestMarkPrunes(SharedIndexManager):
    """What one view has acknowledged leaves the index, whatever others have."""

    def acknowledge(self, view: View, position: Position) -> None:
        """Have all others acknowledge nothing, but let go of it."""
        gone = self._up_to(view, position)
        super().acknowledge(view, position)
        for key, ledger, entries in gone:
            held = self._index.buckets.get(key, {}).get(ledger)
            left = entries & held if held else None
            if left:
                self._index.remove(Entries(key, ledger, left))
                self._pruned += len(left)
                for other in self._views.values():
                    other.hidden += len(left & other.sight.of(Entries(key, ledger, left)))
        self._update_timer()


@mutant("TD-20", conditions=2)
class PrunesWhatIsDueAlone(SharedIndexManager):
    """What is acknowledged before it is due stays until its view leaves."""

    def _release(self, copies: Iterable[Entries]) -> None:
        last = self._buckets.last_due(self._clock())
        super()._release([each for each in copies if each.key <= last])


@mutant("DD-29", source=BRANCH + "T-10")
class MemoryDriftsWithPrunes(SharedIndexManager):
    """Each set that a prune drops takes a byte more off the estimate than it had added."""

    _drift = 0

    def _release(self, copies: Iterable[Entries]) -> None:
        before = self._index.sets
        super()._release(copies)
        self._drift += before - self._index.sets

    def get_buffer_memory_usage(self) -> int:
        """The estimate, as far as it was kept right."""
        return super().get_buffer_memory_usage() - self._drift


# ---- Views come and go


@mutant("TD-28")
class LastViewLeavesIndex(SharedIndexManager):
    """When the last view leaves, the index stays for whoever comes next."""

    def leave(self, view: View) -> None:
        """Leave, and prune where others are there."""
        if len(self._views) > 1:
            super().leave(view)
        else:
            view.is_open = False
            self._views.clear()
            self._order.clear()


@mutant("TD-28", source=BRANCH + "TD-23")
class LeavingPrunesNothing(SharedIndexManager):
    """A view that leaves while others are there has nothing pruned."""

    _leaving = False

    def leave(self, view: View) -> None:
        """Leave, and let go of nothing."""
        self._leaving = True
        super().leave(view)
        self._leaving = False

    def _release(self, copies: Iterable[Entries]) -> None:
        if not self._leaving:
            super()._release(copies)


@mutant("TD-27", source=BRANCH + "T-12, T-13, T-14", conditions=2)
class StaleCloseUnregisters(SharedIndexManager):
    """Closing a stale view ends the registration of the newer one of its name."""

    def create_or_get_tracker(self, dispatcher: Dispatcher) -> View:
        """Give a view, and have the earlier one remember that it is there to be closed."""
        earlier = self._views.get(dispatcher.name)
        view = super().create_or_get_tracker(dispatcher)
        if isinstance(earlier, ClosesByName):
            earlier.stale = True
        return view

    def _made(self, dispatcher: Dispatcher) -> View:
        made = super()._made(dispatcher)
        return ClosesByName(self, dispatcher, made.sight)

    def unregister(self, name: str) -> None:
        """End whatever view is registered under a name."""
        view = self._views.get(name)
        if view is not None:
            self.leave(view)


class ClosesByName(View):
    """A view that is closed by the name of its subscription."""

    __slots__ = ("stale",)

    def close(self) -> None:
        """Leave; where it is stale, have the newer one leave."""
        if self.is_open:
            super().close()
        elif getattr(self, "stale", False) and isinstance(self._manager, StaleCloseUnregisters):
            self.stale = False
            self._manager.unregister(self.dispatcher.name)


@mutant("TD-31", source=BRANCH + "T-15")
class ViewsSurviveShutdown(SharedIndexManager):
    """Views of a manager that is closed go on taking messages."""

    def close(self) -> None:
        """Let go of what is held."""
        self._index.clear()
        self._timer.disarm()
