"""The abstract state of a tracker's model: how far a walk has come, in a few small numbers."""

from __future__ import annotations

from broker_tck.model.delayed_delivery.specification import DelayedDelivery

MOST_COPIES = 5
"""By powers of two; from 16 copies on, all sizes are alike."""
MOST_BUCKETS = 3


def abstract(model: DelayedDelivery) -> tuple[int, ...]:
    """Copies held and buckets, by powers of two; buckets due; the timeout; the fixed delay; how it is configured."""
    buckets = model.buckets
    due = sum(buckets.due(key, model.timer.now) for key in model.index.held)
    return (
        min(model.count().bit_length(), MOST_COPIES),
        min(len(model.index.held).bit_length(), MOST_BUCKETS),
        0 if not due else 2 if due == len(model.index.held) else 1,
        timeout(model),
        model.fixed_delay.fixed,
        (buckets.tick > buckets.width) - (buckets.tick < buckets.width),
        buckets.strict,
        min(model.lookahead, 2),
    )


def timeout(model: DelayedDelivery) -> int:
    """0: none is armed. Else when it fires: 1 overdue, 2 within a tick, 3 later."""
    if not model.timer.armed:
        return 0
    wait = model.timer.armed[0] - model.timer.now
    return 1 if wait <= 0 else 2 if wait <= model.buckets.tick else 3
