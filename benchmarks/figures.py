"""Measures the figures on the pages: ``python benchmarks/figures.py [NAME]...``, or ``tox -e figures``.

A benchmark fills a table of rows and columns; each figure is a median with its spread. The tables are in
``docs/figures.json``, and on the pages below marks: ``<!-- figures: NAME -->``. Most figures are ratios of two things
that one run measures. Seconds are those of the processor. They are compared as multiples of a loop in plain Python
that the same run measures, so a faster machine moves no figure.
"""

from __future__ import annotations

import inspect
import json
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median
from time import process_time
from typing import Any

import click
from bucket_index import bucket
from cursor_containers import SIZES, cursors
from driver_rounds import rounds
from eviction import cache
from measuring import Result, Table
from native_trackers import native
from topic_index import topic
from tracked_memory import memory, nacks

from broker_tck.bench.walks import machine_words

DOCS = Path(__file__).parents[1] / "docs"
sys.path.append(str(DOCS))
import figures_page  # noqa: E402  # from the folder above, which is on the path only now

TURNS = 3
SEEDS = 20
MOST = 1 / 3
"""A figure has moved if it differs by more than this share of its old value."""
YARDSTICK = "ten million turns of a loop"
"""The row that seconds are divided by when they are compared."""
SECONDS = "seconds of a processor"


# ---- Commands


def commands() -> Result:
    """How long commands take. Three minutes."""
    return in_turns(
        "--help",
        "subjects",
        "check --subject mutant:strict-rounded-down --fail-fast",
        "check --subject time-bucket",
        "check",
        "walk --subject time-bucket --walks 100",
        "interleave --subject stepwise-queue",
        "compare --subject pip-393-java",
    )


def java() -> Result:
    """How long commands take that start a Java. Two minutes, with Java 17 and the jars of Pulsar 4.2.4."""
    walk = "walk --subject pulsar-4.2.4/in-memory --profile timebucket-2026 --operations"
    return in_turns(f"{walk} 1", f"{walk} 100000", "check --subject pulsar-4.2.4/in-memory")


def lives() -> Result:
    """How many whole lives it takes to show the bug in the heap of cursors. Half a minute."""
    line = "walk --subject pulsar-heap --profile ideal --workload whole --walks 1000 --json --seed"
    found = [json.loads(run(f"{line} {seed}"))["walks"][0] for seed in range(SEEDS)]
    return Result(
        {
            "walks until one fails": {f"{SEEDS} seeds": [each["walks"] for each in found]},
            "operations of its trace": {f"{SEEDS} seeds": [len(each["findings"][0]["operations"]) for each in found]},
        }
    )


def in_turns(*lines: str) -> Result:
    """The seconds of each command in turns, and those of the yardstick."""
    found: dict[str, list[float]] = {YARDSTICK: [], **{f"`broker-tck {line}`": [] for line in lines}}
    for _ in range(TURNS):
        found[YARDSTICK].append(yardstick())
        for line in lines:
            found[f"`broker-tck {line}`"].append(seconds_of(line))
    return Result({row: {SECONDS: seconds} for row, seconds in found.items()})


def yardstick() -> float:
    """The seconds that a loop in plain Python takes."""
    began, total = process_time(), 0
    for turn in range(10_000_000):
        total += turn & 3
    return process_time() - began


