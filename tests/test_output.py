"""What a command does where its output cannot be written: nobody reads on, or the disk is full."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import Cli
from kit import PATIENCE

from broker_tck.cli.output import written
from broker_tck.properties.errors import BadInput

PROGRAM = "import sys; from broker_tck.cli.main import main; main()"
FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="no device that is always full")


def ended(arguments: list[str], stdout: int, stderr: int = subprocess.PIPE) -> tuple[int, str]:
    """The exit status of a command whose standard output is given, and what it said on standard error."""
    command = [sys.executable, "-c", PROGRAM, *arguments]
    done = subprocess.run(command, stdout=stdout, stderr=stderr, text=True, check=False, timeout=PATIENCE)
    return done.returncode, done.stderr or ""


def test_pipe_that_nobody_reads_ends_it_quietly() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        assert ended(["rules"], writing) == (141, "")
        assert ended(["rules", "DD-07"], writing, writing) == (141, "")
    finally:
        os.close(writing)


def test_stream_that_was_closed_goes_nowhere() -> None:
    closed = "import sys; sys.stdout = None; from broker_tck.cli.main import main; main()"
    done = subprocess.run([sys.executable, "-c", closed, "rules"], capture_output=True, check=False, timeout=PATIENCE)
    assert (done.returncode, done.stderr) == (0, b"")


@needs_full
def test_full_disk_gets_one_line() -> None:
    with FULL.open("w") as full:
        line = "broker-tck: standard output: cannot be written: No space left on device\n"
        assert ended(["rules"], full.fileno()) == (2, line)
        assert ended(["rules", "DD-07"], full.fileno(), full.fileno()) == (2, "")


@needs_full
def test_full_disk_ends_a_record(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "t").symlink_to(FULL)
    monkeypatch.setattr(Path, "touch", lambda path, exist_ok: None)
    line = f"broker-tck: {tmp_path / 't'}: cannot be written: No space left on device\n"
    assert cli("walk", "--subject", "heap", "--walks", 1, "--record", tmp_path / "t") == (2, "", line)


@needs_full
def test_full_disk_ends_a_page() -> None:
    with pytest.raises(BadInput, match=r"^/dev/full: cannot be written: No space left on device$"):
        written(str(FULL), "page")
