"""Known mistakes in the parts of a bucket tracker."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from broker_tck.model.bucket_delivery.parts import NO_LIMIT, Cutting, Held, Mutable, Placed, Selection, Timer, messages
from broker_tck.model.bucket_delivery.releases import best
from broker_tck.model.bucket_delivery.stored import Bucket, Position
from broker_tck.model.rules import Method
from broker_tck.properties.mistakes.book import around, instead, mistake, of

# ---- Where buckets lie

of(Placed.over, look="a ledger between two others; the first and the last one of a range")(
    instead(
        "absent",
        "The sealed buckets of your tracker lie over no ledger; each must lie over all of its range.",
        lambda p, ledger: None,
    ),
    instead(
        "where it begins",
        "A sealed bucket of your tracker lies over its first ledger alone; it must lie over all of its range.",
        lambda p, ledger: next((b.bucket for b in p.pieces if b.low[0] == ledger), None),
    ),
)

# ---- What is held

of(Held.repeated, look="a second add with another time; one of a position that is in no loaded segment")(
    instead(
        "absent",
        "Your tracker queues a message that it holds already; the add must change nothing.",
        lambda h, position, over: False,
    ),
    instead(
        "by 32 bits of the ledger",
        "Your tracker looks up held messages by 32 bits of the ledger; it must use all 64.",
        lambda h, position, over: any(
            entry == position[1] and (ledger ^ position[0]) % 2**32 == 0 for ledger, entry in h.positions
        ),
    ),
)
of(Held.count, look="what is counted twice after a merge, or is never counted down")(
    instead(
        "absent", "The count of your tracker is always 0; it must be the number of all positions held.", lambda h: 0
    ),
)
of(Held.refused, look="a refusal of what was accepted before: the count, and what is handed out later")(
    instead(
        "absent",
        "Your tracker goes on holding a message that it refused; it must let go of it.",
        lambda h, position, over: None,
    ),
)
of(
    Held.hands_out,
    look="a message that was refused, or refused and then accepted for a later time, or is in memory twice",
)(
    instead(
        "absent",
        "Your tracker hands out an index of a message that it does not hold; it must drop that.",
        lambda h, index, over: True,
    ),
    instead(
        "whatever its time",
        "Your tracker hands out an index of a message that is held for another time; it must drop that one.",
        lambda h, index, over: h.contains(index[1:], over),
    ),
)


@mistake("BD-05", "a repeated add is counted again")
class CountedAgain(Held):
    """Each add that was accepted is counted."""

    def __init__(self) -> None:
        super().__init__()
        self.again = 0

    def repeated(self, position: Position, over: Bucket | None) -> bool:
        """Count it."""
        repeated = super().repeated(position, over)
        self.again += repeated
        return repeated

    def count(self) -> int:
        """One more for each repeated add."""
        return super().count() + self.again


# ---- The growing bucket

of(Mutable.takes, look="ledgers that come late: below the bucket, inside it, or under a sealed one")(
    instead(
        "absent",
        "Your tracker's growing bucket takes a ledger below its last one; that must stay in memory.",
        lambda m, ledger, covered: True,
    ),
    instead(
        "inside its range",
        "Your tracker's growing bucket takes a lower ledger that is inside its range; that must stay in memory.",
        lambda m, ledger, covered: not covered and (m.ledgers is None or ledger >= m.ledgers[0]),
    ),
    instead(
        "above it alone",
        "Your tracker's growing bucket takes no more messages of its last ledger; they must join it.",
        lambda m, ledger, covered: not covered and (m.ledgers is None or ledger > m.ledgers[1]),
    ),
    instead(
        "whatever lies there",
        "Your tracker's growing bucket takes a ledger over which a sealed bucket lies; that must stay in memory.",
        lambda m, ledger, covered: m.ledgers is None or ledger >= m.ledgers[1],
    ),
)
of(Mutable.seals, look="the last ledger once more; the least number itself; what has become due no longer counts")(
    instead(
        "absent",
        "Your tracker never seals its growing bucket for a ledger above it, however much it holds.",
        lambda m, ledger, covered: False,
    ),
    instead(
        "at its last ledger",
        "Your tracker seals its growing bucket within a ledger; only a ledger above it may seal it.",
        lambda m, ledger, covered: m.has_enough() and not covered and m.is_below(ledger + 1),
    ),
    instead(
        "one more needed",
        "Your tracker seals its growing bucket one message too late; the configured number must be enough.",
        lambda m, ledger, covered: len(m.queue) > m.least and not covered and m.is_below(ledger),
    ),
    instead(
        "one less needed",
        "Your tracker seals its growing bucket one message too soon; it must have the configured number.",
        lambda m, ledger, covered: len(m.queue) >= max(m.least - 1, 1) and not covered and m.is_below(ledger),
    ),
    instead(
        "whatever lies there",
        "Your tracker seals its growing bucket for a ledger over which a sealed bucket lies; it must not.",
        lambda m, ledger, covered: m.has_enough() and m.is_below(ledger),
    ),
)
of(Mutable.due, look="a firing that moves nothing; what is sealed although it was due")(
    instead(
        "absent",
        "Due messages stay in your tracker's growing bucket; they must leave at each firing and each get.",
        lambda m, cutoff: [],
    ),
)


@around(Mutable.due, "BD-09", "strictly before")
def strictly_before(due: Method, m: Mutable, cutoff: int) -> Any:
    """A message due exactly at the cut-off stays in your tracker's growing bucket; it must leave that."""
    return due(m, cutoff - 1)


