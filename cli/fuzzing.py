"""``fuzz`` and ``watch``: campaigns on Spark."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

import click

from broker_tck.cli.options import (
    chosen_contract,
    chosen_profiles,
    chosen_subjects,
    contract_option,
    json_option,
    profile_option,
    seed_option,
    subject_option,
)
from broker_tck.cli.output import print_json, print_table, progress
from broker_tck.properties.errors import BadInput, Failed
from broker_tck.properties.walk import SECONDS
from broker_tck.spark_fuzz.campaign import planned, resumable, run, stop, totals_of
from broker_tck.spark_fuzz.manifest import Goal, Lane, Manifest
from broker_tck.spark_fuzz.merging import merge
from broker_tck.spark_fuzz.session import cause, is_local, java, need_spark, parallelism, session
from broker_tck.spark_fuzz.shard import SHARDS_A_CORE
from broker_tck.spark_fuzz.ship import settings as ship_settings
from broker_tck.spark_fuzz.ship import ship
from broker_tck.spark_fuzz.store import LOG, MANIFEST, Folder, Remote, Store, is_uri
from broker_tck.spark_fuzz.totals import Totals

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROUNDS = 10
OPERATIONS = 1_000_000
WALK_MEMORY = 512
SHOWN = 5
"""So many findings are printed; the report has them all."""
BAR = 10
EVERY = 1.0
"""How often `watch` looks, in seconds."""

FUZZ_EXAMPLES = """\b
Examples:
  broker-tck fuzz --store first
  broker-tck fuzz --store night --seconds 28800 --subject my_package.tracker:MyTracker
  broker-tck fuzz --store night --master spark://host:7077 --ship --shards 64
  broker-tck fuzz resume night --rounds 40
  broker-tck fuzz stop night
  broker-tck fuzz merge monday tuesday --into both
"""

RESUME_EXAMPLES = """\b
Examples:
  broker-tck fuzz resume night
  broker-tck fuzz resume night --rounds 40 --master local[2]
