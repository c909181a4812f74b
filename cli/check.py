"""``check``: subjects against their contract."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Iterable, Sequence
from os import cpu_count
from pathlib import Path
from typing import Any

import click

from broker_tck.cli import completion
from broker_tck.cli.checking import How, checked
from broker_tck.cli.choosing import having, limited, matching, named_rules
from broker_tck.cli.options import (
    SEEDS,
    chosen_contracts,
    chosen_profiles,
    contracts_option,
    json_option,
    output_option,
    profile_option,
    subject_option,
    with_workload,
    workload_option,
)
from broker_tck.cli.output import print_json, written
from broker_tck.cli.table import Layout
from broker_tck.cli.terminal import width_here
from broker_tck.properties.engine.subjects import Subject, bundled
from broker_tck.properties.errors import BadInput, KitFailed
from broker_tck.properties.explain.deviating import CANDIDATES, DEVIATION_WALKS
from broker_tck.properties.explain.regressions import Regression, regressions_in
from broker_tck.properties.report.lines import filled
from broker_tck.properties.report.result import CheckResult, ProfileResult, check_json, check_result
from broker_tck.properties.report.saving import Written, file_of, see_writable, write
from broker_tck.properties.search.budget import EXAMPLES, SHARED_EXAMPLES, SHARED_WALKS, WALKS, Budget, budget
from broker_tck.properties.settings import Settings, settings_of
from broker_tck.properties.verdict import CONFORMS, NOT_ENOUGH, status_of

MORE = 10
"""If a rule never came up, the kit proposes this many times as many walks."""
LEGEND = (
    "failures: 95 % upper bound on the share of walks that would fail",
    "operations: made by the walks and by the Hypothesis machine",
)
CHECK_EXAMPLES = """\b
Exit status:
  0  all subjects conform
  1  a subject breaks a rule; its failure report names the rule
  4  no failure was found, but some rules never came up: no walk tested them

\b
Examples:
  broker-tck check
  broker-tck check --bundled --jobs 2
  broker-tck check --contract negative-acks --contract entry-cache
  broker-tck check --subject my_package.tracker:MyTracker --fail-fast
  broker-tck check --subject my_package.tracker:MyTracker --save findings --html check.html
  broker-tck check -k "queue and not pulsar" --rule EC-01
  broker-tck check --subject timebucket-2025 --profile timebucket-ideal
  broker-tck check --subject mutant:duplicate-counted --json
