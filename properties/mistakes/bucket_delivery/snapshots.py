"""Known mistakes in a tracker's calls to the storage and to the cursor: which are repeated, and which wait."""

from __future__ import annotations

from functools import partial
from typing import Any

from broker_tck.model.bucket_delivery.stored import (
    ATTEMPTS,
    BAD_VERSION,
    NOT_PERSISTED,
    OK,
    About,
    Bucket,
    Snapshots,
    Update,
    name,
    started,
)
from broker_tck.model.rules import Method
from broker_tck.properties.mistakes.book import around, instead, look_at, of

of(Snapshots.retried, look="the number of attempts; failures of another kind")(
    instead(
        "absent",
        "Your tracker does not repeat a storage call that was not persisted; it must make four attempts in all.",
        lambda s, outcome, attempts: False,
    ),
    instead(
        "three attempts",
        "Your tracker makes three attempts at a storage call; it must make four in all.",
        lambda s, outcome, attempts: outcome == NOT_PERSISTED and attempts < ATTEMPTS - 1,
    ),
    instead(
        "whatever fails",
        "Your tracker repeats every storage call that failed; it must only if the call was not persisted.",
        lambda s, outcome, attempts: outcome != OK and attempts < ATTEMPTS,
    ),
    instead(
        "once more",
        "Your tracker makes five attempts at a storage call; it must make four in all.",
        lambda s, outcome, attempts: outcome == NOT_PERSISTED and attempts <= ATTEMPTS,
    ),
)
of(Snapshots.about, look="a first or last time that is another segment's; positions of the segment alone")(
    instead(
        "absent",
        "A snapshot of your tracker says nothing of its segments; it must list their positions and times.",
        lambda s, segment: About(0, 0, frozenset()),
    ),
    instead(
        "first time of all",
        "A snapshot of your tracker has 0 for the first time of a segment; it must say when its first message is due.",
        lambda s, segment: About(0, segment[-1][0], frozenset(index[1:] for index in segment)),
    ),
    instead(
        "of its first ledger",
        "A snapshot of your tracker tells the positions of a segment's first ledger alone; it must tell them all.",
        lambda s, segment: About(
            segment[0][0], segment[-1][0], frozenset(index[1:] for index in segment if index[1] == segment[0][1])
        ),
    ),
    instead(
        "without its last",
        "A snapshot of your tracker leaves out the last position of a segment; it must tell them all.",
        lambda s, segment: About(segment[0][0], segment[-1][0], frozenset(index[1:] for index in segment[:-1])),
    ),
)
look_at("BD-16", "segments behind the first; which snapshot is deleted: that of another bucket of the same range")


@around(Snapshots.begin_deletion, "BD-16", "another's snapshot", was="number_of: absent")
def another_s_snapshot(begin_deletion: Method, s: Snapshots, bucket: Bucket) -> Any:
    """Your tracker deletes another bucket's snapshot in place of one that could not be stored; it must delete none."""
    number = s.durable.keys.get(bucket.ledgers)
    return begin_deletion(s, bucket) if number is None else started(s.delete_snapshot(bucket, bucket.id or number))


of(
    Snapshots.updated_again,
    look="what a crash leaves between both; two buckets of the same range; a failure that is final",
)(
    instead(
        "absent",
        "Your tracker does not repeat a key update that meets a bad version; it must make four attempts in all.",
        lambda s, outcome, attempts: False,
    ),
    instead(
        "three attempts",
        "Your tracker makes three attempts at a key update that meets a bad version; it must make four in all.",
        lambda s, outcome, attempts: outcome == BAD_VERSION and attempts < ATTEMPTS - 1,
    ),
    instead(
        "whatever fails",
        "Your tracker repeats every key update that failed; it must only if the update met a bad version.",
        lambda s, outcome, attempts: outcome != OK and attempts < ATTEMPTS,
    ),
)
of(Snapshots.puts_key)(
    instead(
        "absent",
        "Your tracker puts the key of a bucket that was cleared; it must not.",
        lambda s, bucket: True,
        was="stored: absent",
    ),
)
of(Snapshots.has_key)(
    instead(
        "absent",
        "Your tracker removes a key that leads to another snapshot by then; it must leave that key alone.",
        lambda s, bucket: True,
        seen="PR 26401",
    ),
)


@around(
    Snapshots.delete_snapshot,
    "BD-17",
    "key first",
    was="KeyFirst: the key is removed before the snapshot is deleted",
)
async def key_first(_: Method, s: Snapshots, bucket: Bucket, number: int) -> bool:
    """Your tracker removes the key of a bucket before its snapshot is deleted; the key must go last."""
    await s.in_turn(partial(s.remove, bucket))
    outcome, _ = await s.ask(f"delete:{number}", partial(s.durable.delete, number), s.retried)
    return bool(outcome == OK)


@around(
    Snapshots.write,
    "BD-17",
    "key before snapshot",
    was="KeyBeforeSnapshot: the key is put before the snapshot is stored",
)
async def key_before_snapshot(write: Method, s: Snapshots, bucket: Bucket, *rest: Any) -> None:
    """Your tracker puts the key of a bucket before its snapshot is stored; it must put it after that."""
    guessed = s.durable.made + 1
    label = f"put:{name(bucket.ledgers)}={guessed}"
    started(s.ask(label, partial(s.durable.put, bucket.ledgers, guessed), s.updated_again))
    await write(s, bucket, *rest)


@around(Snapshots.in_turn, "BD-17", "side by side", was="SideBySide: keys are updated side by side")
def side_by_side(in_turn: Method, s: Snapshots, update: Update) -> Any:
    """Your tracker updates keys side by side; one must come after another."""
    s.updating = False
    return in_turn(s, update)
