"""Known mistakes behind the scenes: buckets of orphans are trimmed, neighbours merged, and all of them recovered."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain as chain_of
from typing import Any

from broker_tck.model.bucket_delivery.maintenance import Maintenance, Recovery
from broker_tck.model.bucket_delivery.parts import Piece
from broker_tck.model.bucket_delivery.stored import NOT_PERSISTED, Bucket, Segment, settled, started
from broker_tck.model.reference import Fault
from broker_tck.model.rules import Method
from broker_tck.properties.mistakes.book import around, instead, of

of(Maintenance.too_many, look="the limit itself, which is not too many; a limit of 0 or less, which is none")(
    instead(
        "absent",
        "Your tracker never finds too many buckets; beyond the limit a seal must start a trim and a merge.",
        lambda m: False,
    ),
    instead(
        "at the limit",
        "Your tracker trims or merges at the limit of buckets; it must only beyond it.",
        lambda m: 0 < m.tracker.config.max_buckets <= len(m.placed.pieces),
    ),
)
of(Maintenance.busy)(
    instead(
        "absent",
        "Your tracker starts a chain of a trim and a merge while another is under way; it must not.",
        lambda m: False,
    ),
)
of(
    Maintenance.is_trimmed_at,
    look="a bucket that reaches into the mark-delete ledger; what follows a failure; a creation under way",
)(
    instead(
        "absent",
        "Your tracker trims nothing; buckets wholly below the mark-delete position's ledger must be deleted.",
        lambda m, ledgers: False,
    ),
    instead(
        "up to that ledger",
        "Your tracker trims a bucket that has the ledger of the mark-delete position; that bucket must stay.",
        lambda m, ledgers: m.tracker.is_orphan(ledgers[1] - 1),
    ),
    instead(
        "those that reach it",
        "Your tracker trims a bucket that reaches over the mark-delete position; that bucket must stay.",
        lambda m, ledgers: m.tracker.is_orphan(ledgers[0]),
    ),
)
of(Maintenance.stored)(
    instead(
        "absent",
        "A trim of your tracker deletes a bucket that is not stored yet; it must wait for that.",
        lambda m, victim: settled(True),
    ),
)
of(Maintenance.is_still_victim)(
    instead(
        "absent",
        "A trim of your tracker deletes a bucket that is gone by then, or no longer below the position; it must not.",
        lambda m, victim: True,
    ),
)
of(Maintenance.goes_on_trimming)(
    instead(
        "absent",
        "A trim of your tracker goes on after a deletion that failed; the first failure ends the chain.",
        lambda m, deleted: True,
    ),
)
of(Maintenance.trimmed)(
    instead(
        "absent",
        "Your tracker still holds the messages of a bucket that it has trimmed; it must not.",
        lambda m, victim: m.tracker.loading.take_out(victim.bucket),
        was="trimmed: trimmed stays held",
    ),
)


of(
    Maintenance.to_merge,
    look="segments that are loaded already; a merged snapshot that cannot be stored; what a crash leaves",
)(
    instead(
        "absent",
        "A merge of your tracker reads only the segments that are not loaded; it must read them all.",
        lambda m, source: (source.current + 1, source.last),
    ),
)
of(Maintenance.merged_indexes)(
    instead(
        "one after the other",
        "A merge of your tracker puts its sources one behind the other; it must sort their messages by time.",
        lambda m, *sources: chain_of(*sources),
    ),
)
of(Maintenance.can_commit)(
    instead(
        "absent",
        "A merge of your tracker goes on if its sources are gone or another bucket lies among them; it must not.",
        lambda m, sources: True,
    ),
)
of(Maintenance.replaces_sources)(
    instead(
        "absent",
        "A merge of your tracker deletes its sources although the merged bucket has no key; it could not be recovered.",
        lambda m, merged: True,
    ),
)


# ---- Recovery

of(
    Recovery.in_order,
    look="what a crash in the middle of a merge leaves: the merged bucket and its sources, in any order",
)(
    instead(
        "absent",
        "A recovery of your tracker places buckets in the order of their keys; it must begin with the first range.",
        lambda r, keys: keys,
    ),
)
of(Recovery.first_segment, look="a segment that ends at the cut-off; messages of skipped segments, which are not held")(
    instead(
        "absent",
        "A recovery of your tracker skips no segments; it must skip those whose messages are all due.",
        lambda r, about: 1,
    ),
    instead(
        "strictly before",
        "A recovery of your tracker loads a segment whose messages are all due; it must skip it.",
        lambda r, about: 1 + sum(each.last_time < r.tracker.cutoff() for each in about),
    ),
    instead(
        "by their first times",
        "A recovery of your tracker skips segments that begin before the cut-off; all their messages must be due.",
        lambda r, about: 1 + sum(each.first_time <= r.tracker.cutoff() for each in about),
    ),
)
of(Recovery.fails_recovery, look="a crash between the deletion of a snapshot and that of its key")(
    instead(
        "absent",
        "A recovery of your tracker fails if a snapshot is not there; it must drop that bucket and its key.",
        lambda r, outcome: True,
    ),
)
of(Recovery.raise_failures, look="four failures in a row, while other buckets can be read")(
    instead(
        "absent",
        "A recovery of your tracker goes on if it cannot read a snapshot that may be there; it must fail as a whole.",
        lambda r, read: None,
    ),
)
of(
    Recovery.take_over,
    look="the count after a recovery; segments that were skipped; messages below the mark-delete position",
)(
    instead(
        "absent",
        "A recovery of your tracker loads nothing; of each bucket one segment must be loaded.",
        lambda r, read: [],
    ),
)


# ---- Mistakes in flows


@around(
    Maintenance.commit,
    "BD-28",
    "sources first",
    was="SourcesFirst: the sources are deleted before the merged bucket is stored",
)
async def sources_first(commit: Method, m: Maintenance, sources: Sequence[Bucket], read: Any) -> None:
    """Your tracker deletes the sources of a merge before the merged bucket is stored; it must after that."""
    committed = started(commit(m, sources, read))
    for source in sources:
        m.tracker.delete(source)
    await committed


@around(
    Maintenance.commit,
    "BD-28",
    "not shared again",
    was="NotSharedAgain: a segment in memory is not shared once more",
)
async def not_shared_again(commit: Method, m: Maintenance, sources: Sequence[Bucket], read: Any) -> None:
    """Your tracker does not load the first segment of a merged bucket; it must, though some of it is in memory."""
    shared = [*m.tracker.shared]
    committed = started(commit(m, sources, read))
    m.tracker.shared = shared
    await committed


@around(
    Recovery.raise_failures,
    "BD-35",
    "unread deleted",
    was="DeletesUnread: the buckets that could not be read are deleted",
)
def unread_deleted(raise_failures: Method, r: Recovery, read: dict[Piece, tuple[int, Segment]]) -> None:
    """Your tracker deletes a bucket that a recovery could not read; it must not, because the snapshot may be there."""
    try:
        raise_failures(r, read)
    except Fault:
        for piece, (outcome, _) in read.items():
            if outcome == NOT_PERSISTED:
                r.tracker.delete(piece.bucket)
        raise


@around(Recovery.take_over, "BD-37", "skipped held", was="HoldsSkipped: what was skipped is held as well")
def skipped_held(take_over: Method, r: Recovery, read: dict[Piece, tuple[int, Segment]]) -> Any:
    """After a recovery your tracker holds messages of skipped segments; it must not, because they are read again."""
    useless = take_over(r, read)
    for piece in read:
        piece.bucket.held = piece.bucket.held_behind(0)
    return useless


@around(
    Recovery.take_over,
    "BD-37",
    "orphans left out",
    was="LeavesOrphansOut: messages below the mark-delete position are left out",
)
def orphans_left_out(take_over: Method, r: Recovery, read: dict[Piece, tuple[int, Segment]]) -> Any:
    """A recovery of your tracker leaves out messages below the mark-delete position; it must hold them, too."""
    useless = take_over(r, read)
    for piece in read:
        piece.bucket.held = {p for p in piece.bucket.held if not r.tracker.is_orphan(p[0])}
    return useless
