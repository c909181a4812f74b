"""Defects of PIP-448's branch: a trace for each, and what tells that its classes have it."""

from __future__ import annotations

from defects import Defect, Defects

INTRODUCTION = """\
What the classes of the proposal's branch do otherwise than they should, by the harm that it does. The branch was
never merged, so none of this is a defect of a release; whether a whole broker gets into these states was not tried.
[The rules](rules/topic-delivery.md) name them by the same numbers. What the words mean, and what should happen
instead, is told by [the shared index](topic-delivery.md).

Each trace was run on the specification, on the profile `pip-448`, and on the subject `shared-index-448`. Profile and
subject do as the branch's own classes did in all of the 8,613 steps that were recorded on them. The defects were first
seen on the classes, in traces like these.

`broker-tck replay` stops where the branch first leaves the specification, and exits with status 1. That may be some
operations before the last one: copies stay longer in the branch's index than they should, and an old view of a
subscription is not refused.

The table of each group has what the last operation of a trace answers. Below each trace stand what the last operation
answers, how many copies the index holds, for when a timeout is armed, and what was handed out in all, as ledger and
entry. Where the last operation lets time pass, its answer has the firings: when, and whose dispatchers were asked to
read. The tick is 1,024 ms."""

END = """\
## What is not seen here

| defect | reason |
| --- | --- |
| T-18: the time of the last prune starts at 0, and is compared with a time that has been running since an arbitrary \
moment. Where that one starts below 0, nothing is pruned until it has passed 0. | The kit gives that time, and it \
starts with the clock, far above 0 (`TD-21`). |
| An idle manager may leave the factory's cache sooner than it should, and a stale close may have the next \
subscription get another manager: two indexes for one topic. | A subject is the manager of one topic; there is no \
factory (`TD-29`, `TD-30`). |
| A message that is added while its bucket is pruned may be out of everybody's sight until another one comes into \
that bucket. This was read in the code, and not run. | Calls come one after the other. |"""

CLOCK = 1_700_000_000_000
TICK = "tick=1024"
ONE = f"{TICK}; open A; add A1 1 1 +2048"
TWICE = f"{TICK}; open A; open A"

STUCK = (
    Defect(
        "T-01: the same message is handed out again and again",
        "TD-09",
        "Two messages are due. A read of one gets the first, and so does every further read until that is "
        "acknowledged: the second waits behind it.",
        f"{ONE}; add A1 1 2 +2048; adv 2048; get A1 1; get A1 1",
        lambda end: (1, 2) not in end.given,
    ),
    Defect(
        "T-02: a second copy takes the place of another message",
        "DD-03",
        "A new tick moves the bounds of buckets. The dispatcher offers a message again, which gets a copy in another "
        "bucket. Both are counted against what a read may take, and the read returns one message where there are two.",
        f"{TICK}; open A; add A1 1 1 +6000; add A1 1 2 +6000; tick A1 2048; add A1 1 1 +6000; adv 6000; get A1 2",
        lambda end: (1, 2) not in end.given,
    ),
    Defect(
        "T-03: nothing is armed for the second message",
        "TD-18",
        "There are two messages for two times, and nothing else is asked. The timer fires for the first one, and "
        "never again.",
        f"{ONE}; add A1 1 2 +5120; adv 600000",
        lambda end: len(end.answer) < 2,
    ),
    Defect(
        "T-04: a message that is held hides those that come later",
        "TD-17",
        "The first message was told, and nobody has taken it yet. When another one is added, the timer is armed for "
        "the first one's time, which has passed. It fires at once, and not when the other one is due.",
        f"{ONE}; adv 5120; add A1 1 2 +20480; adv 600000",
        lambda end: end.answer == [[CLOCK + 5120, ["A1"]]],
    ),
    Defect(
        "T-12: the close of a stale view empties the index",
        "TD-27",
        "A subscription is opened again, and its old view is closed then. The class ends the registration by the "
        "name, so it is the new one that goes; as it was the last one, everything goes.",
        f"{TWICE}; add A2 1 1 +2048; close A1; count A2",
        lambda end: end.answer == 0,
    ),
    Defect(
        "T-13: a message is pruned for which a view waits",
        "TD-27",
        "The same with another subscription. The first one's new view is not registered any more, so its mark-delete "
        "position counts for nothing, and nobody asks its dispatcher to read.",
        f"{TWICE}; open B; add A2 1 1 +2048; close A1; adv 2098; md B1 1 1; get B1 9; get A2 9",
        lambda end: not end.given,
    ),
    Defect(
        "T-16: a subscription that is opened again begins at nothing",
        "TD-32",
        "It gets again what it had acknowledged. Because of T-01 that blocks what is behind it, and nothing is pruned"
        " until the new view is told a mark-delete position.",
        f"{TICK}; open A; open B; add A1 1 1 +2048; add A1 1 2 +2048; adv 2048; md A1 1 1; close A1; open A; get A2 1",
        lambda end: (1, 1) in end.given,
    ),
)

