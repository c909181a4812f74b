"""Options that several commands share."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import click

from broker_tck.cli import completion
from broker_tck.cli.output import writing
from broker_tck.implementations.go.client import REPLACE
from broker_tck.implementations.jvm.jars import FOLDER
from broker_tck.implementations.reachable import barred
from broker_tck.implementations.released import CLASSPATH
from broker_tck.properties.engine.contract import Contract
from broker_tck.properties.engine.registry import CONTRACTS
from broker_tck.properties.engine.subjects import Subject, bundled, contract_named, having_profile
from broker_tck.properties.engine.trace import Trace
from broker_tck.properties.errors import BadInput
from broker_tck.properties.search.isolation.unloaded import resolve_unloaded, safely

F = TypeVar("F", bound=Callable[..., Any])

contract_option = click.option(
    "--contract",
    "contract_name",
    metavar="C",
    shell_complete=completion.contracts,
    help=f"The contract. Default: the contract of the named subjects or rules, else {next(iter(CONTRACTS))}.",
)

contracts_option = click.option(
    "--contract",
    "contract_names",
    multiple=True,
    metavar="C",
    shell_complete=completion.contracts,
    help="A contract. Repeatable. Default: all.",
)


def environment(variable: str) -> Callable[[click.Context, click.Parameter, str | None], None]:
    """Sets an environment variable to an option's value, for this command and every process that it starts."""

    def set_for_command(context: click.Context, _parameter: click.Parameter, value: str | None) -> None:
        if value is None:
            return
        before = os.environ.get(variable)
        os.environ[variable] = value
        context.call_on_close(lambda: put_back(variable, before))

    return set_for_command


def put_back(variable: str, value: str | None) -> None:
    """Set an environment variable to what it was."""
    if value is None:
        del os.environ[variable]
    else:
        os.environ[variable] = value


class Folder(click.Path):
    """An existing folder. The message for a folder without permission says so, and not that it is missing."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The folder's name."""
        if why := barred(value):
            self.fail(f"{value} {why}", param, ctx)
        return super().convert(value, param, ctx)


jars_option = click.option(
    "--pulsar",
    metavar="DIR",
    type=Folder(exists=True, file_okay=False),
    is_eager=True,
    expose_value=False,
    callback=environment(FOLDER),
    help="Folder with the jars of pulsar-VERSION/CLASS, for example the lib folder of a distribution.",
)


def java_options(command: F) -> F:
    """Add the options that name folders and jars of Java classes."""
    classes = click.option(
        "--classpath",
        metavar="PATH",
        is_eager=True,
        expose_value=False,
        callback=environment(CLASSPATH),
        help="Your own build: jars or folders of class files. They come before the jars of pulsar-VERSION/CLASS.",
    )
    return jars_option(classes(command))


def release_options(command: F) -> F:
    """Add the options that name folders with parts of releases: jars, classes, or a checkout."""
    replace = click.option(
        "--replace",
        metavar="DIR",
        type=Folder(exists=True, file_okay=False),
        is_eager=True,
        expose_value=False,
        callback=environment(REPLACE),
        help="Your patch of the Go client: its checkout replaces the source of pulsar-client-go-VERSION/negative-acks.",
    )
    return java_options(replace(command))


class Named(click.ParamType):  # type: ignore[type-arg] # older releases of click have no argument here
    """A subject, given by its name. The options that name what it is made from are eager, so they are read before."""

    name = "subject"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> Subject:
        """The subject with this name. Raises BadInput if there is none."""
        try:
            return resolve_unloaded(value)
        except BadInput:
            if ctx:  # nobody else closes a context whose options are not all taken
                ctx.close()
            raise


def subject_option(command: F) -> F:
    """The subjects of a command."""
    named = click.option(
        "--subject",
        "named",
        multiple=True,
        type=Named(),
        metavar="S",
        shell_complete=completion.subjects,
        help="A bundled subject, a profile (its model), an entry point, pkg.module:Factory, mutant:NAME, a class of a "
        "release of Pulsar, such as pulsar-4.2.4/in-memory, or a program, such as 'exec:./my-adapter'. Repeatable. "
        "Default: all bundled.",
    )
    return named(release_options(command))


def one_subject_option(command: F) -> F:
    """The subject of a command."""
    named = click.option(
        "--subject",
        required=True,
        type=Named(),
        metavar="S",
        shell_complete=completion.subjects,
        help="The subject: a name, pkg.module:Factory, mutant:NAME, exec:COMMAND, pulsar-VERSION/CLASS.",
    )
    return named(release_options(command))


