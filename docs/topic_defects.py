"""Defects of PIP-448's branch: a trace for each, and what tells that its classes have it."""

from __future__ import annotations

from defects import Defect, Defects

INTRODUCTION = """\
What the classes of the proposal's branch get wrong, grouped by the harm. The branch was never merged, so none of this
is a defect of a release. Nobody tried whether a whole broker gets into these states.
[The rules](rules/topic-delivery.md) name the defects by the same numbers. [The shared index](topic-delivery.md)
explains the words, and what is right.

Each trace was run on the specification, on the profile `pip-448`, and on the subject `shared-index-448`. Profile and
subject agree with the branch's own classes in all of the 8,613 steps that were recorded on them. The defects were
first seen on the classes, in traces like these.

`broker-tck replay` stops when the branch first leaves the specification, and exits with status 1. That may be some
operations before the last one: copies stay longer in the branch's index than they should, and an old view of a
subscription is not refused.

The table of each group has the answer of the last operation. The table below each trace also has the number of copies
in the index, the time for which a timeout is armed, and everything that was handed out, as ledger and entry. If the
last operation lets time pass, its answer is a list of firings: each with its time and the dispatchers that it asked
to read. The tick is 1,024 ms."""

END = """\
## What is not seen here

| defect | reason |
| --- | --- |
| T-18: the time of the last prune starts at 0, and is compared with a time that has been running since an arbitrary \
moment. If that time starts below 0, nothing is pruned until it has passed 0. | The kit gives that time, and starts it \
with the clock, far above 0 (`TD-21`). |
| An idle manager may leave the factory's cache too soon. A stale close may give the next subscription another \
manager: two indexes for one topic. | A subject is the manager of one topic; there is no factory (`TD-29`, `TD-30`). |
| A message that is added while its bucket is pruned may be invisible to every view until another message comes into \
that bucket. This was read in the code, and not run. | Calls come one after the other. |"""

CLOCK = 1_700_000_000_000
TICK = "tick=1024"
ONE = f"{TICK}; open A; add A1 1 1 +2048"
TWICE = f"{TICK}; open A; open A"

STUCK = (
    Defect(
        "T-01: the same message is handed out again and again",
        "TD-09",
        "Two messages are due. A read of one message gets the first, and so does every later read until the first "
        "is acknowledged. The second waits behind it.",
        f"{ONE}; add A1 1 2 +2048; adv 2048; get A1 1; get A1 1",
        lambda end: (1, 2) not in end.given,
    ),
    Defect(
        "T-02: a second copy takes the place of another message",
        "DD-03",
        "A new tick moves the bounds of buckets. The dispatcher offers a message again, which gets a second copy in "
        "another bucket. Both copies count against the limit of a read, so the read returns one message although "
        "two are due.",
        f"{TICK}; open A; add A1 1 1 +6000; add A1 1 2 +6000; tick A1 2048; add A1 1 1 +6000; adv 6000; get A1 2",
        lambda end: (1, 2) not in end.given,
    ),
    Defect(
        "T-03: nothing is armed for the second message",
        "TD-18",
        "There are two messages for two times, and no further call. The timer fires for the first message, and "
        "never again.",
        f"{ONE}; add A1 1 2 +5120; adv 600000",
        lambda end: len(end.answer) < 2,
    ),
    Defect(
        "T-04: a message that is held hides those that come later",
        "TD-17",
        "A firing has announced the first message, and nobody has taken it yet. When another message is added, the "
        "timer is armed for the first one's time, which has passed. It fires at once, but not when the other "
        "message is due.",
        f"{ONE}; adv 5120; add A1 1 2 +20480; adv 600000",
        lambda end: end.answer == [[CLOCK + 5120, ["A1"]]],
    ),
    Defect(
        "T-12: the close of a stale view empties the index",
        "TD-27",
        "A subscription is opened again, and then its old view is closed. The class ends the registration by name, "
        "so it removes the new view. That was the last view, so everything is removed.",
        f"{TWICE}; add A2 1 1 +2048; close A1; count A2",
        lambda end: end.answer == 0,
    ),
    Defect(
        "T-13: a message is pruned although a view waits for it",
        "TD-27",
        "As in T-12, with another subscription. The first subscription's new view is no longer registered. So its "
        "mark-delete position counts for nothing, and nobody asks its dispatcher to read.",
        f"{TWICE}; open B; add A2 1 1 +2048; close A1; adv 2098; md B1 1 1; get B1 9; get A2 9",
        lambda end: not end.given,
    ),
    Defect(
        "T-16: a subscription that is opened again has no mark-delete position",
        "TD-32",
        "The subscription gets acknowledged messages again. Because of T-01 they block the messages behind them, "
        "and nothing is pruned until the new view is told a mark-delete position.",
        f"{TICK}; open A; open B; add A1 1 1 +2048; add A1 1 2 +2048; adv 2048; md A1 1 1; close A1; open A; get A2 1",
        lambda end: (1, 1) in end.given,
    ),
)

