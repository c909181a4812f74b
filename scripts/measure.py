"""Runs a command of a tox environment, and notes what it costs: ``python scripts/measure.py pytest …``.

The notes are lines of ``costs.log`` in the folder of the environment; scripts/costs.py reads them. There,
tests/conftest.py notes the time of each test.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from pathlib import Path
from types import FrameType

PR_SET_CHILD_SUBREAPER = 36


def adopt_orphans() -> None:
    """Become the parent of processes whose own has ended, so that their time is counted as well. Linux only."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)


def run(command: list[str], environment: dict[str, str]) -> int:
    """Run a command to its end; answers with its exit status as a shell does. SIGTERM is passed on.

    A terminal sends SIGINT to the command as well, so here it is only survived.
    """
    child = os.posix_spawnp(command[0], command, environment)

    def pass_on(number: int, _: FrameType | None) -> None:
        os.kill(child, number)

    signal.signal(signal.SIGINT, lambda number, frame: None)
    signal.signal(signal.SIGTERM, pass_on)
    ended = 0
    while ended != child:
        ended, status = os.wait()
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def main() -> int:
    """Run the command that the arguments are."""
    log = Path(os.environ["TOX_ENV_DIR"], "costs.log")
    adopt_orphans()
    started = time.monotonic()
    status = run(sys.argv[1:], os.environ | {"COSTS_LOG": str(log)})
    times = os.times()
    seconds, wall = times.children_user + times.children_system, time.monotonic() - started
    with log.open("a", encoding="utf-8") as notes:
        notes.write(f"command {seconds:.2f} {wall:.2f}\n")
    return status


if __name__ == "__main__":
    sys.exit(main())
