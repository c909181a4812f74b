"""Which positions a tracker holds, and how many: the only truth for both."""

from __future__ import annotations

from collections.abc import Iterable

from broker_tck.model.bucket_delivery.bucket import Bucket, Index, Position
from broker_tck.model.rules import Part, rule


class Held(Part):
    """The positions that were accepted and neither handed out nor refused. ``over``: the bucket over the ledger."""

    def __init__(self) -> None:
        self.positions: set[Position] = set()
        self.times: dict[Position, int] = {}
        """When to deliver what was added. Of what was recovered it is not known; no snapshot has a position twice."""

    @rule("BD-05", source="BucketDelayedDeliveryTracker")
    def repeated(self, position: Position, over: Bucket | None) -> bool:
        """An add of a position that is held changes nothing, whatever its time, and is accepted."""
        return self.contains(position, over)

    def contains(self, position: Position, over: Bucket | None) -> bool:
        """Whether a position is held."""
        return position in self.positions

    @rule("BD-25", source="BucketDelayedDeliveryTracker, PR 26251")
    def count(self) -> int:
        """The count is of the positions that are held, wherever they are: in memory, or in a segment that is not
        loaded.
        """
        return len(self.positions)

    def add(self, index: Index) -> None:
        """A message was accepted."""
        at, ledger, entry = index
        self.positions.add((ledger, entry))
        self.times[ledger, entry] = at

    @rule(
        "BD-04",
        source="BucketDelayedDeliveryTracker, PRs 26230, 26251",
        when=lambda h, position, over: h.contains(position, over),
    )
    def refused(self, position: Position, over: Bucket | None) -> None:
        """What is due or has no time is refused, whether it was held or not; from then on it is not held."""
        self.forget([position])

    @rule("BD-19", source="BucketDelayedDeliveryTracker, PR 26251")
    def hands_out(self, index: Index, over: Bucket | None) -> bool:
        """What is held is handed out once, by time, ledger and entry, as long as it is due. An index of what is not
        held, or is held for another time, is dropped, and costs nothing of what may be handed out.
        """
        at, *position = index
        held = position[0], position[1]
        return held in self.positions and self.times.get(held, at) == at

    def handed_out(self, position: Position, over: Bucket | None) -> None:
        """A message was handed out."""
        self.forget([position])

    def orphaned(self, position: Position, over: Bucket | None) -> None:
        """An index below the mark-delete ledger has come out of the queue."""
        self.forget([position])

    def sealed(self, bucket: Bucket) -> None:
        """A bucket was made of what was in memory alone."""

    def merged(self, bucket: Bucket, sources: list[Bucket]) -> None:
        """A bucket was made of others."""
        for source in sources:
            bucket.held |= source.held

    def recovered(self, buckets: list[Bucket]) -> None:
        """Buckets were recovered, each with what it holds."""
        for bucket in buckets:
            self.positions |= bucket.held

    def trimmed(self, bucket: Bucket) -> None:
        """A bucket of orphans is gone."""
        self.forget(bucket.held)

    def forget(self, positions: Iterable[Position]) -> None:
        """These are held no longer."""
        for position in positions:
            self.positions.discard(position)
            self.times.pop(position, None)

    def clear(self) -> None:
        """Nothing is held any more."""
        self.positions = set()
        self.times = {}
