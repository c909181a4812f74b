"""Known mistakes: the index of a tracker: copies of positions in buckets, which are taken in order."""

from __future__ import annotations

from broker_tck.model.delayed_delivery.index import Index
from broker_tck.properties.mistakes.book import instead, look_at, of

of(Index.stays, look="the bucket or ledger left behind by the call that took its last message")(
    instead(
        "absent",
        "Your tracker keeps a bucket that is empty; it has to go with its last message.",
        lambda i, bucket: True,
    ),
)
of(Index.count, look="a counter kept beside the index: who adds to it, who takes from it")(
    instead(
        "absent",
        "The number of delayed messages of your tracker is always 0; it has to count what is held.",
        lambda i: 0,
    ),
    instead(
        "of positions",
        "Your tracker counts positions; a position in two buckets is two copies, and counts twice.",
        lambda i: len({c for bucket in i.held.values() for c in bucket}),
    ),
    instead("of buckets", "Your tracker counts buckets; it has to count the messages in them.", lambda i: len(i.held)),
)
of(Index.stored, look="ids of more than 16 or 31 bits")(
    instead(
        "absent",
        "Your tracker keeps 16 bits of an entry id; it has to keep all that it declares.",
        lambda i, ledger, entry: (ledger, entry & 0xFFFF),
    ),
    instead(
        "entries signed",
        "Your tracker takes large entry ids for negative ones; they have to stay as they are.",
        lambda i, ledger, entry: (ledger, entry - 2**32 if 2**31 <= entry < 2**32 else entry),
    ),
    instead(
        "entries of 31 bits",
        "Your tracker keeps 31 bits of an entry id; it has to keep all that it declares.",
        lambda i, ledger, entry: (ledger, entry & 0x7FFFFFFF),
    ),
    instead(
        "ledgers of 32 bits",
        "Your tracker keeps 32 bits of a ledger id; it has 64.",
        lambda i, ledger, entry: (ledger & 0xFFFFFFFF, entry),
    ),
    instead(
        "ledgers unsigned",
        "Your tracker hands out a negative ledger id as a large one; it has to stay as it is.",
        lambda i, ledger, entry: (ledger & (2**64 - 1), entry),
    ),
)
of(Index.serial, look="a counter raised by an add that changed nothing")(
    instead(
        "absent",
        "Your tracker keeps a message twice that is added twice; it stays one copy.",
        lambda i, position, key: i.adds,
    ),
)
of(Index.counts_again)(
    instead("absent", "Your tracker counts a message again that is added again; it stays one copy.", lambda i: True),
)
look_at("DD-12", "a map from position to bucket, where there should be none")
of(
    Index.taken,
    look="the order of ledgers inside a bucket; a budget that ends inside a ledger; the budget counts copies",
)(
    instead(
        "absent",
        "Your tracker takes all that is due, however little it is asked for.",
        lambda i, due, most: i.copies(due),
    ),
    instead(
        "one bucket only",
        "Your tracker takes messages from one bucket alone; it has to go on to the next that is due.",
        lambda i, due, most: [c for c in i.copies(due) if c[0] == due[0]][: max(most, 0)],
    ),
    instead(
        "one ledger only",
        "Your tracker takes messages from one ledger alone; it has to go on to the next.",
        lambda i, due, most: i.of_first_ledger(i.copies(due))[: max(most, 0)],
    ),
    instead(
        "one too many",
        "Your tracker takes one message more than it is asked for.",
        lambda i, due, most: i.copies(due)[: most + 1],
    ),
    instead(
        "one short",
        "Your tracker takes one message less than it is asked for, although more are due.",
        lambda i, due, most: i.copies(due)[: max(most - 1, 0)],
    ),
    instead(
        "ledgers descending",
        "Your tracker takes ledgers in the wrong order; the lowest comes first.",
        lambda i, due, most: i.copies(due, lambda c: (-c[0], c[1]))[: max(most, 0)],
    ),
    instead(
        "entries descending",
        "Your tracker takes entries in the wrong order; the lowest comes first.",
        lambda i, due, most: i.copies(due, lambda c: (c[0], -c[1]))[: max(most, 0)],
    ),
    instead(
        "entries before ledgers",
        "Your tracker takes by entry first; the order is bucket, ledger, entry.",
        lambda i, due, most: i.copies(due, lambda c: (c[1], c[0]))[: max(most, 0)],
    ),
    instead(
        "by position alone",
        (
            "Your tracker takes messages by ledger and entry over all due buckets; it has to take from the first bucket"
            " first."
        ),
        lambda i, due, most: sorted(i.copies(due), key=lambda c: c[1])[: max(most, 0)],
    ),
    instead(
        "last bucket first",
        "Your tracker takes from the last due bucket first; it has to begin with the first one.",
        lambda i, due, most: sorted(i.copies(due), key=lambda c: -c[0])[: max(most, 0)],
    ),
    instead(
        "budget counts positions",
        "Your tracker counts positions where it is asked for so many copies.",
        lambda i, due, most: i.worth(most, i.copies(due)),
    ),
    instead(
        "budget for each bucket",
        (
            "Your tracker takes as many messages as it is asked for from each due bucket; that is the number for all of"
            " them."
        ),
        lambda i, due, most: i.of_each_bucket(most, i.copies(due)),
    ),
)
of(Index.handed_out)(
    instead(
        "absent",
        (
            "Your tracker hands messages out in the order in which it takes them, and repeats some; they come by "
            "position, each once."
        ),
        lambda i, taken: [copy[:2] for _, copy in taken],
    ),
    instead(
        "in order of time",
        "Your tracker hands messages out in the order of their times; they come in the order of their positions.",
        lambda i, taken: list(dict.fromkeys(copy[:2] for _, copy in taken)),
    ),
    instead(
        "repeated",
        "Your tracker hands the same position out twice; each comes once.",
        lambda i, taken: sorted(copy[:2] for _, copy in taken),
    ),
    instead(
        "descending",
        "Your tracker hands messages out in descending order; the lowest position comes first.",
        lambda i, taken: sorted({copy[:2] for _, copy in taken}, reverse=True),
    ),
)
of(Index.removed, look="what is deleted where the budget ends inside a bucket or a ledger")(
    instead("absent", "Your tracker keeps what it has handed out; that has to leave the index.", lambda i, taken: []),
    instead(
        "whole ledgers",
        "Your tracker loses messages: a get removes all of a ledger where it hands out a part.",
        lambda i, taken: i.copies_like(taken, lambda key, copy: (key, copy[0])),
    ),
    instead(
        "whole buckets",
        "Your tracker loses messages: a get removes all of a bucket where it hands out a part.",
        lambda i, taken: i.copies_like(taken, lambda key, copy: key),
    ),
    instead(
        "all copies of a position",
        (
            "A get removes all copies of a message from your tracker; those in buckets that it did not take from have "
            "to stay."
        ),
        lambda i, taken: i.copies_like(taken, lambda key, copy: copy[:2]),
    ),
    instead(
        "all but the last",
        "A get of more than two messages leaves the last one in your tracker; all that is handed out has to leave.",
        lambda i, taken: taken[:-1] if len(taken) > 2 else taken,
    ),
)
of(Index.after_clear, look="copies, counters or memory that survive; a timeout cancelled or armed by it")(
    instead("absent", "A clear leaves the messages in your tracker; it has to empty the index.", lambda i: i.held),
    instead(
        "the first bucket only",
        "A clear empties only the first bucket of your tracker; it has to empty the whole index.",
        lambda i: {key: bucket for key, bucket in i.held.items() if key > min(i.held)},
    ),
)
