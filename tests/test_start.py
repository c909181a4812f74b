"""Each command imports only what it needs, so that it starts fast. No clock is read."""

from __future__ import annotations

import json

import click
import pytest
from kit import commands_below, python

from broker_tck.cli.commands import Commands
from broker_tck.cli.main import cli
from broker_tck.properties.engine.registry import CONTRACTS

ROOMS = {f"broker_tck.properties.contracts.{name.replace('-', '_')}": name for name in CONTRACTS}
LIBRARIES = {
    "click",
    "hypothesis",
    "jinja2",
    "matplotlib",
    "msgspec",
    "pyroaring",
    "pytest",
    "rich",
    "sortedcontainers",
}
OF_SUBJECTS = {"click", "msgspec", "pyroaring", "sortedcontainers"}


def imported_by(code: str) -> set[str]:
    """The modules that some code imports in a Python of its own."""
    known = f"import json, sys\nknown = {{*sys.modules}}\n{code}\n"
    done = python("-c", f"{known}print(json.dumps([*sys.modules.keys() - known]))")
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout.splitlines()[-1]))


def imported_for(*arguments: str) -> set[str]:
    """The modules that a command line imports."""
    return imported_by(f"from broker_tck.cli.main import run\nrun({[*arguments]})")


def test_help_imports_next_to_nothing() -> None:
    found = imported_for("--help")
    assert found & LIBRARIES == {"click"}
    assert {name.removeprefix("broker_tck.") for name in found if name.startswith("broker_tck.")} == {
        *("cli", "cli.commands", "cli.main", "cli.streams"),
        *("implementations", "implementations.jvm", "implementations.jvm.unavailable", "implementations.naming"),
        *("properties", "properties.errors"),
    }


@pytest.mark.parametrize(
    ("line", "libraries", "contracts"),
    [
        ("--version", {"click", "msgspec", "pyroaring"}, {*CONTRACTS}),
        ("subjects", OF_SUBJECTS | {"rich"}, {"delayed-delivery"}),
        ("check --subject mutant:empty-set-called-back --walks 5 --fail-fast", OF_SUBJECTS, {"negative-acks"}),
        ("check --subject heap --walks 1 --examples 0", OF_SUBJECTS, {"delayed-delivery"}),
        ("replay has --subject heap", OF_SUBJECTS, {"delayed-delivery"}),
    ],
)
def test_commands_import_what_they_need(line: str, libraries: set[str], contracts: set[str]) -> None:
    found = imported_for(*line.split())
    assert found & LIBRARIES <= libraries
    assert {ROOMS[name] for name in found & {*ROOMS}} == contracts
    assert ("broker_tck.properties.mistakes.implementations" in found) == ("mutant:" in line)


def test_plugin_of_pytest_imports_next_to_nothing() -> None:
    found = imported_by("import pytest, broker_tck\nknown = {*sys.modules}\nimport broker_tck.properties.pytest_plugin")
    assert found == {"broker_tck.properties", "broker_tck.properties.pytest_plugin"}


@pytest.mark.parametrize("path", [(), ("bench",)], ids=" ".join)
def test_what_is_said_of_a_command_is_how_its_help_begins(path: tuple[str, ...]) -> None:
    group: click.Command = cli
    for name in path:
        assert isinstance(group, Commands)
        group = commands_below(group)[name]
    assert isinstance(group, Commands)
    for name, command in commands_below(group).items():
        assert str(command.help).replace("\n", " ").startswith(group.says[name])
        assert (command.name, group.says[name][-1]) == (name, ".")


def test_names_of_commands_are_completed_without_importing_any() -> None:
    code = "from broker_tck.cli.main import cli\nfrom click.shell_completion import ShellComplete\n"
    code += "found = ShellComplete(cli, {}, 'broker-tck', '_X').get_completions([], 'wa')\n"
    found = imported_by(f"{code}print([each.value for each in found])")
    assert not found & {"broker_tck.cli.walk", "broker_tck.cli.watch", "msgspec"}
