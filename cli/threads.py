"""``threads``: the races of Java classes, of a release or of the user's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import wraps
from typing import Any, NamedTuple

import click
import msgspec

from broker_tck.cli import completion
from broker_tck.cli.options import (
    java_options,
    json_option,
    known_profile,
    output_option,
    profile_option,
    seed_option,
    tell_if_untried,
)
from broker_tck.cli.output import WIDTH, print_json, print_table, progress, written
from broker_tck.cli.terminal import width_here
from broker_tck.implementations.jvm.releases import Release
from broker_tck.implementations.jvm.subject import JavaFactory
from broker_tck.implementations.released import KINDS, NAME, RELEASE
from broker_tck.properties.engine.registry import CONTRACTS
from broker_tck.properties.engine.subjects import Subject
from broker_tck.properties.engine.units import counted
from broker_tck.properties.errors import BadInput
from broker_tck.properties.releases.survey import threads_call
from broker_tck.properties.report.threads import RaceResult, race_result
from broker_tck.properties.search.isolation.unloaded import loaded, resolve_unloaded
from broker_tck.properties.threads.program import replayed
from broker_tck.properties.threads.races import java_of, search_races, shorter_races
from broker_tck.properties.threads.reduce import Reducer
from broker_tck.properties.threads.search import Budget, Searched

SECONDS = 20
HEAD = ["verdict", "subject", "profile", "programs", "schedules", "histories", "failing"]
EXAMPLES = """\b
Examples:
  broker-tck threads --subject pulsar-5.0.1/range-cache
  broker-tck threads --subject pulsar-4.2.4 --seconds 60 --html races.html
  broker-tck threads --subject pulsar-4.2.4/cursor-list --programs 100 --seed 7 --json
  broker-tck threads --subject pulsar-4.2.4/cursor-list \\
    --replay 'active-cursors pulsar-list-2025; add a [0,0] | slowest | slowest | @ 14>1'
"""


BUDGET_OPTIONS = (
    click.option("--programs", type=click.IntRange(1), help="Number of programs that search races, for each subject."),
    click.option(
        "--preemptions",
        default=Budget.preemptions,
        show_default=True,
        type=click.IntRange(0, 5),
        help="Maximum number of preemptions in a schedule.",
    ),
    click.option(
        "--schedules",
        default=Budget.schedules,
        show_default=True,
        type=click.IntRange(1),
        help="Maximum number of schedules for each program.",
    ),
    click.option(
        "--drawn",
        default=Budget.drawn,
        show_default=True,
        type=click.IntRange(0),
        help="Number of random schedules for each program, besides these.",
    ),
)


def budget_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that limit a search of races, as one argument ``budget``."""

    @wraps(command)
    def limited(*arguments: Any, **options: Any) -> Any:
        names = ("programs", "preemptions", "schedules", "drawn")
        return command(*arguments, budget=Budget(**{name: options.pop(name) for name in names}), **options)

    for option in reversed(BUDGET_OPTIONS):
        limited = option(limited)
    return limited


class Shown(NamedTuple):
    """What a search came to for one subject."""

    subject: str
    profile: str
    found: Searched
    races: list[RaceResult]


@click.command(epilog=EXAMPLES)
@click.option(
    "--subject",
    "named",
    multiple=True,
    required=True,
    metavar="S",
    shell_complete=completion.subjects,
    help="A class of a release, such as pulsar-5.0.1/range-cache; pulsar-5.0.1: all that threads can call; a box of "
    "your own, pkg.module:NAME. Repeatable.",
)
@java_options
@profile_option
@click.option("--replay", "text", metavar="TEXT", help="Run one program under one schedule: 'PROGRAM @ SCHEDULE'.")
@click.option(
    "--seconds",
    type=click.FloatRange(0, min_open=True),
    help=f"Time for each subject. Default: {SECONDS}, or no limit with --programs.",
)
@budget_options
@seed_option
@json_option
@output_option("Also write the races as one HTML page, with the threads side by side.", "--html")
def threads_command(
    named: tuple[str, ...],
    profile: str | None,
    text: str | None,
    seconds: float | None,
    budget: Budget,
    seed: int,
    as_json: bool,
    html: str | None,
) -> int:
    """Search races of Java classes.

    The command draws small programs for two to four threads. A scheduler of the kit runs each program under all
    schedules with few preemptions: switches from one thread to another in the middle of a call. The contract's model
    judges each history: what was called, and what came back. The command makes a race shorter, and prints it with a
    command line that replays it instruction by instruction.

    The exit status is 1 if there is a race. With --programs, the same seed gives the same result on every machine.
    """
    if html:
        from broker_tck.spark_fuzz.executors.session import need

        need("pages", ("jinja2",), "report")
    subjects = [subject for name in dict.fromkeys(named) for subject in subjects_named(name)]
    if text is not None:
        return replay(subjects, text, as_json, html)
    budget = replace(budget, seconds=SECONDS if budget.programs is None and seconds is None else seconds)
    shown = [searched(subject, profile, budget, seed) for subject in subjects]
    print_json({"subjects": [shown_json(each) for each in shown]}) if as_json else print_shown(shown)
    races = [race for each in shown for race in each.races]
    if html:
        write_page(html, races, shown)
    return 1 if races else 0


