"""The abstract state of a tracker's model: how far a walk has come, in a few small numbers."""

from __future__ import annotations

from broker_tck.model.ack_timeout.specification import AckTimeout

MOST = 4
"""By powers of two; from 8 messages on, all sizes are alike."""


def abstract(model: AckTimeout) -> tuple[int, ...]:
    """Messages in each stage; those in both; ticks in a timeout; timeouts armed; backoff, topics, chunks, closed."""
    held, waiting = model.wheel.held, model.backoff.waiting
    return (
        min(len(held).bit_length(), MOST),
        min(len(waiting).bit_length(), MOST),
        bool(held.keys() & waiting.keys()),
        min(model.wheel.ticks, 3),
        min(len(model.timer.armed), 2),
        bool(model.backoff.table),
        bool(model.config.topics),
        any(model.chunks[message] > 1 for message in (*held, *waiting)),
        model.closed,
        model.calls.failing,
    )