def seconds_of(line: str) -> float:
    """The seconds of the processor that a command takes, its processes included."""
    before = getrusage(RUSAGE_CHILDREN)
    run(line)
    after = getrusage(RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def run(line: str) -> str:
    """What a command prints. ``click.ClickException`` if it could not do its work."""
    command = [sys.executable, "-m", "broker_tck", *shlex.split(line)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode > 1:
        said = (done.stderr or done.stdout).strip().splitlines()[-1:]
        raise click.ClickException(f"broker-tck {line}: exit status {done.returncode}: {' '.join(said)}")
    return done.stdout


def campaign() -> Result:
    """What campaigns cost. Five minutes, with Java 17 and an idle machine."""
    import campaign_costs

    return campaign_costs.campaign()


# ---- All of them

HEADS: dict[Callable[[], Result], str] = {
    commands: "command",
    java: "command",
    cursors: f"comparisons with {SIZES[-1]:,} cursors",
    lives: "whole lives of `pulsar-heap`",
    cache: "a policy for each cache, beside one queue",
    nacks: "bytes a nack, by nacks a second",
    memory: "bytes of ten million messages",
    native: "a million messages held, and what is checked",
    bucket: "ten million messages",
    topic: "a million messages, by subscriptions",
    campaign: "two cores",
    rounds: "rounds of 2,000 shards",
}
"""Every benchmark, with the head of its first column; the quick ones first."""
BENCHES = {measure.__name__: measure for measure in HEADS}
PICTURES = {"bucket": "bucket-costs.svg", "nacks": "nacks-memory.svg", "topic": "topic-costs.svg"}
"""The tables that are drawn as well."""


@click.command(epilog="\b\n" + "\n".join(f"{name:10}{inspect.getdoc(each)}" for name, each in BENCHES.items()))
@click.argument("names", nargs=-1, metavar="[NAME]...", type=click.Choice([*BENCHES]))
@click.option("--check", is_flag=True, help="Write nothing. The exit status is 1 if a figure has moved.")
def main(names: Sequence[str], check: bool) -> None:
    """Measure figures again, all or those of the named benchmarks. List what moved by over a third, and broken claims.

    Without --check, the figures of a benchmark are written to figures.json when it ends, and the pages in the end.
    The exit status is 1 if a claim does not hold.
    """
    moved: list[str] = []
    broken: list[str] = []
    for name in names or BENCHES:
        click.echo(f"measuring {name}: {inspect.getdoc(BENCHES[name])}")
        result = BENCHES[name]()
        found = spread(result.table)
        moved += moves(name, figures_page.benches().get(name, {}).get("table", {}), found)
        broken += [claim.says for claim in result.claims if not claim.holds]
        entry = entry_of(name, found, result.versions)
        click.echo(figures_page.table(entry))
        if not check:
            keep(name, entry)
    for line in moved:
        click.echo(line)
    click.echo(f"figures that moved by more than a third: {len(moved)}")
    for line in broken:
        click.echo(f"does not hold: {line}")
    if not check:
        import generate

        generate.main()
    sys.exit(bool(broken or (check and moved)))


def spread(samples: Table) -> figures_page.Table:
    """The median of each figure, the least and the most."""
    return {
        row: {column: [round(of(found), 6) for of in (median, min, max)] for column, found in cells.items()}
        for row, cells in samples.items()
    }


def moves(name: str, before: figures_page.Table, now: figures_page.Table) -> Iterator[str]:
    """A line for each figure that has moved, is new, or is gone."""
    old, new = middles(before), middles(now)
    for place in dict.fromkeys((*old, *new)):
        was, is_now = old.get(place), new.get(place)
        if was is None or is_now is None or abs(is_now - was) > MOST * was:
            told = ("none" if value is None else figures_page.number(value) for value in (was, is_now))
            yield f"{name}: {', '.join(place)}: {' -> '.join(told)}"


def middles(table: figures_page.Table) -> dict[tuple[str, str], float]:
    """The median of each figure by row and column; seconds are in turns of the yardstick, which is left out."""
    unit = table.get(YARDSTICK, {})
    return {
        (row, column): figure[0] / (unit[column][0] if column in unit else 1)
        for row, cells in table.items()
        for column, figure in cells.items()
        if row != YARDSTICK
    }


def entry_of(name: str, found: figures_page.Table, versions: str = "") -> dict[str, Any]:
    """What figures.json has of a benchmark."""
    return {
        "head": HEADS[BENCHES[name]],
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "machine": ", ".join(filter(None, (machine_words(), versions))),
        "table": found,
    }


def keep(name: str, entry: Mapping[str, Any]) -> None:
    """Write what a benchmark measured, and draw its picture beside the pages."""
    known = {**figures_page.benches(), name: entry}
    ordered = {each: known[each] for each in BENCHES if each in known}
    figures_page.FIGURES.write_text(json.dumps(ordered, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    figures_page.benches.cache_clear()
    if name in PICTURES:
        draw(entry["table"], DOCS / PICTURES[name])


def draw(table: figures_page.Table, path: Path) -> None:
    """Draw a table: a panel for each row, and in it a bar for each column, with its spread."""
    from matplotlib.figure import Figure

    columns = [*dict.fromkeys(column for cells in table.values() for column in cells)]
    figure = Figure(figsize=(9.6, 0.7 + 0.28 * len(columns) * -(-len(table) // 3)), layout="constrained")
    panels = figure.subplots(-(-len(table) // 3), 3, squeeze=False, sharey=True).flat
    for (row, cells), axes in zip(table.items(), panels, strict=False):
        places = [columns.index(column) for column in cells]
        middles, least, most = zip(*cells.values(), strict=True)
        reach = [
            [m - a for m, a in zip(middles, least, strict=True)],
            [b - m for m, b in zip(middles, most, strict=True)],
        ]
        axes.barh(places, middles, 0.6, xerr=reach, color="#0a5bab", ecolor="#555d66")
        axes.set(xscale="log" if max(middles) > 50 * min(middles) else "linear")
        axes.set_title(row, fontsize="small")
        axes.set_yticks(range(len(columns)), columns)
        axes.set_ylim(len(columns) - 0.4, -0.6)
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(alpha=0.25, axis="x")
    for axes in panels:
        axes.set_visible(False)
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    main()
