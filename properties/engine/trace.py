"""Traces: a configuration and a list of operations, with or without outcomes, as JSON lines or as one line of text.

In JSON a trace is ``{"version": 1, "contract", "profile", "config", "steps"}``; a step is an operation,
``["add", 1, 0, 1700000002000]``, or an operation with its outcome, ``[["add", 1, 0, 1700000002000], true, 1, [..]]``:
the result and then each of the contract's observables.

The text of the same is ``contract profile field=value …; operation; operation -> [outcome]``. What is left out of the
first part has its default. A time may be written from the clock at the start: ``add 1 0 +2000``. Fields may have their
names: ``add ledger=1 entry=0 at=+2000``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from broker_tck.implementations.naming import unknown
from broker_tck.implementations.reachable import barred
from broker_tck.properties.engine.answers import plain
from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.engine.operation import TIME, Operation, by_tag, clock_of, kinds_of, marked
from broker_tck.properties.engine.registry import CONTRACTS
from broker_tck.properties.engine.subjects import contract_named
from broker_tck.properties.engine.walk import Walk
from broker_tck.properties.engine.wanted import malformed, refusal
from broker_tck.properties.engine.written import in_order, operation_text, plain_text, short
from broker_tck.properties.errors import BadInput

VERSION = 1
ARROW = "->"
MARK = "\ufeff"
"""What some editors put before a text in UTF-8."""


@dataclass(frozen=True)
class Trace:
    """A configuration and operations; ``outcomes`` has a result and the observables for each, or None."""

    contract: Contract
    profile: str
    config: Any
    operations: Sequence[Operation]
    outcomes: Sequence[list[Any] | None]
    where: str = ""
    name: str = ""
    """Its author's name for it."""

    @property
    def walk(self) -> Walk:
        """Its operations as a walk without a seed, of which it is not known whether it fails."""
        return Walk(None, self.config, [*self.operations], None)