"""

master_option = click.option(
    "--master",
    default="local[*]",
    show_default=True,
    metavar="URL",
    help="Where Spark runs: local[N], or the URL of a cluster's master.",
)
conf_option = click.option(
    "--conf", "confs", multiple=True, metavar="NAME=VALUE", help="A setting of Spark, or of Hadoop. Repeatable."
)
python_option = click.option(
    "--python", metavar="PATH", help="The executors' Python. Default: this one on local masters, else what Spark finds."
)
ship_option = click.option(
    "--ship",
    "shipped",
    is_flag=True,
    help="Send the kit, its libraries, and the subjects' packages and files.",
)
rounds_option = click.option(
    "--rounds",
    type=click.IntRange(1),
    help=f"End after so many rounds in all. Default: {ROUNDS}, without a limit in seconds.",
)
seconds_option = click.option(
    "--seconds", type=click.FloatRange(0, min_open=True), help="End after the round in which so many seconds are over."
)
findings_option = click.option(
    "--until-findings",
    "until",
    type=click.IntRange(1),
    metavar="N",
    help="End after the round in which N findings are known: subjects, and rules that they break.",
)


@click.group(invoke_without_command=True, epilog=FUZZ_EXAMPLES, subcommand_metavar="[resume|stop|merge] …")
@contract_option
@subject_option
@profile_option
@click.option("--store", "where", metavar="DIR", help="A new folder, or a URI that Spark can write.")
@rounds_option
@click.option(
    "--operations",
    default=OPERATIONS,
    show_default=True,
    type=click.IntRange(1),
    help="Operations that a shard makes in a round.",
)
@seconds_option
@findings_option
@click.option("--shards", type=click.IntRange(1, 2**24 - 1), help="Tasks in a round. Default: twice the cores.")
@click.option(
    "--walk-seconds",
    default=SECONDS,
    show_default=True,
    type=click.FloatRange(0.1),
    help="A walk that takes longer hangs.",
)
@click.option(
    "--walk-memory",
    default=WALK_MEMORY,
    show_default=True,
    type=click.IntRange(16),
    metavar="MIB",
    help="Memory is refused to a walk that wants more.",
)
@seed_option
@master_option
@python_option
@ship_option
@conf_option
@json_option
@click.pass_context
def fuzz(
    context: click.Context,
    /,
    contract_name: str | None,
    subject_names: tuple[str, ...],
    profile: str | None,
    where: str | None,
    rounds: int | None,
    operations: int,
    seconds: float | None,
    until: int | None,
    shards: int | None,
    walk_seconds: float,
    walk_memory: int,
    seed: int,
    master: str,
    python: str | None,
    shipped: bool,
    confs: tuple[str, ...],
    as_json: bool,
) -> int | None:
    """Run a campaign: randomized walks, distributed by Spark, round after round.

    Each shard of a round walks every subject, in processes of their own. What a round finds is in the store when the
    round ends; a campaign that was interrupted goes on with `resume`. The exit status is 1 where there is a finding.
    """
    if context.invoked_subcommand:
        return None
    if where is None:
        raise BadInput("--store is missing: say where the campaign's results go, as in `broker-tck fuzz --store first`")
    contract = chosen_contract(contract_name, subject_names)
    subjects = chosen_subjects(contract, subject_names)
    lanes = list(dict.fromkeys(Lane(s.name, p) for s in subjects for p in chosen_profiles(s, profile)))
    goal = Goal(rounds if rounds or seconds else ROUNDS, seconds, until)

    def plan(spark: SparkSession) -> Manifest:
        return planned(
            contract,
            lanes,
            goal,
            seed=seed,
            shards=shards or SHARDS_A_CORE * cores(spark, master),
            operations=operations,
            walk_seconds=walk_seconds,
            walk_memory=walk_memory,
            master=master,
        )

    names = [lane.subject for lane in lanes]
    with driving(where, master, confs, python, names if shipped else None, check_new) as (spark, store):
        store.create(plan(spark))
        totals = watched(spark, store, goal)
        return summarize(store, totals, goal, as_json)


@fuzz.command("resume", epilog=RESUME_EXAMPLES)
@click.argument("where", metavar="STORE")
@rounds_option
@seconds_option
@findings_option
@master_option
@python_option
@ship_option
@conf_option
@json_option
def resume(
    where: str,
    rounds: int | None,
    seconds: float | None,
    until: int | None,
    master: str,
    python: str | None,
    shipped: bool,
    confs: tuple[str, ...],
    as_json: bool,
) -> int:
    """Go on with a campaign after its last whole round, on as many cores as there are now.

    Limits are of the whole campaign. Without any, those that it was started with hold.
    """
    with driving(where, master, confs, python, [] if shipped else None, resumable) as (spark, store):
        manifest = store.manifest
        goal = Goal(rounds, seconds, until) if rounds or seconds or until else manifest.goal
        totals = watched(spark, store, goal)
        return summarize(store, totals, goal, as_json)


@fuzz.command("stop", epilog="\b\nExamples:\n  broker-tck fuzz stop night\n")
@click.argument("where", metavar="STORE")
@conf_option
def stop_command(where: str, confs: tuple[str, ...]) -> None:
    """Have a campaign end after the rounds that have begun."""
    with opened(where, confs) as store:
        stop(store)
        driver = store.driver()
    click.echo(
        f"{where}: {f'{driver} ends after the rounds that have begun' if driver else 'nobody drives this campaign'}"
    )


@fuzz.command("merge", epilog="\b\nExamples:\n  broker-tck fuzz merge monday tuesday --into both\n")
@click.argument("sources", nargs=-1, required=True, metavar="STORE STORE…")
@click.option("--into", required=True, metavar="DIR", help="A new folder, or a URI that Spark can write.")
@conf_option
def merge_command(sources: tuple[str, ...], into: str, confs: tuple[str, ...]) -> None:
    """Merge campaigns of one contract, made with other seeds or subjects, into a new store."""
    if len(sources) < 2:
        raise BadInput("merge takes two stores or more")
    with driving(into, "local[*]", confs, None, None, check_new) as (spark, store):
        merged = merge(spark, [store_at(source, spark) for source in sources], store)
    click.echo(f"{into}: {len(merged.merged)} campaigns, {store.rounds()} rounds")


@click.command("watch", epilog="\b\nExamples:\n  broker-tck watch night\n  broker-tck watch night --json\n")
@click.argument("where", metavar="STORE")
@conf_option
@json_option
def watch(where: str, confs: tuple[str, ...], as_json: bool) -> None:
    """Show how a campaign stands, until its driver ends; once, where this is no terminal."""
    with opened(where, confs) as store:
        totals = totals_of(store)
        if as_json:
            print_json({**totals_json(totals), "driver": store.driver()})
            return
        goal = totals.manifest.goal
        if sys.stderr.isatty():
            with shown(totals.manifest, goal) as tell:
                while store.driver():
                    tell(totals_of(store))
                    Event().wait(EVERY)
            totals = totals_of(store)
        click.echo(f"{where}: {totals_text(totals)}; {store.driver() or 'nobody'} drives it")


# ---- Sessions and stores


@contextmanager
def driving(
    where: str,
    master: str,
    confs: Sequence[str],
    python: str | None,
    shipped: Sequence[str] | None,
    check: Callable[[Store], object],
) -> Iterator[tuple[SparkSession, Store]]:
    """A session and a store that nobody else drives; ``shipped`` are subjects, none for those of the store's campaign.

    ``check`` raises BadInput where the store will not do, as early as it can be looked at.
    """
    need_spark()
    java()
    chosen = dict(map(setting, confs))
    with ExitStack() as stack:
        folder = None if is_uri(where) else Folder(where)
        if folder:
            check(folder)
            stack.enter_context(folder.driven())
        if shipped is not None and not is_local(master):
            to = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="broker-tck-")))
            names = shipped or (folder.manifest.subjects if folder else [])
            chosen = {**ship_settings(ship(names, to)), **chosen}
        log = folder.folder / LOG if folder else None
        spark = stack.enter_context(session(master, chosen, python, log))
        store: Store = folder or Remote(where, spark)
        if not folder:
            check(store)
            stack.enter_context(store.driven())
        yield spark, store


def check_new(store: Store) -> None:
    """BadInput where a store has a campaign already."""
    if store.read_text(MANIFEST) is not None:
        raise BadInput(
            f"{store.where}: holds a campaign already; `broker-tck fuzz resume {store.where}` goes on with it"
        )


@contextmanager
def opened(where: str, confs: Sequence[str] = ()) -> Iterator[Store]:
    """A store to read; the settings are for one that is not a folder."""
    need_spark()
    if not is_uri(where):
        yield Folder(where)
        return
    java()
    with session("local[1]", dict(map(setting, confs)), None, None) as spark:
        yield Remote(where, spark)


def store_at(where: str, spark: SparkSession) -> Store:
    """A store to read, where there is a session."""
    return Remote(where, spark) if is_uri(where) else Folder(where)


def setting(text: str) -> tuple[str, str]:
    """A setting of Spark."""
    name, equals, value = text.partition("=")
    if not equals or not name.startswith("spark."):
        raise BadInput(f"--conf {text}: a setting is written spark.name=value")
    return name, value


def cores(spark: SparkSession, master: str) -> int:
    """How many cores a master has."""
    number = re.match(r"local\[(\d+)", master)
    if number:
        return int(number[1])
    return (os.cpu_count() or 1) if is_local(master) else parallelism(spark)


# ---- What is shown


def watched(spark: SparkSession, store: Store, goal: Goal) -> Totals:
    """Run a campaign with its progress shown. Failed says how to go on where Spark failed."""
    try:
        with shown(store.manifest, goal) as tell:
            return run(spark, store, goal, tell)
    except (BadInput, Failed):
        raise
    except KeyboardInterrupt:
        click.echo(f"broker-tck: `broker-tck fuzz resume {store.where}` goes on after the last whole round", err=True)
        raise
    except Exception as error:
        raise Failed(
            f"{cause(error)}; `broker-tck fuzz resume {store.where}` goes on after the last whole round"
        ) from error


@contextmanager
def shown(manifest: Manifest, goal: Goal) -> Iterator[Callable[[Totals], None]]:
    """A progress bar of rounds or seconds, on a terminal."""
    with progress(goal.rounds or goal.seconds, manifest.contract, BAR) as tell:
        yield lambda totals: tell(
            totals.rounds if goal.rounds else totals.seconds, "\n".join(", ".join(line) for line in told(totals, goal))
        )


def told(totals: Totals, goal: Goal | None = None) -> list[list[str]]:
    """How a campaign stands, in three lines of a few words each."""
    left = totals.left(goal) if goal else None
    rounds = many(totals.rounds, "round")
    if goal and goal.rounds:
        rounds = f"{totals.rounds:,} of {many(goal.rounds, 'round')}"
    found = [f"{totals.sum('states'):,} states", f"{many(totals.sum('findings'), 'shape')} of findings"]
    return [
        [rounds] if left is None else [rounds, f"{clock(left)} left"],
        [f"{totals.sum('walks'):,} walks", f"{totals.sum('operations'):,} operations", f"{totals.rate:,.0f}/s"],
        [*found, f"residual < {totals.residual:.2g}"] if totals.residual < 1 else found,
    ]


def many(count: int, noun: str) -> str:
    """So many of something."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def totals_text(totals: Totals) -> str:
    """How a campaign stands, in one line."""
    return ", ".join(part for line in told(totals) for part in line)


