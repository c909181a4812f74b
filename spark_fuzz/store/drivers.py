"""Who drives a campaign: a process of a machine, and whether it has ended."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import msgspec


class Driver(msgspec.Struct):
    """A process that drives a campaign."""

    host: str
    pid: int
    started: str = ""
    """When the process started, as its machine counts; empty on a system that does not say."""

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}"

    @property
    def runs(self) -> bool | None:
        """Whether it still runs; None: this machine cannot tell."""
        if self.host != socket.gethostname():
            return None
        found = started(self.pid)
        return found == self.started if found else None


def this_process() -> Driver:
    """This process as a driver."""
    return Driver(socket.gethostname(), os.getpid(), started(os.getpid()))


def started(pid: int) -> str:
    """When a process of this machine started, as its system counts; "gone" if it has ended."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return "gone"
    except PermissionError:
        pass
    try:
        state, *fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return ""
    return "gone" if state == "Z" else fields[18]
