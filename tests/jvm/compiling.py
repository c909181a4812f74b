"""Java sources compiled against a release, as somebody who patches it or writes a plug-in does."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from broker_tck.implementations.jvm.java import found
from broker_tck.implementations.jvm.loader import CLASSES
from broker_tck.implementations.jvm.releases import OWN, Release


def jdk() -> Path:
    """The home of a Java with a compiler."""
    home = found(17)[0]
    if not (home / "bin" / "javac").exists():
        lacking = f"{home} has no javac: install a compiler (apt-get install openjdk-17-jdk-headless)"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(lacking)
    return home


def compiled(sources: Path, version: str, to: Path) -> Path:
    """The folder of class files of all sources below a folder."""
    javac = jdk() / "bin" / "javac"
    classpath = os.pathsep.join(map(str, (CLASSES, *Release(version).paths(OWN))))
    files = sorted(map(str, sources.rglob("*.java")))
    options = ["--release", "17", "-proc:none", "-nowarn", "-cp", classpath, "-d", str(to)]
    subprocess.run([javac, *options, *files], check=True)
    return to
