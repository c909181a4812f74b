"""Findings on a whole broker of a release: the examples end as their pages say."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

REPO = Path(__file__).parents[2]


@pytest.mark.deep
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("r-01", ("4.2.4",)),
        ("set-clock", ("4.2.4", "--wait", "15")),
        ("closed-consumer", ("4.2.4",)),
        ("lost-wakeup", ("4.2.4",)),
        ("closed-tracker", ("4.0.0",)),
        ("leaked-entry", ("4.0.0",)),
        ("overwritten-queue", ("4.2.4",)),
        ("unanswered-read", ("4.0.0",)),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_harm_is_as_its_page_shows(name: str, words: tuple[str, ...]) -> None:
    """On a whole broker of a release, an example prints what its page shows and ends with exit status 1.

    Times differ from run to run, and so does how many timers are left.
    """
    command = (sys.executable, str(REPO / "examples" / "whole_broker" / "run.py"), name, *words)
    done = subprocess.run(command, capture_output=True, text=True, timeout=640, check=False)
    if done.returncode == 2 and not os.environ.get("CI"):
        pytest.skip(done.stderr.strip())
    page = (REPO / "docs" / f"{name}.md").read_text(encoding="utf-8")
    told = re.search(rf"```console\n\$ python examples/whole_broker/run\.py {name}\n(.*?)```", page, flags=re.DOTALL)
    assert told
    assert said(done.stdout) == said(told[1]), done.stderr
    assert done.returncode == 1


def said(text: str) -> list[list[str]]:
    """The words of each line, without the version of Java, how long something took, and how much is left."""
    return [line.split() for line in re.sub(r"; Java .*|[\d.]+ s\b|\d+ left", "", text).splitlines()]
