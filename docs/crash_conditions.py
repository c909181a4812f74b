"""Where a broker can crash: what is half done at that moment, seen on the model."""

from __future__ import annotations

from collections.abc import Callable

from broker_tck.model.bucket_delivery.specification import BucketDelivery
from broker_tck.model.bucket_delivery.stored import Bucket
from broker_tck.model.bucket_delivery.tracker import Tracker
from broker_tck.properties.contracts.bucket_delivery.operations import Clear, Crash, Reopen
from broker_tck.properties.engine.operation import Operation

Seen = Callable[[BucketDelivery, Tracker], bool]


def calls(model: BucketDelivery, kind: str) -> bool:
    """Whether a call of a kind is under way."""
    return any(call.label.startswith(kind) for call in model.durable.calls.waiting)


def some(of: Callable[[BucketDelivery, Tracker, Bucket], bool]) -> Seen:
    """Whether it is so of some placed bucket."""
    return lambda model, tracker: any(of(model, tracker, bucket) for bucket in tracker.placed.buckets())


def handed_out(tracker: Tracker, bucket: Bucket, acknowledged: bool) -> bool:
    """Whether messages of a bucket were handed out, of ledgers up to that of the mark-delete position or above."""
    mark = tracker.durable.first_live or 0
    return any((ledger < mark) == acknowledged for ledger, _ in bucket.held - tracker.held.positions)


def orphaned(model: BucketDelivery, tracker: Tracker) -> bool:
    """Whether a snapshot is stored that neither a key nor a bucket knows."""
    known = {*model.durable.keys.values(), *(b.id for b in (*tracker.placed.buckets(), *tracker.retired))}
    return not known.issuperset(model.durable.snapshots) and not calls(model, "put")


def sources_left(model: BucketDelivery, bucket: Bucket) -> int:
    """How many of the snapshots of a merged bucket's sources are stored."""
    return sum(source.id in model.durable.snapshots for source in bucket.sources)


CRASH_POINTS: dict[str, tuple[str, Seen]] = {
    "C1": ("messages were added, but are in no snapshot", lambda m, t: bool(t.mutable.queue)),
    "C2": ("a bucket was sealed; its creation was asked for", lambda m, t: calls(m, "create")),
    "C3": ("a snapshot was stored, but reported as not persisted", orphaned),
    "C4": (
        "a snapshot is stored; its key is not put",
        some(lambda m, t, b: b.id is not None and not b.created.settled),
    ),
    "C5": (
        "a key was put, but reported as failed",
        some(lambda m, t, b: b.created.settled and not b.keyed and b.id is not None and b.ledgers in m.durable.keys),
    ),
    "C6": ("a key is put", some(lambda m, t, b: b.keyed)),
    "C7": ("messages were handed out, but not acknowledged", some(lambda m, t, b: handed_out(t, b, False))),
    "C8": ("messages were handed out and acknowledged", some(lambda m, t, b: handed_out(t, b, True))),
    "C9": ("the deletion of a snapshot was asked for", lambda m, t: calls(m, "delete")),
    "C10": ("a snapshot is deleted; its key is there", lambda m, t: calls(m, "remove")),
    "C11": ("merge: the new bucket's creation was asked for", some(lambda m, t, b: bool(b.sources) and b.id is None)),
    "C12": (
        "merge: the new snapshot is stored; its key is not put",
        some(lambda m, t, b: bool(b.sources) and b.id is not None and not b.created.settled),
    ),
    "C13": (
        "merge: the new key is put; no source is deleted",
        some(lambda m, t, b: b.keyed and 0 < len(b.sources) == sources_left(m, b)),
    ),
    "C14": (
        "merge: some sources are deleted",
        some(lambda m, t, b: b.keyed and 0 < sources_left(m, b) < len(b.sources)),
    ),
    "C15": (
        "merge: the new bucket could not be stored",
        lambda m, t: any(b.deleted is None for b in t.retired) and not any(b.sources for b in t.placed.buckets()),
    ),
    "C16": (
        "merge: the new key could not be put",
        some(lambda m, t, b: bool(b.sources) and b.created.settled and not b.keyed),
    ),
    "C17": (
        "trim: a snapshot is deleted; its key is there",
        some(
            lambda m, t, b: (
                t.maintenance.is_trimmed_at(b.ledgers) and b.id not in m.durable.snapshots and calls(m, "remove")
            )
        ),
    ),
    "C18": (
        "the mark-delete position is behind a whole bucket",
        some(lambda m, t, b: t.maintenance.is_trimmed_at(b.ledgers)),
    ),
    "C23": ("the cursor has lost its properties", some(lambda m, t, b: b.keyed and not m.durable.keys)),
}
"""By the rulebook's number: what is half done, and whether it is so."""
CLEARING, CLOSING, AGAIN = "C19", "C21", "C22"
IN_TIME = {
    CLEARING: "clear: some snapshots are deleted",
    CLOSING: "close: messages were added, but are in no snapshot",
    AGAIN: "nothing has happened since the last recovery",
}
"""Those that what was done before decides as well. C20, of a cursor without a tracker, is none of this contract."""


class CrashPoints:
    """Watches a walk for the points at which the broker crashes, or its tracker is closed."""

    def __init__(self) -> None:
        self.cleared: set[int] = set()
        """The snapshots that were there at the last clear."""
        self.recovered = False
        """Whether the last operation was a recovery."""

    def at(self, model: BucketDelivery, operation: Operation) -> set[str]:
        """The points at which an operation finds the tracker, which is to be asked before it is performed."""
        found: set[str] = set()
        tracker = model.tracker
        if tracker is not None and isinstance(operation, Reopen) and tracker.mutable.queue:
            found = {CLOSING}
        elif tracker is not None and isinstance(operation, Crash):
            found = {number for number, (_, seen) in CRASH_POINTS.items() if seen(model, tracker)}
            left = self.cleared & {*model.durable.snapshots}
            found |= {CLEARING} if 0 < len(left) < len(self.cleared) else set()
            found |= {AGAIN} if self.recovered else set()
        if isinstance(operation, Clear):
            self.cleared = {*model.durable.snapshots}
        self.recovered = isinstance(operation, Crash | Reopen)
        return found
