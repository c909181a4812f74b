"""Known mistakes in what a tracker of negative acks holds: items in buckets, each of which becomes due as a whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from broker_tck.model.negative_acks.specification import MS, Buckets, Chunks, Item
from broker_tck.model.rules import Method
from broker_tck.properties.mistakes.book import around, instead, mistake, of

of(Buckets.item, look="what of the message id becomes part of the key")(
    instead(
        "absent",
        "Your tracker tells messages of one batch apart; an item must be a whole entry.",
        lambda b, ledger, entry, batch_index: (ledger, entry, batch_index + 1),
    ),
    instead(
        "from the 65th message on",
        "Your tracker takes messages of a batch from the 65th on for another item; an item must be a whole entry.",
        lambda b, ledger, entry, batch_index: (ledger, entry, batch_index // 64 if batch_index > 0 else 0),
    ),
)
of(Buckets.item, breaks="NA-05", look="ids that are negative, or wider than the container behind")(
    instead(
        "absent",
        "Your tracker keeps 32 bits of an entry id; it must keep all 64.",
        lambda b, ledger, entry, batch_index: (ledger, entry & 0xFFFFFFFF, 0),
        was="buckets.stored: absent",
    ),
    instead(
        "ledgers of 32 bits",
        "Your tracker keeps 32 bits of a ledger id; it must keep all 64.",
        lambda b, ledger, entry, batch_index: (ledger & 0xFFFFFFFF, entry, 0),
        was="buckets.stored: ledgers of 32 bits",
    ),
    instead(
        "entries unsigned",
        "Your tracker gives back a negative entry id as a large one; it must come back as it is.",
        lambda b, ledger, entry, batch_index: (ledger, entry & (2**64 - 1), 0),
        was="buckets.stored: entries unsigned",
    ),
    instead(
        "entries of 48 bits",
        "Your tracker keeps 48 bits of an entry id; it must keep all 64.",
        lambda b, ledger, entry, batch_index: (ledger, entry & (2**48 - 1), 0),
        was="buckets.stored: entries of 48 bits",
    ),
    instead(
        "entries in doubles",
        "Your tracker keeps entry ids in floating point; it must keep all 64 bits.",
        lambda b, ledger, entry, batch_index: (ledger, min(int(float(entry)), 2**63 - 1), 0),
        was="buckets.stored: entries in doubles",
    ),
)
of(Buckets.key, look="rounding; how many bits are cleared")(
    instead(
        "absent",
        "Your tracker keeps the instant of a nack as it is; its low bits must be cleared.",
        lambda b, at: at,
    ),
    instead(
        "rounded up",
        "Your tracker rounds the instant of a nack up to its bucket; it must round down.",
        lambda b, at: -(-at & -(1 << b.bits)),
    ),
    instead(
        "nearest",
        "Your tracker rounds an instant to the nearest bucket; it must round it down.",
        lambda b, at: (at + (1 << b.bits >> 1)) & -(1 << b.bits),
    ),
    instead(
        "a bit more",
        "Your tracker clears one bit too many of the instant of a nack; it must clear the configured number.",
        lambda b, at: at & -(2 << b.bits),
    ),
    instead(
        "a bit less",
        "Your tracker clears one bit too few of the instant of a nack; it must clear the configured number.",
        lambda b, at: at & -(1 << max(b.bits - 1, 0)),
    ),
    instead(
        "of nanoseconds",
        "Your tracker clears the low bits of nanoseconds; it must clear those of milliseconds.",
        lambda b, at: (at * MS & -(1 << b.bits)) // MS,
    ),
    instead(
        "a multiple of k",
        "Your tracker makes buckets of k milliseconds; they must be 2^k milliseconds wide.",
        lambda b, at: at - at % max(b.bits, 1),
    ),
    instead(
        "shifted as an int",
        "Your tracker takes its bits modulo 32; from 32 on its buckets are too narrow.",
        lambda b, at: at & -(1 << b.bits % 32),
    ),
    instead(
        "eight bits for none",
        "Your tracker takes 0 bits for no setting; its buckets must be 1 millisecond wide then.",
        lambda b, at: at & -(1 << (b.bits or 8)),
    ),
)


def dropping(which: Callable[[int, int], bool]) -> Method:
    """Hold an item, but first drop it from those other buckets of which, with the new one, this is true."""

    def hold(b: Buckets, item: Item, key: int, chunks: Chunks) -> bool:
        for other in b.elsewhere(item, key):
            if which(other, key):
                b.drop(other, item)
        return Buckets.hold(b, item, key, chunks)

    return hold


of(Buckets.hold, look="a map from entry to time, where there should be none; a second item in one bucket")(
    instead(
        "absent",
        "A nack of an entry takes it out of the other buckets of your tracker; each of them must emit it.",
        dropping(lambda other, key: True),
        was="buckets.superseded: absent",
    ),
    instead(
        "later ones dropped",
        "A sooner nack of an entry drops the later ones in your tracker; each bucket must emit its own.",
        dropping(lambda other, key: other > key),
        was="buckets.superseded: later ones dropped",
    ),
    instead(
        "sooner ones dropped",
        "A later nack of an entry drops the sooner ones in your tracker; each bucket must emit its own.",
        dropping(lambda other, key: other < key),
        was="buckets.superseded: sooner ones dropped",
    ),
    instead(
        "not if elsewhere",
        "Your tracker ignores a nack of an entry that is in another bucket; each bucket must emit it.",
        lambda b, item, key, chunks: not b.elsewhere(item, key) and Buckets.hold(b, item, key, chunks),
        was="buckets.files: absent",
    ),
    instead(
        "the first counts",
        "Your tracker ignores a nack of an entry that it holds; the entry must be one item in each bucket.",
        lambda b, item, key, chunks: (
            not any(item in bucket for bucket in b.held.values()) and Buckets.hold(b, item, key, chunks)
        ),
        was="buckets.files: the first counts",
    ),
)
of(Buckets.count, look="a counter kept beside the buckets")(
    instead(
        "absent", "The count of your tracker is always 0; it must be the number of items in all buckets.", lambda b: 0
    ),
    instead(
        "of entries",
        "Your tracker counts an entry of two buckets once; it must count it twice.",
        lambda b: len({item for bucket in b.held.values() for item in bucket}),
    ),
    instead("of buckets", "Your tracker counts buckets; it must count the items in them.", lambda b: len(b.held)),
)
of(
    Buckets.due,
    look="equality: a bucket is due at its own time; buckets that are deleted while they are walked through",
)(
    instead(
        "absent",
        "A firing of your tracker takes every bucket; those after the clock must stay.",
        lambda b, key, now: True,
    ),
    instead(
        "strictly before",
        "A firing of your tracker leaves a bucket that is due at this very millisecond; it must take it.",
        lambda b, key, now: key < now,
    ),
)
of(Buckets.selected)(
    instead(
        "absent",
        "A firing of your tracker takes one bucket alone; it must take every bucket that is due.",
        lambda b, now: Buckets.selected(b, now)[:1],
    ),
    instead(
        "every other",
        "A firing of your tracker takes every other bucket that is due; it must take them all.",
        lambda b, now: Buckets.selected(b, now)[::2],
        seen="client-go, PR 1410",
    ),
    instead(
        "all but the last",
        "A firing of your tracker leaves the last of several due buckets; it must take them all.",
        lambda b, now: (due := Buckets.selected(b, now))[: max(len(due) - 1, 1)],
    ),
    instead(
        "ten",
        "A firing of your tracker takes ten buckets at most; it must take all that are due.",
        lambda b, now: Buckets.selected(b, now)[:10],
    ),
)
of(Buckets.emitted, look="a list that buckets are appended to")(
    instead(
        "absent",
        "Your tracker emits an entry of several buckets several times; it must emit it once.",
        lambda b, ids: sorted(ids),
    ),
)
of(Buckets.expanded, look="the rebuilt id, which has lost its chunks; chunks of another ledger, and apart")(
    instead(
        "absent",
        "Your tracker emits the last chunk of a chunked message alone; all its chunks must come.",
        lambda b, position, chunks: [position],
    ),
    instead(
        "the first only",
        "Your tracker emits only the first chunk of a message in chunks; it must emit them all.",
        lambda b, position, chunks: chunks[:1] or [position],
    ),
    instead(
        "one short",
        "Your tracker forgets one chunk of a chunked message; all must come.",
        lambda b, position, chunks: chunks[1:] or [position],
    ),
    instead(
        "one too many",
        "Your tracker also emits the entry before the first chunk; it must emit only the message's own chunks.",
        lambda b, position, chunks: [*((ledger, entry - 1) for ledger, entry in chunks[:1]), *(chunks or [position])],
    ),
    instead(
        "from the first to the last",
        "Your tracker emits every entry from the first chunk to the last; it must emit only the message's own chunks.",
        lambda b, position, chunks: (
            [(position[0], entry) for entry in range(chunks[0][1], position[1] + 1)] if chunks else [position]
        ),
    ),
    instead(
        "so many before the last",
        "Your tracker takes the entries before the last chunk for the others; chunks need not be neighbours.",
        lambda b, position, chunks: [(position[0], position[1] - i) for i in range(max(len(chunks), 1))],
    ),
)
of(Buckets.noted)(
    instead(
        "absent",
        "Your tracker forgets the chunks of an emitted message for its other buckets, too; it must keep those.",
        lambda b, key, position: (0, position),
    ),
)


# ---- With a counter of their own


class CountsNacks(Buckets):
    """Has a number for each nack."""

    def __init__(self, bits: int, scale: int) -> None:
        super().__init__(bits, scale)
        self.nacks = 0

    def hold(self, item: Item, key: int, chunks: Chunks) -> bool:
        """Count, and hold the item."""
        self.nacks += 1
        return super().hold(item, key, chunks)


@mistake(
    "NA-38",
    "every nack is an item of its own",
    "Your tracker holds an entry once more for each nack; the entry must be one item in each bucket.",
)
class NacksAreItems(CountsNacks):
    """An entry that is nacked again is one item more."""

    def hold(self, item: Item, key: int, chunks: Chunks) -> bool:
        """Hold the item with the number of its nack."""
        return super().hold((*item[:2], item[2] or self.nacks + 1), key, chunks)


@mistake(
    "NA-43",
    "nacks are counted, until nothing is held",
    "Your tracker counts nacks until nothing is held; it must count the items in all buckets.",
)
class NacksAreCounted(CountsNacks):
    """A counter that only goes up."""

    def count(self) -> int:
        """How many nacks there were."""
        return self.nacks if self.held else 0


# ---- What is kept


@around(Buckets.take, "P16", "emitted ids kept")
def emitted_ids_kept(take: Method, b: Any, now: int) -> object:
    """Your tracker keeps the ids of the last firing; it must let go of them once they are emitted."""
    b.last_firing = ids = take(b, now)
    return ids


@around(Buckets.clear, "P16", "dropped ids kept")
def dropped_ids_kept(clear: Method, b: Any) -> None:
    """Your tracker keeps the ids that it drops at a close; it must let go of them."""
    b.before_close = b.held
    clear(b)
