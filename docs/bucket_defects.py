"""Defects of released bucket trackers: a trace for each, and what tells that a release has it."""

from __future__ import annotations

from defects import Defect, Defects

INTRODUCTION = """\
What the trackers of released brokers do otherwise than they should, by the harm that it does. Each trace was run on the
released classes, and does on them what is told here. The tables are made with the specification and with the profile of
each release, which does as its class does: see [the bucket tracker](bucket-delivery.md).

`broker-tck replay` stops where the release first leaves the specification, and exits with status 1. With
`pulsar-5.0.1/bucket` in place of `bucket-5.0` it runs the class itself, for which Java is needed.

One more defect is not seen here: a read that ends after its tracker was closed arms a timer, which throws when it fires
(4.2.4 and 5.0.1). The kit lets such reads come to nothing.

Below each trace stand what the last operation answers, how many messages are counted, for when timers are armed
(*never*: for the last time that there is), and what was handed out in all, as ledger and entry."""


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
        "A late message comes after a restart. The growing bucket begins with it, grows across a bucket that was "
        "recovered, and is placed over that. Nobody loads what that has left.",
        "min_index_count=2; storage 1; add 8 0 +100; add 8 1 +321; add 6 0 +306; add 10 0 +400; crash; add 6 0 +306; "
        "add 10 0 +400; add 11 0 +500; adv 1000; get 9; get 9",
        lambda end: end.some_left,
    ),
    Defect(
        "A failure takes another bucket along",
        "BD-16",
        "After a clear the same range is sealed again, while the creation of before the clear is under way. That "
        "fails, and the class takes away the bucket of this range, its snapshot and its key: those of the new one.",
        "min_index_count=1; add 1 0 +100; add 2 0 +900; clear; add 1 0 +100; add 1 1 +200; add 2 0 +900; complete 1; "
        f"complete 1; {four_fail()}; storage 1; {calls(2)}; adv 1000; get 9; get 9; get 9",
        lambda end: end.some_left,
    ),
    Defect(
        "A deletion removes another bucket's key",
        "BD-17",
        "The same without a failure. The snapshot of before the clear is deleted, and after it the key of the range, "
        "which leads to the new snapshot by now. After a crash that is found by nobody.",
        "min_index_count=1; add 1 0 +100; add 2 0 +900; clear; add 1 0 +100; add 1 1 +200; add 2 0 +900; "
        f"{calls(6)}; crash",
        lambda end: end.count == 0,
    ),
    Defect(
        "A load that ends late breaks a merged bucket",
        "BD-46",
        "A segment is being loaded when its bucket is merged. When it comes, the merged bucket's boundary is taken for "
        "that of the bucket of before, which is gone. The merged one is never read on.",
        f"{five_buckets()}; storage 0; adv 100; get 9; add 6 0 +900; {calls(4, 2)}; complete 0; storage 1; {calls(2)}; "
        f"adv 2000; {'; '.join(['get 99'] * 8)}",
        lambda end: end.some_left,
    ),
    Defect(
        "A merge covers a bucket between its sources",
        "BD-47",
        "While neighbours are being merged, a bucket is sealed between two of them. The merged one is placed over that "
        "as well.",
        f"min_index_count=3 max_buckets=4; storage 1; {threes(1, 5, 9, 13)}; add 16 0 +50000; crash; storage 0; "
        f"{threes(3, 7)}; add 17 0 +50000; {calls(20)}; storage 1; adv 30000; {'; '.join(['get 99'] * 8)}",
        lambda end: (7, 1) not in end.given,
    ),
    Defect(
        "Orphans hide what is behind them",
        "BD-29",
        "A segment has orphans alone. The last of them leaves the queue, and the next segment is not loaded.",
        "min_index_count=2; storage 1; add 1 0 +100; add 3 0 +500; add 4 0 +900; mark 3 0; adv 1000; get 9; get 9",
        lambda end: end.some_left,
    ),
    Defect(
        "A clear wipes what is added after it",
        "BD-31",
        "A clear waits for deletions of the one before, and clears only then. A message that was accepted meanwhile "
        "is gone. It was not dispatched either.",
        f"min_index_count=1; add 1 0 +100; add 2 0 +900; {calls(2)}; clear; clear; add 5 0 +300; "
        f"{calls(2)}; contains 5 0",
        lambda end: end.answer is False,
    ),
    Defect(
        "A trim deletes what is alive again",
        "BD-30",
        "The mark-delete position moves back, as a reset of the cursor has it, while a trim is under way. The class "
        "does not look again.",
        f"{TRIMMED}; {calls(3)}; mark 3 0; add 4 0 +400; mark 1 0; {calls(9)}; contains 2 0",
        lambda end: end.answer is False,
    ),
)

