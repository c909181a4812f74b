"""Subjects around a broken part: a bundled tracker, but for its timer, its index or its detector of fixed delays."""

from __future__ import annotations

from broker_tck.implementations.delayed_delivery.fixed_delay import FixedDelayDetector
from broker_tck.implementations.delayed_delivery.heap import HeapTracker
from broker_tck.implementations.delayed_delivery.time_bucket import TimeBucketTracker
from broker_tck.implementations.delayed_delivery.time_bucket_index import TimeBucketIndex
from broker_tck.implementations.delayed_delivery.timer import DeliveryTimer
from broker_tck.implementations.interface import Clock, DelayedDeliveryConfig, Timer


def around_timer(broken: type[DeliveryTimer]) -> type[TimeBucketTracker]:
    """The time-bucket tracker with this timer."""

    class Tracker(TimeBucketTracker):
        """A tracker with a broken timer."""

        def __init__(self, config: DelayedDeliveryConfig, clock: Clock, timer: Timer) -> None:
            super().__init__(config, clock, timer)
            self._timer = broken(clock, timer)

    return Tracker


def around_index(broken: type[TimeBucketIndex]) -> type[TimeBucketTracker]:
    """The time-bucket tracker with this index."""

    class Tracker(TimeBucketTracker):
        """A tracker with a broken index."""

        def __init__(self, config: DelayedDeliveryConfig, clock: Clock, timer: Timer) -> None:
            super().__init__(config, clock, timer)
            self._index = broken()

    return Tracker


def around_detector(broken: type[FixedDelayDetector]) -> type[TimeBucketTracker]:
    """The time-bucket tracker with this detector of fixed delays."""

    class Tracker(TimeBucketTracker):
        """A tracker with a broken detector."""

        def __init__(self, config: DelayedDeliveryConfig, clock: Clock, timer: Timer) -> None:
            super().__init__(config, clock, timer)
            self._delays = broken()

    return Tracker


def in_heap(broken: type[DeliveryTimer]) -> type[HeapTracker]:
    """The heap tracker with this timer."""

    class Tracker(HeapTracker):
        """A heap tracker with a broken timer."""

        def __init__(self, config: DelayedDeliveryConfig, clock: Clock, timer: Timer) -> None:
            super().__init__(config, clock, timer)
            self._timer = broken(clock, timer)

    return Tracker


class OneByOne(TimeBucketIndex):
    """An index that knows of no runs."""

    def add_run(self, key: int, ledger_id: int, first_entry: int, last_entry: int) -> int:
        """Add positions one by one."""
        return sum(self.add(key, ledger_id, entry) for entry in range(first_entry, last_entry + 1))
