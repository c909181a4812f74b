"""Measures the figures on the pages again: ``python docs/figures.py``, or ``tox -e figures``.

A bench fills a table of rows and columns; each figure is a median with its spread. The tables are in ``figures.json``,
and on the pages below marks: ``<!-- figures: NAME -->``. Most figures are ratios of two things that one run measures.
Seconds are those of the processor. They are compared as multiples of a loop in plain Python that the same run measures,
so a faster machine moves no figure.
"""

from __future__ import annotations

import inspect
import json
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any

import click
import generate
from figures_page import FIGURES, Table, benches, number

from broker_tck.bench.drivers import machine_words

Samples = Mapping[str, Mapping[str, Sequence[float]]]
"""The measured values of each figure, by row and column."""
Measure = Callable[[Path], Samples]
"""Measures, and leaves its pictures in the folder."""

TURNS = 3
SEEDS = 20
CURSORS = 10_000
ROUNDS = 3_000
MOST = 1 / 3
"""A figure has moved if it differs by more than this share of its old value."""
YARDSTICK = "ten million turns of a loop"
"""The row that seconds are divided by when they are compared."""
SECONDS = "seconds of a processor"
RATES, BITS = (1, 10, 100, 1_000, 10_000, 100_000), (8, 10)
"""Nacks a second, and the bits of a bucket's width."""


# ---- Commands


def commands(folder: Path) -> Samples:
    """How long commands take. Three minutes."""
    return in_turns(
        folder,
        "--help",
        "subjects",
        "check --subject mutant:strict-rounded-down --fail-fast",
        "check --subject time-bucket",
        "check",
        "walk --subject time-bucket --walks 100",
        "interleave --subject stepwise-queue",
        "compare --subject pip-393-java",
    )


def java(folder: Path) -> Samples:
    """How long commands take that start a Java. Two minutes, with Java 17 and the jars of Pulsar 4.2.4."""
    walk = "walk --subject pulsar-4.2.4/in-memory --profile timebucket-2026 --operations"
    return in_turns(folder, f"{walk} 1", f"{walk} 100000", "check --subject pulsar-4.2.4/in-memory")


def in_turns(folder: Path, *lines: str) -> Samples:
    """The seconds of each command in turns, and those of the yardstick."""
    found: dict[str, list[float]] = {YARDSTICK: [], **{f"`broker-tck {line}`": [] for line in lines}}
    for _ in range(TURNS):
        found[YARDSTICK].append(yardstick())
        for line in lines:
            found[f"`broker-tck {line}`"].append(seconds_of(folder, line))
    return {row: {SECONDS: seconds} for row, seconds in found.items()}


def yardstick() -> float:
    """The seconds that a loop in plain Python takes."""
    began, total = process_time(), 0
    for turn in range(10_000_000):
        total += turn & 3
    return process_time() - began


