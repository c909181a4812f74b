"""Known mistakes: what a tracker of negative acks holds: items in buckets, each of which becomes due as a whole."""

from __future__ import annotations

from broker_tck.model.negative_acks.buckets import Buckets
from broker_tck.model.negative_acks.clock import MS
from broker_tck.properties.mistakes.book import instead, of

of(Buckets.item, look="what of the message id becomes part of the key")(
    instead(
        "absent",
        "Your tracker tells messages of one batch apart; an item is a whole entry.",
        lambda b, ledger, entry, batch_index: (ledger, entry, batch_index + 1),
    ),
)
of(Buckets.stored, look="ids that are negative, or wider than the container behind")(
    instead(
        "absent",
        "Your tracker keeps 32 bits of an entry id; it has 64.",
        lambda b, item: (item[0], item[1] & 0xFFFFFFFF, item[2]),
    ),
    instead(
        "ledgers of 32 bits",
        "Your tracker keeps 32 bits of a ledger id; it has 64.",
        lambda b, item: (item[0] & 0xFFFFFFFF, item[1], item[2]),
    ),
    instead(
        "entries unsigned",
        "Your tracker gives back a negative entry id as a large one; it has to come back as it is.",
        lambda b, item: (item[0], item[1] & (2**64 - 1), item[2]),
    ),
    instead(
        "entries of 48 bits",
        "Your tracker keeps 48 bits of an entry id; it has 64.",
        lambda b, item: (item[0], item[1] & (2**48 - 1), item[2]),
    ),
    instead(
        "entries in doubles",
        "Your tracker keeps entry ids in floating point; they have 64 bits.",
        lambda b, item: (item[0], min(int(float(item[1])), 2**63 - 1), item[2]),
    ),
)
of(Buckets.key, look="rounding; how many bits are cleared")(
    instead(
        "absent",
        "Your tracker keeps the instant of a nack as it is; its low bits have to be cleared.",
        lambda b, at: at,
    ),
    instead(
        "rounded up",
        "Your tracker rounds the instant of a nack up to its bucket; it has to round down.",
        lambda b, at: -(-at & -(1 << b.bits)),
    ),
    instead(
        "nearest",
        "Your tracker rounds an instant to the nearest bucket; it has to round it down.",
        lambda b, at: (at + (1 << b.bits >> 1)) & -(1 << b.bits),
    ),
    instead(
        "a bit more",
        "Your tracker clears one bit too many of the instant of a nack.",
        lambda b, at: at & -(2 << b.bits),
    ),
    instead(
        "a bit less",
        "Your tracker clears one bit too few of the instant of a nack.",
        lambda b, at: at & -(1 << max(b.bits - 1, 0)),
    ),
    instead(
        "of nanoseconds",
        "Your tracker clears the low bits of nanoseconds; they are those of milliseconds.",
        lambda b, at: (at * MS & -(1 << b.bits)) // MS,
    ),
    instead(
        "a multiple of k",
        "Your tracker makes buckets of k milliseconds; they are 2^k milliseconds wide.",
        lambda b, at: at - at % max(b.bits, 1),
    ),
    instead(
        "shifted as an int",
        "Your tracker takes its bits modulo 32; from 32 on its buckets are too narrow.",
        lambda b, at: at & -(1 << b.bits % 32),
    ),
    instead(
        "eight bits for none",
        "Your tracker takes 0 bits for no setting; its buckets are 1 millisecond wide then.",
        lambda b, at: at & -(1 << (b.bits or 8)),
    ),
)
of(Buckets.superseded, look="a map from entry to time, where there should be none; a second item in one bucket")(
    instead(
        "absent",
        "A nack of an entry takes it out of the other buckets of your tracker; each of them has to emit it.",
        lambda b, item, key: b.elsewhere(item, key),
    ),
    instead(
        "later ones dropped",
        "A sooner nack of an entry drops the later ones in your tracker; each bucket has to emit its own.",
        lambda b, item, key: [k for k in b.elsewhere(item, key) if k > key],
    ),
    instead(
        "sooner ones dropped",
        "A later nack of an entry drops the sooner ones in your tracker; each bucket has to emit its own.",
        lambda b, item, key: [k for k in b.elsewhere(item, key) if k < key],
    ),
)
of(Buckets.files)(
    instead(
        "absent",
        "Your tracker ignores a nack of an entry that is in another bucket; each bucket has to emit it.",
        lambda b, item, key: not b.elsewhere(item, key),
    ),
    instead(
        "the first counts",
        "Your tracker ignores a nack of an entry that it holds; the entry is one item in each bucket.",
        lambda b, item, key: not any(item in bucket for bucket in b.held.values()),
    ),
)
of(Buckets.count, look="a counter kept beside the buckets")(
    instead(
        "absent", "The count of your tracker is always 0; it has to be that of the items in all buckets.", lambda b: 0
    ),
    instead(
        "of entries",
        "Your tracker counts an entry of two buckets once; it counts twice.",
        lambda b: len({item for bucket in b.held.values() for item in bucket}),
    ),
    instead("of buckets", "Your tracker counts buckets; it has to count the items in them.", lambda b: len(b.held)),
)
of(
    Buckets.due,
    look="equality: a bucket is due at its own time; buckets that are deleted while they are walked through",
)(
    instead(
        "absent",
        "A firing of your tracker takes every bucket; those after the clock have to stay.",
        lambda b, key, now: True,
    ),
    instead(
        "strictly before",
        "Your tracker leaves a bucket for later that is due at this very millisecond; it has to take it.",
        lambda b, key, now: key < now,
    ),
)
of(Buckets.selected)(
    instead(
        "absent",
        "A firing of your tracker takes one bucket alone; it has to take every bucket that is due.",
        lambda b, due: due[:1],
    ),
    instead(
        "every other",
        "A firing of your tracker takes every other bucket that is due; it has to take them all.",
        lambda b, due: due[::2],
    ),
    instead(
        "all but the last",
        "A firing of your tracker leaves the last of several due buckets; it has to take them all.",
        lambda b, due: due[:-1] if len(due) > 1 else due,
    ),
    instead(
        "ten",
        "A firing of your tracker takes ten buckets at most; it has to take all that are due.",
        lambda b, due: due[:10],
    ),
)
of(Buckets.emitted, look="a list that buckets are appended to")(
    instead(
        "absent",
        "Your tracker emits an entry of several buckets several times; it comes once.",
        lambda b, ids: sorted(ids),
    ),
)
of(Buckets.expanded, look="the rebuilt id, which has lost its chunks")(
    instead(
        "absent",
        "Your tracker emits the last chunk of a chunked message alone; all its chunks have to come.",
        lambda b, entry, chunks: [entry],
    ),
    instead(
        "the first only",
        "Your tracker emits only the first chunk of a message in chunks; it has to emit them all.",
        lambda b, entry, chunks: [entry - chunks + 1],
    ),
    instead(
        "one short",
        "Your tracker forgets one chunk of a chunked message; all have to come.",
        lambda b, entry, chunks: [*range(min(entry - chunks + 2, entry), entry + 1)],
    ),
    instead(
        "one too many",
        "Your tracker emits the entry before the first chunk as well; that is none of the message's.",
        lambda b, entry, chunks: [*range(entry - chunks + (chunks == 1), entry + 1)],
    ),
)
of(Buckets.noted)(
    instead(
        "absent",
        "Your tracker forgets the chunks of a message once they are emitted, although it is in another bucket as well.",
        lambda b, key, position: (0, position),
    ),
)
