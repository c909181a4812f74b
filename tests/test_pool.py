"""Processes that work side by side."""

from __future__ import annotations

import subprocess
import sys

import pytest
from kit import PATIENCE

CODE = """
import signal
from broker_tck.properties.search.isolation.pool import processes

pool = processes(2)
print(pool.submit(abs, -7).result(), flush=True)
pool.submit(signal.pause)
pool.submit(signal.pause).result()
"""


@pytest.mark.slow
def test_they_end_with_the_one_that_made_them() -> None:
    made = subprocess.Popen([sys.executable, "-c", CODE], stdout=subprocess.PIPE)
    assert made.stdout is not None
    assert made.stdout.readline() == b"7\n"
    made.kill()
    assert made.communicate(timeout=PATIENCE) == (b"", None)  # each process that is left has its standard output open
