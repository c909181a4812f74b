"""A subject in a program of any language, asked by lines of JSON; docs/protocol.md has the protocol."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from time import monotonic
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from broker_tck.implementations.interface import Hang
from broker_tck.implementations.jvm.jars import FOLDER
from broker_tck.implementations.jvm.unavailable import Unavailable
from broker_tck.implementations.programs import PATIENCE, Program, how_it_ended
from broker_tck.model.reference import UNDEFINED
from broker_tck.properties.engine.answers import Odd, holds, text
from broker_tck.properties.engine.foreseen import ANYTHING
from broker_tck.properties.engine.operation import Operation, Told
from broker_tck.properties.engine.registry import CONTRACTS

EXEC = "exec:"
"""How the name of such a subject begins; the command follows."""
PROTOCOL, TRACE = 1, 1
"""The versions of the protocol, and of the format of traces."""
OPERATIONS, TRACES = "operations", "traces"
"""How a program can be asked: one operation after the other, or for a whole trace at once."""
UNLESS_DECLARED = {"threads": False, "steps": False}
"""The capabilities that a program lacks unless it declares them."""
NEVER = {"shows_kept": False}
"""The capabilities that no program has: they are about objects of Python."""
SHOWN = 80
"""How many characters of a wrong line are shown."""
LAST_LINES = 3
"""How many lines of standard error a message has."""


class Hello(msgspec.Struct, frozen=True):
    """What a program says first."""

    protocol: int
    contract: str
    profiles: Annotated[tuple[str, ...], Meta(min_length=1)]
    """The profiles that it is checked against."""
    capabilities: dict[str, Any] = {}
    """Its capabilities, as far as they are not the defaults."""
    levels: tuple[str, ...] = (OPERATIONS,)
    """How it can be asked."""
    software: str = ""
    """Its name and version."""


class Welcome(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the kit answers to that, once."""

    protocol: int
    level: str = ""
    """How the kit asks; missing if there is an error."""
    error: str = ""
    """Why the kit does not go on, in a line; missing if it does."""


class Header(msgspec.Struct, frozen=True):
    """What a trace begins with: the trace of a file without its steps."""

    version: int
    contract: str
    profile: str
    config: Any


class Failure(msgspec.Struct):
    """The result of an operation that ended with an error."""

    error: Annotated[str, Meta(min_length=1)]
    """The name of the error's class."""
    message: str = ""


class Version(msgspec.Struct):
    """The part of the first line that is read before the rest."""

    protocol: int


class Ended(Exception):
    """The program ended in the middle of a trace."""

    lines: tuple[str, ...] = ()
    """The last ones that it wrote to standard error."""


