"""``reduce``: a failing trace, as short as it gets."""

from __future__ import annotations

import click

from broker_tck.cli.options import asked_with, json_option, known_profile, one_subject_option, trace_profile_option
from broker_tck.cli.output import print_json
from broker_tck.cli.told import story_here
from broker_tck.properties.engine.check import unanswered
from broker_tck.properties.engine.replay import SECONDS
from broker_tck.properties.engine.subjects import Subject
from broker_tck.properties.engine.trace import Trace, load
from broker_tck.properties.errors import BadInput
from broker_tck.properties.findings.diagnose import Diagnoser
from broker_tck.properties.findings.document import document, finding_json
from broker_tck.properties.findings.finding import Finding, find
from broker_tck.properties.isolation.protected import probing, replayed, stays

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
    """Reduce the first failing trace of a file, or a text, to the shortest that breaks the same rule."""
    for candidate in load(trace):
        asked_with(candidate, subject)
        model = candidate.contract.model(known_profile(candidate.contract, profile or candidate.profile))
        diagnoser = Diagnoser(subject.contract, model, subject.rig, subject.capabilities)
        finding = found_in(subject, diagnoser, candidate)
        if finding:
            print_json(finding_json(finding)) if as_json else click.echo(story_here(document(finding)))
            return 1
    raise BadInput(f"{trace}: {subject.name} does as the model on every step; there is nothing to reduce")


def found_in(subject: Subject, diagnoser: Diagnoser, trace: Trace) -> Finding | None:
    """The finding that a trace is reduced to. Where there is no answer, no replay is in this process if it can fork."""
    failing = replayed(subject, diagnoser.model, trace.config, trace.operations, SECONDS)
    if failing is None:
        return None
    elsewhere = probing(failing[1], SECONDS).failure if unanswered(failing[1]) and not stays(subject) else None
    return find(subject, diagnoser, trace.config, list(trace.operations), None, elsewhere)
