"""Defects of released bucket trackers: a trace for each, and what tells that a release has it."""

from __future__ import annotations

from defects import Defect, Defects

INTRODUCTION = """\
What the trackers of released brokers get wrong, grouped by the harm. Each trace was run on the released classes, with
the results that are shown here. The tables are made with the specification and with the profile of each release,
which agrees with its class: see [the bucket tracker](bucket-delivery.md).

`broker-tck replay` stops when the release first leaves the specification, and exits with status 1. With
`pulsar-5.0.1/bucket` in place of `bucket-5.0` it runs the class itself, which needs Java.

One more defect is not shown: a read that ends after its tracker was closed arms a timer, which throws when it fires
(4.2.4 and 5.0.1). In the kit such a read has no effect.

The table below each trace has the answer of the last operation, the number of messages that are counted, the times
for which timers are armed (*never*: the last time that there is), and everything that was handed out, as ledger and
entry."""


def calls(n: int, which: int = 0) -> str:
    """So many calls end well, each at the same place."""
    return "; ".join([f"complete {which}"] * n)


def four_fail() -> str:
    """A call fails as often as it is made."""
    return "; ".join(["fail 0"] * 4)


def five_buckets() -> str:
    """Four stored buckets of three segments each, and what will be a fifth one."""
    adds = (f"add {ledger} {entry} +{ledger * 100 + 30 * entry}" for ledger in range(1, 6) for entry in range(3))
    return f"min_index_count=3 max_buckets=4; storage 1; {'; '.join(adds)}"


def threes(*ledgers: int) -> str:
    """Three messages of each ledger, so far apart that each is a segment of its own."""
    return "; ".join(f"add {ledger} {n} +{ledger * 1000 + n * 100}" for ledger in ledgers for n in range(3))


TWO_SEGMENTS = "min_index_count=1; add 1 0 +100; add 1 1 +200; add 2 0 +900; complete 0; complete 0"
TRIMMED = "min_index_count=1 max_buckets=1; storage 1; add 1 0 +100; add 2 0 +200; storage 0; add 3 0 +300"

STUCK = (
    Defect(
        "A bucket is lost under another one",
        "BD-41",
        "A late message comes after a restart. The growing bucket begins with it, grows across a recovered bucket, "
        "and is placed over it. Nobody loads the rest of the recovered bucket.",
        "min_index_count=2; storage 1; add 8 0 +100; add 8 1 +321; add 6 0 +306; add 10 0 +400; crash; add 6 0 +306; "
        "add 10 0 +400; add 11 0 +500; adv 1000; get 9; get 9",
        lambda end: end.some_left,
    ),
    Defect(
        "A failure deletes another bucket",
        "BD-16",
        "After a clear the same range is sealed again, while the creation from before the clear is under way. When "
        "that fails, the class removes the bucket of this range with its snapshot and its key. But these are the "
        "new bucket's.",
        "min_index_count=1; add 1 0 +100; add 2 0 +900; clear; add 1 0 +100; add 1 1 +200; add 2 0 +900; complete 1; "
        f"complete 1; {four_fail()}; storage 1; {calls(2)}; adv 1000; get 9; get 9; get 9",
        lambda end: end.some_left,
    ),
    Defect(
        "A deletion removes another bucket's key",
        "BD-17",
        "As before, but without a failure. The class deletes the snapshot from before the clear, and then the key "
        "of the range. By now this key leads to the new snapshot, so no recovery finds it after a crash.",
        "min_index_count=1; add 1 0 +100; add 2 0 +900; clear; add 1 0 +100; add 1 1 +200; add 2 0 +900; "
        f"{calls(6)}; crash",
        lambda end: end.count == 0,
    ),
    Defect(
        "A load that ends late breaks a merged bucket",
        "BD-46",
        "A segment is being loaded when its bucket is merged. When the load ends, the class takes the merged "
        "bucket's boundary for that of the old bucket, which is gone. No further segment of the merged bucket is "
        "loaded.",
        f"{five_buckets()}; storage 0; adv 100; get 9; add 6 0 +900; {calls(4, 2)}; complete 0; storage 1; {calls(2)}; "
        f"adv 2000; {'; '.join(['get 99'] * 8)}",
        lambda end: end.some_left,
    ),
    Defect(
        "A merge covers a bucket between its sources",
        "BD-47",
        "While neighbours are being merged, a bucket is sealed between two of them. The merged bucket is placed "
        "over that bucket too.",
        f"min_index_count=3 max_buckets=4; storage 1; {threes(1, 5, 9, 13)}; add 16 0 +50000; crash; storage 0; "
        f"{threes(3, 7)}; add 17 0 +50000; {calls(20)}; storage 1; adv 30000; {'; '.join(['get 99'] * 8)}",
        lambda end: (7, 1) not in end.given,
    ),
    Defect(
        "Orphans hide what is behind them",
        "BD-29",
        "A segment has only orphans. The last of them leaves the queue, and the next segment is not loaded.",
        "min_index_count=2; storage 1; add 1 0 +100; add 3 0 +500; add 4 0 +900; mark 3 0; adv 1000; get 9; get 9",
        lambda end: end.some_left,
    ),
    Defect(
        "A clear wipes what is added after it",
        "BD-31",
        "A clear waits for the deletions of an earlier clear, and only then clears. A message that was accepted "
        "meanwhile is gone, and was not dispatched.",
        f"min_index_count=1; add 1 0 +100; add 2 0 +900; {calls(2)}; clear; clear; add 5 0 +300; "
        f"{calls(2)}; contains 5 0",
        lambda end: end.answer is False,
    ),
    Defect(
        "A trim deletes what is alive again",
        "BD-30",
        "The mark-delete position moves back during a trim, as a reset of the cursor does. The class does not check "
        "again.",
        f"{TRIMMED}; {calls(3)}; mark 3 0; add 4 0 +400; mark 1 0; {calls(9)}; contains 2 0",
        lambda end: end.answer is False,
    ),
)

