"""``check``: subjects against their contract."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Sequence
from os import cpu_count
from typing import Any, NamedTuple

import click

from broker_tck.cli import formats
from broker_tck.cli.options import (
    chosen_contracts,
    chosen_profiles,
    chosen_subjects,
    contracts_option,
    json_option,
    life_option,
    living,
    output_option,
    profile_option,
    seed_option,
    subject_option,
)
from broker_tck.cli.output import print_json, progress, written
from broker_tck.cli.told import story_here
from broker_tck.properties.conforming import Checked, asked, check_subject, checked_json, golden_traces
from broker_tck.properties.engine.accepted import accepted
from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.engine.run import Progress, Run
from broker_tck.properties.engine.subjects import Subject, resolve
from broker_tck.properties.errors import BadInput
from broker_tck.properties.findings.document import document
from broker_tck.properties.findings.raised import debugged
from broker_tck.properties.verdict import CONFORMS, NOT_ENOUGH, status_of
from broker_tck.properties.worth.killing import processes
from broker_tck.spark_fuzz.driver.fingerprint import kit_version

WALKS, EXAMPLES = 1000, 60
"""What a subject that is named is put through."""
SHARED_WALKS, SHARED_EXAMPLES = 100, 10
"""What each of the bundled subjects is put through, where none is named."""
RESERVE = WALKS
"""So many walks more, at most, are made of a bundled subject while a rule has not come up."""
MORE = 10
"""Where walks were not enough, so many times as many are advised."""
CHECK_EXAMPLES = """\b
Examples:
  broker-tck check
  broker-tck check --contract negative-acks --contract entry-cache
  broker-tck check --subject my_package.tracker:MyTracker --fail-fast
  broker-tck check --subject time-bucket-2025 --profile timebucket-ideal
  broker-tck check --subject mutant:duplicate-counted --json