class Record(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A line of a trace file, its parts not yet looked into."""

    version: int
    contract: str
    profile: str
    config: dict[str, Any]
    steps: list[list[Any]]
    name: str = ""


def load(source: str) -> list[Trace]:
    """The traces in a file, on standard input (``-``), or in a line of text. Raises BadInput with the place."""
    if is_text(source):
        return [from_text(source)]
    if source != "-" and (why := barred(source)):
        raise BadInput(f"{short(source)}: {why}")
    if source != "-" and not exists(source):
        raise BadInput(f"{short(source)!r}: no such file, and not the text of a trace ('add 1 0 +2000; get 1')")
    where = "standard input" if source == "-" else source
    try:
        with nullcontext(sys.stdin) if source == "-" else Path(source).open(encoding="utf-8") as lines:
            return list(from_lines(lines, where))
    except UnicodeDecodeError:
        raise BadInput(f"{where}: not UTF-8 text, so not a trace; traces are JSON lines") from None
    except OSError as error:
        raise BadInput(f"{where}: cannot be read: {error.strerror}") from None


class Head(msgspec.Struct):
    """The part of a trace that is read if only its profile is needed."""

    profile: str


def profile_in(path: Path) -> str:
    """The profile of the first trace in a file."""
    with path.open(encoding="utf-8") as lines:
        return msgspec.json.decode(next(lines), type=Head).profile


def is_text(source: str) -> bool:
    """Whether this is the text of a trace rather than the name of a file."""
    first = source.replace(";", " ").split()[:1]
    return bool(first) and (first[0] in CONTRACTS or (not exists(source) and is_tag(first[0])))


def exists(name: str) -> bool:
    """Whether there is a file with this name; a name that is too long has none."""
    try:
        return bool(name) and Path(name).exists()
    except OSError:
        return False


def is_tag(word: str) -> bool:
    """Whether an operation of some contract has this tag. Contracts are asked in turn, until one has it."""
    return any(word == kind.__struct_config__.tag for c in CONTRACTS.values() for kind in kinds_of(c.operations))


def from_lines(lines: Any, where: str) -> Iterator[Trace]:
    """The traces of JSON lines; blank lines are skipped."""
    found = False
    for number, read in enumerate(lines, 1):
        line = read.removeprefix(MARK) if number == 1 else read
        if line.strip():
            found = True
            yield from_json(line, f"{where}:{number}")
    if not found:
        raise BadInput(f"{where}: empty; a trace file has one JSON object on each line")


def from_json(line: str, where: str) -> Trace:
    """The trace of one JSON line."""
    try:
        record = msgspec.json.decode(line, type=Record)
    except msgspec.ValidationError as error:
        raise BadInput(f"{where}: not a trace: {refusal(error, Record, parts_of(line))}") from None
    except (msgspec.DecodeError, RecursionError) as error:
        raise BadInput(f"{where}: {malformed(line, error)}") from None
    if record.version != VERSION:
        raise BadInput(f"{where}: a trace of version {record.version}; this kit reads version {VERSION}")
    if record.contract not in CONTRACTS:
        raise BadInput(f"{where}: {unknown('contract', record.contract, CONTRACTS)}")
    trace = made(contract_named(record.contract), record.profile, record.config, record.steps, where, strict=True)
    return replace(trace, name=record.name)


def parts_of(line: str) -> dict[str, Any]:
    """The parts of a JSON line; empty if it is no JSON object."""
    parts = msgspec.json.decode(line)
    return parts if isinstance(parts, dict) else {}


def made(contract: Contract, profile: str, config: Any, steps: Sequence[Any], where: str, strict: bool) -> Trace:
    """A trace out of its parts, each step still an array."""
    try:
        profile = contract.model(profile).PROFILE
    except ValueError as error:
        raise BadInput(f"{where}: {error}") from None
    for name in config:
        if name not in contract.config.__struct_fields__:
            raise BadInput(f"{where}: config: {unknown('field', name, contract.config.__struct_fields__)}")
    try:
        configured = msgspec.convert(config, contract.config, strict=strict)
    except msgspec.ValidationError as error:
        raise BadInput(f"{where}: config: {refusal(error, contract.config, config, not strict)}") from None
    operations, outcomes = [], []
    for number, step in enumerate(steps, 1):
        with_outcome = bool(step) and isinstance(step[0], list)
        operation = step[0] if with_outcome else step
        outcome = list(step[1:]) if with_outcome else None
        if outcome is not None and len(outcome) != 1 + len(contract.observables):
            expected = ", ".join(("result", *contract.observables))
            raise BadInput(f"{where}: step {number}: {len(outcome)} outcomes; there must be: {expected}")
        operations.append(operation_of(contract, operation, f"{where}: step {number}", strict))
        outcomes.append(outcome)
    return Trace(contract, profile, configured, operations, outcomes, where)


def operation_of(contract: Contract, array: list[Any], where: str, strict: bool) -> Operation:
    """The operation that an array is."""
    known = by_tag(contract.operations)
    name = array[0] if array else ""
    if not isinstance(name, str) or name not in known:
        raise BadInput(f"{where}: {unknown('operation', name, known)}")
    kind = known[array[0]]
    fields = kind.__struct_fields__
    least = len(fields) - len(kind.__struct_defaults__)
    if not least < len(array) <= 1 + len(fields):
        takes = f"{least} to {len(fields)}" if least < len(fields) else len(fields)
        raise BadInput(f"{where}: {array[0]} takes {takes} fields ({' '.join(fields) or 'none'}), not {len(array) - 1}")
    try:
        operation: Operation = msgspec.convert(array, kind, strict=strict)
    except msgspec.ValidationError as error:
        values = dict(zip(fields, array[1:], strict=False))
        raise BadInput(f"{where}: {array[0]}: {refusal(error, kind, values, not strict)}") from None
    return operation


# ---- One line of text


def from_text(text: str, where: str = "text") -> Trace:
    """The trace of one line of text."""
    parts = [part.strip() for part in text.replace("\n", ";").split(";")]
    parts = [part for part in parts if part]
    contract, profile = next(iter(CONTRACTS.values())), ""
    config: dict[str, Any] = {}
    if parts and parts[0].split()[0] in CONTRACTS:
        contract, profile, config = header(parts.pop(0), where)
    clock = config.get("clock", clock_of(contract.config()) or 0)
    if not str(clock).isdecimal():
        raise BadInput(f"{where}: config: the clock is in milliseconds, not {clock!r}")
    steps = [step_of(contract, part, clock, f"{where}: step {i}") for i, part in enumerate(parts, 1)]
    return made(contract, profile or contract.default, config, steps, where, strict=False)


def header(part: str, where: str) -> tuple[Contract, str, dict[str, Any]]:
    """Contract, profile and configuration out of the first part."""
    name, *words = part.split()
    contract = contract_named(name)
    profile = words.pop(0) if words and "=" not in words[0] else contract.default
    for word in words:
        if "=" not in word:
            fields = ", ".join(contract.config.__struct_fields__)
            raise BadInput(f"{where}: {word!r} is not field=value; the fields are: {fields}")
    config: dict[str, Any] = {}
    for name, _, value in (word.partition("=") for word in words):
        if name in config:
            raise BadInput(f"{where}: config: {name} is given twice, as {config[name]} and as {value}")
        config[name] = listed(value)
    return contract, profile, config


def listed(text: str) -> Any:
    """A value as it is written; a list, such as of delays, is taken apart."""
    if not text.startswith("["):
        return text
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text


def step_of(contract: Contract, part: str, clock: Any, where: str) -> list[Any]:
    """A step as an array, times counted from the clock made absolute."""
    written, _, outcome = part.partition(ARROW)
    said = written.split()
    kind = next((o for o in kinds_of(contract.operations) if said and o.__struct_config__.tag == said[0]), None)
    words: list[Any] = [*map(listed, in_order(said, kind) if kind else said)]
    times = marked(kind, TIME) if kind else ()
    for i, field in enumerate(kind.__struct_fields__ if kind else (), 1):
        if i < len(words) and field in times and isinstance(words[i], str) and words[i].startswith("+"):
            try:
                words[i] = int(clock) + int(words[i])
            except ValueError:
                raise BadInput(
                    f"{where}: {short(words[i])!r} is not a time; write milliseconds, or +milliseconds"
                ) from None
    if not outcome.strip():
        return words
    try:
        return [words, *msgspec.json.decode(outcome, type=list[Any])]
    except msgspec.DecodeError:
        raise BadInput(f"{where}: after {ARROW} there must be a JSON array: the result and the observables") from None


def to_text(contract: Contract, profile: str, config: Any, operations: Sequence[Operation]) -> str:
    """The line of text of a trace; fields with their default are left out."""
    default = contract.config()
    fields = [
        f"{name}={plain_text(getattr(config, name))}"
        for name in config.__struct_fields__
        if getattr(config, name) != getattr(default, name)
    ]
    clock = clock_of(config)
    return "; ".join([" ".join([contract.name, profile, *fields]), *(operation_text(o, clock) for o in operations)])


def to_json(trace: Trace) -> str:
    """The JSON line of a trace."""
    steps = [
        msgspec.to_builtins(operation) if outcome is None else [msgspec.to_builtins(operation), *outcome]
        for operation, outcome in zip(trace.operations, trace.outcomes, strict=True)
    ]
    config = msgspec.to_builtins(trace.config)
    record = Record(VERSION, trace.contract.name, trace.profile, config, steps, trace.name)
    return msgspec.json.encode(record, enc_hook=plain).decode()