"""


@click.command(epilog=CHECK_EXAMPLES)
@contracts_option
@click.option("--bundled", is_flag=True, help="Check the bundled subjects, even if pyproject.toml names others.")
@click.option("--isolated", is_flag=True, help="Ignore pyproject.toml.")
@subject_option
@profile_option
@workload_option
@click.option(
    "-k", "expression", metavar="EXPR", help="Check only subjects and profiles that match: 'heap and not cursors'."
)
@click.option(
    "--rule",
    "rules",
    multiple=True,
    metavar="R",
    shell_complete=completion.rules,
    help="Judge only this rule: its findings, and whether a walk tested it. Repeatable.",
)
@click.option(
    "--walks",
    type=click.IntRange(1),
    help=f"Walks for each subject. Default: {WALKS}; bundled: {SHARED_WALKS}, and more until all rules were tested.",
)
@click.option(
    "--examples",
    type=click.IntRange(0),
    help=f"Examples of the Hypothesis machine. Default: {EXAMPLES}; {SHARED_EXAMPLES} if no subject is named.",
)
@click.option(
    "--search",
    type=click.IntRange(1),
    help="Number of walks that search for a trace of each rule that the profile breaks. The search stops at the "
    f"first trace. Default: {DEVIATION_WALKS} walks, and the shortest of {CANDIDATES} traces.",
)
@click.option("--seed", type=SEEDS, help="The seed. Default: 0.")
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(1),
    help="Number of subjects to check at a time. Default: 1 if subjects are named; else one for each core.",
)
@click.option("--fail-fast", is_flag=True, help="End at the first failing walk or regression.")
@click.option(
    "--save",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Save the reduced trace of each finding in this folder. Later checks run these regressions first.",
)
@output_option("Also write the results as JUnit XML.", "--junit")
@output_option("Also write the findings as SARIF 2.1.0.", "--sarif")
@output_option("Also write the results as one HTML page.", "--html")
@click.option("--github", is_flag=True, help="Also print the findings as annotations of a GitHub workflow.")
@click.option(
    "--here", is_flag=True, help="Run subjects in this process, without a guard, for profilers and debuggers."
)
@click.option(
    "--pdb", is_flag=True, help="Stop in the debugger at the first finding, where the subject raises or differs."
)
@json_option
def check_command(
    contract_names: tuple[str, ...],
    bundled: bool,
    isolated: bool,
    named: tuple[Subject, ...],
    profile: str | None,
    workload: str | None,
    expression: str | None,
    rules: tuple[str, ...],
    junit: str | None,
    sarif: str | None,
    html: str | None,
    github: bool,
    as_json: bool,
    **given: Any,
) -> int:
    """Check subjects against their contract.

    A check replays the recorded traces of the subject's profile, makes random walks, judges the invariants that need
    no model, and runs the Hypothesis machine. Each deviation that the profile declares must occur.

    Without --subject, the check reads the subjects from the table [tool.broker-tck] of the nearest pyproject.toml, in
    this folder or above it. If the table names none, or with --contract or --bundled, the command checks all bundled
    subjects, each under the profiles that it declares. The table may also set `walks`, `examples`, `seed`, `save`,
    `contracts` and `jobs`. An option on the command line replaces what the table says.

    1,000 walks of a bundled subject take seconds. A check of all bundled subjects takes less than a minute.
    """
    settings = Settings() if isolated else settings_of(Path.cwd())
    if html:
        from broker_tck.spark_fuzz.executors.session import need

        need("pages", ("jinja2",), "report")
    only = named_rules(rules)
    contracts = contract_names or (() if named else settings.contracts)
    own = named or (() if bundled or contract_names else settings.resolved())
    see_possible(named, own, bundled, as_json, given["pdb"], bool(only and given["fail_fast"]))
    subjects = subjects_of(contracts, own, profile, workload)
    every = [(subject, name) for subject in subjects for name in chosen_profiles(subject, profile)]
    every = [*{(subject.name, name): (subject, name) for subject, name in every}.values()]
    pairs = having(matching(every, expression), only)
    asked = budget(bool(own), given, vars(settings), fail_fast=given["fail_fast"], search=given["search"])
    keeping = Keeping(given["save"] or settings.save)
    layout = None if as_json else Layout(pairs)
    jobs = given["jobs"] or settings.jobs or (1 if own else cpu_count() or 1)
    told = checked(pairs, asked, keeping.kept, How(jobs, given["here"], given["pdb"]))
    found: list[ProfileResult] = []
    cut: BaseException | None = None
    try:
        printed_and_saved((limited(each, only) for each in told), found, layout, keeping, asked.fail_fast)
    except (KeyboardInterrupt, BadInput, KitFailed) as error:
        cut = error
    if isinstance(cut, BadInput) and not found:
        raise cut
    if found and not as_json:
        print_end(found, asked, only, len(pairs), len(every))
    if as_json or junit or sarif or html or github:
        write_for_tools(check_result(found, cut is not None, only), as_json, junit, sarif, html, github)
    keeping.see_saved()
    if cut:
        click.echo(f"broker-tck: {len(found)} of {len(pairs)} were checked", err=True)
        raise cut
    return status_of(each.verdict for each in found)


def see_possible(
    named: Sequence[Subject], own: Sequence[Subject], bundled: bool, as_json: bool, pdb: bool, early: bool
) -> None:
    """Raise BadInput if options do not go together."""
    if early:
        raise BadInput(
            "--fail-fast ends at the first failing walk, whichever rule it breaks: leave out --fail-fast or --rule"
        )
    if named and bundled:
        raise BadInput("--bundled checks only bundled subjects: leave out --bundled or --subject")
    if pdb and (as_json or not own):
        raise BadInput("--pdb needs one subject of your own and a terminal: name a --subject, and leave out --json")


def subjects_of(
    contracts: Sequence[str], named: Sequence[Subject], profile: str | None, workload: str | None
) -> list[Subject]:
    """The subjects that were named, else all bundled ones of the contracts."""
    if named and not contracts:
        return with_workload(named, workload)
    chosen = chosen_contracts(contracts, profile)
    for subject in named:
        if subject.contract not in chosen:
            raise BadInput(f"{subject.name} is a subject of {subject.contract.name}, not of {chosen[0].name}")
    return with_workload([*named] or [s for contract in chosen for s in bundled(contract)], workload)


def printed_and_saved(
    told: Iterable[tuple[ProfileResult, str]],
    done: list[ProfileResult],
    layout: Layout | None,
    keeping: Keeping,
    fail_fast: bool,
) -> None:
    """Print the row of each subject when its check ends, and save its traces. Each result is added to ``done``."""
    for each, besides in told:
        done.append(each)
        if layout:
            layout.tell(each, besides)
        keeping.keep(each)
        if fail_fast and each.verdict != CONFORMS:
            break


class Keeping:
    """Saves the traces of findings in a folder, if one is given. Raises BadInput if the folder cannot be written."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self.failed: BadInput | None = None
        self.kept: list[Regression] = []
        if folder:
            see_writable(folder)
            self.kept = regressions_in(folder)

    def keep(self, found: ProfileResult) -> None:
        """Write the files of one subject. If a file cannot be written, the check goes on."""
        if self.folder is None:
            return
        for each in found.findings:
            try:
                self.write(self.folder, file_of(each, found.profile))
            except BadInput as error:
                self.failed = self.failed or error

    def write(self, folder: Path, file: Written) -> None:
        """Write a file, and print its name if it is new."""
        known = (folder / file.name).exists()
        write(folder, file)
        if not known:
            click.echo(f"{folder / file.name}: saved", err=True)

    def see_saved(self) -> None:
        """Raise BadInput if a file could not be written. All results have been printed by then."""
        if self.failed:
            raise self.failed


