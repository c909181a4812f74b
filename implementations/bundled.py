"""The subjects that come with the kit, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from broker_tck.implementations.active_cursors.indexed_heap import CursorHeap
from broker_tck.implementations.active_cursors.lazy_list import LazyList
from broker_tck.implementations.active_cursors.pulsar_heap import PulsarHeap
from broker_tck.implementations.active_cursors.pulsar_list import PulsarList2025
from broker_tck.implementations.active_cursors.pulsar_tree_set import PulsarTreeSet
from broker_tck.implementations.active_cursors.sorted_cursors import SortedCursors
from broker_tck.implementations.bucket_delivery.tracker import BucketTracker
from broker_tck.implementations.delayed_delivery.heap import HeapTracker
from broker_tck.implementations.delayed_delivery.time_bucket import (
    TimeBucket50M1Tracker,
    TimeBucket50Tracker,
    TimeBucket2026Tracker,
    TimeBucketTracker,
)
from broker_tck.implementations.delayed_delivery.time_bucket_4_0 import TimeBucket401Tracker, TimeBucket404Tracker
from broker_tck.implementations.delayed_delivery.time_bucket_2025 import TimeBucket2025Tracker
from broker_tck.implementations.entry_cache.legacy_policy import PerCachePolicy
from broker_tck.implementations.entry_cache.pulsar import CountTakingQueue, PulsarQueue, PulsarQueue50
from broker_tck.implementations.entry_cache.removal_queue import FifoQueue, RemovalQueue
from broker_tck.implementations.entry_cache.stepwise_queue import StepwiseQueue
from broker_tck.implementations.negative_acks.clients import (
    Cpp,
    CppOld,
    FSharp,
    Go,
    GoOld,
    HashMap,
    Java42,
    JavaPip393,
    PairMap,
)
from broker_tck.implementations.negative_acks.sorted_buckets import SortedBucketsTracker
from broker_tck.implementations.topic_delivery.manager import SharedIndexManager
from broker_tck.implementations.topic_delivery.pip_448 import SharedIndex448

BUNDLED: dict[str, Callable[..., Any]] = {
    "time-bucket": TimeBucketTracker,
    "time-bucket-2026": TimeBucket2026Tracker,
    "time-bucket-5.0": TimeBucket50Tracker,
    "time-bucket-5.0-M1": TimeBucket50M1Tracker,
    "time-bucket-2025": TimeBucket2025Tracker,
    "time-bucket-4.0.4": TimeBucket404Tracker,
    "time-bucket-4.0.1": TimeBucket401Tracker,
    "heap": HeapTracker,
    "bucket": BucketTracker,
    "shared-index": SharedIndexManager,
    "shared-index-448": SharedIndex448,
    "sorted-buckets": SortedBucketsTracker,
    "java": JavaPip393,
    "java-4.2": Java42,
    "pair-map": PairMap,
    "hash-map": HashMap,
    "go": Go,
    "go-old": GoOld,
    "cpp": Cpp,
    "cpp-old": CppOld,
    "fsharp": FSharp,
    "removal-queue": RemovalQueue,
    "pulsar-queue": PulsarQueue,
    "count-taking-queue": CountTakingQueue,
    "pulsar-queue-5.0": PulsarQueue50,
    "fifo-queue": FifoQueue,
    "per-cache-policy": PerCachePolicy,
    "sorted-cursors": SortedCursors,
    "lazy-list": LazyList,
    "cursor-heap": CursorHeap,
    "pulsar-list-2025": PulsarList2025,
    "pulsar-heap": PulsarHeap,
    "pulsar-tree-set": PulsarTreeSet,
    "stepwise-queue": StepwiseQueue,
}
