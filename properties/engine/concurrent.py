"""What a contract promises of calls that several threads make at the same time.

A call is promised to take effect at one moment between its begin and its end, unless it is a :class:`Call` in steps.
What is observed is promised to be right at rest: when no call is under way.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from broker_tck.properties.engine.operation import Operation

Word = tuple[Any, ...]
"""What a step does, as far as other calls can notice it."""


class Call(Protocol):
    """A call under way that takes effect in steps. Nobody sees them: the judge tries what they may have been."""

    def words(self) -> Sequence[Word]:
        """What its next step may do, its end apart."""

    def step(self, word: Word) -> None:
        """Do that."""

    def ends(self, result: Any) -> bool:
        """Whether it may end now with this result; if so, it has ended."""

    def says(self) -> str:
        """What it may do now, in words."""


class Hint(NamedTuple):
    """A mark that may be late, but must not fall on anything else. It names what broke if only stray marks explain."""

    rule: str
    strays: Callable[[Any], Sequence[int]]
    """What a stray mark could fall on, in a model."""
    stray: Callable[[Any, int], None]
    """Let one fall."""


THREADS = (*((2, 3),) * 5, *((3, 2),) * 2, (4, 1))
"""The number of threads, and the maximum of calls of each: the number of schedules grows fast."""


@dataclass(frozen=True)
class Concurrent:
    """The calls of a contract that threads may make at the same time."""

    fills: tuple[type[Operation], ...]
    """What is done first, before the threads start, so that there is something to meet at."""
    before: tuple[type[Operation], ...]
    """What is done then, before the threads start."""
    calls: tuple[type[Operation], ...]
    """What a thread may call, more often what stands here more often. What :attr:`steps` does not name takes effect at
    one moment."""
    opening: tuple[Operation, ...] = field(default=(), kw_only=True)
    """What every program begins with."""
    threads: tuple[tuple[int, int], ...] = field(default=THREADS, kw_only=True)
    """How many threads a program may have, each as likely, and how many calls each of them makes at most."""
    most: tuple[int, int] = field(default=(4, 5), kw_only=True)
    """Maximum number of operations before the threads start: of those that fill, and of all kinds after them."""
    ready: Callable[[Any], Iterable[Operation]] | None = field(default=None, kw_only=True)
    """What is done between the two in most programs, given the model then."""
    of_one: tuple[type[Operation], ...] = field(default=(), kw_only=True)
    """Those of the calls that one thread alone makes, such as the timer's."""
    last: Operation | None = field(default=None, kw_only=True)
    """What ends the object: the last call of one of two threads."""
    beside: tuple[type[Operation], ...] = field(default=(), kw_only=True)
    """What the other thread calls if there is a :attr:`last` call."""
    rest: Callable[[Any, Sequence[Operation]], Iterable[Operation]]
    """What is asked when all threads have ended, given the model before they start and all operations so far."""
    steps: Mapping[type[Operation], Callable[[Any, Operation, int], Call]] = field(default_factory=dict)
    """How calls go in steps: given the model, the operation and the thread."""
    fingerprint: Callable[[Any], Hashable] | None = None
    """All of a model's state that matters to what may come, with how far each call under way is; None: it is not known.

    It need not say which calls these are, and with what they were called: the judge knows.
    """
    hint: Hint | None = None
    fits: Callable[[Operation, Any, Any], bool] = lambda operation, model, capabilities: True
    """Whether an operation may be in a program, given the model and the capabilities, whatever other threads do."""
    happens: Callable[[Operation], bool] = lambda operation: True
    """Whether an operation can meet the others in a broker: a race that is made shorter keeps to it, too."""
    config: Callable[[Any], Any] = lambda config: config
    """The configuration of a program, given that of a walk."""

    @property
    def able(self) -> tuple[type[Operation], ...]:
        """All that a thread may call, what ends the object included."""
        return (*dict.fromkeys(self.calls), *([type(self.last)] if self.last else []))
