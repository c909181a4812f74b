"""Right but unusual trackers of negative acks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator
from types import coroutine
from typing import Any, ClassVar

from broker_tck.implementations.interface import Clocks, Consumer, NackTimer, NegativeAcksConfig, Position
from broker_tck.implementations.negative_acks.sorted_buckets import SortedBucketsTracker


@coroutine
def next_call(answer: Any) -> Generator[Any, Any, Any]:
    """Answer a call, and wait for the next."""
    return (yield answer)


async def served(tracker: SortedBucketsTracker) -> None:
    """Do what is called, for ever."""
    answer = None
    while True:
        name, arguments = await next_call(answer)
        answer = getattr(tracker, name)(*arguments)


class Keys:
    """A consumer that hands ids on as the keys of a dictionary."""

    def __init__(self, consumer: Consumer) -> None:
        self.consumer = consumer

    def on_negative_acks_send(self, ids: Collection[Position]) -> None:
        self.consumer.on_negative_acks_send(dict.fromkeys(ids).keys())

    def redeliver_unacknowledged_messages(self, ids: Collection[Position]) -> None:
        self.consumer.redeliver_unacknowledged_messages(dict.fromkeys(ids).keys())


class AsyncTracker:
    """An adapter around a coroutine that has a bundled tracker.

    What is called has no name here: calls are made of the adapter's attributes as they are asked for.
    """

    contract: ClassVar = "negative-acks"
    profiles: ClassVar = ("pip-393-spec",)

    def __init__(self, config: NegativeAcksConfig, clocks: Clocks, timer: NackTimer, consumer: Consumer) -> None:
        self._core = served(SortedBucketsTracker(config, clocks, timer, Keys(consumer)))
        self._core.send(None)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if not hasattr(SortedBucketsTracker, name):
            raise AttributeError(name)
        return lambda *arguments: self._core.send((name, arguments))
