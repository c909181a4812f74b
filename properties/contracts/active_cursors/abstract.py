"""The abstract state of a container's model: how far a walk has come, in a few small numbers."""

from __future__ import annotations

from broker_tck.model.active_cursors.specification import ActiveCursors

MOST = 5
"""By powers of two; from 16 cursors on, all numbers are alike."""


def abstract(model: ActiveCursors) -> tuple[int, ...]:
    """Cursors and positions, by powers of two; how many share the first and the last position; caching; durables."""
    positions = sorted(model.tracked.values())
    return (
        min(len(model.objects).bit_length(), MOST),
        min(len(positions).bit_length(), MOST),
        min(len(set(positions)).bit_length(), MOST),
        min(positions.count(positions[0]), 2) if positions else 0,
        min(positions.count(positions[-1]), 2) if positions else 0,
        model.caches(),
        model.has_durable(),
    )