class Spoken:
    """A program as the factory of a subject: ``Spoken("./my-adapter --flag")``. It is started when it is needed first.

    A process that was forked starts it anew.
    """

    def __init__(self, command: str) -> None:
        self.name = f"{EXEC}{command}"
        self.command = command
        self.program: Program | None = None
        self.welcomed = False
        self.due = 0
        """How many answers to the last trace are due."""

    @property
    def words(self) -> list[str]:
        """The command, word by word; with the files that a campaign has brought where they are now."""
        try:
            words = shlex.split(self.command)
        except ValueError as error:
            raise Unavailable(f"the command cannot be read: {error}") from None
        if not words:
            raise Unavailable(f"a command must follow, such as {EXEC}./my-adapter")
        return [*map(brought, words)]

    def files(self) -> list[Path]:
        """The files that the command names; not a program that is looked for where the system has its own."""
        first, *others = self.words
        return [path for word in (*[first] * ("/" in first), *others) if (path := Path(word)).is_file()]

    # ---- What it declares

    @cached_property
    def hello(self) -> Hello:
        """What it said when it was started first."""
        return self.started()

    @property
    def contract(self) -> str:
        """The name of its contract."""
        return self.hello.contract

    @property
    def profiles(self) -> tuple[str, ...]:
        """The profiles that it is checked against."""
        return self.hello.profiles

    @property
    def capabilities(self) -> dict[str, Any]:
        """Its capabilities, as far as they are not the contract's defaults."""
        declared = {**UNLESS_DECLARED, **self.hello.capabilities, **NEVER}
        known = {*CONTRACTS[self.contract].capabilities.__struct_fields__, *self.hello.capabilities}
        return {name: value for name, value in declared.items() if name in known}

    @cached_property
    def shown(self) -> tuple[bool, ...]:
        """Of each observable, whether it is shown, as the capabilities say."""
        contract = CONTRACTS[self.contract]
        capabilities = contract.capabilities(**self.capabilities)
        needed = map(contract.shown_with.get, contract.observables)
        return tuple(name is None or getattr(capabilities, name) for name in needed)

    @property
    def software(self) -> str:
        """Its name and version, as it says."""
        return self.hello.software

    @property
    def ahead(self) -> bool:
        """Whether it is asked for whole traces."""
        return TRACES in self.hello.levels

    # ---- The conversation

    def started(self) -> Hello:
        """Start the program, and read what it says first. Raises Unavailable if that is not the protocol."""
        if self.program:
            self.program.end()
        self.program, self.welcomed, self.due = Program(self.words), False, 0
        line = self.program.line()
        if line is None:
            raise Unavailable(f"{self.end()} before it said what it is{self.last_words}")
        try:
            if (version := msgspec.json.decode(line, type=Version).protocol) != PROTOCOL:
                raise self.refused(f"it speaks protocol {version}; this kit speaks {PROTOCOL}")
            hello = msgspec.json.decode(line, type=Hello)
        except MALFORMED as error:
            raise self.refused(f"it began with {shown(line)}, {wrong(error)}") from None
        if not {OPERATIONS, TRACES} & {*hello.levels}:
            raise self.refused(f"it offers none of the levels {OPERATIONS} and {TRACES}")
        return hello

    def refused(self, why: str) -> Unavailable:
        """Tell the program why the kit does not go on, and end it; an error that says the same."""
        if self.program and self.program.runs:
            self.program.tell(line_of(Welcome(PROTOCOL, error=why)))
            self.program.end()
        return Unavailable(why)

    def __call__(self, config: Any) -> Piped:
        """The program, at the beginning of a trace."""
        contract = CONTRACTS[self.hello.contract]
        if not (self.program and self.program.runs and self.caught_up(self.program)):
            self.started()
        assert self.program
        if not self.welcomed:
            self.welcomed = True
            self.program.tell(line_of(Welcome(PROTOCOL, TRACES if self.ahead else OPERATIONS)))
        self.program.unsent += line_of(Header(TRACE, contract.name, self.profiles[0], config))
        return Piped(self, self.program, 1 + len(contract.observables))

    def caught_up(self, program: Program) -> bool:
        """Whether it has answered all that it was asked. Nobody waits for the rest of a trace that differs."""
        until = monotonic() + PATIENCE
        while self.due and program.line(until) is not None:
            self.due -= 1
        if program.lines or program.part:
            raise Unavailable(f"it wrote {shown(program.lines[0] if program.lines else program.part)} unasked")
        return not self.due

    def end(self) -> Ended:
        """End the program, which writes no more; an error that says how it ended."""
        assert self.program
        self.program.end()
        status = self.program.status
        name, message = ("Exited", "it closed its standard output") if status is None else how_it_ended(status)
        error: Ended = type(name, (Ended,), {})(message)
        error.lines = self.program.last_lines
        return error

    @property
    def last_words(self) -> str:
        """The last lines of its standard error, as the end of a message."""
        lines = self.program.last_lines[-LAST_LINES:] if self.program else ()
        return f": {' | '.join(map(text, lines))}" if lines else ""


