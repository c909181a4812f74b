"""``fuzz``: campaigns on Spark, begun, resumed, stopped and merged."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from broker_tck.cli.campaigns import conf_option, summarize, watched
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
from broker_tck.properties.engine.subjects import Subject
from broker_tck.properties.errors import BadInput
from broker_tck.properties.isolation.guard import SECONDS
from broker_tck.spark_fuzz.driver.campaign import planned, resumable, stop
from broker_tck.spark_fuzz.driver.driving import check_new, cores, driving, opened, store_at
from broker_tck.spark_fuzz.driver.manifest import Goal, Lane, Manifest
from broker_tck.spark_fuzz.driver.merging import merge
from broker_tck.spark_fuzz.worker.shard import SHARDS_A_CORE

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


ROUNDS = 10
OPERATIONS = 1_000_000
WALK_MEMORY = 512
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
    help="A subject that takes longer for an operation hangs.",
)
@click.option(
    "--walk-memory",
    default=WALK_MEMORY,
    show_default=True,
    type=click.IntRange(16),
    metavar="MIB",
    help="Memory is refused to a subject that wants more.",
)
@seed_option
@master_option
@python_option
@ship_option
@conf_option
@json_option
@click.pass_context
def fuzz_command(
    context: click.Context,
    /,
    contract_name: str | None,
    named: tuple[Subject, ...],
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
    contract = chosen_contract(contract_name, named)
    subjects = chosen_subjects(contract, named)
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


@fuzz_command.command("resume", epilog=RESUME_EXAMPLES)
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


@fuzz_command.command("stop", epilog="\b\nExamples:\n  broker-tck fuzz stop night\n")
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


@fuzz_command.command("merge", epilog="\b\nExamples:\n  broker-tck fuzz merge monday tuesday --into both\n")
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
