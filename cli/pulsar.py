"""``pulsar``: checks the classes of Apache Pulsar releases, and searches their races."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from broker_tck.cli import completion
from broker_tck.cli.options import java_options, json_option, output_option, seed_option, tell_if_untried
from broker_tck.cli.output import print_json, print_table, progress, written
from broker_tck.cli.threads import subject_named
from broker_tck.implementations.go.building import built
from broker_tck.implementations.go.client import KIND as TRACKER
from broker_tck.implementations.go.client import TRIED as GO_TRIED
from broker_tck.implementations.jvm.jars import FOLDER
from broker_tck.implementations.jvm.releases import TRIED
from broker_tck.implementations.jvm.unavailable import Unavailable
from broker_tck.implementations.released import CLASSPATH, KINDS
from broker_tck.properties.engine.subjects import Subject, contract_named, resolve
from broker_tck.properties.errors import BadInput
from broker_tck.properties.releases.kept import known_in, lines_of
from broker_tck.properties.releases.page import page as page_text
from broker_tck.properties.releases.survey import (
    GO,
    QUIET,
    UNKNOWN,
    Answer,
    Effort,
    Question,
    lacking,
    questions,
    survey,
    to_be_had,
)
from broker_tck.properties.report.saving import Written, write
from broker_tck.properties.verdict import CONFORMS, at_most, status_of
from broker_tck.spark_fuzz.driver.fingerprint import kit_digest, subject_digest

WALKS, MORE = 100, 10
"""Walks for each class and profile. The last line of the output proposes MORE times as many."""
PROGRAMS = 100
"""Programs for each class that threads can call."""
NEEDED = 1536 * 2**20
"""Bytes of memory reserved for each check: 1 GiB of heap, and half as much for the rest."""
EXAMPLES = """\b
Examples:
  broker-tck pulsar 4.2.4
  broker-tck pulsar 4.0.8 4.2.4 --contract active-cursors
  broker-tck pulsar client-go-0.19.0
  broker-tck pulsar --walks 1000 --threads 400 -o pulsar.md
