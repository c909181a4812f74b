"""The Go client of Apache Pulsar as a subject: a program that the kit builds from the client's source."""

from __future__ import annotations

import shlex
from functools import cached_property
from pathlib import Path

import msgspec

from broker_tck.implementations.go.client import GoClient, go_client
from broker_tck.properties.engine.program import OPERATIONS, PROTOCOL, TRACES, Hello, Spoken


class Compiled(Spoken):
    """The program as the factory of a subject. What it says first is known before it is started."""

    def __init__(self, client: GoClient) -> None:
        super().__init__(shlex.join(client.command))
        self.name, self.client = client.name, client

    def files(self) -> list[Path]:
        """The program that was built."""
        return [Path(self.words[0])]

    @cached_property
    def hello(self) -> Hello:
        """What it says when it is started."""
        return msgspec.convert({"protocol": PROTOCOL, "levels": (OPERATIONS, TRACES), **self.client.declared}, Hello)

    @property
    def untried(self) -> str:
        """Why the behaviour of the release is not known; empty if it is known."""
        return self.client.untried


def compiled(name: str) -> Compiled | None:
    """The program of a Go client by its name; None if the name is of another kind. Unavailable: it cannot be built."""
    client = go_client(name)
    return Compiled(client) if client else None