class Piped(Told):
    """A subject in a program, in place of an adapter: the program answers each operation with the whole outcome.

    What is not underlined are names of operations.
    """

    def __init__(self, spoken: Spoken, program: Program, values: int) -> None:
        self.ahead = spoken.ahead
        self._spoken, self._program, self._values = spoken, program, values
        self._operation: Operation | None = None
        self._waiting = False
        self._result: Any = None
        self._observed: tuple[Any, ...] = ()
        self._error: BaseException | None = None

    def asked(self, operations: Iterable[Operation]) -> Iterator[Operation]:
        """The operations, each written to the program before it is asked for the answer."""
        if self.ahead:
            operations = [*operations]
            self._write(operations)
        for operation in operations:
            self._operation, self._waiting = operation, operation.traced
            if not self.ahead:
                self._write((operation,))
            yield operation

    def _write(self, operations: Iterable[Operation]) -> None:
        """Write operations to the program."""
        traced = [operation for operation in operations if operation.traced]
        self._spoken.due += len(traced)
        self._program.tell(ENCODER.encode_lines(traced))

    def answers(self, line: bytes) -> bool:
        """Whether the program's next line is this one. If not, it is still to be read."""
        lines = self._program.lines
        if not (lines or self._program.has_line()) or lines[0] != line:
            return False
        lines.popleft()
        self._spoken.due -= 1
        self._waiting = False
        return True

    def told(self, operation: Operation) -> Any:
        """The result of the operation; none if no trace may have it."""
        if not operation.traced:
            return None
        self.seen()
        if self._error:
            raise self._error
        return self._result

    def __getattr__(self, name: str) -> Any:
        """A method of an adapter, whatever it is called with."""
        return lambda *fields: self.told(self._operation) if self._operation else None

    def seen(self) -> tuple[Any, ...]:
        """The observables after the operation. Raises if the program has ended."""
        if self._waiting:
            self._waiting = False
            self._read()
        if isinstance(self._error, Ended):
            raise self._error
        return self._observed

    def _read(self) -> None:
        """Read the answer to the operation."""
        line = None if isinstance(self._error, Ended) else self._program.line()
        if line is None:
            self._error = self._error if isinstance(self._error, Ended) else self._spoken.end()
            return
        self._spoken.due -= 1
        try:
            answer = msgspec.json.decode(line)
        except MALFORMED as error:
            raise self._misspoken(f"{shown(line)}, {wrong(error)}") from None
        if type(answer) is list and [*map(type, answer)] == [dict]:  # an error alone: no observable can be told
            answer += [None] * (self._values - 1)
        if type(answer) is not list or len(answer) != self._values:
            names = ", ".join(("result", *CONTRACTS[self._spoken.contract].observables))
            raise self._misspoken(f"{shown(line)}; there must be {self._values} values: {names}")
        self._result, *observed = answer
        self._observed = tuple(map(observable, observed, self._spoken.shown))
        try:
            self._error = error_of(self._result) if type(self._result) is dict else None
        except msgspec.ValidationError as error:
            raise self._misspoken(f"{shown(line)}, {wrong(error)}") from None

    def _misspoken(self, what: str) -> Unavailable:
        """An error about an answer that is not of the protocol."""
        assert self._operation
        return Unavailable(f"{self._spoken.name}: it answered {shown(line_of(self._operation))} with {what}")


def brought(word: str) -> str:
    """A word of a command; if it names no file here, the path of that file among those that a campaign has brought."""
    file = Path(os.environ.get(FOLDER, ""), Path(word).name)
    if FOLDER not in os.environ or Path(word).exists() or not file.is_file():
        return word
    if not os.access(file, os.X_OK):  # an archive may have lost that
        file.chmod(0o755)
    return str(file)


MALFORMED = msgspec.MsgspecError, UnicodeDecodeError, RecursionError
ENCODER = msgspec.json.Encoder()


def line_of(message: Any) -> bytes:
    """A message as a line."""
    return ENCODER.encode(message) + b"\n"


def shown(line: bytes) -> str:
    """A line as a message shows it: its beginning."""
    said = line.decode(errors="backslashreplace").rstrip()
    return f"'{said}'" if len(said) <= SHOWN and said.isprintable() else ascii(f"{said[:SHOWN]}…")


def wrong(error: Exception) -> str:
    """What is wrong with a line that cannot be read."""
    if isinstance(error, msgspec.ValidationError):
        return f"which is not of the protocol: {error}"
    return "which is not JSON; standard output belongs to the protocol"


def observable(told: Any, shown: bool) -> Any:
    """An observable as an adapter shows it. A comparison of all stops at what equals numbers and is none."""
    if told == ANYTHING and not shown:
        return UNDEFINED
    return Odd(told) if holds(told, bool, float) else told


def error_of(result: dict[str, Any]) -> BaseException:
    """The error that a program answered with. Raises ValidationError if it is none."""
    failure = msgspec.convert(result, Failure)
    name, message = text(failure.error).replace("\0", "\\0"), text(failure.message)  # no class has a name with \0
    return Hang() if name == "Hang" else type(name, (Exception,), {})(message)
