"""``bench walks``: how fast walks are at the last commit of a clone and at another commit, in turns of one run."""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence
from importlib.metadata import version
from os import cpu_count
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from broker_tck.bench.commits import Kit, clone, taken_out
from broker_tck.implementations.bundled import BUNDLED
from broker_tck.implementations.naming import unknown
from broker_tck.properties.engine.subjects import contract_of
from broker_tck.properties.errors import BadInput

SUBJECTS = (
    "time-bucket",
    "sorted-buckets",
    "sorted-cursors",
    "removal-queue",
    "bucket",
    "shared-index",
    "timing-wheel",
)
"""One of each contract."""
WALKS = {
    "delayed-delivery": 450,
    "negative-acks": 500,
    "active-cursors": 600,
    "entry-cache": 250,
    "bucket-delivery": 90,
    "topic-delivery": 100,
    "ack-timeout": 500,
}
"""How many walks of a subject are made in a turn, by its contract: more if a few of them do much in bulk."""
TURNS = 3
WALKING = Path(__file__).with_name("walking.py")


class Part(msgspec.Struct, frozen=True, array_like=True):
    """What the walks of one turn cost at one commit."""

    operations: int
    seconds: float
    """Of the processor."""

    @property
    def rate(self) -> float:
        """Operations a second."""
        return self.operations / self.seconds


class Row(msgspec.Struct, frozen=True):
    """A subject at both commits, a part for each turn; no parts if a commit does not have the subject."""

    subject: str
    walks: int
    """How many are made in a turn."""
    old: list[Part]
    new: list[Part]

    @property
    def missing(self) -> bool:
        """Whether a commit does not have the subject: nothing can be compared."""
        return not (self.old and self.new)

    @property
    def ratio(self) -> float:
        """How many times as fast walks are at the new commit, over all turns."""
        return total(self.new).rate / total(self.old).rate

    @property
    def ratios(self) -> list[float]:
        """The same, turn by turn."""
        return [new.rate / old.rate for old, new in zip(self.old, self.new, strict=True)]

    @property
    def same(self) -> bool:
        """Whether walks have as many operations at both commits; else other walks are compared."""
        return [part.operations for part in self.old] == [part.operations for part in self.new]


class Result(msgspec.Struct, frozen=True):
    """What was measured of two commits."""

    old: str
    new: str
    rows: list[Row]


def total(parts: Sequence[Part]) -> Part:
    """All parts as one."""
    return Part(sum(part.operations for part in parts), sum(part.seconds for part in parts))


def machine_words() -> str:
    """The machine and the versions, in words."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [
            line.partition(":")[2].strip() for line in info.read_text().splitlines() if line.startswith("model name")
        ]
        model = names[0] if names else model
    packages = ", ".join(f"{name} {version(name)}" for name in ("hypothesis", "msgspec", "pyroaring"))
    return f"{model}, {cpu_count()} cores, CPython {platform.python_version()}, {packages}"


def measure(
    against: str,
    subjects: Sequence[str] = SUBJECTS,
    walks: int | None = None,
    turns: int = TURNS,
    tell: Callable[[int, str], None] = lambda done, says: None,
) -> Result:
    """Measure the last commit of the clone that the current folder is in, and another one, in turns.

    ``walks`` are made of each subject in a turn, other ones in each; None: as many as :data:`WALKS` says. ``tell`` gets
    the number of processes that have ended, and the subject. BadInput if there is no such clone, commit or subject, if
    the clone has changes that are not committed, or if walks cannot be made at a commit.
    """
    rows = [Row(name, walks or walks_of(name), [], []) for name in subjects]
    root, done = clone(), 0
    with TemporaryDirectory() as folder:
        old, new = (taken_out(root, name, Path(folder) / side) for side, name in (("old", against), ("new", "HEAD")))
        for turn in range(turns):
            for row in rows:
                for kit, parts in ((old, row.old), (new, row.new)):
                    parts.extend(walked(kit, row.subject, turn * row.walks, row.walks))
                    done += 1
                    tell(done, row.subject)
    return Result(old.commit, new.commit, rows)


def steps(subjects: Sequence[str], turns: int) -> int:
    """How many processes measure."""
    return 2 * turns * len(subjects)


def walks_of(name: str) -> int:
    """How many walks of a bundled subject are made in a turn. BadInput if none has this name."""
    if name not in BUNDLED:
        raise BadInput(unknown("bundled subject", name, BUNDLED))
    return WALKS[contract_of(BUNDLED[name])]


def walked(kit: Kit, name: str, first: int, count: int) -> list[Part]:
    """Make walks at a commit, in a process of its own: one part, or none if it does not have the subject."""
    done = kit.run(str(WALKING), name, str(first), str(count))
    if done.returncode:
        why = (done.stderr.strip() or "it says nothing").splitlines()[-1]
        raise BadInput(f"walks of {name} cannot be made at commit {kit.commit}: {why}")
    found = msgspec.json.decode(done.stdout, type=Part | None)
    return [found] if found else []
