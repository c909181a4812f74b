"""Which positions a tracker holds, and how many: the only truth for both."""

from __future__ import annotations

from collections.abc import Iterable

from broker_tck.model.bucket_delivery.bucket import Bucket, Index, Position
from broker_tck.model.rules import Part, rule
from broker_tck.model.said import said


class Held(Part):
    """The positions that were accepted and neither handed out nor refused. ``over``: the bucket over the ledger."""

    def __init__(self) -> None:
        self.positions: set[Position] = set()
        self.times: dict[Position, int] = {}
        """When to deliver what was added. Of what was recovered it is not known; no snapshot has a position twice."""

    @said(
        absent="Your tracker queues a message again that it holds; the add has to change nothing.",
        by_32_bits_of_the_ledger="Your tracker looks up what it holds by 32 bits of the ledger; it has 64.",
    )
    @rule(
        "BD-05",
        "An add of a position that is held changes nothing, whatever its time, and is accepted.",
        source="BucketDelayedDeliveryTracker",
        look="a second add with another time; one of a position that is in no loaded segment",
        absent=lambda h, position, over: False,
        by_32_bits_of_the_ledger=lambda h, position, over: any(
            entry == position[1] and (ledger ^ position[0]) % 2**32 == 0 for ledger, entry in h.positions
        ),
    )
    def repeated(self, position: Position, over: Bucket | None) -> bool:
        return self.contains(position, over)

    def contains(self, position: Position, over: Bucket | None) -> bool:
        """Whether a position is held."""
        return position in self.positions

    @said(
        absent="The count of your tracker is always 0; it has to be that of all positions held.",
    )
    @rule(
        "BD-25",
        "The count is of the positions that are held, wherever they are: in memory, or in a segment that is not "
        "loaded.",
        source="BucketDelayedDeliveryTracker, PR 26251",
        look="what is counted twice after a merge, or is never counted down",
        absent=lambda h: 0,
    )
    def count(self) -> int:
        return len(self.positions)

    def add(self, index: Index) -> None:
        """A message was accepted."""
        at, ledger, entry = index
        self.positions.add((ledger, entry))
        self.times[ledger, entry] = at

    @said(
        absent="Your tracker goes on holding a message that it refused; it is not held from then on.",
    )
    @rule(
        "BD-04",
        "What is due or has no time is refused, whether it was held or not; from then on it is not held.",
        source="BucketDelayedDeliveryTracker, PRs 26230, 26251",
        look="a refusal of what was accepted before: the count, and what is handed out later",
        when=lambda h, position, over: h.contains(position, over),
        absent=lambda h, position, over: None,
    )
    def refused(self, position: Position, over: Bucket | None) -> None:
        """A message was refused."""
        self.forget([position])

    @said(
        whatever_its_time=(
            "Your tracker hands out an index of a message that is held for another time; it has to drop that one."
        ),
        absent="Your tracker hands out an index of a message that it does not hold; it has to drop that.",
    )
    @rule(
        "BD-19",
        "What is held is handed out once, by time, ledger and entry, as long as it is due. An index of what is not "
        "held, or is held for another time, is dropped, and costs nothing of what may be handed out.",
        source="BucketDelayedDeliveryTracker, PR 26251",
        look="a message that was refused, or refused and then accepted for a later time, or is in memory twice",
        absent=lambda h, index, over: True,
        whatever_its_time=lambda h, index, over: h.contains(index[1:], over),
    )
    def hands_out(self, index: Index, over: Bucket | None) -> bool:
        """Whether an index that has come out of the queue is handed out."""
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
