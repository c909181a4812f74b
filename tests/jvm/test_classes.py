"""The kit's own classes of Java are what their sources say."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from jvm.compiling import jdk

from broker_tck.implementations.jvm.loader import CLASSES

SCRIPT = Path(__file__).parents[2] / "scripts" / "compile-java.sh"


def test_classes_are_compiled_from_their_sources(tmp_path: Path) -> None:
    anew = tmp_path / "classes"
    subprocess.run([SCRIPT, anew], env={**os.environ, "JAVA_HOME": str(jdk())}, check=True)
    assert files(anew) == files(CLASSES)


def files(folder: Path) -> dict[str, bytes]:
    """The content of all files below a folder, by their paths."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
