"""The tracker of the Go client of Apache Pulsar as a subject, by release: ``pulsar-client-go-0.19.0/negative-acks``.

``@`` and a folder put the user's checkout of the client in the place of the release.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from broker_tck.implementations.go.building import MODULE, built
from broker_tck.implementations.jvm.unavailable import Unavailable

REPLACE = "BROKER_TCK_REPLACE"
"""The environment variable with the folder of the checkout that stands in the place of every release."""
NAME = re.compile(r"pulsar-client-go-v?(?P<version>[^/@]+)/(?P<kind>[^@]+)(?:@(?P<checkout>.+))?")
VERSION = re.compile(r"\d+\.\d+\.\d+", re.ASCII)
KIND = "negative-acks"
TRIED = ("0.17.0", "0.19.0")
"""The releases that the kit's pages speak of."""
SAME = "0.13.0 0.13.1 0.14.0 0.15.0 0.15.1 0.16.0 0.17.0 0.18.0 0.19.0"
"""The releases of which the tracker was run, or is the same to the letter as one that was run."""
TICKS = {"failing_requests": False, "no_delay": False, "closes_inside": False, "threads": True}


@dataclass(frozen=True)
class Line:
    """What the tracker is from some version on, until the next line."""

    since: tuple[int, ...]
    profile: str
    capabilities: Mapping[str, Any]


LINES = (
    Line((0, 13), "go-old", TICKS),
    Line((0, 18), "go", {**TICKS, "precision_bits": 72}),
)


@dataclass(frozen=True)
class GoClient:
    """The tracker of a release, or of a checkout in its place."""

    version: str
    checkout: Path | None

    @property
    def name(self) -> str:
        """Its full name."""
        return f"pulsar-client-go-{self.version}/{KIND}" + (f"@{self.checkout}" if self.checkout else "")

    @property
    def line(self) -> Line:
        """What it is. Unavailable: nothing that the kit knows."""
        if not VERSION.fullmatch(self.version):
            raise Unavailable(f"{self.version!r} is no version of {MODULE}, such as {', '.join(TRIED)}")
        known = [line for line in LINES if line.since <= tuple(map(int, self.version.split(".")))]
        if not known:
            raise Unavailable(f"no driver fits {self.version}; releases from 0.13.0 on are subjects")
        return known[-1]

    @property
    def untried(self) -> str:
        """Why the behaviour of the release is not known; empty if it is known."""
        if self.checkout or self.version in SAME.split():
            return ""
        return f"the kit was never run on {self.version}; that it is {self.line.profile} is a guess"

    @property
    def declared(self) -> dict[str, Any]:
        """What it declares, as the protocol has it."""
        return {
            "contract": KIND,
            "profiles": [self.line.profile],
            "capabilities": self.line.capabilities,
            "software": f"pulsar-client-go {self.version}",
        }

    @property
    def command(self) -> tuple[str, str]:
        """The program, with what it declares. It is built first if need be; Unavailable says why it cannot be."""
        declared = json.dumps(self.declared)
        return str(built(self.version, self.checkout)), declared


def go_client(name: str) -> GoClient | None:
    """The Go client with this name; None if the name is of another kind. Unavailable says what is wrong with it."""
    found = NAME.fullmatch(name)
    if found is None:
        return None
    if found["kind"] != KIND:
        raise Unavailable(f"no {found['kind']!r} of the Go client is a subject; there is: {KIND}")
    written = found["checkout"] or os.environ.get(REPLACE)
    if written and not Path(written).is_dir():
        raise Unavailable(f"{written} is no folder")
    return GoClient(found["version"], Path(written) if written else None)