def subjects_named(name: str) -> list[Subject]:
    """The subjects that a name stands for: one, or all of a release that threads can call."""
    found = RELEASE.fullmatch(name)
    if not found:
        return [subject_named(name)]
    release = Release(found["version"])
    able = [kind.name for kind in KINDS.values() if threads_call(kind, release)]
    if not able:
        raise BadInput(f"{name}: threads can call no class of this release")
    return [subject_named(f"{name}/{kind}") for kind in able]


def subject_named(name: str) -> Subject:
    """A subject that threads can call. Raises BadInput if threads cannot call the named one."""
    subject = of_threads_alone(name) or loaded(resolve_unloaded(name))
    java_of(subject)
    return subject


def of_threads_alone(name: str) -> Subject | None:
    """A class of a release that threads can call, though it is no subject of checks, or not the same one."""
    found = NAME.fullmatch(name)
    kind = KINDS.get(found["kind"]) if found else None
    if not found or not kind:
        return None
    release = Release(found["version"])
    line = kind.line_of_threads(release)
    if not line or line is kind.line(release):
        return None
    contract = CONTRACTS[kind.contract].under_threads(kind.name)
    factory = JavaFactory(name, kind, release, line, ())
    return Subject(name, contract, factory, factory.profiles, contract.capabilities(**factory.capabilities))


def searched(subject: Subject, profile: str | None, budget: Budget, seed: int) -> Shown:
    """Search the races of a subject, and make them shorter."""
    under = known_profile(subject.contract, profile or subject.profiles[0])
    if not profile:
        tell_if_untried(subject)
    model = subject.contract.model(under)
    with progress(budget.programs or budget.seconds, subject.name) as tell:
        searcher = search_races(
            subject,
            model,
            budget,
            seed,
            lambda so_far, spent: tell(so_far.programs if budget.programs else spent, said(so_far)),
        )
    with progress(None, f"{subject.name}: making races shorter", "schedules") as tell:
        found = shorter_races(searcher, lambda so_far: tell(so_far.schedules, operations_left(so_far)))
    explorer = java_of(subject).explorer
    races = [race_result(subject, model, explorer, race.program, race.seen.schedule) for race in found.races.values()]
    return Shown(subject.name, under, found, races)


def said(found: Searched) -> str:
    """How far a search is, in words."""
    return f"{found.programs:,} programs, {found.schedules:,} schedules, {found.failing:,} programs with a race"


def operations_left(reducer: Reducer) -> str:
    """How short a race is by now, in words."""
    left = len(reducer.race.program.operations)
    return f"{left} {counted(left, 'operations')} left"


def replay(subjects: Sequence[Subject], text: str, as_json: bool, html: str | None) -> int:
    """Run one program under one schedule."""
    if len(subjects) > 1:
        raise BadInput(f"--replay runs one subject, not {len(subjects)}")
    (subject,) = subjects
    program, schedule = replayed(text, subject.contract)
    if program.contract is not subject.contract:
        raise BadInput(
            f"--replay: a program of {program.contract.name}; {subject.name} is a subject of {subject.contract.name}"
        )
    explorer = java_of(subject).explorer
    result = race_result(subject, program.contract.model(program.profile), explorer, program, schedule)
    print_json(msgspec.to_builtins(result)) if as_json else click.echo(result.story(width_here(WIDTH)))
    if html:
        write_page(html, [result])
    return 1 if result.broken else 0


def print_shown(shown: Sequence[Shown]) -> None:
    """Print the races of each subject, then a table."""
    for race in (race for each in shown for race in each.races):
        click.echo(f"{race.story(width_here(WIDTH))}\n")
    print_table("", HEAD, rows_of(shown), right=(3, 4, 5, 6))


def rows_of(shown: Sequence[Shown]) -> list[Sequence[str]]:
    """A row for each subject."""
    return [
        (
            "RACE" if each.races else "no race found",
            each.subject,
            each.profile,
            f"{each.found.programs:,}",
            f"{each.found.schedules:,}",
            f"{each.found.histories:,}",
            f"{each.found.failing:,}",
        )
        for each in shown
    ]


def write_page(output: str, races: Sequence[RaceResult], shown: Sequence[Shown] = ()) -> None:
    """Write races as a page, with a table of the searches."""
    from broker_tck.spark_fuzz.report.races import races_html

    written(output, races_html(races, HEAD, rows_of(shown)))


def shown_json(each: Shown) -> dict[str, Any]:
    """What a search came to as a JSON object."""
    found = each.found
    return {
        "subject": each.subject,
        "profile": each.profile,
        "programs": found.programs,
        "schedules": found.schedules,
        "histories": found.histories,
        "failing": found.failing,
        "races": msgspec.to_builtins(each.races),
    }
