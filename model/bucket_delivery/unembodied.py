"""The rules of bucket delivery that no clause embodies: laws, and what cannot be checked at this interface."""

from __future__ import annotations

from broker_tck.model.rules import Rule, informative, law

UNEMBODIED: tuple[Rule, ...] = (
    informative(
        "BD-01",
        "A tracker holds positions, a growing bucket, a queue of what is loaded, and sealed buckets by range.",
        source="BucketDelayedDeliveryTracker",
        why="state is seen in what the tracker answers; the rules about it say when",
    ),
    law(
        "BD-02",
        "Nothing is stuck: what is due and not under way is handed out, or a call is made that leads there.",
        source="follows from BD-41, BD-46 and BD-47; issues 26239, 26280",
    ),
    informative(
        "BD-14",
        "Entry ids fit 32 bits, and ledgers are not negative.",
        source="the snapshot's format",
        why="the kit offers no others",
    ),
    informative(
        "BD-23",
        "A message may be available although a get hands nothing out, while its segment or the next one is under way.",
        source="follows from BD-18 and BD-19",
        why="it allows, and demands nothing",
    ),
    informative(
        "BD-33",
        "The buckets of a cursor are those of its properties that begin with the prefix; their order means nothing.",
        source="BucketDelayedDeliveryTracker",
        why="the kit's cursor has no other properties; other keys are the cursor's own affair",
    ),
    informative(
        "BD-38",
        "A recovery does not look at the mark-delete position: orphans fall when they are next in the queue.",
        source="BucketDelayedDeliveryTracker",
        why="BD-37 has it: what is recovered is held, whatever the position",
    ),
    informative(
        "BD-40",
        "After a recovery the growing bucket is empty, and may begin anywhere.",
        source="BucketDelayedDeliveryTracker",
        why="a recovered tracker is a new one, which has added nothing yet",
    ),
    informative(
        "BD-43",
        "Messages come out by time, ledger and entry, across buckets too, while no boundary is lost.",
        source="follows from BD-19",
        why="a get hands out a set by position; BD-19 and BD-29 are what it follows from",
    ),
    law(
        "BD-44",
        "No message is handed out before its time, or more than a tick before it where delivery is not strict.",
        source="follows from BD-19",
    ),
    informative(
        "BD-45",
        "What the index forgets is read again from the mark-delete position; what it keeps out of reach is not.",
        source="issue 26420",
        why="reading again is the dispatcher's part; BD-02 is the tracker's",
    ),
)
