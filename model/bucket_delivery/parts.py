"""The parts of a bucket tracker: where buckets lie, what is held, the growing bucket, how it is cut, and the timer."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from broker_tck.model.bucket_delivery.stored import Bucket, Index, Position, Range, Segment
from broker_tck.model.parts import timer
from broker_tck.model.rules import Part, rule

Cut = tuple[int, int]
"""Where a range begins or ends: a ledger, and 0 for just before it, 1 for just behind it."""


class Piece(NamedTuple):
    """Where a bucket lies: from one cut to another."""

    low: Cut
    high: Cut
    bucket: Bucket

    @property
    def ledgers(self) -> Range:
        """The ledgers at its ends, whether or not they belong to it."""
        return self.low[0], self.high[0]

    def meets(self, low: Cut, high: Cut) -> bool:
        """Whether it overlaps the range between two cuts."""
        return self.low < high and low < self.high


def cuts(ledgers: Range) -> tuple[Cut, Cut]:
    """Where a range begins and ends: both ends belong to it."""
    return (ledgers[0], 0), (ledgers[1], 1)


def piece_of(bucket: Bucket) -> Piece:
    """A bucket over the whole of its range."""
    return Piece(*cuts(bucket.ledgers), bucket)


class Placed(Part):
    """The buckets that are placed, in ascending order."""

    def __init__(self) -> None:
        self.pieces: list[Piece] = []

    @rule("BD-03", source="BucketDelayedDeliveryTracker")
    def over(self, ledger: int) -> Bucket | None:
        """A sealed bucket lies over all ledgers of its range, even those of which it has no message."""
        cut = ledger, 0
        for p in self.pieces:
            if p.low <= cut < p.high:
                return p.bucket
        return None

    def has(self, bucket: Bucket) -> bool:
        """Whether a bucket is placed, in part at least."""
        return any(p.bucket is bucket for p in self.pieces)

    def buckets(self) -> list[Bucket]:
        """The placed buckets."""
        return [p.bucket for p in self.pieces]

    def meeting(self, ledgers: Range) -> list[Piece]:
        """The pieces that lie in a range, in part at least."""
        low, high = cuts(ledgers)
        return [p for p in self.pieces if p.meets(low, high)]

    def put(self, bucket: Bucket) -> None:
        """Place a bucket over whatever lies in its range."""
        self.cut_out(*cuts(bucket.ledgers))
        self.pieces.append(piece_of(bucket))
        self.pieces.sort(key=lambda p: p.low)

    def cut_out(self, low: Cut, high: Cut) -> None:
        """Take out what lies between two cuts. Of a bucket that reaches beyond them, the rest stays."""
        left: list[Piece] = []
        for p in self.pieces:
            if not p.meets(low, high):
                left.append(p)
                continue
            if p.low < low:
                left.append(p._replace(high=low))
            if high < p.high:
                left.append(p._replace(low=high))
        self.pieces = left

    def remove(self, bucket: Bucket) -> None:
        """Take out a bucket, wherever it lies."""
        self.pieces = [p for p in self.pieces if p.bucket is not bucket]

    def discard(self, low: Cut, high: Cut) -> None:
        """Take out the piece that lies exactly between two cuts, whichever bucket it is of."""
        self.pieces = [p for p in self.pieces if (p.low, p.high) != (low, high)]


class Held(Part):
    """The positions that were accepted and neither handed out nor refused. ``over``: the bucket over the ledger."""

    def __init__(self) -> None:
        self.positions: set[Position] = set()
        self.times: dict[Position, int] = {}
        """When to deliver what was added. Of what was recovered it is not known; no snapshot has a position twice."""

    @rule("BD-05", source="BucketDelayedDeliveryTracker")
    def repeated(self, position: Position, over: Bucket | None) -> bool:
        """If a position is held already, an add of it is accepted and changes nothing, whatever its time."""
        return self.contains(position, over)

    def contains(self, position: Position, over: Bucket | None) -> bool:
        """Whether a position is held."""
        return position in self.positions

    @rule("BD-25", source="BucketDelayedDeliveryTracker, PR 26251")
    def count(self) -> int:
        """The count is the number of positions held, in memory or in segments that are not loaded."""
        return len(self.positions)

    def add(self, index: Index) -> None:
        """A message was accepted."""
        at, ledger, entry = index
        self.positions.add((ledger, entry))
        self.times[ledger, entry] = at

    @rule("BD-04")
    def refused(self, position: Position, over: Bucket | None) -> None:
        """If a message is refused, the tracker no longer holds it."""
        self.forget([position])

    @rule("BD-19", source="BucketDelayedDeliveryTracker, PR 26251")
    def hands_out(self, index: Index, over: Bucket | None) -> bool:
        """A held message is handed out once; an index is dropped if no message is held for its position and time."""
        at, position = index[0], index[1:]
        return position in self.positions and self.times.get(position, at) == at

    def came_out(self, position: Position, over: Bucket | None, orphan: bool) -> None:
        """A message was handed out, or was an orphan that came out of the queue."""
        self.forget([position])

    def of_bucket(self, segments: Sequence[Segment], sources: Sequence[Bucket]) -> set[Position]:
        """The positions that a new bucket has, which may be made of others."""
        return {index[1:] for segment in segments for index in segment}

    def recovered(self, buckets: list[Bucket]) -> None:
        """Buckets were recovered, each with what it holds."""
        for bucket in buckets:
            self.positions |= bucket.held

    def trimmed(self, bucket: Bucket) -> None:
        """A bucket of orphans is gone."""
        self.forget(bucket.held)

    def forget(self, positions: Iterable[Position]) -> None:
        """These are held no longer."""
        for position in positions:
            self.positions.discard(position)
            self.times.pop(position, None)


class Mutable(Part):
    """Indexes that no snapshot has. ``covered``: whether a sealed bucket lies over the ledger in question."""

    def __init__(self, least: int) -> None:
        self.least = least
        """Number of indexes that make a bucket."""
        self.ledgers: Range | None = None
        self.queue: list[Index] = []

    @rule("BD-06", source="BucketDelayedDeliveryTracker, PR 25371")
    def takes(self, ledger: int, covered: bool) -> bool:
        """A message joins the growing bucket; if its ledger is below the last one, or sealed, it stays in memory.

        A message that was refused and is accepted again adds an index again, even an equal one.
        """
        return not covered and (self.ledgers is None or ledger >= self.ledgers[1])

    @rule("BD-08", source="BucketDelayedDeliveryTracker")
    def seals(self, ledger: int, covered: bool) -> bool:
        """If the growing bucket holds enough indexes, it is sealed before a message of an unsealed ledger above it."""
        return self.has_enough() and not covered and self.is_below(ledger)

    def has_enough(self) -> bool:
        """Whether there are enough indexes for a bucket, which one needs in any case."""
        return len(self.queue) >= max(self.least, 1)

    def is_below(self, ledger: int) -> bool:
        """Whether all of its ledgers are below one."""
        return self.ledgers is None or self.ledgers[1] < ledger

    def add(self, index: Index) -> None:
        """One more index, of the last ledger or of one above."""
        ledger = index[1]
        self.ledgers = (self.ledgers[0] if self.ledgers else ledger, ledger)
        insort(self.queue, index)

    @rule("BD-09", source="BucketDelayedDeliveryTracker")
    def due(self, cutoff: int) -> list[Index]:
        """Due messages leave the growing bucket at each firing and each get; its range stays."""
        n = bisect_left(self.queue, (cutoff + 1,))
        due = self.queue[:n]
        del self.queue[:n]
        return due

    def drain(self) -> list[Index]:
        """Take out everything, and begin anew."""
        drained, self.queue = self.queue, []
        self.begin_anew()
        return drained

    @rule("BD-07", source="BucketDelayedDeliveryTracker", when=lambda m: m.ledgers is not None)
    def begin_anew(self) -> None:
        """After a seal the next message decides where the growing bucket begins, even below sealed ones."""
        self.ledgers = None


NO_LIMIT = -1
"""In place of an index limit."""


class Cutting(Part):
    """Cuts indexes, in ascending order, into segments."""

    def __init__(self, time_step: int, most: int) -> None:
        self.time_step = time_step
        """Milliseconds."""
        self.most = most
        """Indexes of a segment, or :data:`NO_LIMIT`."""

    @rule("BD-12", source="MutableBucket, PR 19706")
    def is_too_late(self, segment: Segment, at: int) -> bool:
        """A segment spans less than the time step, counted from its first index, and ends no sooner than it must."""
        return at >= segment[0][0] + self.time_step

    @rule("BD-12")
    def is_full(self, segment: Segment) -> bool:
        """A segment has at most as many indexes as the limit says; -1 means no limit."""
        return self.most != NO_LIMIT and len(segment) >= self.most

    def cut(self, indexes: Iterable[Index]) -> list[list[Index]]:
        """The segments."""
        segments: list[list[Index]] = []
        for index in indexes:
            if not segments or self.is_too_late(segments[-1], index[0]) or self.is_full(segments[-1]):
                segments.append([])
            segments[-1].append(index)
        return segments


MOST_MERGED = 4
"""Maximum number of buckets that become one."""


class Selection(Part):
    """Chooses neighbours to be merged into one."""

    def choose(self, buckets: Sequence[Bucket]) -> Sequence[Bucket]:
        """The buckets to be merged, of all by ascending ranges; empty if there are none."""
        for width in range(self.widest(len(buckets)), 1, -1):
            runs = (buckets[i : i + width] for i in range(len(buckets) - width + 1))
            if chosen := self.best([run for run in runs if all(map(self.is_eligible, run))]):
                return chosen
        return []

    @rule("BD-27", source="BucketDelayedDeliveryTracker, PR 26242", needs="maintenance")
    def widest(self, n: int) -> int:
        """A merge takes as many neighbours as possible, up to four."""
        return min(MOST_MERGED, n)

    @rule("BD-27", needs="maintenance", when=lambda s, bucket: bucket.unloaded == 0)
    def is_eligible(self, bucket: Bucket) -> bool:
        """A bucket is merged only if it has a segment that is not loaded."""
        return bucket.unloaded > 0

    @rule("BD-27", needs="maintenance", when=lambda s, runs: len(runs) > 1)
    def best(self, runs: Sequence[Sequence[Bucket]]) -> Sequence[Bucket]:
        """The run with the fewest messages is merged; of equal ones, the one that is due first."""
        return min(runs, key=lambda run: (messages(run), min(map(self.next_time, run))), default=[])

    @rule("BD-27", needs="maintenance")
    def next_time(self, bucket: Bucket) -> int:
        """A run is due at the first time of its segments that are loaded next."""
        return bucket.about[bucket.current].first_time


def messages(buckets: Iterable[Bucket]) -> int:
    """The number of messages that buckets had when they were made."""
    return sum(bucket.size for bucket in buckets)


class Timer(timer.TrackerTimer):
    """A timer that can be told to fire at once."""

    fresh = False
    """Whether its tracker was recovered, and has not brought it up to date since."""

    @rule("BD-42")
    def fire_at_once(self) -> None:
        """When a load ends, or no segment is left to load, the timer fires at once, in place of what was armed.

        If nothing is due then, the timer may be brought up to date instead.
        """
        self.cancel()
        self.forget(self.reading())
        self.arm_at(self.reading())

    def arm_at(self, moment: int) -> None:
        """Arm for a moment, however soon after the last run."""
        self.timeout, self.others = moment, []
        self.armed.append(moment)
        self.armed.sort()
