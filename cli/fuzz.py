"""``fuzz``: starts, resumes, stops and merges campaigns."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial, wraps
from pathlib import Path
from typing import Any

import click

from broker_tck.cli.campaigns import need_store, opened, say, summarize, watched
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
from broker_tck.cli.threads import budget_options
from broker_tck.implementations.jvm.subject import JavaFactory
from broker_tck.properties.engine.subjects import Subject
from broker_tck.properties.errors import BadInput
from broker_tck.properties.search.isolation.guard import SECONDS
from broker_tck.properties.threads.program import promised
from broker_tck.properties.threads.search import Budget
from broker_tck.spark_fuzz.driver.campaign import planned, resumable, stop
from broker_tck.spark_fuzz.driver.manifest import Goal, Pair
from broker_tck.spark_fuzz.driver.merging import merge
from broker_tck.spark_fuzz.driver.sizes import OPERATIONS, PROGRAMS, SHARD_PROGRAMS, sizes
from broker_tck.spark_fuzz.executors import PROCESSES, SPARK
from broker_tck.spark_fuzz.executors.choosing import MASTER, Choice, executor
from broker_tck.spark_fuzz.executors.session import need_spark

WALK_MEMORY = 512
FUZZ_EXAMPLES = """\b
Examples:
  broker-tck fuzz --store first
  broker-tck fuzz --plan --operations 1000000000
  broker-tck fuzz --store night --seconds 28800 --subject my_package.tracker:MyTracker
  broker-tck fuzz --store races --threads --subject pulsar-5.0.1/range-cache --programs 100000
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


EXECUTOR_OPTIONS = (
    click.option(
        "--executor",
        type=click.Choice([SPARK, PROCESSES]),
        help="What runs the shards. Default: spark; processes of this machine if PySpark or Java is missing.",
    ),
    click.option(
        "--processes",
        type=click.IntRange(1),
        help="Number of processes of this machine that run the shards. Default: one for each core.",
    ),
    click.option(
        "--master", metavar="URL", help=f"The Spark master: local[N], or the URL of a cluster. Default: {MASTER}."
    ),
    click.option("--remote", metavar="URL", help="The Spark Connect server that runs the shards: sc://host:port."),
    click.option(
        "--python", metavar="PATH", help="The executors' Python. Default: this Python on local masters, else Spark's."
    ),
    click.option(
        "--ship",
        "shipped",
        is_flag=True,
        help="Send the kit, its libraries, and the subjects' packages and files to the executors.",
    ),
    click.option(
        "--archive", metavar="URI", help="An archive written by `fuzz archive`, at a place that all executors can read."
    ),
    click.option("--conf", "confs", multiple=True, metavar="NAME=VALUE", help="A setting of Spark. Repeatable."),
)


def executor_options(command: Any) -> Any:
    """Give a command the options that choose its executor, as one argument ``choice``."""

    @wraps(command)
    def chosen(*arguments: Any, **options: Any) -> Any:
        choice = Choice(**{name: options.pop(name) for name in Choice._fields})
        return command(*arguments, choice=choice, **options)

    for option in reversed(EXECUTOR_OPTIONS):
        chosen = option(chosen)
    return chosen


rounds_option = click.option(
    "--rounds",
    type=click.IntRange(1),
    help="End when the campaign has this many rounds.",
)


seconds_option = click.option(
    "--seconds",
    type=click.FloatRange(0, min_open=True),
    help="End after the first round that ends later than this many seconds.",
)


findings_option = click.option(
    "--until-findings",
    "until",
    type=click.IntRange(1),
    metavar="N",
    help="End after the round with the Nth finding. A finding is a subject and a rule, or promise, that it breaks.",
)


