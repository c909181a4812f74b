"""A table of how many walks find what released bucket trackers do otherwise."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

RELEASES = {"bucket-2025": "4.0.8", "bucket-4.2": "4.2.4", "bucket-5.0": "5.0.1"}
"""The release of each profile."""
FINDS = Path(__file__).with_name("bucket_finds.json")
"""What `python docs/bucket_finds.py` found."""
FROM_NOTHING = """\
Here nobody tells the kit where to look. For each rule that a release breaks, the kit takes the profile of the release
with this rule as specified, and makes random walks of the released class until the class differs. The table says after
how many walks. Several defects above may have the same rule. From its own profile, no class differed in {walks} walks.

A dash means that the profile decides as the specification does, or never has to: 4.0.8, say, does not trim. BD-25 says
little of 4.0.8 and 4.2.4: they have no index that the rule could count, and differ at once."""


def from_nothing() -> Iterator[str]:
    """How many walks find each rule that a release does otherwise."""
    finds = json.loads(FINDS.read_text(encoding="utf-8"))
    found = {release: finds["releases"][release] for release in RELEASES.values()}
    yield from ("", "## Found from nothing", "", FROM_NOTHING.format(walks=finds["agreed"]), "")
    yield f"| rule | {' | '.join(found)} |"
    yield f"| --- |{' ---: |' * len(found)}"
    for rule in sorted({rule for rules in found.values() for rule in rules}):
        cells = (cell(rules, rule, finds["most"]) for rules in found.values())
        yield f"| [{rule}](rules/bucket-delivery.md#{rule.lower()}) | {' | '.join(cells)} |"


def cell(rules: Mapping[str, int | None], rule: str, most: int) -> str:
    """The walks until a rule was found; a dash if it was not looked for."""
    if rule not in rules:
        return "-"
    return f"not in {most} walks" if rules[rule] is None else str(rules[rule])
