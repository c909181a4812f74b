"""The abstract state of a topic's model: how far a walk has come, in a few small numbers."""

from __future__ import annotations

from broker_tck.model.topic_delivery.specification import TopicDelivery


def abstract(model: TopicDelivery) -> tuple[int, ...]:
    """Copies and buckets, by powers of two; views there, stale, behind a mark, ready and pausing; the timer."""
    registry = model.registry
    views = registry.registered.values()
    waiting = [view for view in views if not model.is_available(view)]
    due = sum(model.buckets.due(key, model.timer.now) for key in model.index.held)
    return (
        min(model.index.count().bit_length(), 4),
        min(len(model.index.held).bit_length(), 3),
        0 if not due else 2 if due == len(model.index.held) else 1,
        min(len(views), 3),
        min(len(registry.views) - len(views), 2),
        min(sum(view.mark is not None for view in views), 2),
        min(len(views) - len(waiting), 2),
        any(model.pauses(view) for view in waiting),
        bool(model.timer.armed),
        bool(model.buckets.strict),
    )
