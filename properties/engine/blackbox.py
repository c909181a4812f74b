"""The black box of a guarded process: the trace that its subject is on, in memory that outlives the process.

The process writes down each operation before the subject is asked for it. Whoever guards the process reads how far it
has come, and, once it has ended, on which trace.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any

import msgspec

from broker_tck.properties.engine.operation import Operation, bulk

ROOM = 2**24
"""Maximum bytes of a trace that are kept. The memory is only taken when it is written."""
HEAD = 56
AT, TRACES, DONE, FORKS, TWICE, MADE, BULK = range(7)
"""What the head holds: the end of the trace, below 0 while the subject is asked nothing; how many traces were begun;
how many operations of a walk were; how often the process was forked; how much was written down before a fork that came
back; how many subjects were made; how much the operations of the trace do in bulk."""
WALK = b"walk "
"""A walk's trace is this and its seed."""
DEEPEST = 3
"""So many forks of forks may a subject make: one that comes back in each would make more than a machine can hold."""
MARKED = 32
"""Number of operations after which the progress of a walk is written down."""


class Memory:
    """Shared memory for one guarded process."""

    def __init__(self) -> None:
        shared = memoryview(mmap.mmap(-1, HEAD + 2 * ROOM))
        self.head = shared[:HEAD].cast("q")
        self.body = shared[HEAD : HEAD + ROOM]
        self.forked = shared[HEAD + ROOM :]

    @property
    def place(self) -> tuple[int, ...]:
        """How far the process has come: another value each time that it begins or ends a few operations."""
        return self.head[AT], self.head[TRACES], self.head[DONE], self.head[MADE]

    @property
    def asked(self) -> bool:
        """Whether the subject is being asked for something, or being made."""
        return self.head[AT] > 0

    @property
    def lines(self) -> list[bytes]:
        """The trace: its configuration, then its operations, each as JSON. Empty where none was begun."""
        return bytes(self.body[: abs(self.head[AT])]).splitlines()

    @property
    def lines_twice(self) -> list[bytes]:
        """The trace up to the operation that came back in a second process."""
        return bytes(self.forked[: self.head[TWICE]]).splitlines()


class BlackBox:
    """Writes down what the subject of this process does. It does nothing in a process that is not guarded."""

    def __init__(self) -> None:
        self.memory: Memory | None = None
        self.adapter: Any = None
        """The adapter that was made last. The kit is done with one before it makes the next."""
        self.end = 0
        self.walking = False
        """Whether a walk is being made of which the seed is written down, and not each operation."""
        self.trace = b""
        """What had been written down when this process was forked."""
        self.careful = False
        """Whether each operation of walks is written down as well."""
        self.depth = 0
        """How many forks this process is away from the guarded one."""
        self.limited = False
        """Whether the process may take only so much memory: one that takes more is ended, however it is noticed."""
        self.hooked = False
        """Whether forks are seen already, as in a guarded process that guards others."""
        self.encode = msgspec.json.Encoder().encode

    def install(self, memory: Memory, careful: bool, limited: bool) -> None:
        """Write to this memory from here on; for a process that was forked to be guarded."""
        self.memory, self.adapter, self.depth, self.careful, self.limited = memory, None, 0, careful, limited
        if not self.hooked:
            self.hooked = True
            os.register_at_fork(before=self.forks, after_in_child=self.was_forked)

    def forks(self) -> None:
        """The process is being forked, by its subject."""
        if self.depth >= DEEPEST:
            self.came_back()
        if self.memory:
            self.memory.head[FORKS] += 1
            if not self.depth:
                self.trace = bytes(self.memory.body[: self.end])

    def was_forked(self) -> None:
        """Remember that this process is a fork. It may do anything except return to the kit."""
        self.depth += 1

    def begin(self, config: Any) -> None:
        """A subject is about to be made for a configuration."""
        if self.memory and not self.walking:
            self.adapter, self.end = None, 0
            self.memory.head[TRACES] += 1
            self.memory.head[BULK] = 0
            self.write(config)

    def made(self, adapter: Any) -> None:
        """The subject stands on this adapter."""
        if self.memory:
            self.adapter = adapter
            self.memory.head[MADE] += 1

    def noted(self, operations: Iterable[Operation], adapter: Any) -> Iterable[Operation]:
        """The operations, each written down before it is done, if the subject stands on this adapter."""
        return self.writing(operations) if self.adapter is adapter and self.memory and not self.walking else operations

    def writing(self, operations: Iterable[Operation]) -> Iterator[Operation]:
        """The operations, each written down before it is done if traces may have it."""
        for operation in operations:
            if operation.traced:
                self.write(operation)
            if self.memory:
                self.memory.head[BULK] += bulk([operation])
            yield operation

    def walk(self, seed: int) -> None:
        """A walk is about to be made. Its operations are not written down: whoever knows its seed can make it again."""
        if self.memory and not self.careful:
            self.adapter, self.end, self.walking = None, 0, True
            self.memory.head[TRACES] += 1
            self.memory.head[BULK] = 0
            self.put(b"%s%d\n" % (WALK, seed))

    def marked(self, made: Iterator[Operation], done: Sequence[Operation]) -> Iterator[Operation]:
        """The operations of a walk; how far it is, is written down now and then. ``done`` are those that have begun."""
        if self.walking:
            return chain.from_iterable(self.marking(made, done))
        return self.writing(made) if self.memory else made

    def marking(self, made: Iterator[Operation], done: Sequence[Operation]) -> Iterator[Iterator[Operation]]:
        """The operations, some at a time."""
        before = -1
        while len(done) != before:
            before = len(done)
            if self.depth:
                self.came_back()
            assert self.memory
            self.memory.head[DONE] = before
            yield islice(made, MARKED)

    def write(self, record: Any) -> None:
        """Write down an operation that the subject is about to be asked for."""
        if self.depth:
            self.came_back()
        self.put(self.encode(record) + b"\n")

    def put(self, line: bytes) -> None:
        """Add a line to the trace; not if there is no room for it."""
        assert self.memory
        end = self.end + len(line)
        if end <= ROOM:
            self.memory.body[self.end : end] = line
            self.memory.head[AT] = self.end = end

    def alive(self) -> None:
        """The kit goes on, without the subject."""
        if self.memory:
            self.memory.head[TRACES] += 1

    def resume(self) -> None:
        """The subject is asked for something more on the trace that it is on."""
        if self.memory:
            self.memory.head[AT] = self.end

    def rest(self) -> None:
        """The subject is asked for nothing more for now."""
        if self.memory:
            if self.depth:
                self.came_back()
            self.memory.head[AT] = -self.end
            self.walking = False

    def came_back(self) -> None:
        """End this process, in which a call came back a second time. Whoever guards the first sees it."""
        assert self.memory
        if not self.memory.head[TWICE] or len(self.trace) < self.memory.head[TWICE]:
            self.memory.forked[: len(self.trace)] = self.trace
            self.memory.head[TWICE] = max(1, len(self.trace))
        os._exit(1)


BOX = BlackBox()
"""That of this process."""
