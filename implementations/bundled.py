"""The subjects that come with the kit, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from broker_tck.implementations.heap import HeapTracker
from broker_tck.implementations.time_bucket import TimeBucketTracker
from broker_tck.implementations.time_bucket_2025 import TimeBucket2025Tracker

BUNDLED: dict[str, Callable[..., Any]] = {
    "time-bucket": TimeBucketTracker,
    "heap": HeapTracker,
    "time-bucket-2025": TimeBucket2025Tracker,
}
TimeBucketTracker.profiles=("timebucket-ideal",); TimeBucketTracker.capabilities={"batch_adds":True,"entry_id_bits":32}
HeapTracker.profiles=("heap",); HeapTracker.capabilities={"entry_id_bits":63}
TimeBucket2025Tracker.profiles=("timebucket-2025",); TimeBucket2025Tracker.capabilities={"entry_id_bits":63}
