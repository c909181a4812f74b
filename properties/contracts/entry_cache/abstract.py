"""The abstract state of the caches' model: how far a walk has come, in a few small numbers.

No clause is asked: a rule counts as exercised where an operation asks for it.
"""

from __future__ import annotations

from broker_tck.model.entry_cache.entries import Cached
from broker_tck.model.entry_cache.specification import EntryCaches

MOST_ENTRIES = 5
"""By powers of two; from 16 entries on, all sizes are alike."""


def abstract(model: EntryCaches) -> tuple[int, ...]:
    """Entries and blanks by powers of two; what the head deserves; what is held, ordered, full; how it is set."""
    live = sum(len(cache.entries) for cache in model.caches)
    blanks = len(model.store.queue) - live
    return (
        min(live.bit_length(), MOST_ENTRIES),
        min(max(blanks, 0).bit_length(), 3),
        head(model),
        min(len(model.holds), 2),
        model.manager.pass_awaits,
        model.manager.max_size is not None and 100 * model.store.total > 98 * model.manager.max_size,
        model.passes.extends_accessed,
        min(model.passes.most_requeued, 2),
        min(len(model.pending_reads.waiting), 2),
        min(len(model.returned), 2),
        bool(model.read_limit.waiting),
    )


def head(model: EntryCaches) -> int:
    """0: the queue is empty. Else what its head is: 1 blank, 2 plain, 3 to be requeued, 4 used up."""
    if not model.store.queue:
        return 0
    entry = model.store.queue[0]
    if entry.blank:
        return 1
    if is_protected(model, entry):
        return 3
    return 4 if entry.requeued else 2


def is_protected(model: EntryCaches, entry: Cached) -> bool:
    """Whether access or expected reads speak for an entry."""
    expected = entry.reads is not None and entry.reads > 0 and entry.requeued < model.passes.most_requeued
    return expected or (entry.accessed and model.passes.extends_accessed)
