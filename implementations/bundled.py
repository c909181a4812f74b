"""The subjects that come with the kit, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from broker_tck.implementations.ack_timeout.timing_wheel import TimingWheel
from broker_tck.implementations.active_cursors.indexed_heap import CursorHeap
from broker_tck.implementations.active_cursors.lazy_list import LazyList
from broker_tck.implementations.active_cursors.sorted_cursors import SortedCursors
from broker_tck.implementations.bucket_delivery.tracker import BucketTracker
from broker_tck.implementations.delayed_delivery.heap import HeapTracker
from broker_tck.implementations.delayed_delivery.time_bucket import TimeBucketTracker
from broker_tck.implementations.entry_cache.legacy_policy import PerCachePolicy
from broker_tck.implementations.entry_cache.removal_queue import FifoQueue, RemovalQueue
from broker_tck.implementations.entry_cache.stepwise_queue import StepwiseQueue
from broker_tck.implementations.negative_acks.clients import Cpp, Cpp37, CppOld, FSharp, Go, GoOld
from broker_tck.implementations.negative_acks.sorted_buckets import SortedBucketsTracker
from broker_tck.implementations.topic_delivery.manager import SharedIndexManager
from broker_tck.implementations.topic_delivery.pip_448 import SharedIndex448

BUNDLED: dict[str, Callable[..., Any]] = {
    "time-bucket": TimeBucketTracker,
    "heap": HeapTracker,
    "bucket": BucketTracker,
    "shared-index": SharedIndexManager,
    "shared-index-448": SharedIndex448,
    "sorted-buckets": SortedBucketsTracker,
    "go": Go,
    "go-old": GoOld,
    "cpp": Cpp,
    "cpp-3.7": Cpp37,
    "cpp-old": CppOld,
    "fsharp": FSharp,
    "removal-queue": RemovalQueue,
    "fifo-queue": FifoQueue,
    "per-cache-policy": PerCachePolicy,
    "sorted-cursors": SortedCursors,
    "lazy-list": LazyList,
    "cursor-heap": CursorHeap,
    "stepwise-queue": StepwiseQueue,
    "timing-wheel": TimingWheel,
}