# ---- Telling


def print_end(done: Sequence[ProfileResult], budget: Budget, only: Sequence[str], chosen: int, among: int) -> None:
    """Print what follows the table: its legend, the rules that never came up, the regressions, and what to run next.

    ``only`` are the rules that were judged, empty for all. ``chosen`` pairs of subject and profile, out of ``among``,
    were checked.
    """
    click.echo()
    for sentence in LEGEND:
        click.echo("\n".join(filled("", sentence, width_here(sys.maxsize))))
    for each in done:
        if each.verdict == NOT_ENOUGH:
            click.echo(f"{each.name}: NOT ENOUGH: never came up: {', '.join(each.unseen)}")
            click.echo(f"  {again(each, only)} --walks {budget.walks * MORE}")
    for each in done:
        for deviation in each.accepted:
            click.echo(f"{each.subject}: {deviation.text}")
    print_regressions(done)
    green = [each for each in done if each.verdict == CONFORMS]
    if len(done) == len(green) == 1:
        click.echo(
            f"for a longer check: {again(green[0], only)} --seed {budget.seed + 1} --walks {budget.walks * MORE}"
        )
    if only:
        click.echo(f"judged: only {' and '.join(only)}, and whether the subject answers")
    if among > chosen:
        click.echo(f"{chosen} of {among} pairs of subject and profile were chosen")
    click.echo(f"{len(green)} of {len(done)} conform")


def print_regressions(done: Sequence[ProfileResult]) -> None:
    """Say which regressions no longer fail, and which were not run."""
    passing = dict.fromkeys(file for each in done for file in each.kept.passing)
    failing = {file for each in done for file in each.kept.failing}
    for file in passing:
        if file not in failing:
            click.echo(f"regression {file} passes now")
    for each in done:
        for file in each.kept.unasked:
            click.echo(f"regression {file} was not run: it needs what {each.subject} declares to lack")


def write_for_tools(
    check: CheckResult, as_json: bool, junit: str | None, sarif: str | None, html: str | None, github: bool
) -> None:
    """Print and write the results in the formats for other tools that the options name."""
    from broker_tck.cli import formats

    if as_json:
        print_json(check_json(check))
    if junit:
        written(junit, formats.junit(check))
    if sarif:
        written(sarif, json.dumps(formats.sarif(check), indent=2) + "\n")
    if html:
        written(html, formats.page(check))
    for line in formats.workflow_lines(check) if github else ():
        click.echo(line)


def again(told: ProfileResult, only: Sequence[str]) -> str:
    """The command that checks one subject under one profile."""
    rules = "".join(f" --rule {rule}" for rule in only)
    return f"broker-tck check --subject {shlex.quote(told.subject)} --profile {told.profile}{rules}"
