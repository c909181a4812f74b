"""Values with reference counts, and the tally of those that somebody still holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Tally:
    """How many values have a reference left."""

    __slots__ = ("alive",)

    def __init__(self) -> None:
        self.alive = 0


class Value:
    """An entry as a reader has it; see :class:`~broker_tck.implementations.interface.Entry`."""

    __slots__ = ("_freed", "_length", "count", "counts_as_read", "position", "reads", "tally")

    def __init__(
        self, tally: Tally, position: tuple[int, int], length: int, reads: Any, counts_as_read: bool = False
    ) -> None:
        self.tally = tally
        self.position = position
        self._length = length
        self.reads = reads
        self.counts_as_read = counts_as_read
        self.count = 1
        self._freed: Callable[[], object] | None = None
        tally.alive += 1

    @property
    def length(self) -> int:
        """The bytes; RuntimeError once the value was freed, when they may be somebody else's."""
        if not self.count:
            raise RuntimeError(f"the length of {self.position} is asked for after it was freed")
        return self._length

    def copy(self) -> Value:
        """An entry of its own, with the same bytes and the same read count; what frees it counts as a read."""
        return Value(self.tally, self.position, self.length, self.reads, counts_as_read=True)

    def on_freed(self, call: Callable[[], object]) -> None:
        """Have something called when the value is freed."""
        self._freed = call

    def retain(self) -> bool:
        """Take a reference, if there is one left to share."""
        if not self.count:
            return False
        self.count += 1
        return True

    def release(self) -> None:
        """Give a reference back; RuntimeError where there is none."""
        if not self.count:
            raise RuntimeError(f"{self.position} is released once too often")
        self.count -= 1
        if not self.count:
            self.tally.alive -= 1
            if self.counts_as_read and self.reads is not None:
                self.reads.mark_read()
            if self._freed:
                self._freed()
