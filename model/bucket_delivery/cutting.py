"""How the indexes of a bucket are cut into segments."""

from __future__ import annotations

from collections.abc import Iterable

from broker_tck.model.bucket_delivery.bucket import Index
from broker_tck.model.rules import Part, rule

NO_LIMIT = -1
"""In place of an index limit."""


class Cutting(Part):
    """Cuts indexes, in ascending order, into segments."""

    def __init__(self, time_step: int, most: int) -> None:
        self.time_step = time_step
        """Milliseconds."""
        self.most = most
        """Indexes of a segment, or :data:`NO_LIMIT`."""

    @rule("BD-12", source="MutableBucket, PR 19706")
    def is_too_late(self, first: int, before: int, at: int) -> bool:
        """A segment spans less than the time step, counted from its first index, and holds at most as many indexes as
        the limit says; it ends no sooner than it must.
        """
        return at >= first + self.time_step

    @rule("BD-12")
    def is_full(self, n: int) -> bool:
        return self.most != NO_LIMIT and n >= self.most

    def cut(self, indexes: Iterable[Index]) -> list[list[Index]]:
        """The segments."""
        segments: list[list[Index]] = []
        for index in indexes:
            if not segments or self.ends(segments[-1], index[0]):
                segments.append([])
            segments[-1].append(index)
        return segments

    def ends(self, segment: list[Index], at: int) -> bool:
        """Whether a segment ends before a time."""
        return self.is_too_late(segment[0][0], segment[-1][0], at) or self.is_full(len(segment))