profile_option = click.option(
    "--profile",
    metavar="P",
    shell_complete=completion.profiles,
    help="The profile. Default: each profile that the subject declares.",
)
workload_option = click.option(
    "--workload",
    metavar="L",
    help="Restrict walks to one workload (active-cursors: whole). Default: unrestricted.",
)
SEEDS = click.IntRange(0, 2**31 - 1)
seed_option = click.option("--seed", default=0, show_default=True, type=SEEDS, help="The seed.")
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document on standard output.")


def output_option(says: str, *names: str) -> Callable[[F], F]:
    """The option of a file that is written at the end. The command tests before it starts that it can be written."""
    return click.option(
        *(names or ("-o", "--output")),
        type=click.Path(dir_okay=False),
        metavar="FILE",
        is_eager=True,
        callback=see_writable,
        help=says,
    )


def see_writable(_context: click.Context, _parameter: click.Parameter, output: str | None) -> str | None:
    """Raise BadInput if a file cannot be written. An existing file is not changed."""
    if output:
        path = Path(output)
        there = path.exists() or path.is_symlink()
        with writing(output):
            path.open("a").close()
            if not there:
                path.unlink()
    return output


def chosen_subjects(contract: Contract, named: Sequence[Subject]) -> list[Subject]:
    """The subjects that were named, else all bundled ones of the contract."""
    subjects = [*named] or bundled(contract)
    for subject in subjects:
        if subject.contract is not contract:
            raise BadInput(f"{subject.name} is a subject of {subject.contract.name}, not of {contract.name}")
    return subjects


def asked_with(trace: Trace, subject: Subject) -> None:
    """Raise BadInput if a trace and a subject have different contracts."""
    if subject.contract.name != trace.contract.name:
        where = f"{trace.where}: a trace of {trace.contract.name}"
        raise BadInput(f"{where}; {subject.name} is a subject of {subject.contract.name}")


def with_workload(subjects: Sequence[Subject], workload: str | None) -> list[Subject]:
    """The subjects, with walks of the workload if one was named."""
    if workload is None:
        return [*subjects]
    try:
        return [replace(subject, contract=subject.contract.with_workload(workload)) for subject in subjects]
    except ValueError as error:
        raise BadInput(str(error)) from None


def chosen_profiles(subject: Subject, profile: str | None) -> tuple[str, ...]:
    """The profile that was named, else those that the subject declares."""
    if profile is not None:
        return (known_profile(subject.contract, profile),)
    tell_if_untried(subject)
    return subject.profiles


def tell_if_untried(subject: Subject) -> None:
    """Print a warning on standard error if the profile that a subject declares is a guess."""
    if subject.untried:
        click.echo(f"broker-tck: {subject.name}: {subject.untried}", err=True)


def chosen_profile(contract: Contract, profile: str | None) -> str:
    """The profile that was named, else the contract's own."""
    return known_profile(contract, profile or contract.default)


def known_profile(contract: Contract, profile: str) -> str:
    """The full name of a profile of the contract. Raises BadInput if there is no such profile."""

    def spelled() -> str:
        try:
            return contract.model(profile).PROFILE
        except ValueError as error:
            raise BadInput(str(error)) from None

    return profile if profile in contract.profiles else safely(f"profile {profile}: it cannot be imported", spelled)


def chosen_contracts(names: Sequence[str], profile: str | None = None) -> list[Contract]:
    """The contracts that were named, each once, else those that have the profile, else all."""
    named = [contract_named(name) for name in dict.fromkeys(names)]
    return named or having_profile(profile or "") or list(CONTRACTS.values())


def chosen_contract(name: str | None, subjects: Sequence[Subject] = (), rules: Sequence[str] = ()) -> Contract:
    """The contract that was named, else that of the first subject or rule, else the first of all."""
    if name:
        return contract_named(name)
    if subjects:
        return subjects[0].contract
    first = contract_named(next(iter(CONTRACTS)))
    if not rules:
        return first
    return next((c for c in CONTRACTS.values() if {*rules} & c.rules.keys()), first)


trace_profile_option = click.option(
    "--profile",
    metavar="P",
    shell_complete=completion.profiles,
    help="The profile. Default: the trace's own.",
)