@click.group(invoke_without_command=True, epilog=FUZZ_EXAMPLES, subcommand_metavar="[resume|stop|merge|archive] …")
@contract_option
@subject_option
@profile_option
@click.option("--store", "where", metavar="DIR", help="A new folder, or a URI such as s3://bucket/night.")
@click.option(
    "--operations",
    type=click.IntRange(1),
    help=f"End after about this many operations. Default: {OPERATIONS:,}; no limit with --seconds or --until-findings.",
)
@click.option(
    "--threads",
    is_flag=True,
    help=f"Search races of released Java classes, as `threads` does. Default: {PROGRAMS:,} programs for each subject.",
)
@budget_options
@rounds_option
@seconds_option
@findings_option
@click.option(
    "--shards", type=click.IntRange(1, 2**24 - 1), help="Shards in each round. Default: about as many as rounds."
)
@click.option(
    "--walk-seconds",
    default=SECONDS,
    show_default=True,
    type=click.FloatRange(0.1),
    help="Seconds after which an operation counts as a hang.",
)
@click.option(
    "--walk-memory",
    default=WALK_MEMORY,
    show_default=True,
    type=click.IntRange(16),
    metavar="MIB",
    help="MiB by which the process of a subject may grow; more counts as a failure.",
)
@click.option(
    "--plan",
    "plan_only",
    is_flag=True,
    help="Measure for a few seconds, print how long the campaign would take, and write nothing.",
)
@seed_option
@executor_options
@json_option
@click.pass_context
def fuzz_command(
    context: click.Context,
    /,
    contract_name: str | None,
    named: tuple[Subject, ...],
    profile: str | None,
    where: str | None,
    operations: int | None,
    threads: bool,
    budget: Budget,
    rounds: int | None,
    seconds: float | None,
    until: int | None,
    shards: int | None,
    walk_seconds: float,
    walk_memory: int,
    plan_only: bool,
    seed: int,
    choice: Choice,
    as_json: bool,
) -> int | None:
    """Run a campaign: random walks in rounds, on Spark or in processes of this machine.

    A round has shards. Each shard walks every subject, in a process for each. With --threads, each shard searches
    races instead: it draws programs that no other shard draws. The store keeps every completed round, and `resume`
    continues after the last one.

    The exit status is 1 if there is a finding, or if a shard could not be finished. It is 4 if the campaign ran its
    whole budget and a required rule never came up: no walk tested it.
    """
    if context.invoked_subcommand:
        return None
    contract = chosen_contract(contract_name, named)
    subjects = chosen_subjects(contract, named)
    pairs = list(dict.fromkeys(Pair(s.name, p) for s in subjects for p in chosen_profiles(s, profile)))
    limits = rounds, shards, seconds, until
    if threads:
        see_races(named, operations is not None or plan_only)
        plan = sizes(budget.programs, *limits, PROGRAMS, SHARD_PROGRAMS)
    elif budget == Budget():
        plan = sizes(operations, *limits)
    else:
        raise BadInput("--programs, --preemptions, --schedules and --drawn are for --threads, which is missing")
    campaign = partial(
        planned,
        contract,
        pairs,
        plan,
        seed=seed,
        walk_seconds=walk_seconds,
        walk_memory=walk_memory,
        threads=budget if threads else None,
    )
    if plan_only:
        from broker_tck.cli.plans import print_plan

        need_store()
        return print_plan(campaign(executor=""), choice.processes, as_json)
    if where is None:
        raise BadInput(
            "--store is missing: name a folder for the campaign's results, as in `broker-tck fuzz --store first`"
        )
    store = opened(where)
    store.check_new()
    with executor(choice, [pair.subject for pair in pairs], say) as made:
        manifest = campaign(executor=made.name, way=made.way)
        with store.driven(manifest):
            totals = watched(made, store, plan.goal)
            return summarize(store, totals, plan.goal, as_json)


def see_races(named: Sequence[Subject], of_walks: bool) -> None:
    """Raise BadInput if subjects have no races to search, or if options are of walks."""
    if of_walks or not named:
        raise BadInput("--threads needs --subject, and takes neither --operations nor --plan; --programs limits it")
    for subject in named:
        if not isinstance(subject.factory, JavaFactory):
            such = "a campaign of threads takes only these, such as pulsar-5.0.1/range-cache"
            raise BadInput(f"{subject.name} is no class of a release; {such}")
        promised(subject.contract)


@fuzz_command.command("resume", epilog=RESUME_EXAMPLES)
@click.argument("where", metavar="STORE")
@rounds_option
@seconds_option
@findings_option
@executor_options
@json_option
def resume(
    where: str,
    rounds: int | None,
    seconds: float | None,
    until: int | None,
    choice: Choice,
    as_json: bool,
) -> int:
    """Continue a campaign after its last completed round. You may choose another executor.

    By default, a campaign that processes of a machine began goes on in processes of this one. A limit counts from the
    start of the campaign. Without a limit, the campaign keeps its first ones.
    """
    store = opened(where)
    manifest = resumable(store)
    store.check_idle()
    goal = Goal(rounds, seconds, until) if rounds or seconds or until else manifest.goal
    if not any(choice) and manifest.way == PROCESSES:
        choice = Choice(PROCESSES)
    with executor(choice, manifest.subjects, say) as made, store.driven():
        totals = watched(made, store, goal)
        return summarize(store, totals, goal, as_json)


@fuzz_command.command("stop", epilog="\b\nExamples:\n  broker-tck fuzz stop night\n")
@click.argument("where", metavar="STORE")
def stop_command(where: str) -> None:
    """End a campaign when the rounds that have begun are complete."""
    store = opened(where)
    stop(store)
    driver = store.driver()
    ends = (
        f"{driver} ends when the rounds that have begun are complete" if driver else "no process drives this campaign"
    )
    click.echo(f"{where}: {ends}")


@fuzz_command.command("merge", epilog="\b\nExamples:\n  broker-tck fuzz merge monday tuesday --into both\n")
@click.argument("sources", nargs=-1, required=True, metavar="STORE STORE…")
@click.option("--into", required=True, metavar="DIR", help="A new folder, or a URI such as s3://bucket/both.")
def merge_command(sources: tuple[str, ...], into: str) -> None:
    """Merge campaigns into a new store.

    The campaigns must have the same contract, and different seeds or subjects.
    """
    if len(sources) < 2:
        raise BadInput("merge takes two stores or more")
    store = opened(into)
    store.check_new()
    merged = merge([opened(source) for source in sources], store)
    click.echo(f"{into}: {len(merged.merged)} campaigns, {store.rounds()} rounds")


@fuzz_command.command(
    "archive", epilog="\b\nExamples:\n  broker-tck fuzz archive --subject my_package.tracker:MyTracker --into kit.zip\n"
)
@contract_option
@subject_option
@click.option("--into", required=True, metavar="FILE", help="The ZIP file to write.")
def archive_command(contract_name: str | None, named: tuple[Subject, ...], into: str) -> None:
    """Write the file that --archive takes.

    The file holds what --ship sends: the kit, its libraries, and the subjects' packages and files.
    """
    from broker_tck.spark_fuzz.executors.ship import files, write

    need_spark()
    subjects = chosen_subjects(chosen_contract(contract_name, named), named)
    write(dict(files(subject.name for subject in subjects)), Path(into))
    click.echo(f"{into}: {Path(into).stat().st_size / 1e6:,.0f} MB")
