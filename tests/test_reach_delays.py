"""What the first walks of contract ``delayed-delivery`` get to: fixed delays, crowds, ends of containers."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Any

import pytest
from reach import Moment, Reached, reached

from broker_tck.properties.contracts.delayed_delivery import operations as delays
from broker_tck.properties.engine.registry import CONTRACTS

THOUSANDS = 2_048
CONTAINER = 65_536


def batch_before(m: Moment) -> Any:
    """The batch that was added just before deliveries may pause; None: there was none."""
    last = m.trail[-1] if m.trail else None
    return last if isinstance(m.operation, delays.Pause) and isinstance(last, delays.Fill) else None


def stepped_back(m: Moment) -> bool:
    """Deliveries are asked to pause, or not, for a step back that lies between the first tick and this one."""
    batch, tick = batch_before(m), m.model.buckets.tick
    low, high = sorted((m.config.tick, tick))
    stepped = batch is not None and batch.n > 1 and low < -batch.apart * (batch.n - 1) <= high
    return stepped and 0 < m.config.lookahead <= m.model.count() and m.model.fixed_delay.fixed is (tick == high)


def falls_slowly(m: Moment) -> bool:
    """Deliveries must not pause, as times of a batch fell by more than a tick, but in none of its thousands alone."""
    batch, tick = batch_before(m), m.model.buckets.tick
    fell = batch is not None and 999 * -batch.apart <= tick < (batch.n - 1) * -batch.apart
    return fell and 0 < m.config.lookahead <= m.model.count() and not m.model.fixed_delay.fixed


def is_again(m: Moment) -> bool:
    """Many messages are added that were just added."""
    return isinstance(m.operation, delays.Fill) and m.trail[-1:] == [m.operation]


def pauses(m: Moment) -> bool:
    """Deliveries are about to pause."""
    model = m.model
    return isinstance(m.operation, delays.Pause) and bool(model.wants_pause()) and not model.available()


def scattered(m: Moment, key: int, ledger: int) -> list[int]:
    """The entries of a bucket and ledger that are not the next ones of others."""
    entries = {copy[1] for copy in m.model.index.held.get(key, ()) if copy[0] == ledger}
    return [entry for entry in entries if entry - 1 not in entries]


def below_all(m: Moment) -> bool:
    """An entry is added below thousands of scattered ones of its bucket."""
    o = m.operation
    if not isinstance(o, delays.Add) or m.model.count() < THOUSANDS or m.model.refuses(o.at):
        return False
    others = scattered(m, m.model.buckets.key(o.at), o.ledger)
    return len(others) > THOUSANDS and o.entry < min(others)


def across_containers(m: Moment) -> bool:
    """A run over the end of a container is added to a crowd."""
    o = m.operation
    if not isinstance(o, delays.Fill) or o.step > 1 or o.apart or m.model.count() < 200 or m.model.refuses(o.at):
        return False
    crosses = o.entry // CONTAINER < (o.entry + o.n - 1) // CONTAINER
    return crosses and len(scattered(m, m.model.buckets.key(o.at), o.ledger)) > 200


def crowds(m: Moment) -> int:
    """In how many buckets there are crowds of scattered entries."""
    if not isinstance(m.trail[-1] if m.trail else None, delays.Fill) or m.model.count() < 1_000:
        return 0
    held = m.model.index.held
    return sum(len(scattered(m, key, ledger)) >= 160 for key in held for ledger in {c[0] for c in held[key]})


def packed_alike(m: Moment) -> bool:
    """A message is added to a bucket that holds another one: of a neighbouring ledger, and by 2^20 or 2^24 apart."""
    o = m.operation
    if not isinstance(o, delays.Add) or m.model.refuses(o.at):
        return False
    held = {copy[:2] for copy in m.model.index.held.get(m.model.buckets.key(o.at), ())}
    return any((o.ledger + by, o.entry - by * (1 << bit)) in held for by in (-1, 1) for bit in (20, 24))


def grows_beyond(m: Moment) -> bool:
    """Memory was asked for before the add that makes a ledger's entries in a bucket more than 4,096."""
    o, trail = m.operation, m.trail
    if not isinstance(o, delays.Add) or not trail or not isinstance(trail[-1], delays.Memory):
        return False
    held = m.model.index.held.get(m.model.buckets.key(o.at), ())
    return len(held) >= 4_096 and sum(copy[0] == o.ledger for copy in held) == 4_096


DELAYS: dict[str, Reached] = {
    "two that are one number of 20 bits and a ledger": packed_alike,
    "memory around 4,096 entries": grows_beyond,
    "a pause behind a step back between two ticks": stepped_back,
    "a pause after a batch": lambda m: batch_before(m) is not None and pauses(m),
    "a pause behind a step back over more than a thousand": falls_slowly,
    "a thousand added once more": lambda m: is_again(m) and m.operation.n >= 999,
    "a clear of a thousand buckets": lambda m: (
        isinstance(m.operation, delays.Clear) and len(m.model.index.held) > 1_000
    ),
    "a thousand buckets taken": lambda m: isinstance(m.operation, delays.Get) and len(m.model.due_keys()) > 1_024,
    "an entry below thousands": below_all,
    "a run over the end of a container": across_containers,
    "nine crowds": lambda m: crowds(m) >= 9,
}


@cache
def found() -> Counter[str]:
    """In how many walks each thing comes up."""
    return reached(CONTRACTS["delayed-delivery"], DELAYS, lambda model: model.count(), before=True)


@pytest.mark.deep
@pytest.mark.parametrize("what", DELAYS)
def test_walks_go_as_far(what: str) -> None:
    """Walks of delayed delivery reach every rare situation that is listed."""
    assert found()[what] > 0
