"""What the first walks of contracts ``bucket-delivery`` and ``topic-delivery`` get to: sizes, widths, times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from reach import Moment, Reached, reached

from broker_tck.properties.contracts.bucket_delivery import operations as bucket
from broker_tck.properties.contracts.bucket_delivery.messages import within_a_ledger
from broker_tck.properties.contracts.topic_delivery import operations as topic
from broker_tck.properties.engine.registry import CONTRACTS

DAY = 86_400_000


def step(ms: int) -> Reached:
    """The clock jumps so far, or a millisecond less or more."""
    return lambda m: isinstance(m.operation, bucket.Advance | topic.Advance) and abs(m.operation.ms - ms) <= 1


def partly(m: Moment) -> bool:
    """Of many messages some are taken, and some are not."""
    return isinstance(m.operation, bucket.Fill | topic.Fill) and 0 < (m.result or 0) < m.operation.n


def differ(m: Moment) -> bool:
    """A hundred messages at once, all of different times."""
    return isinstance(m.operation, bucket.Fill | topic.Fill) and m.operation.n >= 100 and m.operation.apart != 0


def ahead(now: Callable[[Any], int], least: int) -> Reached:
    """A message is added for a time so far ahead."""
    adds = bucket.Add | topic.Add
    return lambda m: isinstance(m.operation, adds) and m.operation.at - now(m.model) >= least and bool(m.result)


# ---- Buckets


def in_buckets(of: Callable[[Any], bool]) -> Reached:
    """It is so of the tracker."""
    return lambda m: m.model.tracker is not None and of(m.model.tracker)


def twin_of_32_bits(m: Moment) -> bool:
    """A message is added while its twin is held, whose ledger is the same in 32 bits."""
    o, tracker = m.operation, m.model.tracker
    if not isinstance(o, bucket.Add) or tracker is None:
        return False
    return any((o.ledger - k * 2**32, o.entry) in tracker.held.positions for k in (1, 2, 3))


def of_one_ledger(m: Moment) -> int:
    """How many positions of one ledger a segment has at most, after a seal."""
    tracker = m.model.tracker
    if not isinstance(m.operation, bucket.Add) or tracker is None or tracker.held.count() <= 1_024:
        return 0
    abouts = [about for b in tracker.placed.buckets() for about in b.about if len(about.positions) > 1_024]
    return max([0, *(max(Counter(ledger for ledger, _ in about.positions).values()) for about in abouts)])


def taken_once_more(m: Moment) -> bool:
    """An index is in memory of what was refused since; a bucket was sealed, and now it is taken for another time."""
    o, tracker = m.operation, m.model.tracker
    if not isinstance(o, bucket.Add) or not m.result or tracker is None or tracker.placed.over(o.ledger):
        return False
    if not any(index[1:] == (o.ledger, o.entry) and index[0] != o.at for index in tracker.shared):
        return False
    past = m.trail[:-1]
    lasts = [i for i, a in enumerate(past) if isinstance(a, bucket.Add) and (a.ledger, a.entry) == (o.ledger, o.entry)]
    later = past[lasts[-1] :] if lasts and past[lasts[-1]].at <= m.model.now else []
    return any(isinstance(a, bucket.Add) and tracker.placed.over(a.ledger) for a in later)


def taken_sooner(m: Moment) -> bool:
    """A message that a bucket was sealed with was refused since, and now it is taken for an earlier time."""
    o, tracker, refused = m.operation, m.model.tracker, m.trail[-2] if len(m.trail) > 1 else None
    if not isinstance(o, bucket.Add) or not m.result or tracker is None or not isinstance(refused, bucket.Add):
        return False
    first = next((a for a in m.trail if isinstance(a, bucket.Add) and (a.ledger, a.entry) == (o.ledger, o.entry)), o)
    same = (refused.ledger, refused.entry) == (o.ledger, o.entry) and refused.at <= m.model.now
    return same and o.at < first.at and any(p.ledgers[0] <= o.ledger <= p.ledgers[1] for p in tracker.placed.pieces)


def read_again(m: Moment) -> bool:
    """An index of a bucket that was trimmed is in memory still; its message is read again, for a later time."""
    o, tracker = m.operation, m.model.tracker
    if not isinstance(o, bucket.Add) or not m.result or tracker is None or tracker.placed.over(o.ledger):
        return False
    marks = [i for i, other in enumerate(m.trail) if isinstance(other, bucket.Mark)]
    if len(marks) < 2 or not m.trail[marks[-1]].ledger <= o.ledger < m.trail[marks[-2]].ledger:
        return False
    return any(at < o.at and place == [o.ledger, o.entry] for at, *place in tracker.shared)


def cleared_while_busy(m: Moment) -> bool:
    """All was cleared while a merge or a trim reads, and buckets were sealed since; no call has ended."""
    at = max((i for i, o in enumerate(m.trail) if isinstance(o, bucket.Clear)), default=None)
    tracker = m.model.tracker
    if at is None or tracker is None or not isinstance(m.operation, bucket.Add):
        return False
    quiet = all(isinstance(o, bucket.Add | bucket.Clear) for o in m.trail[at:])
    return quiet and len(tracker.placed.pieces) > 1 and any(call.reads for call in m.model.durable.calls.waiting)


BUCKETS: dict[str, Reached] = {
    "what was refused, taken sooner than its bucket is due": taken_sooner,
    "what was trimmed, read again for later": read_again,
    "sealed again while a merge reads": cleared_while_busy,
    "an answer of thousands": lambda m: isinstance(m.operation, bucket.Get) and len(m.result or ()) > 4_096,
    "a segment of a thousand of one ledger": lambda m: of_one_ledger(m) > 1_024,
    "a bucket of 500 segments": in_buckets(lambda t: any(b.last > 500 for b in t.placed.buckets())),
    "what was refused, taken again after a seal": taken_once_more,
    "a hundred buckets": in_buckets(lambda t: len(t.placed.pieces) >= 100),
    "a hundred calls under way": lambda m: len(m.model.durable.calls.waiting) >= 100,
    "a bucket of a hundred segments": in_buckets(lambda t: any(b.last >= 100 for b in t.placed.buckets())),
    "a bucket of 200 messages": in_buckets(lambda t: any(b.size >= 200 for b in t.placed.buckets())),
    "a hundred messages to be handed out": in_buckets(lambda t: len(t.shared) >= 100),
    "a growing bucket of a hundred": in_buckets(lambda t: len(t.mutable.queue) >= 100),
    "a merged bucket of a hundred": in_buckets(lambda t: any(b.sources and b.size >= 100 for b in t.placed.buckets())),
    "500 messages": in_buckets(lambda t: t.held.count() >= 500),
    "a recovery of 50 buckets": lambda m: (
        isinstance(m.operation, bucket.Crash | bucket.Reopen) and len(m.model.durable.keys) >= 50
    ),
    "20 trackers": lambda m: m.done[bucket.Crash] + m.done[bucket.Reopen] >= 20,
    "taken in part": partly,
    "times that differ": differ,
    "filled three times": lambda m: m.fillings(10) >= 3,
    "a clock that stands still": lambda m: m.still >= 200,
    "a day at once": step(DAY),
    "31 bits of milliseconds at once": step(2**31),
    "32 bits of milliseconds at once": step(2**32),
    "a time 32 bits ahead": ahead(lambda model: model.now, 2**32),
    "twins in 32 bits": twin_of_32_bits,
    "a ledger of 62 bits": lambda m: isinstance(m.operation, bucket.Add) and m.operation.ledger >= 2**61,
    "an entry of 32 bits": lambda m: isinstance(m.operation, bucket.Add) and m.operation.entry >= 2**31,
    "a time step of more than 31 bits": lambda m: m.config.time_step >= 2**31,
    "a least number of hundreds": lambda m: m.config.min_index_count >= 200,
    "a hundred buckets before a merge": lambda m: m.config.max_buckets >= 100,
    "a clock at the beginning of time": lambda m: m.config.clock == 1,
}

# ---- Topics


def held_twin(m: Moment) -> bool:
    """A message is added while its twin is held, whose ledger is the same in 32 bits."""
    o = m.operation
    if not isinstance(o, topic.Add):
        return False
    held = {copy[:2] for copies in m.model.index.held.values() for copy in copies}
    return (o.ledger - 2**32, o.entry) in held or (o.ledger + 2**32, o.entry) in held


def cleared_by_another(m: Moment) -> bool:
    """A hundred buckets are added to by a view, which another had cleared; one of the two had passed them."""
    o = m.operation
    if not isinstance(o, topic.Fill) or o.n <= 100 or not o.apart or not m.result:
        return False
    keys, views = m.model.buckets.key, m.model.registry.views
    added = {(keys(o.at + i * o.apart), (o.ledger, o.entry + i * o.step, 0)) for i in range(o.n)}
    cleared = [v for v in views.values() if v.name != o.handle[0] and len({key for key, _ in v.cleared & added}) > 100]
    passed = [max(filter(None, (v.mark, v.passed)), default=(0, 0)) for v in [*cleared, views[o.handle]]]
    return bool(cleared) and max(passed) >= (o.ledger, o.entry)


TOPICS: dict[str, Reached] = {
    "more than 64 ledgers of a bucket": lambda m: (
        isinstance(m.operation, topic.Fill)
        and any(len({copy[0] for copy in copies}) > 64 for copies in m.model.index.held.values())
    ),
    "a hundred buckets that another had cleared": cleared_by_another,
    "26 subscriptions": lambda m: len(m.model.registry.registered) == 26,
    "a hundred views of one subscription": lambda m: max(m.model.registry.opened.values(), default=0) >= 100,
    "a hundred buckets": lambda m: len(m.model.index.held) >= 100,
    "a thousand copies": lambda m: m.model.index.count() >= 1_000,
    "a hundred ledgers": lambda m: (
        m.model.index.count() >= 20
        and isinstance(m.operation, topic.Add)
        and len({copy[0] for copies in m.model.index.held.values() for copy in copies}) >= 20
    ),
    "taken in part": partly,
    "times that differ": differ,
    "filled three times": lambda m: m.fillings(10) >= 3,
    "a clock that stands still": lambda m: m.still >= 200,
    "31 bits of milliseconds at once": step(2**31),
    "32 bits of milliseconds at once": step(2**32),
    "a time 40 bits ahead": ahead(lambda model: model.timer.now, 2**40),
    "twins in 32 bits": held_twin,
    "a mark beyond 32 bits": lambda m: isinstance(m.operation, topic.MarkDelete) and m.operation.entry >= 2**32,
    "a tick of none": lambda m: m.config.tick == 0 or m.model.buckets.tick == 0,
    "a lookahead of hundreds": lambda m: m.config.lookahead >= 100,
}

ALL = {"bucket-delivery": BUCKETS, "topic-delivery": TOPICS}
HELD: dict[str, Callable[[Any], int]] = {
    "bucket-delivery": lambda model: model.tracker.held.count() if model.tracker else 0,
    "topic-delivery": lambda model: model.index.count(),
}


@cache
def found(name: str) -> Counter[str]:
    """In how many walks each thing comes up."""
    return reached(CONTRACTS[name], ALL[name], HELD[name])


@pytest.mark.deep
@pytest.mark.parametrize(("name", "what"), [(name, what) for name in ALL for what in ALL[name]])
def test_walks_go_as_far(name: str, what: str) -> None:
    """Walks of bucket and topic delivery reach every rare situation that is listed."""
    assert found(name)[what] > 0


def test_entries_after_the_last_begin_anew() -> None:
    assert [within_a_ledger(entry) for entry in (0, 2**32 - 1, 2**32)] == [0, 2**32 - 1, 0]
