"""The tables of races on the page of threads, from what the benchmarks of races found: in known and changed classes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from broker_tck.properties.threads.verdict import Promise

RACES = Path(__file__).with_name("races.json")
"""What the benchmarks of races found, by table and by class."""
BLOCK = re.compile(r"<!-- races: ([\w ]+) -->.*?<!-- end of races -->", flags=re.DOTALL)
"""A block of a page, with the name of its table."""
ALONE = "one thread"
"""The verdict on a change that shows without calls that overlap."""
SEARCHES = ("the kit", "Lincheck", "Fray")
"""The searches that are put beside each other."""
PROMISES = {promise.name.lower(): promise.short for promise in Promise}
"""The words of the page for the names of promises."""

Rows = Sequence[Mapping[str, Any]]


def known() -> dict[str, dict[str, Rows]]:
    """The rows of each class, by table."""
    found: dict[str, dict[str, Rows]] = json.loads(RACES.read_text(encoding="utf-8")) if RACES.exists() else {}
    return found


def keep(name: str, kind: str, rows: Rows) -> None:
    """Write the rows of a class."""
    found = known()
    found.setdefault(name, {})[kind] = rows
    RACES.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def filled(page: str) -> str:
    """A page with the tables in its blocks."""
    return BLOCK.sub(lambda mark: f"<!-- races: {mark[1]} -->\n\n{block(mark[1])}\n\n<!-- end of races -->", page)


def block(name: str) -> str:
    """A table, as Markdown."""
    rows = known()[name]
    makers = {"from nothing": from_nothing, "put in": put_in, "beside others": beside_others, "quiet": quiet}
    return "\n".join(makers[name](rows))


def from_nothing(found: Mapping[str, Rows]) -> Iterator[str]:
    """A line for each race and release, then one for each class without a race."""
    yield "| class | release | found | programs | schedules | seconds |"
    yield "| --- | --- | --- | ---: | ---: | ---: |"
    for row in (row for rows in found.values() for row in rows):
        figures = f"{row['programs']:,} | {row['schedules']:,} | {row['seconds']:.1f}"
        yield f"| {row['kind']} | {row['release']} | {row['race'] or 'nothing'} | {figures} |"


def put_in(found: Mapping[str, Rows]) -> Iterator[str]:
    """How many were found, by class; then what was not found, and why; then each that was."""
    yield "| subject | changes | of one thread | races | found | not found |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: |"
    everything = [row for rows in found.values() for row in rows]
    for subject, rows in [*found.items(), ("all", everything)]:
        alone = sum(row["verdict"] == ALONE for row in rows)
        missed = sum(not row["verdict"] for row in rows)
        left = len(rows) - alone
        name = subject if rows is everything else f"`{subject}`"
        yield f"| {name} | {len(rows)} | {alone} | {left} | {left - missed} | {missed} |"
    yield from ("", "Not found:", "", "| change | programs | schedules | why |", "| --- | ---: | ---: | --- |")
    for row in everything:
        if not row["verdict"]:
            yield f"| {changed(row)} | {row['programs']:,} | {row['schedules']:,} | {row['why'] or 'not known'} |"
    yield from ("", "<details><summary>Each race that was found</summary>", "")
    yield from ("| change | promise | programs | schedules | seconds |", "| --- | --- | ---: | ---: | ---: |")
    for row in everything:
        if row["verdict"] not in ("", ALONE):
            figures = f"{row['programs']:,} | {row['schedules']:,} | {row['seconds']:.1f}"
            yield f"| {changed(row)} | {PROMISES[row['verdict']]} | {figures} |"
    yield from ("", "</details>")


def quiet(found: Mapping[str, Rows]) -> Iterator[str]:
    """A line for each class and Java."""
    yield "| class | Java | programs | schedules | histories | found | seconds |"
    yield "| --- | ---: | ---: | ---: | ---: | --- | ---: |"
    for row in (row for rows in found.values() for row in rows):
        figures = " | ".join(f"{row[name]:,}" for name in ("programs", "schedules", "histories"))
        broken = " and ".join(PROMISES[name] for name in row["promises"])
        told = f"{broken}, in {row['failing']} of the programs" if broken else "nothing"
        yield f"| `{row['subject']}` | {row['java']} | {figures} | {told} | {row['seconds']:.0f} |"


def beside_others(found: Mapping[str, Rows]) -> Iterator[str]:
    """How many changes each search found to be races, and how long it took for one; then what only some found."""
    yield f"| subject | changes |{''.join(f' found by {name} | seconds |' for name in SEARCHES)}"
    yield "| --- | ---: |" + " ---: | ---: |" * len(SEARCHES)
    for subject, rows in found.items():
        cells: list[object] = [f"`{subject}`", len(rows)]
        for told in zip(*map(searched, rows), strict=True):
            seconds = [taken for shows, taken in told if shows]
            cells += [len(seconds), spread(seconds)]
        yield f"| {' | '.join(map(str, cells))} |"
    yield from ("", "Found by some of them:", "", f"| change | {' | '.join(SEARCHES)} |", "| --- " * 4 + "|")
    for row in (row for rows in found.values() for row in rows):
        told = searched(row)
        if len({shows for shows, _ in told}) > 1:
            words = [f"{'found' if shows else 'nothing'} in {seconds:.1f} s" for shows, seconds in told]
            yield f"| {changed(row)} | {' | '.join(words)} |"


def searched(row: Mapping[str, Any]) -> list[tuple[bool, float]]:
    """Of each search, whether it found that a change is a race, and its seconds."""
    others = (row["others"][name] for name in ("lincheck", "fray"))
    return [(bool(told), seconds) for told, seconds in [(row["verdict"], row["seconds"]), *others]]


def spread(seconds: Sequence[float]) -> str:
    """The median, and the most."""
    return f"{median(seconds):.1f} (at most {max(seconds):.1f})" if seconds else ""


def changed(row: Mapping[str, Any]) -> str:
    """A change in words."""
    return f"`{row['place']}` {row['what']}"
