"""Rules of the entry caches that no clause embodies: laws, and what cannot be checked at this interface."""

from __future__ import annotations

from broker_tck.model.rules import Rule, informative, law

OF_READS: tuple[Rule, ...] = (
    law(
        "EC-P17",
        "What is left of the limit of reads in flight is never below 0, and is all of it when nobody reads.",
        source="follows from EC-55",
        needs="reads",
    ),
    informative(
        "RC-10",
        "An entry that is put back before it is released keeps its protection all the while.",
        source="PIP-430, Key_Shared look-ahead",
        why="it is RC-06 and RC-09 once more, in either order",
    ),
    informative(
        "RC-12",
        "A batch of messages is one entry, with one count.",
        source="EntryReadCountHandlerImpl, PR 24623",
        why="what is in an entry is not seen here",
    ),
    informative(
        "RC-14",
        "Counts change atomically, and a pass asks for one once a visit.",
        source="EntryReadCountHandlerImpl, PR 24623",
        why="calls come one at a time; between the steps of a pass see IL-12",
    ),
    informative(
        "RC-13",
        "An entry of a topic with one cursor, read at once, lives two TTL where access extends, else one.",
        source="follows from EC-24 and RC-03",
        why="it is those two once more",
    ),
)
OF_CACHES: tuple[Rule, ...] = (
    law(
        "EC-01",
        "A cache's size is the sum of its entries' sizes, and the broker's that of all caches.",
        source="RangeEntryCacheManagerImpl, PR 24623",
    ),
    law(
        "EC-P3",
        "Each cached value has a reference, and none has one that is neither cached nor held by a reader.",
        source="follows from EC-04, EC-12 and EC-13",
    ),
    law(
        "EC-P4",
        "A time pass removes nothing that is as young as its threshold.",
        source="follows from EC-20 and EC-21",
    ),
    law(
        "EC-P6",
        "A size pass that removes less than it was asked for leaves nothing cached.",
        source="follows from EC-32 and EC-34",
    ),
    law(
        "EC-P7",
        "A size pass removes less than one entry more than it was asked for.",
        source="follows from EC-32",
    ),
    law(
        "EC-P12",
        "A read count is the reads expected of what was stored, one more by each increment and less by each read.",
        source="follows from RC-01 and RC-08",
    ),
    informative(
        "EC-07",
        "Who inserts keeps a reference, the cache has its own; where a copy cannot be made, nothing is inserted.",
        source="RangeEntryCacheImpl",
        why="references are judged by EC-P3; a copy that fails cannot be brought about here",
    ),
    informative(
        "EC-08",
        "With copying on, the cache holds a copy of its own; only the bytes of the payload are counted either way.",
        source="RangeEntryCacheImpl, PIP-430",
        why="the memory behind a value is not seen here",
    ),
    informative(
        "EC-25",
        "An entry that nobody reads lives one TTL, and one more for each requeueing that it is allowed.",
        source="follows from EC-20, EC-22 and EC-24",
        why="it is those three once more",
    ),
    informative(
        "EC-35",
        "A size pass removes plain entries first, in the order of the queue; then those that nothing protects now.",
        source="follows from EC-24, EC-32 and EC-34",
        why="it is those three once more",
    ),
    informative(
        "EC-36",
        "A size pass that goes over a protected entry uses up one of its requeueings.",
        source="follows from EC-22 and EC-34",
        why="it is those two once more",
    ),
    informative(
        "EC-37",
        "The TTL of an entry starts again when a pass requeues it, in a size pass too.",
        source="RangeCacheRemovalQueue, PR 24623",
        why="it is EC-22 once more",
    ),
    informative(
        "EC-39",
        "Both passes end early where their thread is interrupted.",
        source="RangeCacheRemovalQueue, PR 24623",
        why="no pass is interrupted here",
    ),
)
OF_STEPS: tuple[Rule, ...] = (
    informative(
        "IL-6",
        "A storage read that completes after its ledger was dropped may store entries; they leave by age or size.",
        source="RangeEntryCacheImpl",
        why="it is EC-15 and EC-47 once more: the storage answers in an operation of its own",
    ),
    informative(
        "IL-7",
        "Of two misses of one position the first to complete is inserted, and the second reader's count is its own.",
        source="RangeEntryCacheImpl",
        why="it is EC-05 and EC-48 once more: the storage answers in an operation of its own",
    ),
    informative(
        "IL-8",
        "A reader that would join a read which has completed begins anew, and finds the cache populated.",
        source="PendingReadsManager",
        why="it is EC-53 once more, where a reader reads on before it returns",
    ),
    informative(
        "IL-9",
        "A cursor that moves between a request and its answer counts as it stands at the answer.",
        source="PIP-430",
        why="it is RC-04 once more: the storage answers in an operation of its own",
    ),
    informative(
        "IL-10",
        "An entry that is added exactly the grace time after the last cursor has left is not cached.",
        source="PR 24656",
        why="it is EC-58 once more",
    ),
    informative(
        "IL-12",
        "A pass goes by the read count as it is when it judges an entry.",
        source="EntryReadCountHandlerImpl, an atomic number",
        why="it is RC-08 and EC-24 once more, asked between the steps of a pass",
    ),
)
