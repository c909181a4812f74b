"""Java sources compiled: against a release, as somebody who patches it or writes a plug-in does, and the kit's own."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from broker_tck.implementations.jvm.java import found
from broker_tck.implementations.jvm.releases import OWN, Release


def compiled(sources: Path, version: str, to: Path) -> Path:
    """The folder of class files of all sources below a folder."""
    classpath = os.pathsep.join(map(str, Release(version).paths(OWN)))
    return javac(sources, to, ["-nowarn", "-cp", classpath])


def javac(sources: Path, to: Path, options: Sequence[str]) -> Path:
    """The same, with options of the compiler's."""
    command = found(17)[0] / "bin" / "javac"
    if not command.exists():
        lacking = f"{command} is missing: this Java has no compiler (apt-get install openjdk-17-jdk-headless)"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(lacking)
    files = sorted(map(str, sources.rglob("*.java")))
    subprocess.run([command, "--release", "17", "-proc:none", *options, "-d", str(to), *files], check=True)
    return to
