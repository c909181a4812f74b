"""The abstract state of a tracker's model: how far a walk has come, in a few small numbers."""

from __future__ import annotations

from broker_tck.model.bucket_delivery.specification import BucketDelivery
from broker_tck.properties.contracts.bucket_delivery.messages import until_next


def abstract(model: BucketDelivery) -> tuple[int, ...]:
    """Buckets and what they have left, calls of each kind, what is in memory, the chain, and how it is set."""
    tracker, waiting = model.tracker, model.durable.calls.waiting
    if tracker is None:
        return (-1,)
    buckets = tracker.placed.buckets()
    kinds = {call.label.partition(":")[0] for call in waiting}
    return (
        min(len(buckets), 4),
        min(sum(bucket.unloaded > 0 for bucket in buckets), 2),
        any(bucket.merging for bucket in buckets),
        *(kind in kinds for kind in ("create", "put", "load", "delete", "remove")),
        min(len(tracker.shared), 2),
        min(len(tracker.mutable.queue), 2),
        tracker.maintenance.busy(),
        bool(tracker.retired),
        until_next(model) == 0,
        bool(tracker.timer.armed),
        min(len(model.durable.snapshots) - len(model.durable.keys) + 1, 2),
    )
