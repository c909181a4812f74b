"""``replay``: traces on the model, and on subjects."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from broker_tck.cli import completion
from broker_tck.cli.options import Named, asked_with, json_option, known_profile, release_options, trace_profile_option
from broker_tck.cli.output import WIDTH, print_json, progress
from broker_tck.cli.replay_kept import is_folder, replay_folder
from broker_tck.cli.terminal import shown_here, width_here
from broker_tck.properties.engine.answers import plain
from broker_tck.properties.engine.subjects import Subject
from broker_tck.properties.engine.trace import Trace, load
from broker_tck.properties.errors import BadInput
from broker_tck.properties.report.lines import lines, table
from broker_tck.properties.search.isolation.apart import Judgement, judged_apart
from broker_tck.properties.search.replay import Disagreement, Replay, declaring, replay_all, unasked

subjects_option = click.option(
    "--subject",
    "named",
    multiple=True,
    type=Named(),
    metavar="S",
    shell_complete=completion.subjects,
    help="A subject, named as for `check`. Repeatable. Default: the bundled subjects that declare the profile.",
)


REPLAY_EXAMPLES = """\b
Examples:
  broker-tck replay fixtures/delayed-delivery/*.jsonl
  broker-tck replay findings
  broker-tck replay 'add 1 0 +2000; adv 2000; get 10'
  broker-tck replay 'delayed-delivery heap tick=1 strict=true; add 1 0 +5; adv 5; get 1' --subject heap
  broker-tck replay 'delayed-delivery heap; add 1 0 +5000; adv 4000; get 1' --subject heap --invariant DD-08
"""


@click.command("replay", epilog=REPLAY_EXAMPLES)
@click.argument("traces", nargs=-1, required=True, metavar="FILE|TEXT|DIR...")
@subjects_option
@release_options
@trace_profile_option
@click.option(
    "--invariant",
    "--law",
    "invariant",
    metavar="NAME",
    help="Judge only this invariant or metamorphic relation, on the subjects without the model.",
)
@json_option
def replay_command(
    traces: tuple[str, ...], named: tuple[Subject, ...], profile: str | None, invariant: str | None, as_json: bool
) -> int:
    """Replay traces on the model, and on subjects.

    A trace is a file of JSON lines, `-` for standard input, or one line of text. Without --subject, the command
    replays it on each bundled subject that declares the trace's profile. If the trace has outcomes, the model must
    give the same. Each subject must agree with the model. The command shows the first difference. To replay a finding
    about an invariant, use --invariant.

    A folder must be one that `check --save` wrote. The command replays each of its traces on the subject that the file
    names, and prints a line for each. The exit status is 1 if a trace fails.
    """
    folders = [source for source in traces if is_folder(source)]
    if folders:
        if len(traces) > 1 or invariant:
            raise BadInput(f"{folders[0]}: a folder must be the only argument, without --invariant")
        return replay_folder(Path(folders[0]), named, profile, as_json)
    loaded = [trace for source in traces for trace in load(source)]
    chosen = [(trace, subjects_of(trace, named, profile)) for trace in loaded]
    if invariant:
        pairs = [(trace, subject) for trace, subjects in chosen for subject in subjects]
        return tell_of([judged_apart(*pair, invariant) for pair in pairs], as_json)
    replays: list[Replay] = []
    with progress(len(loaded), "replaying", "traces") as tell:
        for each in replay_all(chosen, profile):
            replays.append(each)
            tell(len(replays))
    steps, agreed = sum(r.steps for r in replays), sum(r.agreed for r in replays)
    found = [d for r in replays for d in r.disagreements]
    if as_json:
        print_json({"steps": steps, "agreed": agreed, "disagreements": [disagreement_json(d) for d in found]})
        return 0 if agreed == steps and not found else 1
    if found:
        print_disagreement(found[0])
        if len(found) > 1:
            click.echo(f"and {len(found) - 1} more differences; --json prints all of them\n")
    if len(loaded) == 1 and not found:
        print_outcomes(loaded[0], profile)
    click.echo(
        f"replayed on: {', '.join(sorted({who for r in replays for who in r.who}, key=lambda w: (w != 'model', w)))}"
    )
    click.echo(f"{agreed} of {steps} steps agreed")
    return 0 if agreed == steps and not found else 1


def subjects_of(trace: Trace, named: Sequence[Subject], profile: str | None) -> Sequence[Subject]:
    """The subjects that were named, else the bundled ones that declare the profile and can be asked for all of a trace.

    Raises BadInput if the contract has no such profile, or if a named subject cannot be asked for all of a trace.
    """
    if profile:
        known_profile(trace.contract, profile)
    for subject in named:
        asked_with(trace, subject)
        if lacks := unasked(trace, subject):
            step, operation = lacks
            able = trace.contract.can_ask(trace.operations, trace.contract.capabilities())
            lacking = f"{subject.name} declares to lack what {operation.tag!r} needs"
            why = lacking if able else f"no subject can be asked for {operation.tag!r} at this step"
            raise BadInput(f"{trace.where}: step {step}: {why}")
    return named or [s for s in declaring(trace.contract, profile or trace.profile) if not unasked(trace, s)]


def tell_of(judged: Sequence[Judgement], as_json: bool) -> int:
    """Print whether each subject keeps an invariant on each trace, and return the exit status."""
    if as_json:
        print_json({"judged": msgspec.to_builtins(judged)})
    for each in () if as_json else judged:
        said = "keeps it" if each.step is None else f"breaks it at step {each.step}: {each.complaint}"
        click.echo(f"{each.where}: {each.invariant}: {each.subject} {said}")
    return 1 if any(each.step for each in judged) else 0


def print_disagreement(found: Disagreement) -> None:
    """Show a trace up to its first difference."""
    trace = found.trace
    upto = trace.operations[: found.step + 1]
    told = lines(trace.contract, trace.contract.model(found.profile), trace.config, upto, found.difference)
    click.echo(f"{trace.where}: step {found.step + 1}: {found.who} differs ({found.profile})")
    click.echo("\n".join(table(told[-12:], max(1, len(told) - 11), width_here(WIDTH), shown_here())) + "\n")


def print_outcomes(trace: Trace, profile: str | None) -> None:
    """Show what the model answers to each operation of a short trace."""
    if len(trace.operations) <= 40:
        told = lines(trace.contract, trace.contract.model(profile or trace.profile), trace.config, trace.operations)
        click.echo("\n".join(table(told, width=width_here(WIDTH))) + "\n")


def disagreement_json(found: Disagreement) -> dict[str, Any]:
    """A disagreement as a JSON object."""
    return {
        "where": found.trace.where,
        "profile": found.profile,
        "who": found.who,
        "step": found.step + 1,
        "operation": msgspec.to_builtins(found.trace.operations[found.step]),
        "observed": found.observed,
        "expected": plain(found.difference.expected),
        "seen": plain(found.difference.seen),
    }
