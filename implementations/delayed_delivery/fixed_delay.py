"""Whether every message of a subscription is delayed alike, so that reading further ahead is of no use."""

from __future__ import annotations

from collections.abc import Iterable


class FixedDelayDetector:
    """Watches deliver-at times, in milliseconds, in the order in which messages are read (DD-14 to DD-16).

    Delays are alike as long as no time steps back by more than a tick and none is refused.
    """

    __slots__ = ("_highest", "fixed")

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Start anew: all delays seen so far, none, are alike."""
        self.fixed = True
        self._highest = 0

    def refused(self) -> None:
        """A message was not taken."""
        self.fixed = False

    def accepted(self, deliver_at: int, tick: int) -> None:
        """A message was taken."""
        if deliver_at > self._highest:
            self._highest = deliver_at
        elif deliver_at < self._highest - tick:
            self.fixed = False

    def accepted_all(self, deliver_at: Iterable[int], tick: int) -> None:
        """Messages were taken, in this order."""
        highest = self._highest
        for time in deliver_at:
            if time > highest:
                highest = time
            elif time < highest - tick:
                self.fixed = False
        self._highest = highest
