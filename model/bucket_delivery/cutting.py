"""How the indexes of a bucket are cut into segments."""

from __future__ import annotations

from collections.abc import Iterable

from broker_tck.model.bucket_delivery.bucket import Index
from broker_tck.model.rules import Part, also, rule
from broker_tck.model.said import said

NO_LIMIT = -1
"""In place of an index limit."""


class Cutting(Part):
    """Cuts indexes, in ascending order, into segments."""

    def __init__(self, time_step: int, most: int) -> None:
        self.time_step = time_step
        """Milliseconds."""
        self.most = most
        """Indexes of a segment, or :data:`NO_LIMIT`."""

    @said(
        a_step_longer="A segment of your tracker spans a whole time step; it has to span less.",
        a_step_shorter="A segment of your tracker ends sooner than it must.",
        from_the_one_before=(
            "Your tracker counts the time step from the index before; it counts from the first of the segment."
        ),
        a_step_of_32_bits="Your tracker keeps 32 bits of the time step; a larger one has to stay as it is.",
        absent="Your tracker ends no segment for its time; it has to span less than the time step.",
    )
    @rule(
        "BD-12",
        "A segment spans less than the time step, counted from its first index, and holds at most as many indexes as "
        "the limit says; it ends no sooner than it must.",
        source="MutableBucket, PR 19706",
        look="an index exactly one step after the first; a limit that is reached; the first index, not the one before",
        absent=lambda c, first, before, at: False,
        a_step_longer=lambda c, first, before, at: at > first + c.time_step,
        a_step_shorter=lambda c, first, before, at: at >= first + c.time_step - 1,
        a_step_of_32_bits=lambda c, first, before, at: at >= first + (c.time_step + 2**31) % 2**32 - 2**31,
        from_the_one_before=lambda c, first, before, at: at >= before + max(c.time_step, 1),
    )
    def is_too_late(self, first: int, before: int, at: int) -> bool:
        """Whether a time is too late for a segment, by its first time and the one before."""
        return at >= first + self.time_step

    @said(
        one_more="A segment of your tracker holds one index more than the limit.",
        no_limit_below_one="Your tracker takes a limit of 0 indexes for none; only -1 is no limit.",
        absent="Your tracker puts more indexes into a segment than the limit says.",
    )
    @also(
        is_too_late,
        absent=lambda c, n: False,
        one_more=lambda c, n: c.most != NO_LIMIT and n > c.most,
        no_limit_below_one=lambda c, n: c.most > 0 and n >= c.most,
    )
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
