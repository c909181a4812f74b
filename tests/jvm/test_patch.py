"""The page on patches is followed word by word: a patched class is compiled, its races go away, and others appear."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from jvm.compiling import jdk
from test_docs import BLOCK, DOCS

BEGINS = re.compile(r"^(?:\$ |(?=mvn|unzip|sed|javac))", flags=re.MULTILINE)


def commands(text: str) -> Iterator[tuple[str, str]]:
    """Each command in the blocks of a text, with what it prints; nothing if that is not shown."""
    for block in re.findall(BLOCK, text):
        for part in filter(None, BEGINS.split(block.partition("\n")[2].removesuffix("```"))):
            command, _, told = part.strip().partition("\n")
            yield command, told


@pytest.mark.deep
def test_races_go_away_and_appear_as_the_page_shows(tmp_path: Path) -> None:
    before, _, section = (DOCS / "patch.md").read_text(encoding="utf-8").partition("\n## Races of your patch\n")
    lombok = [each for each in commands(before) if each[0].startswith("mvn") and "lombok" in each[0]]
    path = os.pathsep.join((str(Path(sys.executable).parent), str(jdk() / "bin"), os.environ["PATH"]))
    options = {"cwd": tmp_path, "env": os.environ | {"PATH": path}, "capture_output": True, "text": True}
    for command, told in [*lombok, *commands(section.partition("\n## ")[0])]:
        done = subprocess.run(["bash", "-c", command], check=False, **options)  # type: ignore[call-overload]
        if command.startswith("mvn") and done.returncode and not os.environ.get("CI"):
            pytest.skip(f"{command}: {done.stdout}{done.stderr}")
        pattern = re.escape(told).replace("…", ".*") or ".*"
        assert re.fullmatch(pattern, done.stdout.strip(), flags=re.DOTALL), f"{command} prints {done.stdout}"
        assert done.returncode == ("\nRACE " in told), f"{command}: {done.stderr}"
