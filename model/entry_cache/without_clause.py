"""Rules of the entry caches without a clause: invariants, and what cannot be checked at this interface by itself."""

from __future__ import annotations

from broker_tck.model.entry_cache.entries import COUNTS
from broker_tck.model.entry_cache.eviction import REQUEUES
from broker_tck.model.rules import Rule, informative, invariant

CACHE = "RangeEntryCacheImpl"


def derived(number: str, sentence: str, of: str, needs: str = "") -> Rule:
    """An invariant that follows from other rules."""
    return invariant(number, sentence, source=f"follows from {of}", needs=needs)


def follows(number: str, sentence: str, of: str) -> Rule:
    """A rule that is checked with those that it follows from."""
    return informative(number, sentence, source=f"follows from {of}", why=f"it is checked with {of}")


WITHOUT_CLAUSE: tuple[Rule, ...] = (
    invariant(
        "EC-01",
        "A cache's size is the sum of its entries' sizes, and the broker's that of all caches.",
        source="RangeEntryCacheManagerImpl, PR 24623",
    ),
    derived(
        "EC-P3",
        "A value has a reference if and only if it is cached or a reader holds it.",
        "EC-04, EC-12 and EC-13",
    ),
    derived("EC-P4", "A time pass removes no entry as young as its threshold.", "EC-20 and EC-21"),
    derived("EC-P6", "A size pass that removes less than it was asked for leaves nothing cached.", "EC-32 and EC-34"),
    derived("EC-P7", "A size pass removes less than one entry more than it was asked for.", "EC-32"),
    derived(
        "EC-P12",
        "A read count starts with the expected reads; each increment raises it by one, and each read lowers it by one.",
        "RC-01 and RC-08",
    ),
    derived(
        "EC-P17",
        "The free permits for reads in flight are never below 0, and are complete when nobody reads.",
        "EC-55",
        "reads",
    ),
    derived(
        "EC-P18",
        "If nothing is cached, and nobody holds a value, the caches keep no value and no position.",
        "EC-12 and EC-13",
        "shows_kept",
    ),
    informative(
        "EC-07",
        "The caller keeps its reference, and the cache has its own; if a copy cannot be made, nothing is inserted.",
        source=CACHE,
        why="references are judged by EC-P3; a copy that fails cannot be brought about here",
    ),
    informative(
        "EC-08",
        "If copying is on, the cache stores a copy of its own; with or without it, only the payload's bytes count.",
        source=f"{CACHE}, PIP-430",
        why="the memory behind a value is not seen here",
    ),
    informative(
        "EC-39",
        "Both passes end early if their thread is interrupted.",
        source=REQUEUES,
        why="no pass is interrupted here",
    ),
    informative(
        "EC-66",
        "Entries age, and reads wait for permits, by a clock that never jumps.",
        source="EntryImpl; the InflightReadsLimiter of 4.0.8 and 4.2.4 goes by the wall clock",
        why="a cache is given one clock, and no walk sets it",
    ),
    informative(
        "RC-12",
        "A batch of messages is one entry, with one count.",
        source=COUNTS,
        why="what is in an entry is not seen here",
    ),
    informative(
        "RC-14",
        "Counts change atomically, and a pass reads a count once a visit.",
        source=COUNTS,
        why="calls come one at a time; between the steps of a pass see IL-12",
    ),
    follows("EC-25", "An entry that nobody reads lives one TTL, and one more for each requeueing.", "EC-20 to EC-24"),
    follows("EC-35", "A size pass removes plain entries first, as queued, then those unprotected now.", "EC-24, EC-34"),
    follows("EC-36", "A size pass that goes over a protected entry uses up a requeueing.", "EC-22 and EC-34"),
    follows("EC-37", "The TTL of an entry starts again when a pass requeues it, in a size pass too.", "EC-22"),
    follows("RC-10", "An entry that is put back before it is released stays protected.", "RC-06 and RC-09"),
    follows(
        "RC-13",
        "If one cursor reads at once, an entry lives two TTLs if access extends life, else one.",
        "EC-24, RC-03",
    ),
    follows(
        "IL-6",
        "A read that completes after its ledger was dropped may store entries; they leave by age.",
        "EC-15, EC-47",
    ),
    follows("IL-7", "Of two misses the first to complete is inserted; the second has its own count.", "EC-05, EC-48"),
    follows("IL-8", "A reader that would join a completed read begins anew, and finds the cache populated.", "EC-53"),
    follows("IL-9", "If a cursor moves between a request and its answer, its new position counts.", "RC-04"),
    follows("IL-10", "An entry added exactly the grace time after the last cursor left is not cached.", "EC-58"),
    follows("IL-12", "A pass uses the read count at the moment when it judges an entry.", "EC-24 and RC-08"),
)
