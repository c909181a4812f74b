"""What the first walks of contracts ``negative-acks`` and ``active-cursors`` get to: sizes, widths, times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest
from reach import Moment, Reached, reached

from broker_tck.properties.contracts.active_cursors import operations as cursors
from broker_tck.properties.contracts.negative_acks import operations as nacks
from broker_tck.properties.contracts.negative_acks.generator import Nacks, draw_config
from broker_tck.properties.engine.choices import SeededChoices
from broker_tck.properties.engine.registry import CONTRACTS

HIGH_BITS = (8, 16, 31, 32, 48, 53, 62)
LOWEST, HIGHEST = -(2**63), 2**63 - 1


def is_a(m: Moment, *kinds: Any) -> bool:
    """Whether what was just done is of some kind."""
    return isinstance(m.operation, kinds)


# ---- Negative acks

NACK = nacks.Nack | nacks.NackId


def items(m: Moment) -> set[tuple[int, int]]:
    """The positions that are held."""
    return {item[:2] for bucket in m.model.buckets.held.values() for item in bucket}


def has_twin(m: Moment) -> bool:
    """Whether one is held that differs from the one just nacked in one high bit alone."""
    if not is_a(m, nacks.Nack, nacks.NackId):
        return False
    ledger, entry, held = m.operation.ledger, m.operation.entry, items(m)
    return any({(ledger ^ 1 << bit, entry), (ledger, entry ^ 1 << bit)} & held for bit in HIGH_BITS)


def longest_delay(m: Moment) -> int:
    """The longest delay that is configured, in milliseconds."""
    config = m.config
    return int(max([config.delay_us // 1_000, *(config.backoff_ms or ()), *(config.multiplier or ())[:2]]))


def emitted(m: Moment) -> int:
    """How many ids were emitted at once."""
    return int(max((len(ids) for _, ids, _ in m.result), default=0)) if is_a(m, nacks.Advance) else 0


def grows_beyond(m: Moment, count: int) -> bool:
    """A message was redelivered more often, and its delay still grows."""
    delay = m.model.delays.delay
    return is_a(m, nacks.Nack) and delay(max(m.operation.redelivery_count, count)) > delay(count)


NEGATIVE_ACKS: dict[str, Reached] = {
    "a delay that grows beyond 15 redeliveries": lambda m: grows_beyond(m, 15),
    "a multiplier whose delay grows beyond 63": lambda m: m.config.multiplier is not None and grows_beyond(m, 63),
    "a wall clock before zero": lambda m: m.model.clock.wall < 0 and bool(m.model.buckets.held),
    "ids of 32 bits and one": lambda m: is_a(m, nacks.Nack) and abs(m.operation.ledger) >= 2**31,
    "entries beyond what a double holds": lambda m: is_a(m, nacks.Nack) and m.operation.entry > 2**53,
    "the lowest of all ids": lambda m: is_a(m, nacks.Nack) and m.operation.ledger == -(2**63),
    "ids that are equal where a bit is cut": has_twin,
    "a thousand items and more": lambda m: m.model.buckets.count() > 1_000,
    "more items than a container has": lambda m: m.model.buckets.count() > 4_096,
    "hundreds of buckets": lambda m: len(m.model.buckets.held) > 256,
    "hundreds of ledgers": lambda m: is_a(m, nacks.Fill) and len({at[0] for at in items(m)}) > 256,
    "several requests for one firing": lambda m: emitted(m) > 2_000,
    "many nacks of which each has another delay": lambda m: is_a(m, nacks.Fill) and spread(m) > 3,
    "no nacks at once": lambda m: is_a(m, nacks.Fill) and m.operation.n == 0,
    "a message in many chunks": lambda m: is_a(m, nacks.Chunked) and m.operation.chunks > 16,
    "a batch of hundreds": lambda m: is_a(m, nacks.Batch) and m.operation.index > 255,
    "counts of 31 bits": lambda m: getattr(m.operation, "redelivery_count", 0) >= 2**31 - 2,
    "a delay of 32 bits": lambda m: longest_delay(m) > 2**32,
    "a delay of a microsecond": lambda m: m.config.delay_us == 1,
    "a delay that a bit of 32 more makes": lambda m: is_a(m, NACK) and longest_delay(m) in (2**31, 2**31 - 1),
    "the finest buckets with much in them": lambda m: m.config.precision_bits == 0 and emitted(m) > 100,
    "the widest buckets": lambda m: m.config.precision_bits == 40,
    "a clock that starts at nothing": lambda m: m.config.clock == 0,
    "a step of a month": lambda m: is_a(m, nacks.Advance) and m.operation.ms >= 2**31,
    "a jump of a month, and back": lambda m: is_a(m, nacks.Jump) and m.operation.by <= -(2**31),
    "hundreds of operations at one moment": lambda m: m.still > 200,
    "emptied and filled again, often": lambda m: m.fillings(3) > 9,
    "a message in many chunks, and as many such": lambda m: in_chunks(m) > 16,
    "thousands due at once after a jump, few in each bucket": lambda m: is_a(m, nacks.Jump) and sparse(m) > 4_096,
    "a day back while buckets wait": lambda m: is_a(m, nacks.Jump) and m.operation.by <= -DAY and waiting(m) > 3,
    "thousands nacked once more at the same moment": lambda m: is_again(m) and m.operation.n > 2_048,
    "several full requests, and no more": lambda m: emitted(m) in (2_000, 3_000),
}
DAY = 86_400_000
MOST_SPARSE = 24


def waiting(m: Moment) -> int:
    """How many buckets are held."""
    return len(m.model.buckets.held)


def is_again(m: Moment) -> bool:
    """Many nacks are made that were made before, since when time has not moved."""
    return is_a(m, nacks.Fill) and m.operation in m.trail[-m.still : -1]


def in_chunks(m: Moment) -> int:
    """How many messages in chunks a bucket holds, at most."""
    return max(Counter(key for key, _ in m.model.buckets.chunks).values(), default=0)


def sparse(m: Moment) -> int:
    """How much is due in buckets that hold few messages each."""
    now, held = m.model.clock.reading(), m.model.buckets.held
    return sum(len(bucket) for key, bucket in held.items() if key <= now and len(bucket) <= MOST_SPARSE)


def spread(m: Moment) -> int:
    """Into how many buckets the nacks go that were just made, at least."""
    fill = m.operation
    return len({m.model.delays.delay(count) for _, _, count in fill.each()}) if fill.rising and fill.n < 300 else 0


# ---- Active cursors


def places(m: Moment) -> set[tuple[int, int]]:
    """Where cursors are."""
    return set(m.model.order.positions.values())


def moves(m: Moment) -> bool:
    """Whether a cursor came to a position just nom."""
    return is_a(m, cursors.Add, cursors.Update, cursors.Durable) and m.operation.at is not None


def place_of(m: Moment) -> tuple[int, int]:
    """Where the cursor is that was asked for; (0, 0) where it is nowhere."""
    order = m.model.order.positions
    return next((order[cursor] for cursor in order if cursor.name == m.operation.name), (0, 0))


def at_both_ends(m: Moment) -> bool:
    """Whether positions are compared that are further apart than 64 bits hold."""
    if not moves(m):
        return False
    numbers = [at[i] for at in places(m) for i in (0, 1)]
    return bool(numbers) and max(numbers) - min(numbers) >= 2**63


def has_higher_twin(m: Moment) -> bool:
    """Whether a cursor is where only one high bit differs from where one has just come to."""
    if not moves(m):
        return False
    (ledger, entry), there = m.operation.at, places(m)
    return any({(ledger ^ 1 << bit, entry), (ledger, entry ^ 1 << bit)} & there for bit in HIGH_BITS)


def named_alike(m: Moment) -> bool:
    """Whether two cursors have names of one spelling."""
    names = [*m.model.objects] if is_a(m, cursors.Add) else []
    return len({name.lower() for name in names}) < len(names)


def are_durable(m: Moment) -> int:
    """How many cursors are durable, after many were added."""
    return sum(c.durable for c in m.model.objects.values()) if is_a(m, cursors.Crowd) else 0


def ends_a_page(m: Moment) -> bool:
    """Whether the rank of the last cursor was asked for where there are some full pages, of whatever size."""
    there = len(m.model.order.positions)
    return m.result == there and any(there % size == 0 and there > size for size in (64, 100, 256, 1_000))


ACTIVE_CURSORS: dict[str, Reached] = {
    "hundreds of cursors": lambda m: len(m.model.objects) > 256,
    "a rank behind a thousand positions": lambda m: (
        is_a(m, cursors.Count) and m.result >= 500 and len({*m.model.order.positions.values()}) > 1_000
    ),
    "no cursors at once": lambda m: is_a(m, cursors.Crowd) and m.operation.n == 0,
    "dozens of durable ones": lambda m: are_durable(m) > 64,
    "many added the other way round": lambda m: is_a(m, cursors.Crowd) and m.operation.n > 16 and m.operation.step < 0,
    "many added in no order": lambda m: is_a(m, cursors.Crowd) and m.operation.n > 16 and m.operation.within > 0,
    "dozens moved in no order": lambda m: is_a(m, cursors.March) and m.operation.n > 60 and m.operation.within > 0,
    "positions at both ends of the numbers": at_both_ends,
    "a rank at the last of all entries": lambda m: is_a(m, cursors.Count) and place_of(m)[1] == HIGHEST,
    "positions that are equal where a bit is cut": has_higher_twin,
    "positions beyond what a double holds": lambda m: moves(m) and m.operation.at[1] > 2**53,
    "the lowest of all positions": lambda m: moves(m) and m.operation.at[0] == LOWEST,
    "names that differ in their case": named_alike,
    "names that differ in their 56th letter": lambda m: is_a(m, cursors.Add) and len(m.operation.name) > 55,
    "names of one hash in Java": lambda m: is_a(m, cursors.Add) and {"Aa", "BB"} <= {*m.model.objects},
    "versions of more than 8 bits": lambda m: is_a(m, cursors.Oldest) and m.model.version.number > 256,
    "versions of 8,192 and more": lambda m: is_a(m, cursors.Oldest) and m.model.version.number > 8_192,
    "versions of more than 15 bits": lambda m: is_a(m, cursors.Oldest) and m.model.version.number > 32_767,
    "dozens removed without a question": lambda m: is_a(m, cursors.Remove) and m.operation.n and m.result > 64,
    "the last of full pages": lambda m: is_a(m, cursors.Count) and ends_a_page(m),
    "emptied and filled again, often": lambda m: m.fillings(3) > 5,
    "no grace time": lambda m: is_a(m, cursors.Caches) and m.config.grace == 0,
    "a grace time of a millisecond": lambda m: is_a(m, cursors.Caches) and m.config.grace == 1,
    "a grace time of 32 bits": lambda m: is_a(m, cursors.Caches) and m.config.grace >= 2**31,
    "a step of a month": lambda m: is_a(m, cursors.Advance) and m.operation.ms >= 2**31,
    "hundreds of operations at one moment": lambda m: m.still > 300,
}

ALL = {"negative-acks": NEGATIVE_ACKS, "active-cursors": ACTIVE_CURSORS}
HELD: dict[str, Callable[[Any], int]] = {
    "negative-acks": lambda model: model.buckets.count(),
    "active-cursors": lambda model: len(model.objects),
}


@cache
def found(name: str) -> Counter[str]:
    """In how many walks each thing comes up."""
    return reached(CONTRACTS[name], ALL[name], HELD[name])


@pytest.mark.deep
@pytest.mark.parametrize(("name", "what"), [(name, what) for name in ALL for what in ALL[name]])
def test_walks_go_as_far(name: str, what: str) -> None:
    """Walks of negative acks and active cursors reach every rare situation that is listed."""
    assert found(name)[what] > 0


# ---- What operations in bulk do is what single ones do


def test_many_nacks_are_single_ones() -> None:
    contract = CONTRACTS["negative-acks"]
    config = contract.config(backoff_ms=(100, 200, 300))
    in_chunks, in_turns = nacks.Fill(1, 4, 5, 17, 1, chunks=5), nacks.Fill(2, 0, 1, 6, 0, rising=1, turns=3)
    at_once, one_by_one = contract.specification(config), contract.specification(config)
    in_chunks.on(at_once)
    in_turns.on(at_once)
    for i in range(17):
        nacks.Chunked(1, 4 + 5 * i, 5, 1).on(one_by_one)
    for i in range(6):
        nacks.Nack(2, i, i % 3).on(one_by_one)
    assert at_once.seen() == one_by_one.seen()
    assert at_once.advance(1_000) == one_by_one.advance(1_000)


def test_many_moves_and_removals_are_single_ones() -> None:
    model: Any = CONTRACTS["active-cursors"].specification(cursors.Config())
    cursors.Crowd("c", 3, (1, 0), 1).on(model)
    cursors.March("c", 7, (1, 0), 2, among=3).on(model)
    assert {c.name: at for c, at in model.order.positions.items()} == {"c0": (1, 12), "c1": (1, 8), "c2": (1, 10)}
    assert model.version.number == 10
    assert cursors.Remove("c", 2).on(model) == 2
    assert cursors.Remove("c", 3).on(model) == 1
    assert cursors.Remove("c").on(model) is False


MANY = 3_000
"""Of so many messages at most each is looked at."""


def messages_of(nacked: Any) -> Iterator[tuple[tuple[int, int], tuple[bool, int]]]:
    """The entries that an operation nacks, each with the last chunk of its message, if that is in chunks."""
    each = nacked.each() if isinstance(nacked, nacks.Fill) else [(nacked.ledger, nacked.entry, 0)]
    chunks = getattr(nacked, "chunks", 1)
    for ledger, entry, _ in each:
        for part in range(entry - chunks + 1, entry + 1):
            yield (ledger, part), (chunks > 1, entry if chunks > 1 else part)


def test_entry_is_one_of_some_chunks_or_a_message_by_itself_once_and_for_all() -> None:
    profile = CONTRACTS["negative-acks"].specification
    capabilities = CONTRACTS["negative-acks"].capabilities()
    for seed in range(120, 200):
        choices = SeededChoices(seed)
        made = Nacks(profile(draw_config(choices, capabilities)), choices, capabilities)
        operations = [make() for make in (made.nack, made.batch, made.chunked, made.fill, made.fill) for _ in range(6)]
        is_of: dict[tuple[int, int], tuple[bool, int]] = {}
        for operation in operations:
            if getattr(operation, "n", 0) <= MANY:
                for at, message in messages_of(operation):
                    assert is_of.setdefault(at, message) == message, (seed, operation)