EARLY = (
    Defect(
        "T-06: with strict delivery, a message comes before its time",
        "TD-04",
        "Times are rounded down to their bucket, with strict delivery as well. The message comes 975 ms too early; "
        "the dispatcher adds it again, and gets it again, until its time has come.",
        f"strict=true {TICK}; open A; add A1 1 1 +1999; adv 1024; get A1 9",
        lambda end: bool(end.given),
    ),
    Defect(
        "T-07: a message comes more than a tick before its time",
        "TD-04",
        "A bucket is due when its first time is within the cut-off, so the last messages in it come up to two ticks "
        "before their time. A dispatcher that adds one again is not refused: it goes round until a tick before its "
        "time.",
        f"{TICK}; open A; add A1 1 1 +5999; adv 4096; get A1 9",
        lambda end: bool(end.given),
    ),
)

ERRORS = (
    Defect(
        "T-14: a read fails after the close of a stale view",
        "TD-27",
        "No view is registered any more, though one is in use. The firing asks nobody. A read that tries to prune "
        "finds no smallest mark-delete position, and throws.",
        f"{TWICE}; close A1; add A2 1 1 +2048; adv 2048; get A2 9",
        lambda end: end.failed,
    ),
    Defect(
        "T-15: a view outlives its manager",
        "TD-31",
        "The manager was closed, and an old view still takes messages, into an index that nobody looks at. Later the "
        "timer fires and asks nobody, and a read throws as in T-14.",
        f"{TICK}; open A; shutdown; add A1 1 1 +2048",
        lambda end: end.answer is True,
    ),
)

LOAD = (
    Defect(
        "T-05: every add has the timer fire in vain",
        "TD-17",
        "While a message is held that was told and not acknowledged, each add arms the timer for its time, which has "
        "passed. Each firing asks for a read, in which there is nothing new.",
        f"{ONE}; adv 2048; add A1 1 2 +51200; adv 1024; add A1 1 3 +51200; adv 1024",
        lambda end: bool(end.answer),
    ),
    Defect(
        "T-08: once a delay was not fixed, no delivery pauses any more",
        "TD-12",
        "A message came for a sooner time than the one before it. All are acknowledged and gone, and the next ones "
        "have one delay. The class keeps one detection for the life of the manager, and it is not begun anew.",
        f"lookahead=2 {TICK}; open A; add A1 1 1 +9216; add A1 1 2 +2048; md A1 1 2; get A1 9; add A1 1 3 +9216; "
        "add A1 1 4 +9216; pause A1",
        lambda end: end.answer is False,
    ),
    Defect(
        "T-09: one slow subscription keeps the others from pausing",
        "TD-12",
        "A has acknowledged what is due, and B has not. The class takes for available to A what B alone still sees.",
        f"lookahead=2 {TICK}; open A; open B; add A1 1 1 +2048; adv 2048; md A1 1 1; add A1 1 2 +9216; "
        "add A1 1 3 +9216; pause A1",
        lambda end: end.answer is False,
    ),
    Defect(
        "T-11: the dispatcher of before is asked to read",
        "TD-26",
        "A subscription is opened again before its old view is closed. The class knows it by its name, and goes on "
        "with the old dispatcher.",
        f"{TWICE}; add A2 1 1 +2048; adv 2048",
        lambda end: end.answer[0][1] == ["A1"],
    ),
)

NUMBERS = (
    Defect(
        "T-10: the memory estimate falls below zero",
        "TD-25",
        "The set of entries of a ledger goes as a whole. An empty set is reckoned at a byte when the first entry "
        "comes, and at none when the last one goes.",
        f"{TICK}; open A; add A1 1 1 +5120; md A1 2 -1; get A1 9; memory A1",
        lambda end: end.answer < 0,
    ),
    Defect(
        "T-17: a clear does nothing",
        "TD-13",
        "The class leaves the index to the other subscriptions, also where there is none. A tracker of one "
        "subscription forgets everything.",
        f"{ONE}; clear A1; count A1",
        lambda end: end.answer == 1,
    ),
)

TOPIC_DEFECTS = Defects(
    contract="topic-delivery",
    title="Defects of PIP-448's branch",
    introduction=INTRODUCTION,
    specification="specification",
    classes={"pip-448": "the branch"},
    subjects={"pip-448": "shared-index-448"},
    groups={
        "Messages that do not come": STUCK,
        "Messages that come too early": EARLY,
        "Calls that fail, or should": ERRORS,
        "Reads in vain, and pauses that are not made": LOAD,
        "Wrong numbers": NUMBERS,
    },
    end=END,
)