def clock(seconds: float) -> str:
    """A time as people read it."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def summarize(store: Store, totals: Totals, goal: Goal, as_json: bool) -> int:
    """Say what a campaign has come to; answers with the exit status."""
    findings = shortest(store)
    over = goal.reached(totals.rounds, totals.seconds)
    vacuous = {lane: totals.vacuous(lane) if over else [] for lane in totals.lanes}
    if as_json:
        print_json(
            {**totals_json(totals), "findings": findings, "vacuous": {n.subject: v for n, v in vacuous.items() if v}}
        )
    else:
        print_summary(store, totals, findings, vacuous)
    return 1 if findings or any(vacuous.values()) else 0


def shortest(store: Store) -> list[dict[str, Any]]:
    """One finding for each subject and rule, the most frequent first, as JSON."""
    import msgspec

    from broker_tck.spark_fuzz.report.grouping import entries

    chosen = [entry.common[0].key for entry in entries(store.findings())]
    texts = store.texts(chosen) if chosen else {}
    return [msgspec.json.decode(texts[key]) for key in chosen]


def print_summary(
    store: Store, totals: Totals, findings: Sequence[dict[str, Any]], vacuous: dict[Lane, list[str]]
) -> None:
    """Say what was found, then what the campaign is worth."""
    for finding in findings[:SHOWN]:
        click.echo(finding["story"] + "\n")
    if len(findings) > SHOWN:
        click.echo(f"and {len(findings) - SHOWN} more\n")
    rows = []
    for lane, lane_totals in totals.lanes.items():
        of = lane_totals.figures
        rows.append(
            (
                lane.subject,
                lane.profile,
                f"{of['walks']:,}",
                f"{of['operations']:,}",
                f"{of['states']:,}",
                f"{of['failing']:,}",
                ", ".join(vacuous[lane]) or "-",
                "-" if of["failing"] else f"< {lane_totals.residual:.2g}",
            )
        )
    head = ["subject", "profile", "walks", "operations", "states", "failing", "not exercised", "residual"]
    print_table("", head, rows, right=(2, 3, 4, 5, 7))
    click.echo(f"\n{totals_text(totals)}")
    click.echo(f"`broker-tck report {store.where} -o report.html` shows all of it")


def totals_json(totals: Totals) -> dict[str, Any]:
    """How a campaign stands, as JSON."""
    return {
        "contract": totals.manifest.contract,
        "seed": totals.manifest.seed,
        "shards": totals.manifest.shards,
        "rounds": totals.rounds,
        "seconds": totals.seconds,
        "operations_a_second": round(totals.rate),
        "lanes": [
            {
                "subject": lane.subject,
                "profile": lane.profile,
                **{name: of.figures[name] for name in ("walks", "operations", "failing", "states")},
                "shapes": of.figures["findings"],
                "met": dict(sorted(of.met.items())),
                "residual": None if of.figures["failing"] else of.residual,
            }
            for lane, of in totals.lanes.items()
        ],
    }
