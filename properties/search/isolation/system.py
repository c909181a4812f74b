"""What the system knows of a process: its time, its memory, and whether it waits."""

from __future__ import annotations

import os
import resource
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple


def family_of(pid: int) -> list[int]:
    """A process and all that it has started, directly or not, as far as the system tells."""
    found = [pid]
    for each in found:
        for children in Path(f"/proc/{each}/task").glob("*/children"):
            with suppress(OSError):
                found += map(int, children.read_text().split())
    return found


def size_of(pid: int | str = "self") -> int:
    """The bytes that a process takes; 0 if the system does not tell."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * resource.getpagesize()
    except OSError:
        return 0


def own_size_of(pid: int) -> int:
    """The bytes that a process shares with no other; 0 if the system does not tell."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return 1024 * sum(int(line.split()[1]) for line in lines if line.startswith("Private_"))


class State(NamedTuple):
    """What a process has taken: seconds of the processor, and bytes of memory."""

    used: float
    size: int


def state_of(pid: int) -> State:
    """The time and memory of a process and of all that it has started; zeros if the system does not tell.

    What has ended meanwhile counts for the time, but not for the memory. Of what was started counts the memory that is
    its own: until it runs its program, it shares all of it with the process that has started it.
    """
    family = family_of(pid)
    times = [stat_of(Path(f"/proc/{each}/stat"))[11:15] for each in family]
    used = sum(int(time) for each in times for time in each) / os.sysconf("SC_CLK_TCK")
    return State(used, size_of(pid) + sum(map(own_size_of, family[1:])))


def all_asleep(pid: int, otherwise: bool) -> bool:
    """Whether each thread of a process, and of all that it has started, waits for something, and not for a core.

    ``otherwise`` if nobody tells.
    """
    found = [stat_of(file) for each in family_of(pid) for file in Path(f"/proc/{each}/task").glob("*/stat")]
    return all(fields[0] == "S" for fields in found if fields) if found else otherwise


def stat_of(file: Path) -> list[str]:
    """The fields of a process or a thread behind its name; empty if the system does not tell."""
    try:
        return file.read_text().rpartition(")")[2].split()
    except OSError:
        return []


def group_lives(leader: int) -> bool:
    """Whether a process is left of a group whose leader has been reaped."""
    try:
        os.killpg(leader, 0)
    except OSError:
        return False
    return True
