"""What a tracker of negative acks holds: items in buckets, each of which becomes due as a whole."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile

from broker_tck.model.negative_acks.clock import MS
from broker_tck.model.rules import Part, also, rule
from broker_tck.model.said import said

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

    @said(
        absent="Your tracker tells messages of one batch apart; an item is a whole entry.",
    )
    @rule(
        "NA-01",
        "An item is an entry: batch index, batch size and ack set of the id are dropped.",
        source="NegativeAcksTracker, since PR 3703",
        look="what of the message id becomes part of the key",
        absent=lambda b, ledger, entry, batch_index: (ledger, entry, batch_index + 1),
    )
    def item(self, ledger: int, entry: int, batch_index: int) -> Item:
        return ledger, entry, 0

    @said(
        absent="Your tracker keeps 32 bits of an entry id; it has 64.",
        entries_in_doubles="Your tracker keeps entry ids in floating point; they have 64 bits.",
        ledgers_of_32_bits="Your tracker keeps 32 bits of a ledger id; it has 64.",
        entries_unsigned="Your tracker gives back a negative entry id as a large one; it has to come back as it is.",
        entries_of_48_bits="Your tracker keeps 48 bits of an entry id; it has 64.",
    )
    @rule(
        "NA-05",
        "Ledger and entry ids are any signed 64-bit numbers, and come back as they are.",
        source="NegativeAcksTracker, PR 23600",
        look="ids that are negative, or wider than the container behind",
        needs="negative_ids",
        absent=lambda b, item: (item[0], item[1] & 0xFFFFFFFF, item[2]),
        ledgers_of_32_bits=lambda b, item: (item[0] & 0xFFFFFFFF, item[1], item[2]),
        entries_unsigned=lambda b, item: (item[0], item[1] & (2**64 - 1), item[2]),
        entries_of_48_bits=lambda b, item: (item[0], item[1] & (2**48 - 1), item[2]),
        entries_in_doubles=lambda b, item: (item[0], min(int(float(item[1])), 2**63 - 1), item[2]),
    )
    def stored(self, item: Item) -> Item:
        return item

    # ---- Filing

    @said(
        rounded_up="Your tracker rounds the instant of a nack up to its bucket; it has to round down.",
        absent="Your tracker keeps the instant of a nack as it is; its low bits have to be cleared.",
        a_bit_more="Your tracker clears one bit too many of the instant of a nack.",
        a_bit_less="Your tracker clears one bit too few of the instant of a nack.",
        a_multiple_of_k="Your tracker makes buckets of k milliseconds; they are 2^k milliseconds wide.",
        shifted_as_an_int="Your tracker takes its bits modulo 32; from 32 on its buckets are too narrow.",
        eight_bits_for_none="Your tracker takes 0 bits for no setting; its buckets are 1 millisecond wide then.",
        of_nanoseconds="Your tracker clears the low bits of nanoseconds; they are those of milliseconds.",
        nearest="Your tracker rounds an instant to the nearest bucket; it has to round it down.",
    )
    @rule(
        "NA-13",
        "The bucket is the instant with its low bits cleared, rounded down to a multiple of 2^k milliseconds.",
        source="NegativeAcksTracker, PR 23600",
        look="rounding; how many bits are cleared",
        absent=lambda b, at: at,
        rounded_up=lambda b, at: -(-at & -(1 << b.bits)),
        nearest=lambda b, at: (at + (1 << b.bits >> 1)) & -(1 << b.bits),
        a_bit_more=lambda b, at: at & -(2 << b.bits),
        a_bit_less=lambda b, at: at & -(1 << max(b.bits - 1, 0)),
        of_nanoseconds=lambda b, at: (at * MS & -(1 << b.bits)) // MS,
        a_multiple_of_k=lambda b, at: at - at % max(b.bits, 1),
        shifted_as_an_int=lambda b, at: at & -(1 << b.bits % 32),
        eight_bits_for_none=lambda b, at: at & -(1 << (b.bits or 8)),
    )
    def key(self, at: int) -> int:
        return at - at % (self.scale << self.bits)

    @said(
        later_ones_dropped=(
            "A sooner nack of an entry drops the later ones in your tracker; each bucket has to emit its own."
        ),
        sooner_ones_dropped=(
            "A later nack of an entry drops the sooner ones in your tracker; each bucket has to emit its own."
        ),
        absent="A nack of an entry takes it out of the other buckets of your tracker; each of them has to emit it.",
    )
    @rule(
        "NA-38",
        "An entry is one item in each bucket: nacks into several buckets are emitted by each.",
        source="NegativeAcksTracker, PR 23600",
        look="a map from entry to time, where there should be none; a second item in one bucket",
        absent=lambda b, item, key: b.elsewhere(item, key),
        later_ones_dropped=lambda b, item, key: [k for k in b.elsewhere(item, key) if k > key],
        sooner_ones_dropped=lambda b, item, key: [k for k in b.elsewhere(item, key) if k < key],
    )
    def superseded(self, item: Item, key: int) -> list[int]:
        return []

    @said(
        the_first_counts=(
            "Your tracker ignores a nack of an entry that it holds; the entry is one item in each bucket."
        ),
        absent="Your tracker ignores a nack of an entry that is in another bucket; each bucket has to emit it.",
    )
    @also(
        superseded,
        absent=lambda b, item, key: not b.elsewhere(item, key),
        the_first_counts=lambda b, item, key: not any(item in bucket for bucket in b.held.values()),
    )
    def files(self, item: Item, key: int) -> bool:
        return True

    def elsewhere(self, item: Item, key: int) -> list[int]:
        """The other keys under which the item is held."""
        return [k for k, bucket in self.held.items() if k != key and item in bucket]

    def hold(self, item: Item, key: int, chunks: int) -> bool:
        """Hold an item under a key; answers whether that is done."""
        item = self.stored(item)
        if not self.files(item, key):
            return False
        for other in self.superseded(item, key):
            self.drop(other, item)
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

    @said(
        of_entries="Your tracker counts an entry of two buckets once; it counts twice.",
        of_buckets="Your tracker counts buckets; it has to count the items in them.",
        absent="The count of your tracker is always 0; it has to be that of the items in all buckets.",
    )
    @rule(
        "NA-43",
        "The count is the sum of the buckets' items, so an entry in two buckets counts twice.",
        source="NegativeAcksTracker, PR 23600",
        look="a counter kept beside the buckets",
        absent=lambda b: 0,
        of_entries=lambda b: len({item for bucket in b.held.values() for item in bucket}),
        of_buckets=lambda b: len(b.held),
    )
    def count(self) -> int:
        return sum(map(len, self.held.values()))

    # ---- Taking

    @said(
        strictly_before=(
            "Your tracker leaves a bucket for later that is due at this very millisecond; it has to take it."
        ),
        absent="A firing of your tracker takes every bucket; those after the clock have to stay.",
    )
    @rule(
        "NA-30",
        "A firing takes every bucket that is not after the clock, in ascending order, and nothing else.",
        source="NegativeAcksTracker, PR 23600",
        look="equality: a bucket is due at its own time; buckets that are deleted while they are walked through",
        absent=lambda b, key, now: True,
        strictly_before=lambda b, key, now: key < now,
    )
    def due(self, key: int, now: int) -> bool:
        return key <= now

    @said(
        absent="A firing of your tracker takes one bucket alone; it has to take every bucket that is due.",
        every_other="A firing of your tracker takes every other bucket that is due; it has to take them all.",
        all_but_the_last="A firing of your tracker leaves the last of several due buckets; it has to take them all.",
        ten="A firing of your tracker takes ten buckets at most; it has to take all that are due.",
    )
    @also(
        due,
        absent=lambda b, due: due[:1],
        every_other=lambda b, due: due[::2],
        all_but_the_last=lambda b, due: due[:-1] if len(due) > 1 else due,
        ten=lambda b, due: due[:10],
    )
    def selected(self, due: list[int]) -> list[int]:
        return due

    @said(
        absent="Your tracker emits an entry of several buckets several times; it comes once.",
    )
    @rule(
        "NA-31",
        "A firing emits a set: an entry of several buckets is in it once.",
        source="NegativeAcksTracker, PR 23600",
        look="a list that buckets are appended to",
        absent=lambda b, ids: sorted(ids),
    )
    def emitted(self, ids: Iterable[Position]) -> list[Position]:
        return sorted(set(ids))

    @said(
        absent="Your tracker emits the last chunk of a chunked message alone; all its chunks have to come.",
        one_short="Your tracker forgets one chunk of a chunked message; all have to come.",
        the_first_only="Your tracker emits only the first chunk of a message in chunks; it has to emit them all.",
        one_too_many="Your tracker emits the entry before the first chunk as well; that is none of the message's.",
    )
    @rule(
        "NA-06",
        "Of a chunked message all chunks are emitted, every time.",
        source="NegativeAcksTracker, PR 25229, issue 25220",
        look="the rebuilt id, which has lost its chunks",
        absent=lambda b, entry, chunks: [entry],
        the_first_only=lambda b, entry, chunks: [entry - chunks + 1],
        one_short=lambda b, entry, chunks: [*range(min(entry - chunks + 2, entry), entry + 1)],
        one_too_many=lambda b, entry, chunks: [*range(entry - chunks + (chunks == 1), entry + 1)],
    )
    def expanded(self, entry: int, chunks: int) -> list[int]:
        return [*range(entry - chunks + 1, entry + 1)]

    @said(
        absent=(
            "Your tracker forgets the chunks of a message once they are emitted, although it is in another bucket as "
            "well."
        ),
    )
    @also(
        expanded,
        when=lambda b, key, position: b.noted_elsewhere(key, position),
        absent=lambda b, key, position: (0, position),
    )
    def noted(self, key: int, position: Position) -> tuple[int, Position]:
        """Under what the chunks of an item are noted until a firing takes it."""
        return key, position

    def noted_elsewhere(self, key: int, position: Position) -> bool:
        """Whether the position's chunks are noted for another bucket."""
        return any(k != key and p == position for k, p in self.chunks)

    def take(self, now: int) -> list[Position]:
        """Let go of the buckets that are due; answers with the ids that their items stand for."""
        keys = self.selected(self.first_due(now))
        ids = self.ids_with_chunks(keys) if self.chunks else [item[:2] for key in keys for item in self.held[key]]
        for key in keys:
            del self.held[key]
        return self.emitted(ids)

    def first_due(self, now: int) -> list[int]:
        """The buckets that are due, in order; those after one that is not are not due either."""
        return [*takewhile(lambda key: self.due(key, now), sorted(self.held))]

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