of(Mutable.begin_anew, look="a range that goes on from what was sealed")(
    instead(
        "absent",
        "After a seal your tracker's growing bucket keeps the old range; the next message must begin a new one.",
        lambda m: None,
    ),
)

# ---- How it is cut

of(
    Cutting.is_too_late,
    look="an index exactly one step after the first; a limit that is reached; the first index, not the one before",
)(
    instead(
        "absent",
        "Your tracker ends no segment for its time; each must span less than the time step.",
        lambda c, segment, at: False,
    ),
    instead(
        "a step longer",
        "A segment of your tracker spans a whole time step; it must span less.",
        lambda c, segment, at: at > segment[0][0] + c.time_step,
    ),
    instead(
        "a step shorter",
        "A segment of your tracker ends sooner than it must.",
        lambda c, segment, at: at >= segment[0][0] + c.time_step - 1,
    ),
    instead(
        "a step of 32 bits",
        "Your tracker keeps 32 bits of the time step; a larger one must stay as it is.",
        lambda c, segment, at: at >= segment[0][0] + (c.time_step + 2**31) % 2**32 - 2**31,
    ),
    instead(
        "from the one before",
        "Your tracker counts the time step from the index before; it must count from the segment's first.",
        lambda c, segment, at: at >= segment[-1][0] + max(c.time_step, 1),
    ),
)
of(Cutting.is_full)(
    instead(
        "absent",
        "Your tracker puts more indexes into a segment than the limit says; it must not.",
        lambda c, segment: False,
    ),
    instead(
        "one more",
        "A segment of your tracker has one index more than the limit; it must not.",
        lambda c, segment: c.most != NO_LIMIT and len(segment) > c.most,
    ),
    instead(
        "no limit below one",
        "Your tracker takes a limit of 0 indexes for no limit; only -1 must mean that.",
        lambda c, segment: c.most > 0 and len(segment) >= c.most,
    ),
)

# ---- What is merged

of(
    Selection.is_eligible,
    look="the time of the next segment, not of the one behind it; one unloaded segment; runs of three and two",
)(
    instead(
        "two segments needed",
        "Your tracker merges only buckets with two segments that are not loaded; one must be enough.",
        lambda s, bucket: bucket.unloaded > 1,
    ),
)


@mistake(
    "BD-27",
    "a bucket with nothing left to load is merged as well",
    "Your tracker merges buckets that have nothing left to load; it must leave them alone.",
)
class MergesLoaded(Selection):
    """Its last segment stands for the next one."""

    def is_eligible(self, bucket: Bucket) -> bool:
        """Any bucket is."""
        return True

    def next_time(self, bucket: Bucket) -> int:
        """The first time of the next segment, or of the last one."""
        return super().next_time(bucket) if bucket.unloaded else bucket.about[-1].first_time


of(Selection.best)(
    instead(
        "due first",
        "Your tracker merges the run that is due first; the fewest messages must decide.",
        lambda s, runs: min(runs, key=lambda run: min(map(s.next_time, run)), default=[]),
    ),
    instead(
        "sooner than the choice before",
        "Your tracker merges the run with the fewest messages only if it is due sooner than the one chosen before.",
        best,
        seen="PR 26242",
    ),
)


@around(Selection.best, "BD-27", "fewest alone", was="FewestAlone: the fewest messages decide, whatever the next time")
def fewest_alone(_: Method, __: Selection, runs: Sequence[Sequence[Bucket]]) -> Sequence[Bucket]:
    """Your tracker merges by the fewest messages alone; of equal runs it must merge the one that is due first."""
    return min(reversed(runs), key=messages, default=[])


of(Selection.next_time)(
    instead(
        "absent",
        "Your tracker chooses buckets to merge without the time of their next segment; it must use that time.",
        lambda s, bucket: 0,
    ),
    instead(
        "of what is loaded",
        "Your tracker chooses buckets to merge by the segments that are loaded; the next ones must decide.",
        lambda s, bucket: bucket.about[bucket.current - 1].first_time,
    ),
)
of(Selection.widest)(
    instead("absent", "Your tracker merges nothing; it must merge up to four neighbours.", lambda s, n: 0),
    instead("two", "Your tracker merges two buckets at a time; it must merge up to four.", lambda s, n: min(2, n)),
    instead("three", "Your tracker merges three buckets at most; it must merge up to four.", lambda s, n: min(3, n)),
)

# ---- The timer

of(
    Timer.fire_at_once,
    look="the first message in memory: its time is what the timer is armed for; a second timeout beside it",
)(
    instead(
        "absent",
        "Your tracker's timer stays as it is when a load ends; it must fire at once.",
        lambda t: None,
    ),
    instead(
        "beside what is armed",
        "Your tracker arms a second timeout when a load ends; it must replace the first.",
        lambda t: t.arm_at(t.now),
    ),
)


@mistake(
    "DD-24",
    "fires at rest",
    "Your tracker's timeouts fire only after the clock has moved on; each must fire at its own time.",
    was="FiresAtRest: timeouts fire when the clock stands still again",
)
class FiresAtRest(Timer):
    """The clock moves before any timeout fires."""

    def advance(self, ms: int) -> list[int]:
        """Move the clock, then fire."""
        self.now += ms
        return super().advance(0)
