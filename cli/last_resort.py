"""What a command says, and how it ends, where a subject of its process neither answers nor can be interrupted."""

from __future__ import annotations

import os
from contextlib import suppress

import click

from broker_tck.cli.output import console, print_json
from broker_tck.cli.streams import flush
from broker_tck.implementations.interface import NOT_ANSWERED
from broker_tck.properties.check_document import check_document
from broker_tck.properties.engine.check import HANG, no_answer
from broker_tck.properties.engine.operation import clock_of
from broker_tck.properties.engine.walk import Walk
from broker_tck.properties.engine.written import operation_text
from broker_tck.properties.findings.document import finding_json, replay_command
from broker_tck.properties.findings.finding import Finding, unreduced
from broker_tck.properties.isolation.resident import Busy


def give_up(busy: Busy, as_json: bool) -> None:
    """Say in a line what the subject is busy with, and end this process as a finding does.

    With ``as_json`` standard output has one document, whatever the command: the finding, not reduced.
    """
    try:
        console(err=True).show_cursor()
        click.echo(f"broker-tck: {told(busy)}", err=True)
        if as_json:
            finding = finding_json(finding_of(busy)) if busy.operations else {"subject": busy.subject.name}
            print_json(check_document((), {**finding, "message": told(busy)}))
        with suppress(OSError):
            flush()
    finally:
        os._exit(1)


def told(busy: Busy) -> str:
    """What a subject is busy with, in a line, and how to see it again."""
    name = busy.subject.name
    if not busy.operations:
        return f"{name} does not come back from being made, and cannot be interrupted"
    number, finding = len(busy.operations), finding_of(busy)
    text = operation_text(busy.operations[-1], clock_of(busy.config))
    return f"{name} gave no answer to operation {number}, {text}, and cannot be interrupted: {replay_command(finding)}"


def finding_of(busy: Busy) -> Finding:
    """The trace so far as a finding that was not reduced."""
    difference = no_answer(HANG, NOT_ANSWERED)
    profile = busy.profile or busy.subject.profiles[0]
    return unreduced(busy.subject, profile, Walk(None, busy.config, busy.operations, difference))
