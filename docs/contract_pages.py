"""The pages of the contracts: what there is in each, from the code that has it."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator, Mapping
from textwrap import dedent
from typing import Any

import msgspec

from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.engine.edges import Number, numbers_of
from broker_tck.properties.engine.operation import Operation, kinds_of
from broker_tck.properties.engine.subjects import Modelled
from broker_tck.properties.search.replay import declaring

GUIDES: Mapping[str, Mapping[str, str]] = {
    "delayed-delivery": {
        "Plug in a tracker": "tutorial.md",
        "A clock that is set back": "set-clock.md",
        "A tracker that is closed": "closed-tracker.md",
    },
    "negative-acks": {"The clients side by side": "negative-acks.md"},
    "active-cursors": {"The containers side by side": "active-cursors.md", "From a finding to its harm": "r-01.md"},
    "entry-cache": {
        "How eviction works": "entry-cache.md",
        "Reads through the cache": "cache-reads.md",
        "Calls that overlap": "interleavings.md",
        "A buffer that is left": "leaked-entry.md",
        "A read without an answer": "unanswered-read.md",
    },
    "bucket-delivery": {
        "How the tracker survives": "bucket-delivery.md",
        "Defects of released trackers": "bucket-defects.md",
        "Crash points": "crash-points.md",
        "A wakeup that is lost": "lost-wakeup.md",
        "A queue that is overwritten": "overwritten-queue.md",
    },
    "topic-delivery": {
        "How views share an index": "topic-delivery.md",
        "Defects of the branch that it came from": "topic-defects.md",
    },
    "ack-timeout": {"The releases side by side": "ack-timeout.md", "A consumer that is closed": "closed-consumer.md"},
}
"""The pages about each contract that somebody wrote."""


def contract_page(contract: Contract) -> Iterator[str]:
    """The page of one contract."""
    yield from (f"# {contract.name}", "", plain((inspect.getdoc(contract.interface) or "").partition("\n\n")[0]), "")
    known = contract.rules.values()
    yield f"- [{len(known)} rules](../rules/{contract.name}.md), {sum(r.checkable for r in known)} of them checkable"
    yield f"- A subject is made by a factory, called as `{contract.call}`; see [the interface](../interface.md)"
    yield from (f"- [{title}](../{page})" for title, page in GUIDES.get(contract.name, {}).items())
    yield ""
    yield from operations(contract)
    if contract.observables:
        seen = ((f"`{name}`", text) for name, text in contract.observables.items())
        yield from table("What is seen after each operation", ("observable", "what it is"), seen)
    fields = ((f"`{name}`", value, text) for name, value, text in described(contract.config))
    yield from table("Configuration", ("field", "default", "what it is"), fields)
    yield from numbers(contract)
    yield from capabilities(contract)
    profiles = ((f"`{name}`", prose(model), declared(contract, name)) for name, model in contract.profiles.items())
    yield from table("Profiles", ("profile", "what it is", "bundled subjects"), profiles)


def operations(contract: Contract) -> Iterator[str]:
    """The operations, each as it is written in a trace."""
    rows = (
        (f"`{written(kind)}`", prose(kind), f"`{kind.needs}`" if kind.needs else "")
        for kind in kinds_of(contract.operations)
    )
    yield from table("Operations", ("in a trace", "what it does", "needs"), rows)


def written(kind: type[Operation]) -> str:
    """An operation as it is written in a trace, its fields by name; those that have one with their default."""
    defaults = kind.__struct_defaults__
    names = kind.__struct_fields__
    values = dict(zip(names[len(names) - len(defaults) :], map(msgspec.json.encode, defaults), strict=True))
    fields = (f"{name}={values[name].decode()}" if name in values else name for name in names)
    return " ".join((str(kind.__struct_config__.tag), *fields))


def capabilities(contract: Contract) -> Iterator[str]:
    """What a subject may declare to lack, and what is not checked then."""
    rows = [
        (f"`{name}`", value, text, ", ".join(contract.needing(name)))
        for name, value, text in described(contract.capabilities)
    ]
    yield from table("Capabilities", ("capability", "default", "what it says", "rules that need it"), rows)


def numbers(contract: Contract) -> Iterator[str]:
    """The numbers that walks draw at their edges, of the configuration and of operations."""
    able = contract.capabilities()
    given = contract.edges.numbers(able)
    rows = [
        (f"`{n.name}`", *(("as it is made", "") if n.edge.left else (bounds(n), thresholds(n))), n.edge.why)
        for n in (*numbers_of(contract.config, "config", given), *contract.numbers(able))
    ]
    yield from table("Numbers at their edges", ("number", "from, to", "besides", "why"), rows)
    yield from ("See [how walks reach the edges](../how-it-is-built.md#numbers-at-their-edges).", "")


def bounds(number: Number) -> str:
    """The least and the most that is drawn of a number."""
    return f"{power(number.low)}, {power(number.high)}"


def thresholds(number: Number) -> str:
    """Where a number has edges besides those that all numbers have."""
    return ", ".join(map(power, number.edge.thresholds))


def power(value: int) -> str:
    """A number; a power of two, or one beside it, as such where it is large."""
    for by in (0, -1, 1):
        large = abs(value) - by
        if large >= 2**20 and large & (large - 1) == 0:
            exponent = f"2^{large.bit_length() - 1}{f' {chr(45) if by < 0 else chr(43)} 1' if by else ''}"
            return exponent if value > 0 else f"-({exponent})" if by else f"-{exponent}"
    return f"{value:,}"


def declared(contract: Contract, profile: str) -> str:
    """The bundled implementations of a profile, or its model if no implementation declares the profile."""
    found = declaring(contract, profile)
    return ", ".join("its model" if isinstance(each, Modelled) else f"`{each.name}`" for each in found)


def described(record: type[msgspec.Struct]) -> Iterator[tuple[str, str, str]]:
    """The fields of a record, each with its default as JSON and the text below it."""
    default, texts = msgspec.to_builtins(record()), attributes(record)
    for name in record.__struct_fields__:
        yield name, f"`{msgspec.json.encode(default[name]).decode()}`", texts[name]


def attributes(kind: type[Any]) -> dict[str, str]:
    """What is said below each attribute of a class."""
    (found,) = ast.parse(dedent(inspect.getsource(kind))).body
    assert isinstance(found, ast.ClassDef)
    texts = {}
    for field, below in zip(found.body, found.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
            texts[ast.unparse(field.target)] = plain(str(below.value.value))
    return texts


def prose(kind: type[Any]) -> str:
    """The docstring of a class in one line."""
    return plain(inspect.getdoc(kind) or "")


def plain(text: str) -> str:
    """A docstring as Markdown in one line."""
    text = re.sub(r":\w+:`~?(?:[\w.]+\.)?(\w+)`", r"`\1`", text.replace("``", "`"))
    return " ".join(text.split())


def table(title: str, head: tuple[str, ...], rows: Any) -> Iterator[str]:
    """A section with a table."""
    yield from (f"## {title}", "", f"| {' | '.join(head)} |", f"| {' | '.join('---' for _ in head)} |")
    yield from (f"| {' | '.join(cell(part) for part in row)} |" for row in rows)
    yield ""


def cell(text: str) -> str:
    """Text inside a table."""
    return text.replace("|", "\\|")
