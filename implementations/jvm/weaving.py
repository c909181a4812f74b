"""Threads of Java's under a scheduler of the kit's: classes with points woven in, and what explores their schedules.

All schedules are run inside of Java; Python gets the histories, each once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from broker_tck.implementations.jvm.errors import guarded
from broker_tck.implementations.jvm.held import read
from broker_tck.implementations.jvm.loader import CLASSES, Loader, path_of
from broker_tck.implementations.jvm.points import Weaver

EXPLORER = "broker_tck.threads.Explorer"
RECYCLER = "io.netty.util.Recycler"
POOLS = (f"{RECYCLER}$Handle", f"{RECYCLER}$EnhancedHandle", f"{RECYCLER}$Pooled", RECYCLER)
"""The kit's own in place of Netty's, where there is Netty."""
ALLOCATOR = "org.apache.pulsar.common.allocator.PulsarByteBufAllocator"
"""The kit's own in place of Pulsar's, which uses Netty."""
NETTY = "io.netty.util.internal.ObjectPool"

Schedule = Sequence[tuple[int, int]]
"""At which points which thread goes on."""
Call = Sequence[Any]
"""A call as an operation stands in a trace: a tag, then its fields."""


class Program(Protocol):
    """Calls of one thread alone, calls of several threads, and calls of one thread after them."""

    @property
    def config(self) -> Mapping[str, Any]:
        """The configuration of the contract."""

    @property
    def before(self) -> Sequence[Call]:
        """Calls of one thread alone."""

    @property
    def threads(self) -> Sequence[Sequence[Call]]:
        """The calls of each thread."""

    @property
    def after(self) -> Sequence[Call]:
        """Calls of one thread, after all threads have ended."""


class Seen(NamedTuple):
    """A history: how many schedules had it, and the first that did, which has the fewest preemptions."""

    text: str
    schedules: int
    schedule: tuple[tuple[int, int], ...]


class Explored(NamedTuple):
    """What came of a program."""

    schedules: int
    points: int
    """Of all schedules together."""
    complete: bool
    """Whether all schedules of so many preemptions were tried."""
    histories: tuple[Seen, ...]


class Passed(NamedTuple):
    """What a thread passed: a point, or the begin or the end of a call."""

    thread: int
    where: str
    """Class, method and line; empty for a call."""
    what: str
    """What was about to happen; ``begins`` or ``ends`` and the number of the call of this thread."""


class WeavingLoader(Loader):
    """Loads classes with points woven in, beside others of their release."""

    def __init__(
        self,
        jpype: Any,
        places: Sequence[Path],
        woven: Sequence[str],
        called_back: bool = False,
        timed: Sequence[str] = (),
    ) -> None:
        """Load the classes of these names. Pools are the kit's for all, and so is what allocates.

        Those that are ``timed`` have no points: the kit only tells them the time.
        """
        super().__init__(jpype, places)
        for name in (*POOLS, ALLOCATOR) if self.has(NETTY) else ():
            self.define((CLASSES / path_of(name)).read_bytes())
        self.weaver = Weaver(jpype, [read(self.code_of(name), jpype) for name in woven], called_back)
        self.woven = {name.replace(".", "/") for name in woven}
        self.hold([*woven, *timed])
        for name in woven:
            self.named(name)

    def changed(self, tree: Any) -> bytes:
        """A class as it is held; the woven ones have points."""
        if str(tree.name) in self.woven:
            self.weaver.weave(tree)
        return super().changed(tree)


class Explorer:
    """Runs programs on objects of a box."""

    def __init__(self, loader: WeavingLoader, box: str, own: str = "") -> None:
        """The box is a class that implements ``broker_tck.threads.Box``; ``own`` is the user's class that it makes."""
        self._jpype, self._sites = loader.jpype, loader.weaver.sites
        self._java: Any = loader.named(EXPLORER)
        self._box, self._own = loader.named(box).class_, own

    def _explorer(self, program: Program) -> Any:
        config = self._jpype.java.util.HashMap()
        for name, value in program.config.items():
            config.put(name, self._value(value))
        if self._own:
            config.put("class", self._own)
        return self._java(self._box, config, *map(self._value, (program.before, program.threads, program.after)))

    def _value(self, value: Any) -> Any:
        """A value of JSON in Java."""
        if isinstance(value, list | tuple):
            return self._jpype.JArray(self._jpype.JObject)([self._value(each) for each in value])
        if isinstance(value, int) and not isinstance(value, bool):
            return self._jpype.java.lang.Long(value)
        return value

    @guarded
    def explore(self, program: Program, preemptions: int, most: int, drawn: int, seed: int) -> Explored:
        """Try all schedules of so many preemptions, ``most`` at most, then so many that are drawn by a seed."""
        explorer = self._explorer(program)
        explorer.explore(preemptions, most, drawn, seed)
        histories = (Seen(str(h.text), int(h.schedules), pairs(h.schedule)) for h in explorer.histories())
        return Explored(int(explorer.schedules), int(explorer.points), bool(explorer.complete), tuple(histories))

    @guarded
    def follow(self, program: Program, schedule: Schedule) -> tuple[str, tuple[Passed, ...]]:
        """Run one schedule: its history, and what each thread passed, in order."""
        explorer = self._explorer(program)
        text = str(explorer.follow(self._jpype.JArray(self._jpype.JInt)([n for pair in schedule for n in pair])))
        return text, tuple(self._passed(thread, site) for thread, site in pairs(explorer.trail))

    def _passed(self, thread: int, site: int) -> Passed:
        if site >= 0:
            return Passed(thread, *self._sites[site])
        call, ends = divmod(-1 - site, 2)
        return Passed(thread, "", f"{'ends' if ends else 'begins'} {call}")


def pairs(numbers: Any) -> tuple[tuple[int, int], ...]:
    """Numbers of Java's, two by two."""
    each = [int(number) for number in numbers]
    return tuple(zip(each[::2], each[1::2], strict=True))