STOPS = (
    Defect(
        "A second restart stops the subscription",
        "BD-34",
        "As in the first one of this page, but there is another restart. Two keys overlap; the class deletes one "
        "bucket, and places it. Its segment is asked for for ever, and everything behind it waits.",
        "min_index_count=2; storage 1; add 8 0 +100; add 8 1 +229; add 6 0 +71; add 10 0 +900; crash; add 6 0 +71; "
        "add 10 0 +900; add 12 0 +145; crash; adv 2000; get 9; get 9",
        lambda end: end.some_left,
    ),
    Defect(
        "A restart in the middle of a merge stops the subscription",
        "BD-34",
        "No failure and no late message is needed: the broker stops after the merged bucket's key was put, and before "
        "the sources are deleted.",
        f"{five_buckets()}; storage 0; add 6 0 +900; {calls(8)}; crash; adv 2000; storage 1; "
        f"{'; '.join(['get 99'] * 6)}",
        lambda end: end.some_left,
    ),
    Defect(
        "A missing snapshot fails every recovery",
        "BD-36",
        "The broker stops after a snapshot is deleted, and before its key is removed. From then on each recovery "
        "fails, until somebody removes the key.",
        f"min_index_count=1; add 1 0 +100; add 2 0 +300; {calls(2)}; clear; complete 0; crash",
        lambda end: end.failed,
    ),
    Defect(
        "A trim that fails half-way fails every recovery",
        "BD-36",
        "A trim deletes a snapshot; the removal of its key fails, and is not tried again.",
        f"{TRIMMED}; {calls(3)}; mark 3 0; add 4 0 +400; complete 1; fail 1; {calls(3)}; crash",
        lambda end: end.failed,
    ),
    Defect(
        "A snapshot that is gone is asked for for ever",
        "BD-20",
        "Each read asks for the next segment, each failure fires the timer, and each firing asks for a read.",
        "min_index_count=1; storage 1; add 1 0 +100; add 1 1 +200; add 2 0 +900; vanish 1; adv 1000; get 9; "
        "get 9; get 9",
        lambda end: end.some_left,
    ),
    Defect(
        "A closed tracker deletes what the next one has recovered",
        "BD-32",
        "A close does not wait for deletions. The next tracker recovers the bucket; then its snapshot goes.",
        f"{TWO_SEGMENTS}; clear; reopen; complete 0; adv 300; storage 1; get 9; get 9; get 9",
        lambda end: end.some_left,
    ),
)

