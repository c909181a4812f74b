"""What comes up in the walks of the entry cache within the first few hundred: the policy, as data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cache, partial
from itertools import pairwise
from typing import Any

import pytest
from reach import Moment, reached

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
from broker_tck.properties.engine.registry import CONTRACTS

CONTRACT = CONTRACTS["entry-cache"]
MODEL: Any = CONTRACT.specification
READING = Capabilities(steps=False)
STEPPED = Capabilities(reads=False)
FAR = 2**31 - 1
"""Beyond what a signed integer of 32 bits holds."""
OUT = ("trim", "clear", "remove", "invalidate", "reopen")


def live(model: Any) -> int:
    return sum(len(cache.entries) for cache in model.caches)


def blanks(model: Any) -> int:
    return sum(entry.blank for entry in model.store.queue) if len(model.store.queue) > 1_000 else 0


def has_requeued(model: Any) -> bool:
    return any(entry.requeued for entry in model.store.queue if not entry.blank)


def much(model: Any, operation: Any) -> bool:
    return len(model.caches[operation.cache].entries) > 1_024


def has_late(model: Any) -> bool:
    return any(not entry.blank and entry.cache not in model.caches for entry in model.store.queue)


def ends_at_a_page(model: Any, operation: Any) -> bool:
    """Whether a removal ends before a page begins, in a ledger of which more than a page is cached."""
    ledger, entries = operation.l2, model.caches[operation.cache].entries
    before = not operation.last_inclusive and operation.e2 > 0 and operation.e2 % 64 == 0
    return (
        before
        and (operation.l1, operation.e1) < (ledger, operation.e2)
        and [at[0] for at in entries].count(ledger) > 64
    )


def ends_behind_a_page(model: Any, operation: Any) -> bool:
    """Whether an invalidation ends at the last place of a page of many entries, which has to stay."""
    entries = model.caches[operation.cache].entries
    page = [(operation.ledger, operation.entry - i) for i in range(16)]
    return operation.entry % 64 == 63 and all(at in entries for at in page)


def joined(model: Any, read: Any) -> int:
    """How many running reads a read overlaps."""
    return sum(
        r.creator.topic == read.topic
        and r.ledger == read.ledger
        and r.first < read.first + read.n
        and read.first <= r.last
        for r in model.pending_reads.running
    )


def gaps(model: Any, read: Any) -> int:
    """How many runs of a read are not cached."""
    cached = model.caches[read.topic].entries
    there = [(read.ledger, read.first + i) in cached for i in range(read.n)]
    return sum(now and not then for now, then in pairwise(there))


def rank(model: Any) -> int:
    """The highest rank of one for whom the storage reads."""
    return max((model.start_of(read.creator) for read in model.pending_reads.waiting), default=0)


def collide(positions: Any, bits: int) -> bool:
    """Whether two of some numbers are the same when they are cut."""
    numbers = {*positions}
    return len({n % 2**bits for n in numbers}) < len(numbers)


def ids(model: Any, which: int) -> set[int]:
    return {position[which] for cache in model.caches for position in cache.entries} if live(model) < 64 else set()


Aimed = Callable[[Any, Any], object]
"""Whether something has come up, by the model before an operation, and the operation."""
POLICY: dict[str, Aimed] = {
    "hundreds of entries": lambda m, o: live(m) >= 200,
    "more than a thousand entries": lambda m, o: live(m) > 1_000,
    "hundreds of ledgers": lambda m, o: o.tag == "fill" and o.across >= 100,
    "sizes that differ from item to item": lambda m, o: o.tag == "fill" and o.n > 2 and o.apart,
    "reads that differ from item to item": lambda m, o: o.tag == "fill" and o.turns > 1 and o.expected_reads > 0,
    "more blanks than a queue keeps": lambda m, o: blanks(m) > 1_024,
    "as many, and left what was requeued": lambda m, o: blanks(m) > 1_024 and has_requeued(m),
    "more taken out beside an entry of a reopened topic": lambda m, o: o.tag in OUT and much(m, o) and has_late(m),
    "a removal to a page of a full ledger": lambda m, o: o.tag == "remove" and ends_at_a_page(m, o),
    "an invalidation up to the last of a page": lambda m, o: o.tag == "invalidate" and ends_behind_a_page(m, o),
    "a time pass over hundreds": lambda m, o: o.tag == "ttl" and live(m) >= 100 and is_old(m, o),
    "a size pass for a part of hundreds": lambda m, o: o.tag == "size" and is_part(m, o),
    "a range inside of hundreds": lambda m, o: o.tag == "range" and live(m) >= 100 and o.e2 - o.e1 > 20,
    "hundreds taken out at once": lambda m, o: o.tag in OUT and len(m.caches[o.cache].entries) >= 200,
    "an invalidation among hundreds": lambda m, o: o.tag == "invalidate" and live(m) >= 100,
    "a refill after hundreds have left": lambda m, o: m.store.evicted >= 200 and live(m) >= 20,
    "an entry at each end of its size": lambda m, o: o.tag == "put" and o.size >= FAR,
    "more bytes than 32 bits count": lambda m, o: m.store.total >= 2**32,
    "a total at the trigger of a huge size": lambda m, o: is_at_trigger(m),
    "a read count beyond a byte": lambda m, o: o.tag in ("read", "expect") and (count(m, o) or 0) >= 255,
    "a read count beyond two bytes": lambda m, o: o.tag in ("put", "fill") and o.expected_reads >= 2**16,
    "requeued more often than a byte counts": lambda m, o: any(e.requeued > 200 for e in m.store.queue),
    "a limit raised that some are at": lambda m, o: o.tag == "requeues" and is_raised(m, o.n),
    "ledgers that are the same in 32 bits": lambda m, o: collide(ids(m, 0), 32),
    "entries that are the same in 32 bits": lambda m, o: collide(ids(m, 1), 32),
    "entries that are the same in 16 bits": lambda m, o: collide(ids(m, 1), 16),
    "ledgers beyond a double's precision": lambda m, o: max(ids(m, 0), default=0) > 2**53,
    "a step of time beyond 32 bits": lambda m, o: o.tag == "adv" and o.ms >= 2**32,
    "a time to live beyond 31 bits": lambda m, o: m.config.ttl >= FAR and o.tag == "run",
    "an age beyond 32 bits": lambda m, o: o.tag == "ttl" and o.age > 2**32 and live(m),
    "time that stands still": lambda m, o: m.now == 0 and m.store.evicted > 20,
    "a topic reopened often": lambda m, o: o.tag == "reopen" and m.store.evicted > 50,
    "the least sizes": lambda m, o: m.config.max_size in (1, 2),
    "the largest sizes": lambda m, o: m.config.max_size in HUGE_LARGEST,
    "nothing is requeued, ever": lambda m, o: m.config.max_requeue_count == 0,
}
READERS: dict[str, Aimed] = {
    "dozens of cursors": lambda m, o: any(c.active.size() >= 20 for c in m.cursors),
    "a hundred readers at once": lambda m, o: o.tag == "fetches" and o.times >= 100,
    "dozens of pending reads": lambda m, o: len(m.pending_reads.waiting) >= 20,
    "dozens who wait for permits": lambda m, o: len(m.read_limit.waiting) >= 20,
    "dozens who hold entries": lambda m, o: len(m.returned) >= 40,
    "reads of a hundred entries": lambda m, o: o.tag == "fetch" and o.n >= 100,
    "a read that joins a dozen": lambda m, o: o.tag == "fetch" and joined(m, o) > 11,
    "a read with a dozen gaps": lambda m, o: o.tag == "fetch" and o.n > 24 and gaps(m, o) > 11,
    "a rank beyond a byte where storage answers": lambda m, o: o.tag == "complete" and rank(m) > 255,
    "permits beyond 31 bits": lambda m, o: o.tag == "permits" and m.read_limit.remaining >= FAR,
}
OVERLAP: dict[str, Aimed] = {
    "six calls that overlap": lambda m, o: len(m.under_way) >= 6,
    "a refill after calls overlapped": lambda m, o: m.store.evicted >= 50 and m.under_way,
}


def is_raised(model: Any, limit: int) -> bool:
    """Whether more requeueings are allowed for what has had as many as a byte counts."""
    return limit > model.passes.most_requeued and any(e.requeued > 127 for e in model.store.queue)


def is_old(model: Any, operation: Any) -> bool:
    return bool(model.store.queue[0].stamp < model.now - operation.age)


def is_part(model: Any, operation: Any) -> bool:
    return live(model) >= 100 and 100 < int(operation.bytes) < int(model.store.total)


def is_at_trigger(model: Any) -> bool:
    largest = model.manager.max_size
    return largest in HUGE_LARGEST and abs(model.store.total - largest * 98 // 100) <= 1


def count(model: Any, operation: Any) -> int | None:
    there = model.count_of(operation.cache, (operation.ledger, operation.entry))
    return None if there is None else there.left


@cache
def found(capabilities: Capabilities) -> Counter[str]:
    """In how many walks each thing comes up."""
    wanted = POLICY | READERS if capabilities.reads else OVERLAP
    aimed = {name: partial(met, aim) for name, aim in wanted.items()}
    return reached(CONTRACT, aimed, live, capabilities, before=True)


def met(aim: Aimed, moment: Moment) -> object:
    return aim(moment.model, moment.operation)


@pytest.mark.deep
@pytest.mark.parametrize("name", POLICY | READERS)
def test_comes_up(name: str) -> None:
    """Walks of the entry cache reach every rare situation of policies and readers that is listed."""
    assert found(READING)[name]


@pytest.mark.deep
@pytest.mark.parametrize("name", OVERLAP)
def test_comes_up_where_calls_overlap(name: str) -> None:
    """Walks of the entry cache reach every rare situation of overlapping calls that is listed."""
    assert found(STEPPED)[name]


# ---- What is not asked for


def model_of(**settings: Any) -> Any:
    return MODEL(Config(**settings))


def waiting(n: int) -> Any:
    """A model in which so many reads wait for permits."""
    model = model_of(max_reads_in_flight=1)
    model.fetch_many(0, 0, 1, 0, 1, n, 0)
    return model


NEVER: dict[str, tuple[Callable[..., Any], Any, Any]] = {
    "time beyond what a long has room for": (model_of, Advance(2**42 + 1), Advance(2**42)),
    "a range over more ids than a ledger has": (model_of, Range(0, 1, 0, 1, 2**32), Range(0, 1, 0, 2, 2**32)),
    "a removal of as many": (model_of, Remove(0, 1, 0, 1, 2**32, 1), Remove(0, 1, 0, 1, 2**16, 1)),
    "an entry behind the last": (model_of, Fill(0, 1, 2**63 - 9, 20), Fill(0, 1, 2**63 - 99, 20)),
    "a ledger behind the last": (model_of, Fill(0, 2**63 - 9, 0, 20, 20), Fill(0, 2**63 - 99, 0, 20, 20)),
    "bytes that are no int": (model_of, Fill(0, 1, 0, 9, size=2**31 - 5, apart=1), Fill(0, 1, 0, 9)),
    "many that passes go round for long": (
        lambda: model_of(max_requeue_count=256),
        Fill(0, 1, 0, 99),
        Fill(0, 1, 0, 9),
    ),
    "a goal that fractions miss": (lambda: model_of(watermark=57), Resize(100), Resize(1_000)),
    "a watermark that fractions miss": (lambda: model_of(max_size=100), SetWatermark(57), SetWatermark(90)),
    "a storage that fails while many wait": (lambda: waiting(30), Storage(RAISES), Storage(0)),
}
"""By what it is: a model, an operation that it is not asked for, and one beside it that it is."""


@pytest.mark.parametrize("name", NEVER)
def test_is_not_asked_for(name: str) -> None:
    make, never, beside = NEVER[name]
    assert not may(make(), never, READING)
    assert may(make(), beside, READING)


def test_many_readers_do_not_come_to_a_storage_that_fails() -> None:
    model = model_of()
    assert may(model, FetchMany(0, 0, 1, 0, 1, 100), READING)
    model.storage(RAISES)
    assert not may(model, FetchMany(0, 0, 1, 0, 1, 100), READING)


def test_hundreds_of_requeueings_are_not_allowed_over_many() -> None:
    model = model_of()
    model.fill(0, 1, 0, 200, 1, 1, 10, 0, 1, 1)
    assert may(model, Requeues(8), READING)
    assert not may(model, Requeues(300), READING)


def test_no_configuration_has_a_goal_that_fractions_miss() -> None:
    assert all(has_exact_goal(size, w) for size in (*LARGEST, *HUGE_LARGEST) for w in WATERMARKS)
    assert not may_start(Config(max_size=100, watermark=57), READING)
    assert not may_start(Config(max_size=100), Capabilities(manager=False))


# ---- Many insertions are as many single ones


def test_fill_is_its_insertions() -> None:
    fill = Fill(1, 5, 60, 20, across=3, step=7, size=4, apart=2, expected_reads=2, turns=3)
    at_once, one_by_one = model_of(), model_of()
    assert fill.on(at_once) == sum(put.on(one_by_one) for put in fill.puts()) == 20
    assert at_once.seen() == one_by_one.seen()
    assert [(e.position, e.size, e.reads) for e in at_once.store.queue] == [
        (e.position, e.size, e.reads) for e in one_by_one.store.queue
    ]
    assert fill.on(at_once) == 0
