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
        "Your tracker never takes its buckets for too many; beyond the limit a seal must start a trim and a merge.",
        lambda m: False,
        was="tracker.too_many: absent",
    ),
    instead(
        "at the limit",
        "Your tracker trims or merges at the limit of buckets; there must be more.",
        lambda m: 0 < m.tracker.config.max_buckets <= len(m.placed.pieces),
        was="tracker.too_many: at the limit",
    ),
)
of(Maintenance.busy)(
    instead(
        "absent",
        "Your tracker starts a chain of a trim and a merge while another is under way.",
        lambda m: False,
        was="tracker.busy: absent",
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
        was="tracker.is_trimmed_at: absent",
    ),
    instead(
        "up to that ledger",
        "Your tracker trims a bucket that has the ledger of the mark-delete position.",
        lambda m, ledgers: m.tracker.is_orphan(ledgers[1] - 1),
        was="tracker.is_trimmed_at: up to that ledger",
    ),
    instead(
        "those that reach it",
        "Your tracker trims a bucket that reaches over the mark-delete position.",
        lambda m, ledgers: m.tracker.is_orphan(ledgers[0]),
        was="tracker.is_trimmed_at: those that reach it",
    ),
)
of(Maintenance.stored)(
    instead(
        "absent",
        "A trim of your tracker deletes a bucket that is not stored yet; it must wait for that.",
        lambda m, victim: settled(True),
        was="tracker.stored: absent",
    ),
)
of(Maintenance.is_still_victim)(
    instead(
        "absent",
        "A trim of your tracker deletes a bucket that is gone by then, or no longer to be trimmed.",
        lambda m, victim: True,
        was="tracker.is_still_victim: absent",
    ),
)
of(Maintenance.goes_on_trimming)(
    instead(
        "absent",
        "A trim of your tracker goes on after a deletion that failed; the first failure ends the chain.",
        lambda m, deleted: True,
        was="tracker.goes_on_trimming: absent",
    ),
)
of(Maintenance.trimmed)(
    instead(
        "absent",
        "Your tracker still holds the messages of a bucket that it has trimmed; it must not.",
        lambda m, victim: m.tracker.loading.take_away(victim.bucket),
        was="tracker.trimmed: absent",
    ),
)


@around(Maintenance.trimmed, "BD-30", "trimmed stays held", was="tracker.TrimmedStaysHeld: what is trimmed stays held")
def trimmed_stays_held(_: Method, m: Maintenance, victim: Piece) -> None:
    """Your tracker goes on holding messages of a bucket that it trimmed; it must not."""
    if m.placed.has(victim.bucket):
        m.tracker.loading.take_away(victim.bucket)


of(
    Maintenance.to_merge,
    look="segments that are loaded already; a merged snapshot that cannot be stored; what a crash leaves",
)(
    instead(
        "absent",
        "A merge of your tracker reads only the segments that are not loaded; it must read them all.",
        lambda m, source: (source.current + 1, source.last),
        was="tracker.to_merge: absent",
    ),
)
of(Maintenance.merged_indexes)(
    instead(
        "one after the other",
        (
            "A merge of your tracker puts its sources one behind the other; their messages must be in the order of "
            "their times."
        ),
        lambda m, *sources: chain_of(*sources),
        was="tracker.merged_indexes: one after the other",
    ),
)
of(Maintenance.can_commit)(
    instead(
        "absent",
        "A merge of your tracker goes on although its sources are gone, or another bucket lies among them.",
        lambda m, sources: True,
        was="tracker.can_commit: absent",
    ),
)
of(Maintenance.replaces_sources)(
    instead(
        "absent",
        "A merge of your tracker deletes its sources although the merged bucket has no key; it could not be recovered.",
        lambda m, merged: True,
        was="tracker.replaces_sources: absent",
    ),
)


# ---- Recovery

