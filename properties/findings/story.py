"""A document of a finding as a story: what went wrong, the trace, how sure that is, and the line that replays it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from broker_tck.properties.engine.written import plain_text
from broker_tck.properties.findings.lines import WIDTH, Shown, as_it_is, filled, table
from broker_tck.properties.mistakes.book import ABSENT, AS_SPECIFIED

if TYPE_CHECKING:
    from broker_tck.properties.findings.document import Document

WHAT, RULE, REPLAY = "what", "rule", "replay"
"""What a part of a story is, for those who show parts in colours of their own."""
FEW = 8
"""Of a longer list in a configuration so many are told; the line that replays it has them all."""


def story(told: Document, width: int = WIDTH, shown: Shown = as_it_is) -> str:
    """A finding as text, so wide at most, but for the line that replays it and what the subject raised.

    ``shown`` makes of a part and its text what is printed.
    """
    return "\n\n".join("\n".join(lines) for lines in parts(told, width, shown) if lines)


def parts(told: Document, width: int, shown: Shown) -> Iterator[list[str]]:
    """The lines of each part of a story."""
    what = told.what or told.diagnosis
    yield [shown(WHAT, "\n".join(filled("", what, width)))]
    yield rules(told, what, width, shown)
    yield table(told.lines, width=width, shown=shown)
    yield [f"  {line}" for line in told.traceback]
    yield notes(told, width)
    yield [shown(REPLAY, f"  {told.replay}")]


def rules(told: Document, what: str, width: int, shown: Shown) -> list[str]:
    """Which rules are broken, by whom, and what they say, unless ``what`` says so."""
    numbers = " or ".join(told.rules)
    config = f" ({told.profile}; {config_text(told.config)})"
    broken = marked(numbers, filled("", f"{numbers} is broken by {told.subject}{config}", width), shown)
    for number, sentence in zip(told.rules, told.sentences, strict=True):
        if sentence.lower() not in what.lower():
            broken += marked(f"  {number}  ", filled(f"  {number}  ", sentence, width), shown)
    return broken


def marked(label: str, lines: list[str], shown: Shown) -> list[str]:
    """Lines, with the label that the first begins with shown as a rule; it stays as it is if it was folded."""
    first, *others = lines
    return [shown(RULE, label) + first.removeprefix(label), *others] if first.startswith(label) else lines


def notes(told: Document, width: int) -> list[str]:
    """How sure the diagnosis is, what to look at first, and where the rule is from."""
    out = filled("  How sure    ", told.certainty, width) if told.certainty else []
    ways = "; or ".join(filter(None, map(way_text, told.ways)))
    out += filled("  Wrong way   ", ways, width) if ways else []
    several = len(told.rules) > 1
    for number, look, source in zip_longest(told.rules, told.looks, told.sources):
        of = f" ({number})" if several else ""
        out += filled("  Look first  ", f"{look}{of}", width) if look else []
        out += filled("  Source      ", f"{source}{of}", width) if source else []
    for each in told.also[:FEW]:
        out += filled("  Also seen   ", f"{each.rule}: {each.seen}", width)
    out += filled("  Unfinished  ", told.unfinished, width) if told.unfinished else []
    return out + (filled("  Note        ", told.note, width) if told.note else [])


def way_text(way: str) -> str:
    """A wrong way by name, out of ``RULE CLAUSE: WAY`` or ``RULE WAY``; nothing where the sentence says it."""
    told = way.partition(" ")[2]
    clause, _, name = told.rpartition(": ")
    if name in (ABSENT, AS_SPECIFIED):
        return ""
    return f"{name.replace('_', ' ')} ({clause})" if clause and " " not in clause else told


def config_text(config: Mapping[str, Any]) -> str:
    """A configuration in one line, long lists cut."""
    return " ".join(f"{name}={field_text(value)}" for name, value in config.items())


def field_text(value: Any) -> str:
    """A field of a configuration; of a long list the first few."""
    if isinstance(value, list | tuple) and len(value) > FEW:
        return f"[{','.join(map(plain_text, value[:FEW]))},… {len(value)} in all]"
    return plain_text(value)
