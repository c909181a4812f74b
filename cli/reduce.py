"""``reduce``: a failing trace, as short as it gets."""

from __future__ import annotations

from functools import partial

import click

from broker_tck.cli.options import asked_with, json_option, known_profile, one_subject_option, trace_profile_option
from broker_tck.cli.output import print_json
from broker_tck.cli.terminal import report_here
from broker_tck.properties.engine.subjects import Subject
from broker_tck.properties.engine.trace import Trace, load
from broker_tck.properties.errors import BadInput
from broker_tck.properties.explain.checked import Checked
from broker_tck.properties.explain.diagnose import Diagnoser
from broker_tck.properties.explain.finding import find
from broker_tck.properties.explain.guarding import Task, run_one
from broker_tck.properties.report.finding import FindingResult, finding_json
from broker_tck.properties.report.made import finding_result
from broker_tck.properties.search.run import Progress

REDUCE_EXAMPLES = """\b
Examples:
  broker-tck reduce failing.jsonl --subject my_package.tracker:MyTracker
"""


@click.command("reduce", epilog=REDUCE_EXAMPLES)
@click.argument("trace", metavar="FILE|TEXT")
@one_subject_option
@trace_profile_option
@json_option
def reduce_command(trace: str, subject: Subject, profile: str | None, as_json: bool) -> int:
    """Reduce a failing trace to the shortest trace that breaks the same rule.

    A trace is a file, in which the first failing trace is taken, or one line of text.
    """
    for candidate in load(trace):
        asked_with(candidate, subject)
        under = known_profile(candidate.contract, profile or candidate.profile)
        task = Task(subject, under, partial(reduced, candidate, under), told_of)
        for told in run_one(task, partial(click.echo, err=True)):
            print_json(finding_json(told)) if as_json else click.echo(report_here(told))
            return 1
    raise BadInput(f"{trace}: {subject.name} agrees with the model at every step; there is nothing to reduce")


def reduced(trace: Trace, profile: str, subject: Subject, _progress: Progress) -> list[FindingResult]:
    """The finding that a trace is reduced to; none if it does not fail."""
    diagnoser = Diagnoser(subject, subject.contract.model(profile))
    finding = find(diagnoser, trace.walk)
    return [finding_result(finding)] if finding else []


def told_of(found: Checked) -> list[FindingResult]:
    """The finding, if the subject ends its process."""
    return [finding_result(each) for each in found.findings]
