"""The finding R-01 on a whole broker of a release: the example ends as its page says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

REPO = Path(__file__).parents[2]


@pytest.mark.deep
def test_a_slow_subscription_loses_its_messages() -> None:
    """On a whole broker, a slow subscription loses its messages as docs/r-01.md shows."""
    command = (sys.executable, str(REPO / "examples" / "r-01" / "run.py"), "4.2.4")
    done = subprocess.run(command, capture_output=True, text=True, timeout=640, check=False)
    if done.returncode == 2 and not os.environ.get("CI"):
        pytest.skip(done.stderr.strip())
    page = (REPO / "docs" / "r-01.md").read_text(encoding="utf-8")
    told = re.search(r"```console\n\$ python examples/r-01/run\.py\n(.*?)```", page, flags=re.DOTALL)
    assert told
    assert done.stdout.partition("; Java ")[0] == told[1].partition("; Java ")[0]
    assert done.stdout.splitlines()[1:] == told[1].splitlines()[1:], done.stderr
    assert done.returncode == 1
