"""Plots: short runs of operations that rarely follow each other by chance, played among a walk's other operations."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from broker_tck.properties.engine.operation import Operation

Make = Callable[[], Operation]


class Plots:
    """The plot of a walk that is being played, if there is one. A contract's own are methods of a subclass."""

    def __init__(self) -> None:
        self.playing: Iterator[Operation] = iter(())

    def next(self) -> Operation | None:
        """The next operation of the plot; None if there is none."""
        return next(self.playing, None)

    def play(self, plot: Callable[[], Iterator[Operation]], otherwise: Make) -> Operation:
        """Begin a plot; if it has nothing to do, an operation is made otherwise."""
        self.playing = plot()
        return self.next() or otherwise()

    def in_turn(self, make: Make) -> Make:
        """Makes the next operation of the plot; if there is no plot, an operation as before."""
        return lambda: self.next() or make()
