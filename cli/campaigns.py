"""Functions shared by the commands of campaigns: they show how far a campaign is, and what it found."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click
import msgspec

from broker_tck.cli.output import WIDTH, print_json, print_table, progress
from broker_tck.cli.terminal import report_here, width_here
from broker_tck.properties.errors import BadInput, Failed
from broker_tck.properties.report.finding import finding_json
from broker_tck.properties.report.threads import RaceResult
from broker_tck.properties.verdict import BROKEN, CONFORMS, NOT_ENOUGH, STATUS, at_most
from broker_tck.spark_fuzz.driver.campaign import run
from broker_tck.spark_fuzz.driver.manifest import Goal, Manifest, Pair
from broker_tck.spark_fuzz.driver.totals import Totals
from broker_tck.spark_fuzz.executors import Executor
from broker_tck.spark_fuzz.executors.session import cause, need
from broker_tck.spark_fuzz.report.words import counted
from broker_tck.spark_fuzz.store.tables import Store

if TYPE_CHECKING:
    from broker_tck.spark_fuzz.report.stories import Found

SHOWN = 5
"""Maximum number of findings that are printed; the report has all of them."""
BAR = 10


def say(text: str) -> None:
    """Print a line on standard error."""
    click.echo(f"broker-tck: {text}", err=True)


def need_store() -> None:
    """Raise BadInput if a library of the extra ``fuzz`` is missing."""
    need("campaigns", ("pyarrow", "deltalake"), "fuzz")


def opened(where: str) -> Store:
    """Open a store. Raises BadInput if a library that it needs is not installed."""
    need_store()
    return Store(where)


def watched(executor: Executor, store: Store, goal: Goal) -> Totals:
    """Run a campaign and show its progress. If the executor fails, raises Failed with the command that goes on."""
    go_on = f"`broker-tck fuzz resume {store.where}` goes on after the last whole round"
    try:
        with shown(store.manifest, goal) as tell:
            return run(executor, store, goal, tell, say)
    except BadInput:
        raise
    except KeyboardInterrupt:
        say(go_on)
        raise
    except Exception as error:
        raise Failed(f"{error if isinstance(error, Failed) else cause(error)}; {go_on}") from error


@contextmanager
def shown(manifest: Manifest, goal: Goal) -> Iterator[Callable[[Totals], None]]:
    """A progress bar of rounds or seconds, on a terminal."""
    with progress(goal.rounds or goal.seconds, manifest.contract, width=BAR) as tell:
        yield lambda totals: tell(
            totals.rounds if goal.rounds else totals.seconds, "\n".join(", ".join(line) for line in told(totals, goal))
        )


def told(totals: Totals, goal: Goal | None = None) -> list[list[str]]:
    """The progress of a campaign in three short lines."""
    left = totals.left(goal) if goal else None
    rounds = counted(totals.rounds, "round")
    if goal and goal.rounds:
        rounds = f"{totals.rounds:,} of {counted(goal.rounds, 'round')}"
    judged, steps, reached = (f"{totals.sum(name):,} {name}" for name in totals.manifest.counts)
    found = [reached, f"{counted(totals.sum('findings'), 'shape')} of findings"]
    return [
        [rounds] if left is None else [rounds, f"{clock(left)} left"],
        [judged, steps, f"{totals.rate:,.0f}/s"],
        [*found, f"failures < {at_most(totals.failure_bound)}"] if totals.failure_bound < 1 else found,
    ]


def totals_text(totals: Totals) -> str:
    """The progress of a campaign in one line."""
    return ", ".join(part for line in told(totals) for part in line)


def clock(seconds: float) -> str:
    """A duration in words."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def summarize(store: Store, totals: Totals, goal: Goal, as_json: bool) -> int:
    """Print the results of a campaign, and return the exit status."""
    findings = shortest(store)
    over = goal.reached(totals.rounds, totals.seconds)
    vacuous = {pair: totals.vacuous(pair) if over else [] for pair in totals.pairs}
    if as_json:
        print_json(
            {
                **totals_json(totals),
                "findings": [*map(found_json, findings)],
                "vacuous": {n.subject: v for n, v in vacuous.items() if v},
            }
        )
    else:
        print_summary(store, totals, findings, vacuous)
    if findings or totals.unfinished:
        return STATUS[BROKEN]
    return STATUS[NOT_ENOUGH if any(vacuous.values()) else CONFORMS]


def found_json(found: Found) -> dict[str, Any]:
    """A finding as a JSON object."""
    told: dict[str, Any] = msgspec.to_builtins(found) if isinstance(found, RaceResult) else finding_json(found)
    return told


def found_text(found: Found) -> str:
    """A finding as text, for standard output."""
    return found.story(width_here(WIDTH)) if isinstance(found, RaceResult) else report_here(found)


def shortest(store: Store) -> list[Found]:
    """One finding for each subject and rule, the most frequent first."""
    from broker_tck.spark_fuzz.report.grouping import entries
    from broker_tck.spark_fuzz.report.stories import read

    chosen = [entry.common[0].key for entry in entries(store.findings())]
    texts = store.texts(chosen) if chosen else {}
    return [read(texts[key]) for key in chosen]


def print_summary(store: Store, totals: Totals, findings: Sequence[Found], vacuous: dict[Pair, list[str]]) -> None:
    """Print the findings, then the table of the pairs."""
    counts, walked = totals.manifest.counts, not totals.manifest.threads
    for finding in findings[:SHOWN]:
        click.echo(found_text(finding) + "\n")
    if len(findings) > SHOWN:
        click.echo(f"and {len(findings) - SHOWN} more\n")
    rows = []
    for pair, pair_totals in totals.pairs.items():
        of = pair_totals.figures
        rows.append(
            (
                pair.subject,
                pair.profile,
                *(f"{of[name]:,}" for name in (*counts, "failing")),
                *[", ".join(vacuous[pair]) or "-"] * walked,
                "-" if of["failing"] else f"< {at_most(pair_totals.failure_bound)}",
            )
        )
    head = ["subject", "profile", *counts, "failing", *["not exercised"] * walked, "failures"]
    print_table("", head, rows, right=(2, 3, 4, 5, len(head) - 1))
    click.echo(f"\n{totals_text(totals)}")
    if any(vacuous.values()):
        click.echo("some required rules never came up; the report says what to run next")
    if totals.unfinished:
        click.echo(f"{counted(totals.unfinished, 'shard')} could not be finished; the report names them and says why")
    click.echo(f"`broker-tck report {store.where} -o report.html` writes the full report")


def totals_json(totals: Totals) -> dict[str, Any]:
    """The progress and results of a campaign as a JSON object."""
    counts = totals.manifest.counts
    return {
        "contract": totals.manifest.contract,
        "seed": totals.manifest.seed,
        "shards": totals.manifest.shards,
        "rounds": totals.rounds,
        "unfinished": totals.unfinished,
        "seconds": totals.seconds,
        f"{counts.steps}_a_second": round(totals.rate),
        "lanes": [
            {
                "subject": pair.subject,
                "profile": pair.profile,
                **{name: of.figures[name] for name in (counts.judged, counts.steps, "failing", counts.reached)},
                "shapes": of.figures["findings"],
                "met": dict(sorted(of.met.items())),
                "residual": None if of.figures["failing"] else of.failure_bound,
            }
            for pair, of in totals.pairs.items()
        ],
    }
