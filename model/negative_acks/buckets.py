"""What a tracker of negative acks holds: items in buckets, each of which becomes due as a whole."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile

from broker_tck.model.rules import Part, rule

Position = tuple[int, int]
"""Ledger id and entry id."""
Item = tuple[int, int, int]
"""Ledger id, entry id, and a number that is 0 wherever nacks of one entry are one item."""


class Buckets(Part):
    """Sets of items by the instant that they are filed under, and from how many chunks an item's message is made.

    Instants are in units, of which so many, the ``scale``, make a millisecond.
    """

    def __init__(self, bits: int, scale: int) -> None:
        self.bits = bits
        self.scale = scale
        self.held: dict[int, set[Item]] = {}
        self.chunks: dict[tuple[int, Position], int] = {}

    # ---- What an item is

    @rule("NA-01", source="NegativeAcksTracker, since PR 3703")
    def item(self, ledger: int, entry: int, batch_index: int) -> Item:
        """An item is an entry: batch index, batch size and ack set of the id are dropped."""
        return ledger, entry, 0

    @rule("NA-05", source="NegativeAcksTracker, PR 23600", needs="negative_ids")
    def stored(self, item: Item) -> Item:
        """Ledger and entry ids are any signed 64-bit numbers, and come back as they are."""
        return item

    # ---- Filing

    @rule("NA-13", source="NegativeAcksTracker, PR 23600")
    def key(self, at: int) -> int:
        """The bucket is the instant with its low bits cleared, rounded down to a multiple of 2^k milliseconds."""
        return at - at % (self.scale << self.bits)

    def elsewhere(self, item: Item, key: int) -> list[int]:
        """The other keys under which the item is held."""
        return [k for k, bucket in self.held.items() if k != key and item in bucket]

    @rule(
        "NA-38",
        source="NegativeAcksTracker, PR 23600",
        when=lambda b, item, key, chunks: bool(b.elsewhere(item, key)),
    )
    def hold(self, item: Item, key: int, chunks: int) -> bool:
        """An entry is one item in each bucket: nacks into several buckets are emitted by each."""
        item = self.stored(item)
        self.held.setdefault(key, set()).add(item)
        if chunks > 1:
            place = self.noted(key, item[:2])
            self.chunks[place] = max(chunks, self.chunks.get(place, 1))
        return True

    def drop(self, key: int, item: Item) -> None:
        """Let go of an item."""
        bucket = self.held[key]
        bucket.discard(item)
        self.chunks.pop(self.noted(key, item[:2]), None)
        if not bucket:
            del self.held[key]

    def clear(self) -> None:
        """Let go of everything."""
        self.held = {}
        self.chunks = {}

    @rule("NA-43", source="NegativeAcksTracker, PR 23600")
    def count(self) -> int:
        """The count is the sum of the buckets' items, so an entry in two buckets counts twice."""
        return sum(map(len, self.held.values()))

    # ---- Taking

    @rule("NA-30", source="NegativeAcksTracker, PR 23600")
    def due(self, key: int, now: int) -> bool:
        """A bucket is due if it is not after the clock."""
        return key <= now

    @rule("NA-30")
    def selected(self, now: int) -> list[int]:
        """A firing takes every bucket that is due, in ascending order, and nothing else."""
        return [*takewhile(lambda key: self.due(key, now), sorted(self.held))]

    @rule("NA-31", source="NegativeAcksTracker, PR 23600")
    def emitted(self, ids: Iterable[Position]) -> list[Position]:
        """A firing emits a set: an entry of several buckets is in it once."""
        return sorted(set(ids))

    @rule("NA-06", source="NegativeAcksTracker, PR 25229, issue 25220")
    def expanded(self, entry: int, chunks: int) -> list[int]:
        """Of a message in chunks all chunks are emitted, every time."""
        return [*range(entry - chunks + 1, entry + 1)]

    @rule("NA-06")
    def noted(self, key: int, position: Position) -> tuple[int, Position]:
        """Each bucket notes the chunks of its messages for itself."""
        return key, position

    def take(self, now: int) -> list[Position]:
        """Let go of the buckets that are due; answers with the ids that their items stand for."""
        keys = self.selected(now)
        ids = self.ids_with_chunks(keys) if self.chunks else [item[:2] for key in keys for item in self.held[key]]
        for key in keys:
            del self.held[key]
        return self.emitted(ids)

    def ids_with_chunks(self, keys: list[int]) -> list[Position]:
        """The ids that the items of some buckets stand for, whose chunks are noted no longer."""
        items = [
            (self.noted(key, (ledger, entry)), ledger, entry) for key in keys for ledger, entry, _ in self.held[key]
        ]
        ids = [
            (ledger, part) for place, ledger, entry in items for part in self.expanded(entry, self.chunks.get(place, 1))
        ]
        for place, _, _ in items:
            self.chunks.pop(place, None)
        return ids