WRONG = (
    Defect(
        "A message is handed out twice",
        "BD-16",
        "A bucket cannot be stored. Its messages are in memory, but the class has forgotten that it holds them. The "
        "dispatcher reads one again, and it is taken once more.",
        f"min_index_count=1; add 1 0 +100; add 2 0 +300; {four_fail()}; add 1 0 +100; adv 100; get 1; get 1",
        lambda end: len(end.given) > len({*end.given}),
    ),
    Defect(
        "A refused message is handed out later",
        "BD-04",
        "A message that became due is offered once more. It is refused, so the dispatcher sends it; and the tracker "
        "hands it out as well.",
        "min_index_count=2; add 1 0 +100; adv 100; add 1 0 +100; get 9",
        lambda end: bool(end.given) and end.accepted == [True, False],
    ),
    Defect(
        "A message of before a clear is handed out after it",
        "BD-46",
        "A segment is being loaded when everything is cleared. It comes, and is taken in. The count ends below zero.",
        f"{TWO_SEGMENTS}; adv 100; get 9; clear; complete 0; adv 100; get 9",
        lambda end: end.failed or bool(end.given) or end.count != 0,
    ),
    Defect(
        "After a clear, nothing is armed for the next message",
        "BD-46",
        "The same. The load's end has the timer fire at once, in place of what was armed; then the tracker takes that "
        "for armed.",
        f"min_index_count=2; add 1 0 +20; add 1 1 +30; add 2 0 +258; {calls(2)}; adv 50; get 9; clear; add 22 0 +92; "
        "complete 0; add 28 0 +137; get 2",
        lambda end: not end.armed and bool(end.count),
    ),
    Defect(
        "A creation that fails after a clear brings messages back",
        "BD-16",
        "It puts its segments into the memory of a tracker that has forgotten the bucket.",
        f"min_index_count=1; add 1 0 +100; add 1 1 +200; add 2 0 +900; clear; {four_fail()}; "
        "add 3 0 +150; adv 200; get 9",
        lambda end: end.failed or end.given != [(3, 0)],
    ),
    Defect(
        "A clear stops half-way",
        "BD-31",
        "A bucket without a snapshot stands on the list of what a clear is to delete again. The next clear throws "
        "there, and leaves queues and index as they are.",
        f"min_index_count=1; add 1 0 +100; add 2 0 +900; clear; {four_fail()}; add 3 0 +100; add 3 1 +500; "
        f"add 4 0 +900; {calls(2)}; clear; adv 1000; get 9",
        lambda end: bool(end.given),
    ),
    Defect(
        "A message is counted down twice",
        "BD-25",
        "A segment is loaded when its bucket is about to be merged. It is in memory, and in the merged bucket. In "
        "4.0.8 every later call throws.",
        f"{five_buckets()}; storage 0; adv 100; get 9; add 6 0 +900; complete 0; {calls(4, 1)}; storage 1; {calls(9)}; "
        f"adv 2000; {'; '.join(['get 99'] * 6)}",
        lambda end: end.failed or (end.count or 0) < 0,
    ),
)

UPKEEP = (
    Defect(
        "Nobody is told that a message has become available",
        "BD-24",
        "The last message of a segment is due while its bucket is being stored. When that has ended, nothing fires.",
        f"min_index_count=1; add 1 0 +100; add 2 0 +900; adv 100; get 9; {calls(2)}; adv 10",
        lambda end: not end.answer,
    ),
    Defect(
        "An add throws, and its message is not kept",
        "BD-27",
        "With a limit from 1 to 3, the choice of what to merge throws out of the add that has made the bucket.",
        "min_index_count=1 max_buckets=1; add 1 0 +100; add 2 0 +200; add 9 0 +300",
        lambda end: end.failed,
    ),
    Defect(
        "A merged snapshot lacks what was loaded",
        "BD-28",
        "Only what was not loaded yet is read for a merge. After a crash the rest is not there.",
        f"{five_buckets()}; add 6 0 +900; crash",
        lambda end: end.count != 15,
    ),
    Defect(
        "Sources are deleted although the merged bucket is not stored",
        "BD-28",
        "The merged snapshot cannot be stored; the snapshots of the sources go all the same.",
        f"{five_buckets()}; storage 0; add 6 0 +900; {calls(6)}; {four_fail()}; storage 1; {calls(9)}; crash",
        lambda end: (end.count or 0) < 15,
    ),
    Defect(
        "A trim stops at a bucket that is being stored",
        "BD-30",
        "Acknowledged buckets stay; 4.0.8 never trims.",
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
