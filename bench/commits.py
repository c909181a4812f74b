"""The kit as it was at a commit: taken out of a clone into a folder, from which a process can import it.

The folders at the top of a commit are the subpackages of ``broker_tck``, so the folder that they are put into is it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from io import BytesIO
from pathlib import Path
from typing import NamedTuple
from zipfile import ZipFile

from broker_tck.properties.errors import BadInput


class Kit(NamedTuple):
    """The code of a commit."""

    commit: str
    """Its short hash."""
    path: Path
    """The folder that has its ``broker_tck``."""

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run Python with this code, and no other of the kit's."""
        variables = {**os.environ, "PYTHONPATH": str(self.path), "PYTHONHASHSEED": "0"}
        variables.pop("PYTHONDONTWRITEBYTECODE", None)  # or each process would compile all of it
        command = [sys.executable, "-P", *arguments]
        return subprocess.run(command, env=variables, cwd=self.path, capture_output=True, text=True, check=False)


def clone() -> Path:
    """The clone that the current folder is in. BadInput if there is none, or if it has uncommitted changes."""
    root = Path(git(Path(), "rev-parse", "--show-toplevel").decode().strip())
    if git(root, "--no-optional-locks", "status", "--porcelain", "--untracked-files=no"):
        raise BadInput(f"{root} has uncommitted changes, and commits are compared: commit or stash the changes")
    return root


def taken_out(root: Path, name: str, folder: Path) -> Kit:
    """The kit at a commit, put into a folder. BadInput if there is no such commit, or if it has no kit."""
    try:
        commit = git(root, "rev-parse", "--short", "--verify", f"{name}^{{commit}}")
    except BadInput:
        raise BadInput(f"{root} has no commit {name!r}") from None
    kit = Kit(commit.decode().strip(), folder)
    package = folder / "broker_tck"
    with ZipFile(BytesIO(git(root, "archive", "--format=zip", kit.commit))) as archive:
        archive.extractall(package)
    if not (package / "properties" / "engine" / "walk.py").exists():
        raise BadInput(f"{root} has no broker-tck at commit {name!r}")
    (package / "__init__.py").touch()  # or the package of that name that is installed would be taken
    return kit


def git(folder: Path, *arguments: str) -> bytes:
    """What git prints, asked in a folder. BadInput if git is missing, or fails."""
    try:
        done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, check=False)
    except FileNotFoundError:
        raise BadInput("git is needed to compare commits, and is not installed") from None
    if done.returncode:
        raise BadInput(f"git {' '.join(arguments)}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout
