"""The abstract state of a tracker's model: how far a walk has come, in a few small numbers."""

from __future__ import annotations

from broker_tck.model.negative_acks.specification import MS, NegativeAcks

MOST_ITEMS = 5
"""By powers of two; from 16 items on, all sizes are alike."""
MOST_BUCKETS = 3


def abstract(model: NegativeAcks) -> tuple[int, ...]:
    """Items and buckets, by powers of two; buckets due; the timer; closed, failing, chunks; the backoff; the width."""
    due = sum(map(model.due, model.held))
    return (
        min(model.count().bit_length(), MOST_ITEMS),
        min(len(model.held).bit_length(), MOST_BUCKETS),
        0 if not due else 2 if due == len(model.held) else 1,
        timer(model),
        model.closed,
        model.failing,
        bool(model.chunks),
        model.backs_off(),
        min(model.bits(), 12) // 4,
    )


def timer(model: NegativeAcks) -> int:
    """0: not armed. Else what the deadline is to the first bucket: 1 it is there, 2 before, 3 after."""
    if model.deadline is None or not model.held:
        return 0 if model.deadline is None else 4
    first = model.until(min(model.held))
    return 1 if abs(model.deadline - first) < MS else 2 if model.deadline < first else 3