"""


class Budget(NamedTuple):
    """What a subject is put through."""

    seed: int
    walks: int
    reserve: int
    examples: int
    fail_fast: bool
    life: str | None
    pdb: bool = False


class Told(NamedTuple):
    """What there is to tell of a subject under a profile."""

    subject: str
    profile: str
    verdict: str
    row: tuple[str, ...]
    stories: list[str]
    unseen: list[str]
    as_json: dict[str, Any]


@click.command(epilog=CHECK_EXAMPLES)
@contracts_option
@subject_option
@profile_option
@life_option
@click.option(
    "--walks",
    type=click.IntRange(1),
    help=f"Walks a subject. Default: {WALKS}; where none is named {SHARED_WALKS}, and more until all rules came up.",
)
@click.option(
    "--examples",
    type=click.IntRange(0),
    help=f"Examples of the Hypothesis machine. Default: {EXAMPLES}; {SHARED_EXAMPLES} where no subject is named.",
)
@seed_option
@click.option(
    "-j", "--jobs", type=click.IntRange(1), help="Bundled subjects to check at a time. Default: one for each core."
)
@click.option("--fail-fast", is_flag=True, help="End at the first failing walk.")
@output_option("Write the check as JUnit's XML too.", "--junit")
@output_option("Write what is wrong as SARIF 2.1.0 too.", "--sarif")
@click.option("--github", is_flag=True, help="Print what is wrong as annotations of a GitHub workflow too.")
@click.option("--pdb", is_flag=True, help="Stop in the debugger where the first finding's subject raises, or differs.")
@json_option
def check(
    contract_names: tuple[str, ...],
    named: tuple[Subject, ...],
    profile: str | None,
    life: str | None,
    walks: int | None,
    examples: int | None,
    seed: int,
    jobs: int | None,
    fail_fast: bool,
    junit: str | None,
    sarif: str | None,
    github: bool,
    pdb: bool,
    as_json: bool,
) -> int:
    """Check subjects against their contract.

    Each is put through the recorded traces of its profile, random walks, the laws that need no model, and the
    Hypothesis machine; each deviation that its profile declares has to be seen. Without --subject all bundled
    subjects of all contracts are checked, each under the profiles that it declares, several at a time.

    Exit status 0: all conform. 1: one is broken; its trace says by which rule. 4: there was no difference, but
    it was not enough: the rules that are named never came up.
    """
    if pdb and (as_json or not named):
        raise BadInput("--pdb stops in one's own process, at a terminal: name a --subject, and leave out --json")
    subjects = subjects_of(contract_names, named, profile, life)
    pairs = [(subject, name) for subject in subjects for name in chosen_profiles(subject, profile)]
    many, few = (WALKS, EXAMPLES) if named else (SHARED_WALKS, SHARED_EXAMPLES)
    reserve = 0 if named or walks else RESERVE
    budget = Budget(seed, walks or many, reserve, few if examples is None else examples, fail_fast, life, pdb)
    told = checked_here(pairs, budget) if named else checked_apart(pairs, budget, jobs or cpu_count() or 1)
    layout = None if as_json else Layout(pairs)
    done: dict[tuple[str, str], Told] = {}
    for each in told:
        done[each.subject, each.profile] = each
        if layout:
            layout.tell(each)
        if fail_fast and each.verdict != CONFORMS:
            break
    found = [done[key] for key in [(subject.name, name) for subject, name in pairs] if key in done]
    print_json(summary_json(found)) if as_json else print_end(found, budget)
    also([each.as_json for each in found], junit, sarif, github)
    return status_of(each.verdict for each in found)


def subjects_of(
    contracts: Sequence[str], named: Sequence[Subject], profile: str | None, life: str | None
) -> list[Subject]:
    """The subjects that were named, else all bundled ones of the contracts."""
    if named and not contracts:
        return living(named, life)
    chosen = chosen_contracts(contracts, profile)
    if named:
        return living([s for s in named if chosen_subjects(within(chosen, s), [s])], life)
    return living([s for contract in chosen for s in chosen_subjects(contract, ())], life)


def within(contracts: Sequence[Contract], subject: Subject) -> Contract:
    """The contract of a subject, if it is among some; else the first of these."""
    return subject.contract if subject.contract in contracts else contracts[0]


# ---- Checking


def checked_here(pairs: Sequence[tuple[Subject, str]], budget: Budget) -> Iterator[Told]:
    """Check one subject after another in this process."""
    for subject, profile in pairs:
        with progress(budget.walks, "checking") as tell:

            def told(run: Run) -> None:
                tell(run.walks, f"{run.subject.name} ({run.profile}), {run.operations:,} operations")

            found = checked(subject, profile, budget, told)
        yield found


def checked_apart(pairs: Sequence[tuple[Subject, str]], budget: Budget, jobs: int) -> Iterator[Told]:
    """Check bundled subjects, so many at a time, in processes of their own; told of in their order as they end.

    Where it is interrupted, those that have ended are told of all the same.
    """
    with processes(min(jobs, len(pairs))) as pool:
        futures = [pool.submit(checked_by_name, subject.name, profile, budget) for subject, profile in pairs]
        told = 0
        try:
            for each in futures:
                found = each.result()
                told += 1
                yield found
        except BaseException as ended:
            pool.shutdown(wait=False, cancel_futures=True)
            if isinstance(ended, KeyboardInterrupt):
                yield from (each.result() for each in futures[told:] if each.done() and not each.cancelled())
            raise


def checked_by_name(name: str, profile: str, budget: Budget) -> Told:
    """Check a subject in a process that knows its name alone."""
    (subject,) = living([resolve(name)], budget.life)
    return checked(subject, profile, budget)


def checked(subject: Subject, profile: str, budget: Budget, told: Progress | None = None) -> Told:
    """Check a subject under a profile."""
    golden = golden_traces(subject.contract.name, profile)
    found = check_subject(
        subject,
        profile,
        golden,
        budget.seed,
        budget.walks,
        budget.examples,
        budget.fail_fast,
        told,
        budget.reserve,
    )
    if budget.pdb and found.run.findings:
        first = found.run.findings[0]
        click.echo(story_here(document(first)))
        debugged(subject, first.config, first.operations)
    name = f"{subject.name} ({profile})"
    stories = [story_here(document(finding)) for finding in found.run.findings]
    stories += [f"{name}: {complaint}" for complaint in found.complaints]
    return Told(subject.name, profile, found.verdict, cells(found), stories, found.unseen, checked_json(found))


# ---- Telling

HEAD = ("subject", "profile", "golden", "rules", "walks", "operations", "deviations", "residual", "verdict", "left out")
WIDTHS = (0, 0, 0, 8, 5, 10, 10, 8, 10, 0)
"""How wide columns are at least, where that is not known beforehand."""
RIGHT = {2, 3, 4, 5, 6}
NONE = "none recorded"
LEGEND = (
    "residual: no walk failed; so, with 95 % confidence, fewer than this share of walks fail\n"
    "operations: those of the walks and of the Hypothesis machine"
)


def steps_text(subject: Subject, profile: str) -> str:
    """How many recorded steps there are, as wide as the cell will be."""
    n = sum(len(asked(trace, subject).operations) for trace in golden_traces(subject.contract.name, profile))
    return f"{n}/{n}" if n else NONE


def cells(found: Checked) -> tuple[str, ...]:
    """The row of a subject, as :data:`HEAD` has it."""
    run = found.run
    return (
        run.subject.name,
        run.profile,
        f"{found.golden_agreed}/{found.golden_steps}" if found.golden_steps else NONE,
        f"{len(run.exercised)} of {len(run.rules)}",
        f"{run.walks:,}",
        f"{run.operations + found.machine_steps:,}",
        f"{sum(run.deviations.values())} of {len(run.deviations)}" if run.deviations else "-",
        f"< {run.residual:.2g}" if found.green else "-",
        found.verdict if found.green else found.verdict.upper(),
        ", ".join([*run.subject.left_out, *accepting(run.subject, run.profile)]) or "-",
    )


def accepting(subject: Subject, profile: str) -> Iterator[str]:
    """The rules that a subject may do otherwise, in words."""
    return (f"accepts {rule}" for rule in dict.fromkeys(each.rule for each in accepted(subject, profile)))


class Layout:
    """Prints the row of each subject as it ends, below one head; what is wrong with it stands before its row."""

    def __init__(self, pairs: Sequence[tuple[Subject, str]]) -> None:
        known = [(subject.name, profile, steps_text(subject, profile)) for subject, profile in pairs]
        widest = [max(map(len, column)) for column in zip(*known, strict=True)]
        found = dict(enumerate(widest))
        self.widths = [max(found.get(i, width), len(HEAD[i])) for i, width in enumerate(WIDTHS)]
        self.head_is_due = True

    def tell(self, told: Told) -> None:
        """Print what there is to tell of a subject."""
        for each in told.stories:
            click.echo(f"{each}\n")
        if self.head_is_due or told.stories:
            click.echo(self.line(HEAD))
        self.head_is_due = False
        click.echo(self.line(told.row))

    def line(self, row: Sequence[str]) -> str:
        """A row, its columns one below the other."""
        aligned = (
            cell.rjust(width) if i in RIGHT else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, self.widths, strict=True))
        )
        return "  ".join(aligned).rstrip()


def print_end(done: Sequence[Told], budget: Budget) -> None:
    """Say what the table means, what never came up, and what to type next."""
    click.echo(f"\n{LEGEND}")
    for each in done:
        if each.verdict == NOT_ENOUGH:
            click.echo(f"{each.subject} ({each.profile}): NOT ENOUGH: never came up: {', '.join(each.unseen)}")
            click.echo(f"  {again(each)} --walks {budget.walks * MORE}")
    for each in done:
        for deviation in each.as_json["accepted"]:
            click.echo(f"{each.subject}: {deviation['text']}")
    green = [each for each in done if each.verdict == CONFORMS]
    if len(done) == len(green) == 1:
        click.echo(f"for longer: {again(green[0])} --seed {budget.seed + 1} --walks {budget.walks * MORE}")
    click.echo(f"{len(green)} of {len(done)} conform")


def also(found: Sequence[dict[str, Any]], junit: str | None, sarif: str | None, github: bool) -> None:
    """Write, and print, the check for other tools, as far as that is asked for."""
    if junit:
        written(junit, formats.junit(found))
    if sarif:
        written(sarif, json.dumps(formats.sarif(found, kit_version()), indent=2) + "\n")
    for line in formats.workflow_lines(found) if github else ():
        click.echo(line)


def again(told: Told) -> str:
    """The command that checks one subject under one profile."""
    return f"broker-tck check --subject {shlex.quote(told.subject)} --profile {told.profile}"


def summary_json(done: Sequence[Told]) -> dict[str, Any]:
    """The whole summary as a JSON object."""
    return {"subjects": [each.as_json for each in done], "conform": all(each.verdict == CONFORMS for each in done)}