EARLY = (
    Defect(
        "T-06: with strict delivery, a message comes before its time",
        "TD-04",
        "Times are rounded down to their bucket even with strict delivery. The message comes 975 ms too early. The "
        "dispatcher adds it again, and gets it again, until its time has come.",
        f"strict=true {TICK}; open A; add A1 1 1 +1999; adv 1024; get A1 9",
        lambda end: bool(end.given),
    ),
    Defect(
        "T-07: a message comes more than a tick before its time",
        "TD-04",
        "A bucket is due when its first time is within the cut-off, so its last messages come up to two ticks "
        "early. If a dispatcher adds such a message again, the view accepts it and hands it out again, until a tick "
        "before its time.",
        f"{TICK}; open A; add A1 1 1 +5999; adv 4096; get A1 9",
        lambda end: bool(end.given),
    ),
)

ERRORS = (
    Defect(
        "T-14: a read fails after the close of a stale view",
        "TD-27",
        "No view is registered, although one is in use. The firing asks nobody. A read that tries to prune finds no "
        "smallest mark-delete position, and throws.",
        f"{TWICE}; close A1; add A2 1 1 +2048; adv 2048; get A2 9",
        lambda end: end.failed,
    ),
    Defect(
        "T-15: a view outlives its manager",
        "TD-31",
        "The manager was closed, but an old view still adds messages to an index that nobody reads. Later the timer "
        "fires and asks nobody, and a read throws as in T-14.",
        f"{TICK}; open A; shutdown; add A1 1 1 +2048",
        lambda end: end.answer is True,
    ),
)

LOAD = (
    Defect(
        "T-05: every add makes the timer fire in vain",
        "TD-17",
        "A message was announced and is not acknowledged. While it is held, each add arms the timer for its time, "
        "which has passed. Each firing asks for a read that finds nothing new.",
        f"{ONE}; adv 2048; add A1 1 2 +51200; adv 1024; add A1 1 3 +51200; adv 1024",
        lambda end: bool(end.answer),
    ),
    Defect(
        "T-08: once a delay was not fixed, no delivery pauses any more",
        "TD-12",
        "A message had an earlier time than the one before it. All are acknowledged and gone, and the next messages "
        "have one delay. The class has one detection of fixed delays for the life of the manager, and never resets "
        "it.",
        f"lookahead=2 {TICK}; open A; add A1 1 1 +9216; add A1 1 2 +2048; md A1 1 2; get A1 9; add A1 1 3 +9216; "
        "add A1 1 4 +9216; pause A1",
        lambda end: end.answer is False,
    ),
    Defect(
        "T-09: one slow subscription keeps the others from pausing",
        "TD-12",
        "A has acknowledged the message that is due, and B has not. The class treats as available to A a message "
        "that only B still sees.",
        f"lookahead=2 {TICK}; open A; open B; add A1 1 1 +2048; adv 2048; md A1 1 1; add A1 1 2 +9216; "
        "add A1 1 3 +9216; pause A1",
        lambda end: end.answer is False,
    ),
    Defect(
        "T-11: the old dispatcher is asked to read",
        "TD-26",
        "A subscription is opened again before its old view is closed. The class knows the subscription by name, "
        "and goes on asking the old dispatcher.",
        f"{TWICE}; add A2 1 1 +2048; adv 2048",
        lambda end: end.answer[0][1] == ["A1"],
    ),
)

NUMBERS = (
    Defect(
        "T-10: the memory estimate falls below zero",
        "TD-25",
        "A set of entries of a ledger is dropped as a whole. The estimate counts an empty set as a byte when its "
        "first entry comes, and as nothing when the set goes. So each dropped set takes a byte too much off.",
        f"{TICK}; open A; add A1 1 1 +5120; md A1 2 -1; get A1 9; memory A1",
        lambda end: end.answer < 0,
    ),
    Defect(
        "T-17: a clear does nothing",
        "TD-13",
        "The class leaves the index to the other subscriptions, even if there is none. A tracker of one "
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