of(
    Recovery.in_order,
    look="what a crash in the middle of a merge leaves: the merged bucket and its sources, in any order",
)(
    instead(
        "absent",
        (
            "A recovery of your tracker takes buckets in the order of the keys; of those that meet, the one that begins"
            " first is placed."
        ),
        lambda r, keys: keys,
        was="tracker.in_order: absent",
    ),
)
of(Recovery.first_segment, look="a segment that ends at the cut-off; messages of skipped segments, which are not held")(
    instead(
        "absent",
        (
            "A recovery of your tracker skips no segments; those all of whose messages are due are read again by the "
            "dispatcher."
        ),
        lambda r, about: 1,
        was="tracker.first_segment: absent",
    ),
    instead(
        "strictly before",
        "A recovery of your tracker loads a segment whose messages are all due; it must skip it.",
        lambda r, about: 1 + sum(each.last_time < r.tracker.cutoff() for each in about),
        was="tracker.first_segment: strictly before",
    ),
    instead(
        "by their first times",
        (
            "A recovery of your tracker skips segments that begin before the cut-off; all messages of a skipped one "
            "must be due."
        ),
        lambda r, about: 1 + sum(each.first_time <= r.tracker.cutoff() for each in about),
        was="tracker.first_segment: by their first times",
    ),
)
of(Recovery.fails_recovery, look="a crash between the deletion of a snapshot and that of its key")(
    instead(
        "absent",
        "A recovery of your tracker fails if a snapshot is not there; it must drop that bucket and its key.",
        lambda r, outcome: True,
        was="tracker.fails_recovery: absent",
    ),
)
of(Recovery.raise_failures, look="four failures in a row, while other buckets can be read")(
    instead(
        "absent",
        ("A recovery of your tracker goes on if a snapshot cannot be read that may be there; it must fail as a whole."),
        lambda r, read: None,
        was="tracker.raise_failures: absent",
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
        was="tracker.take_over: absent",
    ),
)


# ---- Mistakes in flows


@around(
    Maintenance.commit,
    "BD-28",
    "sources first",
    was="tracker.SourcesFirst: the sources are deleted before the merged bucket is stored",
)
async def sources_first(commit: Method, m: Maintenance, sources: Sequence[Bucket], read: Any) -> None:
    """Your tracker deletes buckets before the one merged of them is stored; it must delete them after that."""
    committed = started(commit(m, sources, read))
    for source in sources:
        m.tracker.delete(source)
    await committed


@around(
    Maintenance.commit,
    "BD-28",
    "not shared again",
    was="tracker.NotSharedAgain: a segment in memory is not shared once more",
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
    was="tracker.DeletesUnread: the buckets that could not be read are deleted",
)
def unread_deleted(raise_failures: Method, r: Recovery, read: dict[Piece, tuple[int, Segment]]) -> None:
    """Your tracker deletes a bucket that a recovery could not read; it must not, as the snapshot may be there."""
    try:
        raise_failures(r, read)
    except Fault:
        for piece, (outcome, _) in read.items():
            if outcome == NOT_PERSISTED:
                r.tracker.delete(piece.bucket)
        raise


@around(Recovery.take_over, "BD-37", "skipped held", was="tracker.HoldsSkipped: what was skipped is held as well")
def skipped_held(take_over: Method, r: Recovery, read: dict[Piece, tuple[int, Segment]]) -> Any:
    """After a recovery your tracker holds messages of segments that it skipped; the dispatcher reads these again."""
    useless = take_over(r, read)
    for piece in read:
        piece.bucket.held = piece.bucket.held_behind(0)
    return useless


@around(
    Recovery.take_over,
    "BD-37",
    "orphans left out",
    was="tracker.LeavesOrphansOut: messages below the mark-delete position are left out",
)
def orphans_left_out(take_over: Method, r: Recovery, read: dict[Piece, tuple[int, Segment]]) -> Any:
    """A recovery of your tracker leaves out messages below the mark-delete position; it must hold them, too."""
    useless = take_over(r, read)
    for piece in read:
        piece.bucket.held = {p for p in piece.bucket.held if not r.tracker.is_orphan(p[0])}
    return useless
