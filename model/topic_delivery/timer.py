"""The timer of a topic, with each way in which a tracker may know what was before its clock was set."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product
from typing import NamedTuple

from broker_tck.model.parts.timer import WallTimer
from broker_tck.model.reference import Allowed
from broker_tck.model.rules import rule


class Way(NamedTuple):
    """What a tracker may know of its timer; times as the wall clock shows them."""

    armed: tuple[int, ...]
    timeout: int | None
    cancelled: int | None
    target: int | None
    last_run: int | None
    told: int | None
    steady: bool
    """Whether the tracker counts the time since the last run by a clock that never jumps."""

    def set_by(self, by: int) -> Way:
        """The same after the clock was set."""
        run = self.last_run
        return self._replace(
            armed=tuple(at + by for at in self.armed),
            timeout=None if self.timeout is None else self.timeout + by,
            last_run=run + by if self.steady and run is not None else run,
        )

    def looked_at(self, now: int) -> list[Way]:
        """What the tracker may know once it has seen where its clock was set: it may forget what lies ahead."""
        runs = [self.last_run, *([None] if self.last_run is not None and self.last_run > now else [])]
        told = [self.told, *([None, now] if self.told is not None and self.told > now else [])]
        return [self._replace(last_run=run, told=until) for run, until in product(runs, told)]

    def late(self, now: int) -> list[Way]:
        """The same, and that the timer is to be armed anew, if it is armed for a moment that has passed."""
        return [self, self._replace(target=None)] if self.target is not None and self.target <= now else [self]


class TopicTimer(WallTimer):
    """A timer that knows up to which moment its firings have announced buckets.

    Between a step of the clock and the next firing, a tracker may know its last run in several ways. They lead to
    different timeouts, so the model follows all of them until the subject shows which one is its own.
    """

    def __init__(self, now: int, fired: Callable[[], None] | None = None) -> None:
        super().__init__(now, fired)
        self.told: int | None = None
        """Firings have announced the buckets up to this moment; None: no bucket."""
        self.is_steady = False
        self.was_set = False
        """Whether the clock was set since the last run."""
        self.ways: list[Way] = []
        """The other ways in which the tracker may know its timer since then."""

    @rule("TD-38", source="no report upstream is known", needs="jumps", when=lambda t, told: told > t.reading())
    def announced(self, told: int) -> int | None:
        """If a call finds the clock before a firing, what that firing has announced must be announced again."""
        return told if told <= self.reading() else None

    def look(self) -> None:
        """Look at the clock, which may have been set."""
        if self.told is not None:
            self.told = self.announced(self.told)

    def ran(self) -> None:
        super().ran()
        self.told = self.last_run
        self.is_steady, self.was_set, self.ways = False, False, []

    def jump(self, by: int) -> None:
        if self.last_run is not None and not self.was_set:
            self.ways = [self.way()._replace(steady=True)]
        ways = self.every_way()
        super().jump(by)
        self.was_set = True
        self.keep(each for way in ways for each in way.set_by(by).looked_at(self.now))

    def also_allowed(self, tick: int) -> list[int]:
        return []

    def tell_anew(self) -> None:
        """Firings have announced no bucket."""
        self.told = None
        self.ways = [way._replace(told=None) for way in self.ways]

    # ---- Ways

    def way(self) -> Way:
        """What is known now."""
        steady = self.is_steady
        return Way(tuple(self.armed), self.timeout, self.cancelled, self.target, self.last_run, self.told, steady)

    def go(self, way: Way) -> None:
        """Know this instead."""
        armed, self.timeout, self.cancelled, self.target, self.last_run, self.told, self.is_steady = way
        self.armed = [*armed]

    def keep(self, ways: Iterable[Way]) -> None:
        """These are the other ways, each once."""
        own = self.way()
        self.ways = [way for way in dict.fromkeys(ways) if way != own]

    def after(self, way: Way, update: Callable[[], None]) -> list[Way]:
        """What may be known in a way after an update. A last run that did not count may count later."""
        own = self.way()
        self.go(way)
        update()
        after = self.way()
        self.go(own)
        return [after, after._replace(last_run=way.last_run)]

    def in_each_way(self, update: Callable[[], None]) -> None:
        """Do an update of this timer in each way."""
        ways = self.every_way() if self.was_set else []
        update()
        if ways:
            self.keep(after for way in ways for after in self.after(way, update))

    def every_way(self) -> list[Way]:
        """What may be known before an update, which looks at the clock."""
        looked = [each for way in (self.way(), *self.ways) for each in way.looked_at(self.now)]
        return [late for way in dict.fromkeys(looked) for late in way.late(self.now)]

    def allowed(self, update: Callable[[], None]) -> list[int] | Allowed:
        """The times of all armed timeouts. After a step of the clock, any call may have updated the timer."""
        if not self.was_set:
            return self.armed
        updated = (after for way in self.every_way() for after in self.after(way, update))
        every = dict.fromkeys([self.way(), *self.ways, *updated])
        choices = [[*armed] for armed in dict.fromkeys(way.armed for way in every)]

        def follow(armed: list[int]) -> None:
            own, *others = [way for way in every if [*way.armed] == armed]
            self.go(own)
            self.keep(others)

        return Allowed(choices.__contains__, follow, self.armed, f"one of {choices}")
