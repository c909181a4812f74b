"""What comes up in the walks of the entry cache within the first few hundred: the policy, as data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

import pytest

from broker_tck.properties.contracts import CONTRACTS
from broker_tck.properties.contracts.entry_cache.configs import HUGE_LARGEST, LARGEST, WATERMARKS, has_exact_goal
from broker_tck.properties.contracts.entry_cache.edges import may, may_start
from broker_tck.properties.contracts.entry_cache.operations import (
    Advance,
    Capabilities,
    Config,
    Fill,
    Range,
    Remove,
    Requeues,
    Resize,
    SetWatermark,
)
from broker_tck.properties.contracts.entry_cache.reading import RAISES, FetchMany, Storage
from broker_tck.properties.engine.operation import valid
from broker_tck.properties.engine.walk import walk, walk_seed

CONTRACT = CONTRACTS["entry-cache"]
MODEL: Any = CONTRACT.specification
READING = Capabilities(steps=False)
STEPPED = Capabilities(reads=False)
WALKS = 300
FAR = 2**31 - 1
"""Beyond what a signed integer of 32 bits holds."""


class Reached(NamedTuple):
    """Something that has to come up."""

    name: str
    holds: Callable[[Any, Any], object]
    """By the model before an operation, and the operation."""


def live(model: Any) -> int:
    return sum(len(cache.entries) for cache in model.caches)


def blanks(model: Any) -> int:
    return sum(entry.blank for entry in model.store.queue) if len(model.store.queue) > 1_000 else 0


def collide(positions: Any, bits: int) -> bool:
    """Whether two of some numbers are the same when they are cut."""
    numbers = {*positions}
    return len({n % 2**bits for n in numbers}) < len(numbers)


def ids(model: Any, which: int) -> set[int]:
    return {position[which] for cache in model.caches for position in cache.entries} if live(model) < 64 else set()


POLICY = (
    Reached("hundreds of entries", lambda m, o: live(m) >= 200),
    Reached("more than a thousand entries", lambda m, o: live(m) > 1_000),
    Reached("hundreds of ledgers", lambda m, o: o.tag == "fill" and o.across >= 100),
    Reached("sizes that differ from item to item", lambda m, o: o.tag == "fill" and o.n > 2 and o.apart),
    Reached(
        "reads that differ from item to item", lambda m, o: o.tag == "fill" and o.turns > 1 and o.expected_reads > 0
    ),
    Reached("more blanks than a queue keeps", lambda m, o: blanks(m) > 1_024),
    Reached("a time pass over hundreds", lambda m, o: o.tag == "ttl" and live(m) >= 100 and is_old(m, o)),
    Reached("a size pass for a part of hundreds", lambda m, o: o.tag == "size" and is_part(m, o)),
    Reached("a range inside of hundreds", lambda m, o: o.tag == "range" and live(m) >= 100 and o.e2 - o.e1 > 20),
    Reached("a trim of hundreds", lambda m, o: o.tag == "trim" and len(m.caches[o.cache].entries) >= 100),
    Reached("an invalidation among hundreds", lambda m, o: o.tag == "invalidate" and live(m) >= 100),
    Reached("a refill after hundreds have left", lambda m, o: m.store.evicted >= 200 and live(m) >= 20),
    Reached("an entry at each end of its size", lambda m, o: o.tag == "put" and o.size >= FAR),
    Reached("more bytes than 32 bits count", lambda m, o: m.store.total >= 2**32),
    Reached("a total at the trigger of a huge size", lambda m, o: is_at_trigger(m)),
    Reached("a read count beyond a byte", lambda m, o: o.tag in ("read", "expect") and (count(m, o) or 0) >= 255),
    Reached("a read count beyond two bytes", lambda m, o: o.tag in ("put", "fill") and o.expected_reads >= 2**16),
    Reached("requeued more often than a byte counts", lambda m, o: any(e.requeued > 200 for e in m.store.queue)),
    Reached("ledgers that are the same in 32 bits", lambda m, o: collide(ids(m, 0), 32)),
    Reached("entries that are the same in 32 bits", lambda m, o: collide(ids(m, 1), 32)),
    Reached("entries that are the same in 16 bits", lambda m, o: collide(ids(m, 1), 16)),
    Reached("ledgers beyond a double's precision", lambda m, o: max(ids(m, 0), default=0) > 2**53),
    Reached("a step of time beyond 32 bits", lambda m, o: o.tag == "adv" and o.ms >= 2**32),
    Reached("a time to live beyond 31 bits", lambda m, o: m.config.ttl >= FAR and o.tag == "run"),
    Reached("an age beyond 32 bits", lambda m, o: o.tag == "ttl" and o.age > 2**32 and live(m)),
    Reached("time that stands still", lambda m, o: m.now == 0 and m.store.evicted > 20),
    Reached("a topic reopened often", lambda m, o: o.tag == "reopen" and m.store.evicted > 50),
    Reached("the least sizes", lambda m, o: m.config.max_size in (1, 2)),
    Reached("the largest sizes", lambda m, o: m.config.max_size in HUGE_LARGEST),
    Reached("nothing is requeued, ever", lambda m, o: m.config.max_requeue_count == 0),
)
READERS = (
    Reached("dozens of cursors", lambda m, o: any(c.active.size() >= 20 for c in m.cursors)),
    Reached("a hundred readers at once", lambda m, o: o.tag == "fetches" and o.times >= 100),
    Reached("dozens of pending reads", lambda m, o: len(m.pending_reads.waiting) >= 20),
    Reached("dozens who wait for permits", lambda m, o: len(m.read_limit.waiting) >= 20),
    Reached("dozens who hold entries", lambda m, o: len(m.returned) >= 40),
    Reached("reads of a hundred entries", lambda m, o: o.tag == "fetch" and o.n >= 100),
    Reached("permits beyond 31 bits", lambda m, o: o.tag == "permits" and m.read_limit.remaining >= FAR),
)
OVERLAP = (
    Reached("six calls that overlap", lambda m, o: len(m.under_way) >= 6),
    Reached("a refill after calls overlapped", lambda m, o: m.store.evicted >= 50 and m.under_way),
)


def is_old(model: Any, operation: Any) -> bool:
    return model.store.queue[0].stamp < model.now - operation.age


def is_part(model: Any, operation: Any) -> bool:
    return live(model) >= 100 and 100 < operation.bytes < model.store.total


def is_at_trigger(model: Any) -> bool:
    largest = model.manager.max_size
    return largest in HUGE_LARGEST and abs(model.store.total - largest * 98 // 100) <= 1


def count(model: Any, operation: Any) -> int | None:
    there = model.count_of(operation.cache, (operation.ledger, operation.entry))
    return None if there is None else there.left


@cache
def reached(capabilities: Capabilities, policy: tuple[Reached, ...]) -> Counter[str]:
    """In how many walks each thing comes up."""
    found: Counter[str] = Counter()
    for number in range(WALKS):
        names: set[str] = set()
        invalid: list[Any] = []

        def seeing(model: Any, made: Iterator[Any], names: set[str] = names, invalid: Any = invalid) -> Iterator[Any]:
            for operation in made:
                if not valid(operation):
                    invalid.append(operation)
                names.update(r.name for r in policy if r.name not in names and r.holds(model, operation))
                yield operation

        walked = walk(CONTRACT, walk_seed(0, number), lambda c, _: MODEL(c), MODEL, capabilities, watch=seeing)
        assert valid(walked.config)
        assert not invalid
        assert not walked.difference
        found.update(names)
    return found


@pytest.mark.parametrize("name", [r.name for r in POLICY])
def test_comes_up(name: str) -> None:
    assert reached(READING, (*POLICY, *READERS))[name]


@pytest.mark.parametrize("name", [r.name for r in READERS])
def test_comes_up_among_readers(name: str) -> None:
    assert reached(READING, (*POLICY, *READERS))[name]


@pytest.mark.parametrize("name", [r.name for r in OVERLAP])
def test_comes_up_where_calls_overlap(name: str) -> None:
    assert reached(STEPPED, OVERLAP)[name]