STOPS = (
    Defect(
        "A second restart stops the subscription",
        "BD-34",
        "As in the first defect of this page, with another restart. Two keys overlap. The class deletes one of the "
        "buckets, but also places it. Its segment is asked for again and again, and everything behind it waits.",
        "min_index_count=2; storage 1; add 8 0 +100; add 8 1 +229; add 6 0 +71; add 10 0 +900; crash; add 6 0 +71; "
        "add 10 0 +900; add 12 0 +145; crash; adv 2000; get 9; get 9",
        lambda end: end.some_left,
    ),
    Defect(
        "A restart in the middle of a merge stops the subscription",
        "BD-34",
        "This needs no failure and no late message: the broker stops after the merged bucket's key was put, and "
        "before the sources are deleted.",
        f"{five_buckets()}; storage 0; add 6 0 +900; {calls(8)}; crash; adv 2000; storage 1; "
        f"{'; '.join(['get 99'] * 6)}",
        lambda end: end.some_left,
    ),
    Defect(
        "A missing snapshot fails every recovery",
        "BD-36",
        "The broker stops after it deletes a snapshot, and before it removes the key. From then on each recovery "
        "fails, until somebody removes the key.",
        f"min_index_count=1; add 1 0 +100; add 2 0 +300; {calls(2)}; clear; complete 0; crash",
        lambda end: end.failed,
    ),
    Defect(
        "A trim that fails half-way fails every recovery",
        "BD-36",
        "A trim deletes a snapshot. The removal of its key fails, and is not tried again.",
        f"{TRIMMED}; {calls(3)}; mark 3 0; add 4 0 +400; complete 1; fail 1; {calls(3)}; crash",
        lambda end: end.failed,
    ),
    Defect(
        "A snapshot that is gone is asked for again and again",
        "BD-20",
        "Each read asks for the next segment, each failure fires the timer, and each firing asks for a read.",
        "min_index_count=1; storage 1; add 1 0 +100; add 1 1 +200; add 2 0 +900; vanish 1; adv 1000; get 9; "
        "get 9; get 9",
        lambda end: end.some_left,
    ),
    Defect(
        "A closed tracker deletes what the next one has recovered",
        "BD-32",
        "A close does not wait for deletions. The next tracker recovers the bucket, and then its snapshot is deleted.",
        f"{TWO_SEGMENTS}; clear; reopen; complete 0; adv 300; storage 1; get 9; get 9; get 9",
        lambda end: end.some_left,
    ),
)

