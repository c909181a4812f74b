"""The rules of bucket delivery that no clause embodies."""

from __future__ import annotations

from broker_tck.model.bucket_delivery.maintenance import TRACKER
from broker_tck.model.rules import Rule, informative, invariant

WITHOUT_CLAUSE: tuple[Rule, ...] = (
    informative(
        "BD-01",
        "A tracker has the positions held, a growing bucket, a queue of loaded indexes, and sealed buckets by range.",
        source=TRACKER,
        why="state is seen in what the tracker answers; the rules about it say when",
    ),
    invariant(
        "BD-02",
        "Nothing is stuck: a due message that is not under way is handed out, or a call is made that leads there.",
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
        "While its segment or the next one is loading, a message may be available although a get hands nothing out.",
        source="follows from BD-18 and BD-19",
        why="it allows, and demands nothing",
    ),
    informative(
        "BD-33",
        "The buckets of a cursor are those of its properties that begin with the prefix; their order means nothing.",
        source=TRACKER,
        why="the kit's cursor has no other properties; other keys are the cursor's own affair",
    ),
    informative(
        "BD-38",
        "A recovery does not look at the mark-delete position: orphans are dropped when they are next in the queue.",
        source=TRACKER,
        why="BD-37 has it: recovered messages are held, whatever the position",
    ),
    informative(
        "BD-40",
        "After a recovery the growing bucket is empty, and may begin anywhere.",
        source=TRACKER,
        why="a recovered tracker is a new one, which has added nothing yet",
    ),
    informative(
        "BD-43",
        "Messages come out by time, ledger and entry, across buckets too, while no boundary is lost.",
        source="follows from BD-19",
        why="a get hands out a set by position; BD-19 and BD-29 are what it follows from",
    ),
    invariant(
        "BD-44",
        "No message is handed out before its time in strict mode, else none more than a tick before it.",
        source="follows from BD-19",
    ),
    informative(
        "BD-45",
        "Messages that the index forgets are read again from the mark-delete position; messages stuck in it are not.",
        source="issue 26420",
        why="reading again is the dispatcher's part; BD-02 is the tracker's",
    ),
    invariant(
        "BD-49",
        "After an add of a message that was not held, no timeout waits past the message's time, or a tick from now, by "
        "more than the clock was set forwards.",
        source="follows from BD-42, DD-22, DD-37 and DD-38; no report upstream is known",
        needs="jumps",
    ),
    informative(
        "BD-50",
        "A tracker that holds no message keeps no id.",
        source="follows from BD-31",
        why="ranges keep ids of ledgers, and calls under way keep messages; BD-17 and BD-30 say what stays stored",
    ),
    invariant(
        "BD-51",
        "While messages are held, a call is under way, the dispatcher asks next, or a timeout is armed. It asks after "
        "a firing, an add and a recovery, and while an answer says that more may be due.",
        source="follows from BD-20, BD-24, BD-42 and BD-48; issues 25996, 26239",
    ),
)
