"""The rule to name if no known mistake explains a difference: by the operation, and by what differs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from broker_tck.properties.contracts.negative_acks.operations import Spread, entries_of
from broker_tck.properties.engine.check import RESULT
from broker_tck.properties.engine.contract import Fallback

NACKS = "nack id batch chunked spread fill"
FIRINGS = "adv stale"


def has(tag: str, trace: Sequence[Any]) -> bool:
    """Whether an operation of a kind is in a trace."""
    return any(operation.tag == tag for operation in trace)


def held_before(trace: Sequence[Any]) -> bool:
    """Whether something was nacked before the last operation."""
    return any(operation.tag in NACKS.split() for operation in trace[:-1])


def nacked_after_close(trace: Sequence[Any]) -> bool:
    """Whether something was nacked after the tracker was closed."""
    tags = [operation.tag for operation in trace]
    return "close" in tags and any(tag in NACKS.split() for tag in tags[tags.index("close") :])


def emits_nothing(_trace: Sequence[Any], _expected: Any, seen: Any) -> bool:
    """Whether a firing called with no ids."""
    return any(not ids for _, ids, _ in seen)


def emits_twice(_trace: Sequence[Any], _expected: Any, seen: Any) -> bool:
    """Whether a firing called with an id twice."""
    return any(len({*map(tuple, ids)}) < len(ids) for _, ids, _ in seen)


def requests_alone(_trace: Sequence[Any], expected: Any, seen: Any) -> bool:
    """Whether only what was requested differs."""
    return [firing[:2] for firing in expected] == [firing[:2] for firing in seen]


def some_chunks(trace: Sequence[Any], expected: Any, seen: Any) -> bool:
    """Whether some chunks of a message were emitted as they must be, and others were not."""
    apart = emitted(expected) ^ emitted(seen)
    return bool(apart) and any(apart & chunks and chunks - apart for chunks in chunks_of(trace))


def other_ids(_trace: Sequence[Any], expected: Any, seen: Any) -> bool:
    """Whether as many ids were emitted at the same times, but not the same."""
    return [(at, len(ids)) for at, ids, _ in expected] == [(at, len(ids)) for at, ids, _ in seen]


def emitted(firings: Iterable[Any]) -> set[tuple[int, ...]]:
    """The ids that firings called with."""
    return {tuple(item) for _, ids, _ in firings for item in ids}


def chunks_of(trace: Sequence[Any]) -> list[set[tuple[int, ...]]]:
    """The chunks of each message that has some."""
    spread = [{*o.each()} for o in trace if isinstance(o, Spread)]
    return spread + [{*kind} for o in trace for _, kind in entries_of(o) if isinstance(kind, tuple) and len(kind) > 1]


FALLBACKS = (
    Fallback("NA-35", FIRINGS, given=lambda trace: has("inside", trace) or has("fail", trace)),
    Fallback("NA-40", "close"),
    Fallback("NA-41", given=nacked_after_close),
    Fallback("NA-42", "stale"),
    Fallback("NA-40", "adv", given=lambda trace: has("close", trace)),
    Fallback("NA-25", FIRINGS, RESULT, differs=emits_nothing),
    Fallback("NA-31", FIRINGS, RESULT, differs=emits_twice),
    Fallback("NA-33", FIRINGS, RESULT, differs=requests_alone),
    Fallback("NA-06", FIRINGS, RESULT, differs=some_chunks),
    Fallback("NA-05", FIRINGS, RESULT, differs=other_ids),
    Fallback("NA-30", FIRINGS, RESULT),
    Fallback("NA-01", "batch", "count"),
    Fallback("NA-43", shows="count"),
    Fallback("NA-26", "jump"),
    Fallback("NA-23", NACKS, "armed", held_before),
    Fallback("NA-22", shows="armed"),
    Fallback("NA-01", "batch"),
    Fallback("NA-06", "chunked spread"),
    Fallback("NA-35", "fail inside"),
    Fallback("NA-38"),
)
