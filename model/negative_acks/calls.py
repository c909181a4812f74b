"""What a firing calls: the application's callback, then the requests to the broker."""

from __future__ import annotations

from typing import Protocol

from broker_tck.model.negative_acks.buckets import Position
from broker_tck.model.rules import Part, also, rule
from broker_tck.model.said import said

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

    @said(
        absent="Your tracker calls back though nothing is due; it has to call nothing.",
    )
    @rule(
        "NA-25",
        "A firing that finds nothing due calls nothing.",
        source="NegativeAcksTracker, PR 20750; client-cpp, PR 6480",
        look="the callback, or a request, with no ids",
        absent=lambda c, ids: True,
    )
    def emits(self, ids: list[Position]) -> bool:
        return bool(ids)

    @said(
        absent=(
            "Where a request fails, your tracker leaves its timer unsettled; it has to settle it before anything "
            "is called."
        ),
    )
    @rule(
        "NA-35",
        "The timer is settled, and every lock let go, before anything is called: a request that fails loses its set "
        "and nothing else, and a callback may nack or close; what it was given is requested all the same.",
        source="NegativeAcksTracker, PRs 15312, 23651",
        look="the order of re-arming and calling; an exception that leaves a timer pending for ever",
        needs="failing_requests",
        absent=lambda c, failed: not failed,
    )
    def settles(self, failed: bool) -> bool:
        return True

    @said(
        absent="Your tracker calls back before it has settled its timer; a callback may nack or close.",
    )
    @also(settles, when=lambda c: bool(c.inner), absent=lambda c: True)
    def calls_first(self) -> bool:
        return False

    def call_back(self, tracker: object) -> None:
        """The application does in the callback what it was to do."""
        inner, self.inner = self.inner, []
        for operation in inner:
            operation.on(tracker)

    @said(
        absent="Your tracker requests all ids at once; a request has 1,000 at most.",
        an_empty_one="Your tracker makes a request for nothing.",
        one_more="Your tracker puts 1,001 ids into a request; 1,000 is the most.",
    )
    @rule(
        "NA-33",
        "The callback is given the whole set once. Then it is requested, at most 1,000 ids at a time, in as few "
        "requests as can be.",
        source="ConsumerImpl.redeliverUnacknowledgedMessages",
        look="how the ids are cut; exact multiples of 1,000",
        absent=lambda c, ids: [len(ids)],
        one_more=lambda c, ids: c.cut(ids, REQUEST + 1),
        an_empty_one=lambda c, ids: [*c.cut(ids, REQUEST), *[0] * (len(ids) % REQUEST == 0)],
    )
    def requests(self, ids: list[Position]) -> list[int]:
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