def seconds_of(folder: Path, line: str) -> float:
    """The seconds of the processor that a command takes, its processes included."""
    before = getrusage(RUSAGE_CHILDREN)
    run(folder, line, most=1)
    after = getrusage(RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def run(folder: Path, line: str, most: int = 0) -> str:
    """What a command prints. ``click.ClickException`` if its exit status is higher than the most."""
    command = [sys.executable, "-m", "broker_tck", *shlex.split(line)]
    done = subprocess.run(command, check=False, cwd=folder, capture_output=True, text=True)
    if done.returncode > most:
        said = (done.stderr or done.stdout).strip().splitlines()[-1:]
        raise click.ClickException(f"broker-tck {line}: exit status {done.returncode}: {' '.join(said)}")
    return done.stdout


def json_of(folder: Path, line: str, most: int = 0) -> Any:
    """What a command prints with ``--json``."""
    return json.loads(run(folder, f"{line} --json", most))


# ---- Contracts


def lives(folder: Path) -> Samples:
    """How many whole lives it takes to show the bug in the heap of cursors. Half a minute."""
    line = "walk --subject pulsar-heap --profile ideal --life whole --walks 1000 --seed"
    found = [json_of(folder, f"{line} {seed}", most=1)["walks"][0] for seed in range(SEEDS)]
    return {
        "walks until one fails": {f"{SEEDS} seeds": [each["walks"] for each in found]},
        "operations of its trace": {f"{SEEDS} seeds": [len(each["findings"][0]["operations"]) for each in found]},
    }


def cursors(folder: Path) -> Samples:
    """How often containers of many cursors compare positions. Ten seconds."""
    table: dict[str, dict[str, list[float]]] = {}
    for row in json_of(folder, "bench cursors")["rows"]:
        if row["cursors"] == CURSORS:
            table.setdefault(f"`{row['container']}`, {row['workload']}", {})[row["operation"]] = [row["comparisons"]]
    return table


def cache(folder: Path) -> Samples:
    """What a policy for each cache costs, beside one queue of removal. A minute."""
    runs = json_of(folder, f"bench cache --rounds {TURNS} --plot cache-passes.svg")["measurements"]
    queues, policies = ([each for each in runs if each["policy"] == p] for p in ("removal-queue", "per-cache-policy"))
    rows: dict[str, Callable[[Any], float]] = {
        "memory": lambda each: each["growth_bytes"],
        "inserting": lambda each: 1 / each["puts_per_second"],
        "a pass that finds a tenth of the entries old": lambda each: each["seconds"][1],
        "a pass for a tenth of the bytes": lambda each: each["seconds"][2],
    }
    pairs = [*zip(policies, queues, strict=True)]
    return {row: {"times as much": [cost(mine) / cost(queue) for mine, queue in pairs]} for row, cost in rows.items()}


def nacks(folder: Path) -> Samples:
    """How many bytes a nack takes. Two minutes."""
    chosen = " ".join(f"--row {rate}-{bits}" for rate in RATES for bits in BITS)
    rows = json_of(folder, f"bench memory --contract negative-acks --plot nacks-memory.svg {chosen}")["rows"]
    table: dict[str, dict[str, list[float]]] = {}
    for row in rows:
        cells = table.setdefault(f"{row['a_second']:,}", {})
        cells[f"k = {row['bits']}"] = [bytes_each(row["buckets"])]
        if row["java_bytes"] is not None:
            cells[f"Java, k = {row['bits']}"] = [row["java_bytes"]]
    return {**table, "any, in the pair map": {"k = 8": [bytes_each(rows[0]["pair_map"])]}}


def bytes_each(measured: Any) -> float:
    """The bytes of a nack."""
    return float(measured["growth_bytes"] / measured["nacks"])


def bucket(folder: Path) -> Samples:
    """What an index in buckets costs, beside one in memory and a heap. An hour, and a gigabyte of disk."""
    found = json_of(folder, "bench bucket --plot bucket-costs.svg")
    plain = next(row for row in found["rows"] if row["name"] == "time-bucket")
    table: dict[str, dict[str, list[float]]] = {}
    for row in found["rows"]:
        column, messages = "in memory" if row is plain else f"{int(row['name']):,} buckets", row["messages"]
        cells: dict[str, Sequence[float]] = {
            "memory, % of a heap's": [
                100 * max(row["resident_bytes"], row["recovered_bytes"] or 0) / found["heap"]["resident_bytes"]
            ],
            "bytes a message, before it is sealed": [row["unsealed_bytes"]],
            "adding, times as long as in memory": [row["adding_seconds"] / plain["adding_seconds"]],
            "handing out, times as long as in memory": [plain["takes_per_second"] / row["takes_per_second"]],
        }
        if row is not plain:
            cells["bytes a message, on disk"] = [row["disk_bytes"] / messages]
            cells["a recovery, times as fast as adding again"] = [
                1_000 * row["adding_seconds"] / row["recovery"][which] for which in ("median", "least", "most")
            ]
        for line, samples in cells.items():
            table.setdefault(line, {})[column] = [*samples]
    return table


def topic(folder: Path) -> Samples:
    """What one index for all subscriptions costs, beside a tracker for each. Half an hour."""
    found = json_of(folder, "bench topic --plot topic-costs.svg")
    table: dict[str, dict[str, list[float]]] = {}
    one = found["shared"][0]
    for shared, each in zip(found["shared"], found["each"], strict=True):
        cells = {
            "bytes a message": shared["held_bytes"] / shared["messages"],
            "memory, times that with one subscription": shared["held_bytes"] / one["held_bytes"],
            "memory, times that of the trackers": shared["held_bytes"] / each["held_bytes"],
        }
        if mine := each["measured"]:
            ours = shared["measured"]
            cells["an add by the last subscription, times as long as a tracker's"] = ratio(ours, mine, "again", "first")
            cells["taking a message, times as long as a tracker's"] = ratio(ours, mine, "take")
        for line, value in cells.items():
            table.setdefault(line, {})[f"{shared['subscriptions']:,}"] = [value]
    return table


def ratio(ours: Any, mine: Any, *names: str) -> float:
    """The ratio of two medians, of the first of these names that was measured."""
    name = next(name for name in names if ours[name])
    return float(ours[name]["median"] / mine[name]["median"])


# ---- Campaigns


def campaign(folder: Path) -> Samples:
    """What campaigns cost. Five minutes, with Java 17 and an idle machine."""
    columns = {
        "operations a processor-second, times one plain process's": "thrift_times",
        "operations a second, times one plain process's": "times",
        "first walk, seconds": "firsts",
        "a campaign of nothing, processor-seconds": "nothings",
    }
    ways = json_of(folder, "bench campaign")["ways"]
    return {way["name"]: {column: way[name] for column, name in columns.items()} for way in ways}


def rounds(folder: Path) -> Samples:
    """What a campaign of many rounds costs its driver. Ten minutes."""
    found = json_of(folder, f"bench rounds --rounds {ROUNDS}")
    return {
        f"{stage['rounds']:,}": {
            "processor-seconds a round": [stage["seconds"]],
            "the driver's memory, MB": [stage["resident"] / 1e6],
            "rows, MB": [stage["live"] / 1e6],
            "whole store, MB": [stage["store"] / 1e6],
            "files": [stage["files"]],
        }
        for stage in found["stages"]
    } | {f"then, opened to {name}": {"processor-seconds a round": [value]} for name, value in found["reading"].items()}


HEADS: dict[Measure, str] = {
    commands: "command",
    java: "command",
    cursors: f"comparisons with {CURSORS:,} cursors",
    lives: "whole lives of `pulsar-heap`",
    cache: "a policy for each cache, beside one queue",
    nacks: "bytes a nack, by nacks a second",
    bucket: "ten million messages",
    topic: "a million messages, by subscriptions",
    campaign: "two cores",
    rounds: "rounds of 2,000 shards",
}
"""Every bench, with the head of its first column; the quick ones first."""
BENCHES = {measure.__name__: measure for measure in HEADS}


# ---- All of them


@click.command(epilog="\b\n" + "\n".join(f"{name:10}{inspect.getdoc(each)}" for name, each in BENCHES.items()))
@click.argument("names", nargs=-1, metavar="[NAME]...", type=click.Choice([*BENCHES]))
@click.option("--check", is_flag=True, help="Write nothing. The exit status is 1 if a figure has moved.")
def main(names: Sequence[str], check: bool) -> None:
    """Measure the figures on the pages again, all or those of the named benches; list those that moved by over a third.

    Without --check, the figures of a bench are written to figures.json when it ends, and the pages in the end.
    """
    moved: list[str] = []
    for name in names or BENCHES:
        click.echo(f"measuring {name}: {inspect.getdoc(BENCHES[name])}")
        with TemporaryDirectory() as folder:
            found = spread(BENCHES[name](Path(folder)))
            moved += moves(name, benches().get(name, {}).get("table", {}), found)
            if not check:
                keep(name, found, Path(folder))
    for line in moved:
        click.echo(line)
    click.echo(f"figures that moved by more than a third: {len(moved)}")
    if not check:
        generate.main()
    sys.exit(check and bool(moved))


def spread(samples: Samples) -> Table:
    """The median of each figure, the least and the most."""
    return {
        row: {column: [round(of(found), 6) for of in (median, min, max)] for column, found in cells.items()}
        for row, cells in samples.items()
    }


def moves(name: str, before: Table, now: Table) -> Iterator[str]:
    """A line for each figure that has moved, is new, or is gone."""
    old, new = middles(before), middles(now)
    for place in dict.fromkeys((*old, *new)):
        was, is_now = old.get(place), new.get(place)
        if was is None or is_now is None or abs(is_now - was) > MOST * was:
            told = ("none" if value is None else number(value) for value in (was, is_now))
            yield f"{name}: {', '.join(place)}: {' -> '.join(told)}"


def middles(table: Table) -> dict[tuple[str, str], float]:
    """The median of each figure by row and column; seconds are in turns of the yardstick, which is left out."""
    unit = table.get(YARDSTICK, {})
    return {
        (row, column): figure[0] / (unit[column][0] if column in unit else 1)
        for row, cells in table.items()
        for column, figure in cells.items()
        if row != YARDSTICK
    }


def keep(name: str, found: Table, folder: Path) -> None:
    """Write what a bench measured, and put its pictures beside the pages."""
    known = benches()
    known[name] = {
        "head": HEADS[BENCHES[name]],
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "machine": machine_words(),
        "table": found,
    }
    ordered = {each: known[each] for each in BENCHES if each in known}
    FIGURES.write_text(json.dumps(ordered, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    for picture in folder.glob("*.svg"):
        shutil.copy(picture, FIGURES.parent)


if __name__ == "__main__":
    main()
