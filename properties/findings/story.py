"""A document of a finding as a story: the rule in words, the trace, and the line that replays it."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import zip_longest
from typing import Any

from broker_tck.properties.engine.trace import plain_text
from broker_tck.properties.findings.document import Document
from broker_tck.properties.findings.lines import table


def story(told: Document) -> str:
    """A finding as text."""
    by = f"{told.subject} ({told.profile}; {config_text(told.config)})"
    out = [f"{' or '.join(told.rules)} is broken by {by}", ""]
    for number, sentence, look, source in zip_longest(told.rules, told.sentences, told.looks, told.sources):
        out.append(f"  {number}  {sentence}")
        out += [f"         Look first at: {look}."] if look else []
        out += [f"         Source: {source}."] if source else []
    out += ["", f"  {told.diagnosis}"]
    out += [f"  {told.note}"] if told.note else []
    out += ["", *table(told.lines)]
    out += ["", *(f"  {line}" for line in told.traceback)] if told.traceback else []
    out += ["", f"  {told.replay}"]
    return "\n".join(out)


def config_text(config: Mapping[str, Any]) -> str:
    """A configuration in one line."""
    return " ".join(f"{name}={plain_text(value)}" for name, value in config.items())