"""


@click.command(epilog=EXAMPLES)
@click.argument("versions", nargs=-1, metavar="[VERSION]...")
@click.option(
    "--contract",
    "contract_name",
    metavar="C",
    shell_complete=completion.contracts,
    help="Only classes of this contract.",
)
@click.option(
    "--walks", default=WALKS, show_default=True, type=click.IntRange(1), help="Walks for each class and profile."
)
@click.option(
    "--threads",
    "programs",
    default=PROGRAMS,
    show_default=True,
    type=click.IntRange(0),
    help="Number of programs that search races, for each class that threads can call. 0: search no races.",
)
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(1),
    help="Number of checks at a time; each may take 1.5 GiB. Default: one for each core, if memory allows.",
)
@output_option("Also write a page, in Markdown.")
@java_options
@seed_option
@json_option
def pulsar_command(
    versions: tuple[str, ...],
    contract_name: str | None,
    walks: int,
    programs: int,
    jobs: int | None,
    output: str | None,
    seed: int,
    as_json: bool,
) -> int:
    """Check each class of Apache Pulsar releases, and search its races.

    The command checks each class against its profile and against the specification, in a process of its own. Without
    a VERSION, it checks all releases of the page "Pulsar". A VERSION such as client-go-0.19.0 is a release of the Go
    client, which needs Go.

    The exit status is 1 if a class does not conform to its own profile, that is, if it does something unknown. It is 4
    if some rules never came up: no walk tested them. Races do not change the exit status.

    For each rule that a profile breaks, the command searches --walks walks for a trace. The last lines name the rules
    without a trace. With -o, the command writes the page each time a check ends, and stores the results in FILE.jsonl.
    If you run it again, it makes only the checks that are missing, and repeats those for which the kit, the classes or
    the options have changed.
    """
    effort = Effort(walks, programs, seed)
    releases = versions or (*TRIED, *go_clients(contract_name))
    asked = asked_of(releases, contract_name, programs > 0)
    page = page_of(output, versions, releases, asked, contract_name, effort) if output else None
    answers = {each.question: each for each in page.known} if page else {}
    left = [question for question in asked if question not in answers]
    if answers:
        click.echo(f"{output}: {len(answers)} of {len(asked)} checks are done and unchanged", err=True)
    with progress(len(left), "checking", "checks") as tell:
        last = ""

        def told(answer: Answer | None) -> None:
            nonlocal last
            if answer:
                answers[answer.question] = answer
                last = f"{answer.question.subject} ({answer.question.profile}) {answer.verdict}"
                if page and len(answers) < len(asked):
                    page.write(answers)
            tell(len(left) - sum(question not in answers for question in left), last)

        survey(left, effort, jobs or most_at_once(), told)
    found = [answers[question] for question in asked]
    print_json({"answers": [answer_json(each) for each in found]}) if as_json else print_answers(found, effort)
    if page:
        page.write(answers)
    return status(found)


def go_clients(contract: str | None) -> list[str]:
    """The releases of the Go client, if its contract is asked for. None, and a line says why, if they cannot be had."""
    if contract not in (None, KINDS[TRACKER].contract):
        return []
    try:
        for version in GO_TRIED:
            built(version, None)
    except Unavailable as error:
        click.echo(f"the Go client is left out: {error}", err=True)
        return []
    return [f"{GO}{version}" for version in GO_TRIED]


def asked_of(releases: Sequence[str], contract: str | None, races: bool) -> list[Question]:
    """The questions about releases. Raises BadInput if there are none, or if a name is unknown."""
    if contract:
        contract_named(contract)
    try:
        every = list(questions(releases, contract, races))  # a version that is none is told before any jar is asked for
        asked = list(to_be_had(every))
    except Unavailable as error:
        raise BadInput(str(error)) from None
    if not asked:
        raise BadInput(f"no class of {', '.join(releases)} is a subject of {contract or 'a contract'}")
    for subject in subjects_of(asked).values():
        tell_if_untried(subject)  # what cannot be had, or is not known, is said before anything is checked
    return asked


def subjects_of(asked: Sequence[Question]) -> dict[str, Subject]:
    """The subjects that questions are about, by name. Some are subjects of threads alone."""
    found: dict[str, Subject] = {}
    for each in asked:
        found[each.subject] = found.get(each.subject) or (subject_named if each.of_races else resolve)(each.subject)
    return found


def page_of(
    output: str,
    versions: Sequence[str],
    releases: Sequence[str],
    asked: Sequence[Question],
    contract: str | None,
    effort: Effort,
) -> GrowingPage:
    """The page that a survey of some releases writes. ``versions`` are those that the user named."""
    given = {"--contract": contract, "--walks": effort.walks, "--threads": effort.programs}
    given |= {"--seed": effort.seed or None}
    given |= {"--pulsar": os.environ.get(FOLDER), "--classpath": os.environ.get(CLASSPATH)}
    options = [f"{option} {value}" for option, value in given.items() if value is not None]
    missing = {release: lacking(release, asked) for release in releases}
    digests = {name: subject_digest(subject) for name, subject in subjects_of(asked).items()}
    made = {each: f"{kit_digest()} {digests[each.subject]} {how_much(each, effort)}" for each in asked}
    return GrowingPage(output, made, missing, " ".join(["broker-tck pulsar", *versions, *options]))


def how_much(each: Question, effort: Effort) -> str:
    """How much is done for a question, in words."""
    return f"{f'threads={effort.programs}' if each.of_races else f'walks={effort.walks}'} seed={effort.seed}"


def most_at_once() -> int:
    """The number of checks that the machine's cores and memory allow at a time; at least 1."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return max(1, min(os.cpu_count() or 1, memory // NEEDED))


