"""``replay DIR``: replays the regressions that ``check --save DIR`` saved, each on the subject that its file names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import click
import msgspec

from broker_tck.cli.options import asked_with
from broker_tck.cli.output import print_json, progress
from broker_tck.properties.engine.subjects import Subject
from broker_tck.properties.engine.trace import Trace
from broker_tck.properties.errors import BadInput
from broker_tck.properties.explain.regressions import Regression, regressions_in
from broker_tck.properties.search.isolation.apart import judged_apart
from broker_tck.properties.search.isolation.unloaded import resolve_unloaded
from broker_tck.properties.search.replay import Disagreement, declaring, replay_all, unasked


class Outcome(msgspec.Struct, frozen=True):
    """The result of a regression on a subject."""

    file: str
    subject: str
    profile: str
    rule: str
    """Empty if the name of the file does not say it."""
    fails: bool
    says: str


def is_folder(source: str) -> bool:
    """Whether a source is the name of a folder; the text of a trace may be longer than a name can be."""
    try:
        return bool(source) and Path(source).is_dir()
    except (OSError, ValueError):
        return False


def replay_folder(folder: Path, named: Sequence[Subject], profile: str | None, as_json: bool) -> int:
    """Replay all regressions of a folder, print a line for each, and return the exit status.

    Raises BadInput if the folder has no trace, or if a file names an unknown subject.
    """
    kept = regressions_in(folder)
    if not kept:
        raise BadInput(f"{folder}: has no regression; `broker-tck check --save {folder}` saves them there")
    pairs = [(each, subject) for each in kept for subject in named or subjects_of(each, profile)]
    found: list[Outcome] = []
    with progress(len(pairs), "replaying", "traces") as tell:
        for each, subject in pairs:
            found.append(outcome(each, subject, profile))
            tell(len(found), each.file)
    failing = sum(each.fails for each in found)
    if as_json:
        print_json({"traces": msgspec.to_builtins(found), "failing": failing})
    else:
        for told in found:
            click.echo(f"{told.file}: {told.subject}: {told.says}")
        click.echo(f"{failing} of {len(found)} fail")
    return 1 if failing else 0


def subjects_of(kept: Regression, profile: str | None) -> Iterator[Subject]:
    """The subject that the name of the file says; else the bundled subjects that declare the profile."""
    if not kept.subject:
        yield from declaring(kept.trace.contract, profile or kept.profile)
        return
    try:
        yield resolve_unloaded(kept.subject)
    except BadInput as error:
        raise BadInput(f"{kept.file}: {error}") from None


def outcome(kept: Regression, subject: Subject, profile: str | None) -> Outcome:
    """Replay a regression on a subject. Raises BadInput if the trace is of another contract."""
    asked_with(kept.trace, subject)
    if lacks := unasked(kept.trace, subject):
        fails, says = False, f"not run: step {lacks[0]} needs what the subject declares to lack"
    else:
        fails, says = replayed(kept, subject, profile)
    rule = f" ({kept.rule})" if kept.rule else ""
    return Outcome(kept.file, subject.name, profile or kept.profile, kept.rule, fails, f"{says}{rule}")


def replayed(kept: Regression, subject: Subject, profile: str | None) -> tuple[bool, str]:
    """Whether a regression fails under the profile that was checked, and the result in words.

    The trace may have been reduced under another profile, with which the subject agreed more. That profile then tells
    the step.
    """
    trace = kept.trace
    if kept.invariant and (judged := judged_apart(trace, subject, kept.rule)).step is not None:
        return True, f"fails at step {judged.step} of {len(trace.operations)}: {judged.complaint}"
    found = differing(trace, subject, profile or kept.profile)
    if found and not profile:
        found = differing(trace, subject) or found
    return bool(found), f"fails at step {found[0].step + 1} of {len(trace.operations)}" if found else "passes"


def differing(trace: Trace, subject: Subject, profile: str | None = None) -> Sequence[Disagreement]:
    """Where a trace differs, replayed on the model of a profile and on a subject."""
    (found,) = replay_all([(trace, [subject])], profile)
    return found.disagreements
