"""The rule to name if no known mistake explains a difference: by the operation, and by what differs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from broker_tck.properties.engine.check import RESULT
from broker_tck.properties.engine.contract import Fallback

FIRINGS = "adv stale"


def has(tag: str, trace: Sequence[Any]) -> bool:
    """Whether an operation of a kind is in a trace."""
    return any(operation.tag == tag for operation in trace)


def in_chunks(trace: Sequence[Any]) -> bool:
    """Whether a message in chunks was added."""
    return any(operation.tag == "add" and operation.chunks > 1 for operation in trace)


def added_after_close(trace: Sequence[Any]) -> bool:
    """Whether something was added after the tracker was closed."""
    tags = [operation.tag for operation in trace]
    return "close" in tags and "add" in tags[tags.index("close") :]


def calls_with_nothing(_trace: Sequence[Any], _expected: Any, seen: Any) -> bool:
    """Whether a firing called with no ids."""
    return any(not ids for _, ids, _ in seen)


def requests_alone(_trace: Sequence[Any], expected: Any, seen: Any) -> bool:
    """Whether only what was requested differs."""
    return [firing[:2] for firing in expected] == [firing[:2] for firing in seen]


FALLBACKS = (
    Fallback("AT-33", FIRINGS, given=lambda trace: has("inside", trace)),
    Fallback("AT-40", "close"),
    Fallback("AT-41", given=added_after_close),
    Fallback("AT-42", "stale"),
    Fallback("AT-40", "adv", given=lambda trace: has("close", trace)),
    Fallback("AT-30", FIRINGS, RESULT, differs=calls_with_nothing),
    Fallback("AT-32", FIRINGS, given=lambda trace: has("fail", trace)),
    Fallback("AT-31", FIRINGS, RESULT, differs=requests_alone),
    Fallback("AT-08", FIRINGS, RESULT, given=in_chunks),
    Fallback("AT-13", FIRINGS, given=lambda trace: has("jump", trace)),
    Fallback("AT-03", "remove"),
    Fallback("AT-04", "till"),
    Fallback("AT-05", "leave"),
    Fallback("AT-07", "clear"),
    Fallback("AT-02", "add", RESULT),
    Fallback("AT-43", shows="size"),
    Fallback("AT-14", shows="armed"),
    Fallback("AT-12"),
)