def status(answers: list[Answer]) -> int:
    """The exit status: 3 if a check has no verdict; else 1 if a class broke its own profile.

    4 if too few walks were made for each rule to come up.
    """
    if any(each.verdict == UNKNOWN for each in answers):
        return 3
    return status_of(each.verdict for each in answers if each.question.own)


def answer_json(each: Answer) -> dict[str, Any]:
    """An answer as a JSON object."""
    said = {"release": each.question.release, "subject": each.question.subject, "profile": each.question.profile}
    came = {"own": each.question.own, "verdict": each.verdict, "why": each.why, "not_seen": each.not_seen}
    return {**said, **came, "checked": each.checked}


def print_answers(answers: list[Answer], effort: Effort) -> None:
    """Print a row for each class and profile, the races, then the rules for which no trace was found."""
    walks = effort.walks
    rows = []
    for each in (each for each in answers if not each.question.of_races):
        rules = ", ".join(dict.fromkeys(rule for finding in each.findings for rule in finding["rules"][:1]))
        rows.append(
            (
                each.question.subject,
                each.question.profile,
                "own" if each.question.own else "specification",
                f"{each.checked.get('operations', 0):,}",
                f"< {at_most(each.checked['residual'])}" if each.verdict == CONFORMS else "-",
                each.why or rules or "-",
                each.verdict if each.verdict == CONFORMS else each.verdict.upper(),
            )
        )
    head = ["subject", "profile", "kind", "operations", "failures", "rules broken", "verdict"]
    print_table("", head, rows, right=(3,))
    print_races([each for each in answers if each.question.of_races], effort.programs)
    click.echo(
        f"\n{walks:,} walks for each class and profile, and at most {walks:,} for each rule that a profile breaks"
    )
    for each in answers:
        if each.not_seen:
            click.echo(f"{each.question.subject}: no trace found in {walks:,} walks for {', '.join(each.not_seen)}")
    click.echo(f"--walks {walks * MORE} takes longer and finds more")


def print_races(answers: list[Answer], programs: int) -> None:
    """Print a row for each class that threads called, and what replays its races."""
    if not answers:
        return
    rows = [
        (
            each.question.subject,
            each.checked.get("profile", "-"),
            f"{each.checked.get('schedules', 0):,}",
            each.why or ", ".join(promise.short for promise in each.races) or "-",
            each.verdict if each.verdict == QUIET else each.verdict.upper(),
        )
        for each in answers
    ]
    click.echo()
    print_table("", ["subject", "profile", "schedules", "promises broken", "verdict"], rows, right=(2,))
    click.echo(f"\n{programs:,} programs of threads for each class")
    for race in (race for each in answers for race in each.races.values()):
        click.echo(race["replay"])


# ---- The page


class GrowingPage:
    """A page in a file, and its results in a second file, whose name ends with ``.jsonl``.

    ``made`` has the questions of the survey, and how each is answered. If the output is no regular file, such as a
    device, the page is written at the end only. Raises BadInput if the second file cannot be read.
    """

    def __init__(
        self, output: str, made: Mapping[Question, str], missing: Mapping[str, Sequence[str]], command: str
    ) -> None:
        self.output, self.file = output, Path(output).resolve()
        self.beside = self.file.with_name(f"{self.file.name}.jsonl")
        self.grows = self.file.is_file() or not self.file.exists()
        self.made, self.missing, self.command = made, missing, command
        self.known = known_in(self.beside, made) if self.grows else []

    def write(self, answers: Mapping[Question, Answer]) -> None:
        """Write the results so far, each file whole or not at all. Raises BadInput if a file cannot be written."""
        there = [answers[question] for question in self.made if question in answers]
        left = [question for question in self.made if question not in answers]
        text = page_text(there, self.missing, self.command, f"{datetime.now(UTC):%Y-%m-%d}", left)
        if self.grows:
            for name, of in ((self.beside.name, lines_of(there, self.made)), (self.file.name, text)):
                write(self.file.parent, Written(name, of))
        elif not left:
            written(self.output, text)
