"""Known mistakes: the shared index of a topic: what is held, who sees it, when it goes, and what the timer is armed for."""

from __future__ import annotations

from broker_tck.model.topic_delivery.shared_index import SharedIndex
from broker_tck.properties.mistakes.book import instead, of

of(
    SharedIndex.aim,
    look=(
        "a bucket that is due, and is held for a slow view: it hides those that come later; one whose moment passes "
        "while its firing is put off (DD-22)"
    ),
)(
    instead(
        "absent",
        "Your tracker's timer aims at the first bucket though a firing has told of it.",
        lambda m: m.buckets.wake(m.index.first()),
    ),
    instead(
        "the last",
        "Your tracker's timer aims at the last bucket; it has to aim at the first of which no firing has told.",
        lambda m: m.buckets.wake(max(m.index.held)),
    ),
    instead(
        "the first that is not due",
        (
            "Your tracker's timer leaves out buckets that are due; it has to aim at the first of which no firing has "
            "told, due or not."
        ),
        lambda m: m.buckets.wake(min([k for k in m.index.held if not m.buckets.due(k, m.timer.now)] or m.index.held)),
    ),
    instead(
        "the first to come",
        "Your tracker's timer leaves out a bucket whose moment has passed; it has to aim at the next millisecond.",
        lambda m: min([w for w in m.moments() if w > m.timer.now] or m.moments()),
    ),
)