WRONG = (
    Defect(
        "A message is handed out twice",
        "BD-16",
        "A bucket cannot be stored. Its messages are in memory, but the class has forgotten that it holds them. "
        "When the dispatcher reads one again, the class accepts it a second time.",
        f"min_index_count=1; add 1 0 +100; add 2 0 +300; {four_fail()}; add 1 0 +100; adv 100; get 1; get 1",
        lambda end: len(end.given) > len({*end.given}),
    ),
    Defect(
        "A refused message is handed out later",
        "BD-04",
        "A message that became due is offered again. The tracker refuses it, so the dispatcher sends it. Then the "
        "tracker hands it out as well.",
        "min_index_count=2; add 1 0 +100; adv 100; add 1 0 +100; get 9",
        lambda end: bool(end.given) and end.accepted == [True, False],
    ),
    Defect(
        "A message from before a clear is handed out after it",
        "BD-46",
        "A segment is being loaded when everything is cleared. When the load ends, the class takes the segment in. "
        "The count ends below zero.",
        f"{TWO_SEGMENTS}; adv 100; get 9; clear; complete 0; adv 100; get 9",
        lambda end: end.failed or bool(end.given) or end.count != 0,
    ),
    Defect(
        "After a clear, nothing is armed for the next message",
        "BD-46",
        "As before. The end of the load fires the timer at once and replaces the armed timeout. But the tracker "
        "believes that a timeout is armed.",
        f"min_index_count=2; add 1 0 +20; add 1 1 +30; add 2 0 +258; {calls(2)}; adv 50; get 9; clear; add 22 0 +92; "
        "complete 0; add 28 0 +137; get 2",
        lambda end: not end.armed and bool(end.count),
    ),
    Defect(
        "After the clock was set back, a message comes an hour late",
        "DD-38",
        "The timer has run, and the clock is set back by an hour. The class has the timer run a tick after its last "
        "run at the earliest, by this clock. So the timer waits until the clock has caught up.",
        "min_index_count=2; storage 1; add 1 0 +3600000; adv 3600000; get 9; jump -3600000; add 1 1 +5000; adv 5000",
        lambda end: not end.answer,
    ),
    Defect(
        "A creation that fails after a clear brings messages back",
        "BD-16",
        "The failed creation puts its segments into the memory of a tracker that has forgotten the bucket.",
        f"min_index_count=1; add 1 0 +100; add 1 1 +200; add 2 0 +900; clear; {four_fail()}; "
        "add 3 0 +150; adv 200; get 9",
        lambda end: end.failed or end.given != [(3, 0)],
    ),
    Defect(
        "A clear stops half-way",
        "BD-31",
        "A bucket without a snapshot is on the list of what the next clear must delete. That clear throws at this "
        "bucket, and does not empty queues and index.",
        f"min_index_count=1; add 1 0 +100; add 2 0 +900; clear; {four_fail()}; add 3 0 +100; add 3 1 +500; "
        f"add 4 0 +900; {calls(2)}; clear; adv 1000; get 9",
        lambda end: bool(end.given),
    ),
    Defect(
        "A message is counted down twice",
        "BD-25",
        "A segment is loaded when its bucket is about to be merged. Its messages are then in memory and in the "
        "merged bucket. In 4.0.8 every later call throws.",
        f"{five_buckets()}; storage 0; adv 100; get 9; add 6 0 +900; complete 0; {calls(4, 1)}; storage 1; {calls(9)}; "
        f"adv 2000; {'; '.join(['get 99'] * 6)}",
        lambda end: end.failed or (end.count or 0) < 0,
    ),
)

UPKEEP = (
    Defect(
        "Nobody is told that a message has become available",
        "BD-24",
        "The last message of a segment is due while its bucket is being stored. When the bucket is stored, nothing "
        "fires.",
        f"min_index_count=1; add 1 0 +100; add 2 0 +900; adv 100; get 9; {calls(2)}; adv 10",
        lambda end: not end.answer,
    ),
    Defect(
        "An add throws, and its message is not kept",
        "BD-27",
        "If the limit of buckets is 1, 2 or 3, the choice of buckets to merge throws inside the add that has made "
        "the bucket.",
        "min_index_count=1 max_buckets=1; add 1 0 +100; add 2 0 +200; add 9 0 +300",
        lambda end: end.failed,
    ),
    Defect(
        "A merged snapshot lacks what was loaded",
        "BD-28",
        "A merge reads only segments that are not loaded yet. After a crash the loaded ones are missing.",
        f"{five_buckets()}; add 6 0 +900; crash",
        lambda end: end.count != 15,
    ),
    Defect(
        "Sources are deleted although the merged bucket is not stored",
        "BD-28",
        "The merged snapshot cannot be stored, but the snapshots of the sources are deleted all the same.",
        f"{five_buckets()}; storage 0; add 6 0 +900; {calls(6)}; {four_fail()}; storage 1; {calls(9)}; crash",
        lambda end: (end.count or 0) < 15,
    ),
    Defect(
        "A trim stops at a bucket that is being stored",
        "BD-30",
        "Acknowledged buckets stay. 4.0.8 never trims.",
        "min_index_count=1 max_buckets=2; add 1 0 +100; add 2 0 +200; add 3 0 +300; mark 9 0; add 4 0 +400; "
        f"{calls(12)}; snapshots",
        lambda end: bool(end.answer),
    ),
)

BUCKET_DEFECTS = Defects(
    contract="bucket-delivery",
    title="Defects of bucket trackers",
    introduction=INTRODUCTION,
    specification="specification",
    classes={"bucket-2025": "4.0.8", "bucket-4.2": "4.2.4", "bucket-5.0": "5.0.1"},
    subjects={profile: profile for profile in ("bucket-2025", "bucket-4.2", "bucket-5.0")},
    groups={
        "Messages that never come": STUCK,
        "Subscriptions that stop": STOPS,
        "Messages that come wrongly": WRONG,
        "Upkeep": UPKEEP,
    },
)
