"""What a firing calls: the application's callback, then the requests to the broker."""

from __future__ import annotations

from typing import Protocol

from broker_tck.model.negative_acks.buckets import Position
from broker_tck.model.rules import Part, rule

REQUEST = 1_000
"""Ids that a request has at most."""


class Inner(Protocol):
    """Something that the application does inside a callback."""

    def on(self, to: object) -> object: ...


class Calls(Part):
    """The callback, in which the application may do something, and the requests, of which one may throw."""

    def __init__(self) -> None:
        self.inner: list[Inner] = []
        self.failing = False

    @rule("NA-25", source="NegativeAcksTracker, PR 20750; client-cpp, PR 6480")
    def emits(self, ids: list[Position]) -> bool:
        """A firing that finds nothing due calls nothing."""
        return bool(ids)

    def call_back(self, tracker: object) -> None:
        """The application does in the callback what it was to do."""
        inner, self.inner = self.inner, []
        for operation in inner:
            operation.on(tracker)

    @rule("NA-33", source="ConsumerImpl.redeliverUnacknowledgedMessages")
    def requests(self, ids: list[Position]) -> list[int]:
        """The callback gets the whole set once; as few requests as can be, of at most 1,000 ids each, follow."""
        return self.cut(ids, REQUEST)

    @staticmethod
    def cut(ids: list[Position], most: int) -> list[int]:
        """How many ids each request has."""
        return [len(ids[i : i + most]) for i in range(0, len(ids), most)]

    def request(self, ids: list[Position]) -> int | list[int]:
        """Request the ids; answers 1 for one request, 0 for one that throws, and how many ids each of several has."""
        failed, self.failing = self.failing, False
        sizes = [] if failed else self.requests(ids)
        return sizes if len(sizes) > 1 else len(sizes)
