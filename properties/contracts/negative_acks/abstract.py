"""The abstract state of a tracker's model: how far a walk has come, in a few small numbers."""

from __future__ import annotations

from broker_tck.model.negative_acks.specification import MS, NegativeAcks

MOST_ITEMS = 5
"""By powers of two; from 16 items on, all sizes are alike."""
MOST_BUCKETS = 3


def abstract(model: NegativeAcks) -> tuple[int, ...]:
    """Items and buckets, by powers of two; buckets due; the timer; closed, failing, chunks; the backoff; the width."""
    held, now = model.buckets.held, model.clock.reading()
    due = sum(model.buckets.due(key, now) for key in held)
    return (
        min(model.buckets.count().bit_length(), MOST_ITEMS),
        min(len(held).bit_length(), MOST_BUCKETS),
        0 if not due else 2 if due == len(held) else 1,
        timer(model),
        model.closed,
        model.calls.failing,
        bool(model.buckets.chunks),
        model.delays.backs_off(),
        min(model.buckets.bits, 12) // 4,
    )


def timer(model: NegativeAcks) -> int:
    """0: not armed; 1: armed for the first bucket; 2: for a time before it; 3: after it; 4: nothing is held."""
    deadline, held = model.timer.deadline, model.buckets.held
    if deadline is None or not held:
        return 0 if deadline is None else 4
    first = model.clock.until(min(held))
    return 1 if abs(deadline - first) < MS else 2 if deadline < first else 3
