"""A finding as a typed record, and its failure report: what went wrong, the trace, how sure that is, and the replay.

Reports, JSON documents and the stores of campaigns hold this record.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from textwrap import shorten
from typing import Any

import msgspec

from broker_tck.properties.engine.check import Difference, unanswered
from broker_tck.properties.engine.written import plain_text
from broker_tck.properties.mistakes.book import ABSENT, AS_SPECIFIED
from broker_tck.properties.report.lines import WIDTH, Line, Shown, as_it_is, filled, table

SHORT = 100
"""Maximum length of a diagnosis in the `repr` of a finding."""
WHAT, RULE, REPLAY = "what", "rule", "replay"
"""The parts of a failure report that may have colours."""
FEW = 8
"""Maximum number of items shown of a list in a configuration; the replay command has all of them."""


class Also(msgspec.Struct, frozen=True):
    """Another failure of the same bug: its rule, and what was seen."""

    rule: str
    seen: str


class FindingResult(msgspec.Struct, frozen=True, kw_only=True):
    """A violated rule with its reduced trace. The lists of rules, sentences, looks and sources are side by side."""

    subject: str
    contract: str
    profile: str
    rules: tuple[str, ...]
    """The numbers of the rules, the first most likely; of a relation, its name."""
    sentences: tuple[str, ...]
    looks: tuple[str, ...] = ()
    """What to look at first; empty in results of older campaigns."""
    sources: tuple[str, ...] = ()
    mistakes: tuple[str, ...] = msgspec.field(name="ways")
    """The known mistakes that explain the subject."""
    diagnosis: str
    """What the subject behaves like, in a sentence."""
    config: dict[str, Any]
    operations: tuple[list[Any], ...]
    lines: tuple[Line, ...]
    observed: str
    """What differed at the last operation."""
    expected: Any
    seen: Any
    seed: int | None
    """The seed of the walk that found it; None if no walk did."""
    found_after: int
    """The number of operations of the trace before it was reduced."""
    replay: str
    """The command that replays it."""
    traceback: tuple[str, ...] = ()
    """The lines of the subject's own traceback, if it raised."""
    what: str = ""
    """What went wrong, in a sentence; empty in results of older campaigns."""
    certainty: str = ""
    """How sure the diagnosis is."""
    unfinished: str = ""
    """A note if the reduction reached its limit, with the way to continue it; usually empty."""
    also: tuple[Also, ...] = ()
    """Other failures of the same bug."""
    note: str = ""
    """A note on what is unusual about it, such as a trace that was not reduced; usually empty."""

    @property
    def rule(self) -> str:
        """The number of the rule that is most likely broken, such as ``DD-05``; of a relation, its name."""
        return self.rules[0]

    @property
    def numbers(self) -> tuple[str, ...]:
        """The rules and invariants for which a test fails because of the bug."""
        return tuple(dict.fromkeys([*self.rules, *(each.rule for each in self.also)]))

    @property
    def invariant(self) -> bool:
        """Whether the rule was judged by what was observed, without the model."""
        return not {"--invariant", "--law"}.isdisjoint(shlex.split(self.replay))  # --law in results of older campaigns

    @property
    def trace(self) -> str:
        """The reduced trace as a line of text, times in milliseconds."""
        return shlex.split(self.replay)[-1]

    @property
    def story(self) -> str:
        """The failure report: the rule in words, the trace, and the command that replays it."""
        return story(self)

    @property
    def unanswered(self) -> bool:
        """Whether the subject gave no answer, for example because it hangs or ended its process."""
        return bool(unanswered(Difference(self.observed, self.expected, self.seen)))

    def __repr__(self) -> str:
        return f"<Finding {' or '.join(self.rules)}: {shorten(self.diagnosis, SHORT, placeholder=' …')}>"


def finding_json(finding: FindingResult) -> dict[str, Any]:
    """A finding as a JSON object, with its trace as a table and its failure report."""
    found: dict[str, Any] = msgspec.to_builtins(finding)
    return {**found, "story": table(finding.lines), "text": finding.story}


# ---- As text


def story(told: FindingResult, width: int = WIDTH, shown: Shown = as_it_is) -> str:
    """The failure report of a finding, folded to ``width`` except for its traceback and its replay command.

    ``shown`` formats each part.
    """
    return "\n\n".join("\n".join(lines) for lines in parts(told, width, shown) if lines)


def parts(told: FindingResult, width: int, shown: Shown) -> Iterator[list[str]]:
    """The lines of each part of a failure report."""
    what = told.what or told.diagnosis
    yield [shown(WHAT, "\n".join(filled("", what, width)))]
    yield rules(told, what, width, shown)
    yield table(told.lines, width=width, shown=shown)
    yield [f"  {line}" for line in told.traceback]
    yield notes(told, width)
    yield [shown(REPLAY, f"  {told.replay}")]


def rules(told: FindingResult, what: str, width: int, shown: Shown) -> list[str]:
    """The broken rules, the subject that breaks them, and each rule's sentence unless ``what`` contains it."""
    numbers = " or ".join(told.rules)
    config = f" ({told.profile}; {config_text(told.config)})"
    broken = marked(numbers, filled("", f"{numbers} is broken by {told.subject}{config}", width), shown)
    for number, sentence in zip(told.rules, told.sentences, strict=True):
        if sentence.lower() not in what.lower():
            broken += marked(f"  {number}  ", filled(f"  {number}  ", sentence, width), shown)
    return broken


def marked(label: str, lines: list[str], shown: Shown) -> list[str]:
    """Lines, with the label of the first formatted as a rule, unless the label was folded."""
    first, *others = lines
    return [shown(RULE, label) + first.removeprefix(label), *others] if first.startswith(label) else lines


def notes(told: FindingResult, width: int) -> list[str]:
    """How sure the diagnosis is, what to look at first, and the rule's source."""
    out = filled("  How sure    ", told.certainty, width) if told.certainty else []
    mistakes = "; or ".join(filter(None, map(way_text, told.mistakes)))
    out += filled("  Mistake     ", mistakes, width) if mistakes else []
    several = len(told.rules) > 1
    for number, look, source in zip_longest(told.rules, told.looks, told.sources):
        of = f" ({number})" if several else ""
        out += filled("  Look first  ", f"{look}{of}", width) if look else []
        out += filled("  Source      ", f"{source}{of}", width) if source else []
    for each in told.also[:FEW]:
        out += filled("  Also seen   ", f"{each.rule}: {each.seen}", width)
    out += filled("  Unfinished  ", told.unfinished, width) if told.unfinished else []
    return out + (filled("  Note        ", told.note, width) if told.note else [])


def way_text(mistake: str) -> str:
    """The name of a known mistake, from ``RULE CLAUSE: NAME`` or ``RULE NAME``; empty if the sentence says it."""
    told = mistake.partition(" ")[2]
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
