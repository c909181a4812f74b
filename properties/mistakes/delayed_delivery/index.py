"""Known mistakes in the index: which copies it holds, counts and takes."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby, islice
from typing import Any

from broker_tck.model.delayed_delivery.releases import CountsAgain, EveryCopy
from broker_tck.model.delayed_delivery.specification import Index, Placed, Position
from broker_tck.model.rules import Method
from broker_tck.properties.mistakes.book import around, instead, look_at, of

Order = Callable[[Position], tuple[int, ...]]


def copies(index: Index, keys: list[int], order: Order | None = None) -> list[Placed]:
    """Every copy in some buckets, by bucket and then in the given order, else by ledger and entry."""
    return [(key, position) for key in keys for position in sorted(index.held[key].elements(), key=order)]


def copies_like(index: Index, taken: list[Placed], kind: Callable[[int, Position], object]) -> list[Placed]:
    """Every copy held that is of one kind with one of those taken."""
    kinds = {kind(*each) for each in taken}
    held = ((key, each) for key, bucket in index.held.items() for each in bucket.elements())
    return [each for each in held if kind(*each) in kinds]


def of_first_ledger(copies: list[Placed]) -> list[Placed]:
    """The copies that share bucket and ledger with the first."""
    return [c for c in copies if (c[0], c[1][0]) == (copies[0][0], copies[0][1][0])]


def worth(most: int, copies: list[Placed]) -> list[Placed]:
    """The first copies, as many as it takes for so many positions."""
    first = {position: n for n, (_, position) in reversed([*enumerate(copies)])}
    beyond = sorted(first.values())[max(most, 0) :]
    return copies[: beyond[0]] if beyond else copies


def of_each_bucket(most: int, copies: list[Placed]) -> list[Placed]:
    """So many copies of each bucket."""
    return [c for _, bucket in groupby(copies, key=lambda c: c[0]) for c in islice(bucket, max(most, 0))]


# ---- What is held, and how much

of(Index.stays, look="the bucket or ledger left behind by the call that took its last message")(
    instead(
        "absent",
        "Your tracker keeps a bucket that is empty; the bucket must go with its last message.",
        lambda i, bucket: True,
        seen="PR 24460",
    ),
)
of(Index.count, look="a counter kept beside the index: who adds to it, who takes from it")(
    instead(
        "absent",
        "The number of delayed messages of your tracker is always 0; it must count the copies held.",
        lambda i: 0,
    ),
    instead(
        "of positions",
        "Your tracker counts positions; a position in two buckets is two copies, and must count twice.",
        lambda i: len({position for bucket in i.held.values() for position in bucket}),
    ),
    instead("of buckets", "Your tracker counts buckets; it must count the messages in them.", lambda i: len(i.held)),
)
of(Index.stored, look="ids of more than 16 or 31 bits")(
    instead(
        "absent",
        "Your tracker keeps 16 bits of an entry id; it must keep all that it declares.",
        lambda i, ledger, entry: (ledger, entry & 0xFFFF),
    ),
    instead(
        "entries signed",
        "Your tracker takes large entry ids for negative ones; they must stay as they are.",
        lambda i, ledger, entry: (ledger, entry - 2**32 if 2**31 <= entry < 2**32 else entry),
    ),
    instead(
        "entries of 31 bits",
        "Your tracker keeps 31 bits of an entry id; it must keep all that it declares.",
        lambda i, ledger, entry: (ledger, entry & 0x7FFFFFFF),
    ),
    instead(
        "ledgers of 32 bits",
        "Your tracker keeps 32 bits of a ledger id; it must keep 64.",
        lambda i, ledger, entry: (ledger & 0xFFFFFFFF, entry),
    ),
    instead(
        "ledgers unsigned",
        "Your tracker hands out a negative ledger id as a large one; it must stay as it is.",
        lambda i, ledger, entry: (ledger & (2**64 - 1), entry),
    ),
)
of(Index.clear, look="copies, counters or memory that survive; a timer that is taken for disarmed")(
    instead(
        "absent",
        "A clear leaves the messages in your tracker; it must empty the index.",
        lambda i: None,
        seen="issue 8689",
    ),
    instead(
        "the first bucket only",
        "A clear empties only the first bucket of your tracker; it must empty the whole index.",
        lambda i: i.hold({key: bucket for key, bucket in i.held.items() if key > min(i.held)}),
        was="index.after_clear: the first bucket only",
    ),
)

# ---- A position that is held already

of(Index.put, look="a counter raised by an add that changed nothing")(
    instead(
        "kept twice",
        "Your tracker keeps a message twice that is added twice; it must stay one copy.",
        EveryCopy.put,
        was="index.serial: absent",
    ),
    instead(
        "counted again",
        "Your tracker counts a message twice that is added twice; it must stay one copy.",
        CountsAgain.put,
        was="index.counts_again: absent",
    ),
)
look_at("DD-12", "a map from position to bucket, which should not be there")


@around(Index.insert, "DD-12", "the last add moves it", was="a position is in one bucket: that of its last add")
def the_last_add_moves_it(insert: Method, i: Index, position: Position, key: int) -> bool:
    """An add in your tracker moves the message out of its earlier bucket; that copy must stay."""
    i.drop([(other, position) for other in i.elsewhere(position, key)])
    return bool(insert(i, position, key))


@around(Index.insert, "DD-12", "a later copy is dropped")
def a_later_copy_is_dropped(insert: Method, i: Index, position: Position, key: int) -> bool:
    """An add in your tracker drops the message from later buckets; that copy must stay."""
    i.drop([(other, position) for other in i.elsewhere(position, key) if other > key])
    return bool(insert(i, position, key))


@around(Index.insert, "DD-12", "a sooner copy is dropped")
def a_sooner_copy_is_dropped(insert: Method, i: Index, position: Position, key: int) -> bool:
    """An add in your tracker drops the message from sooner buckets; that copy must stay."""
    i.drop([(other, position) for other in i.elsewhere(position, key) if other < key])
    return bool(insert(i, position, key))


@around(Index.insert, "DD-12", "the first add stays", was="a position is in one bucket: that of its first add")
def the_first_add_stays(insert: Method, i: Index, position: Position, key: int) -> bool:
    """Your tracker ignores a message that it has in another bucket; it must keep another copy there."""
    return not i.elsewhere(position, key) and bool(insert(i, position, key))


# ---- What a get takes

of(
    Index.taken,
    look="the order of ledgers inside a bucket; a budget that ends inside a ledger; the budget counts copies",
)(
    instead(
        "absent",
        "Your tracker takes all due messages, however few it is asked for; it must take no more than that.",
        lambda i, due, most: copies(i, due),
    ),
    instead(
        "one bucket only",
        "Your tracker takes messages from one bucket alone; it must go on to the next that is due.",
        lambda i, due, most: [c for c in copies(i, due) if c[0] == due[0]][: max(most, 0)],
    ),
    instead(
        "one ledger only",
        "Your tracker takes messages from one ledger alone; it must go on to the next.",
        lambda i, due, most: of_first_ledger(copies(i, due))[: max(most, 0)],
    ),
    instead(
        "one too many",
        "Your tracker takes one message more than it is asked for; it must not.",
        lambda i, due, most: copies(i, due)[: most + 1],
    ),
    instead(
        "one short",
        "Your tracker takes one message less than it is asked for, although more are due; it must take as many.",
        lambda i, due, most: copies(i, due)[: max(most - 1, 0)],
    ),
    instead(
        "ledgers descending",
        "Your tracker takes ledgers in the wrong order; the lowest must come first.",
        lambda i, due, most: copies(i, due, lambda c: (-c[0], c[1]))[: max(most, 0)],
    ),
    instead(
        "entries descending",
        "Your tracker takes entries in the wrong order; the lowest must come first.",
        lambda i, due, most: copies(i, due, lambda c: (c[0], -c[1]))[: max(most, 0)],
    ),
    instead(
        "entries before ledgers",
        "Your tracker takes by entry first; the order must be bucket, ledger, entry.",
        lambda i, due, most: copies(i, due, lambda c: (c[1], c[0]))[: max(most, 0)],
    ),
    instead(
        "by position alone",
        "Your tracker takes messages by ledger and entry over all due buckets; it must empty the first bucket first.",
        lambda i, due, most: sorted(copies(i, due), key=lambda c: c[1])[: max(most, 0)],
    ),
    instead(
        "last bucket first",
        "Your tracker takes from the last due bucket first; it must begin with the first one.",
        lambda i, due, most: sorted(copies(i, due), key=lambda c: -c[0])[: max(most, 0)],
    ),
    instead(
        "budget counts positions",
        "Your tracker counts positions against the number that a get asks for; it must count copies.",
        lambda i, due, most: worth(most, copies(i, due)),
    ),
    instead(
        "budget for each bucket",
        "Your tracker takes from each due bucket as many messages as a get asks for; it must take that number in all.",
        lambda i, due, most: of_each_bucket(most, copies(i, due)),
    ),
)
of(Index.handed_out)(
    instead(
        "absent",
        "Your tracker hands messages out as it takes them, some twice; they must come by position, each once.",
        lambda i, taken: [position for _, position in taken],
    ),
    instead(
        "in order of time",
        "Your tracker hands messages out in the order of their times; they must come in the order of their positions.",
        lambda i, taken: list(dict.fromkeys(position for _, position in taken)),
        seen="PR 7731",
    ),
    instead(
        "repeated",
        "Your tracker hands the same position out twice; each must come once.",
        lambda i, taken: sorted(position for _, position in taken),
    ),
    instead(
        "descending",
        "Your tracker hands messages out in descending order; the lowest position must come first.",
        lambda i, taken: sorted({position for _, position in taken}, reverse=True),
    ),
)
of(Index.removed, look="what is deleted if the budget ends inside a bucket or a ledger")(
    instead(
        "absent", "Your tracker keeps messages that it has handed out; they must leave the index.", lambda i, taken: []
    ),
    instead(
        "whole ledgers",
        "Your tracker loses messages: a get that hands out a part of a ledger removes all of it.",
        lambda i, taken: copies_like(i, taken, lambda key, position: (key, position[0])),
    ),
    instead(
        "whole buckets",
        "Your tracker loses messages: a get that hands out a part of a bucket removes all of it.",
        lambda i, taken: copies_like(i, taken, lambda key, position: key),
    ),
    instead(
        "all copies of a position",
        "A get removes all copies of a message from your tracker; those in other buckets must stay.",
        lambda i, taken: copies_like(i, taken, lambda key, position: position),
    ),
    instead(
        "all but the last",
        "A get of more than two messages leaves the last one in your tracker; all that it hands out must leave.",
        lambda i, taken: taken[:-1] if len(taken) > 2 else taken,
    ),
)


# ---- What is kept


@around(Index.drop, "DD-40", "messages of the last get kept")
def last_get_kept(drop: Method, i: Any, copies: list[Placed]) -> None:
    """Your tracker keeps the ids that the last get handed out; it must let go of them."""
    i.last_get = copies
    drop(i, copies)


@around(Index.clear, "DD-40", "cleared messages kept")
def cleared_kept(clear: Method, i: Any) -> None:
    """Your tracker keeps the ids of the messages that a clear removed; it must let go of them."""
    i.before_clear = i.held
    clear(i)
