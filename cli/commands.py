"""Groups of commands that import a command only when it is called; ``--help`` imports none."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click
from click.shell_completion import CompletionItem

from broker_tck.properties.errors import BadInput


class Commands(click.Group):
    """A group whose command NAME is ``NAME_command`` in the module NAME of a package.

    ``says`` has the first sentence of each command's help, by its name; ``gone`` says what replaces former commands.
    """

    def __init__(
        self,
        *arguments: Any,
        package: str,
        says: Mapping[str, str],
        gone: Mapping[str, str] | None = None,
        **settings: Any,
    ) -> None:
        super().__init__(*arguments, **settings)
        self.package, self.says, self.gone = package, dict(sorted(says.items())), gone or {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands."""
        return [*self.says]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """A command by name, its module imported; None if there is none of this name. Raises BadInput if it is gone."""
        if cmd_name in self.gone:
            raise BadInput(self.gone[cmd_name])
        if cmd_name not in self.says:
            return None
        command: click.Command = getattr(import_module(f"{self.package}.{cmd_name}"), f"{cmd_name}_command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the names of the commands into the group's help, each with what it does."""
        with formatter.section("Commands"):
            formatter.write_dl([*self.says.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The names of commands, and the options of the group, that begin with what is written."""
        names = [CompletionItem(name, help=says) for name, says in self.says.items() if name.startswith(incomplete)]
        return [*names, *click.Command.shell_complete(self, ctx, incomplete)]
