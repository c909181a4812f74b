"""The manifest of a campaign: everything on which the result of a round depends."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from broker_tck.properties.errors import BadInput
from broker_tck.properties.rulebook import rulebook
from broker_tck.properties.search.isolation.unloaded import resolve_unloaded
from broker_tck.properties.threads.search import Budget
from broker_tck.spark_fuzz.driver.fingerprint import kit_digest, libraries, python_version, subject_digests, versions

FORMAT = 2
"""The version of the store's layout."""


class Counts(NamedTuple):
    """The names of what a campaign counts of each pair."""

    judged: str
    steps: str
    reached: str


WALKS = Counts("walks", "operations", "states")
RACES = Counts("programs", "schedules", "histories")


class Pair(msgspec.Struct, frozen=True):
    """A subject under a profile: each shard walks every pair, or searches its races."""

    subject: str
    profile: str


class Goal(msgspec.Struct, frozen=True):
    """When a campaign ends: after a number of rounds, seconds, or findings. A round is always completed."""

    rounds: int | None = None
    seconds: float | None = None
    findings: int | None = None

    def reached(self, rounds: int, seconds: float) -> bool:
        """Whether the rounds made, or the seconds used, reach the goal."""
        return (self.rounds is not None and rounds >= self.rounds) or (
            self.seconds is not None and seconds >= self.seconds
        )


class Code(msgspec.Struct, frozen=True):
    """What runs: versions, and digests of the kit's code and of other packages that subjects come from."""

    kit: str
    digest: str
    python: str
    libraries: dict[str, str]
    subjects: dict[str, str]
    rulebook: str = ""
    """The version of the rules; empty in older campaigns."""

    def differs(self, other: Code) -> str:
        """What differs there from here, in a few words; empty if nothing does."""
        if self.kit != other.kit:
            return f"broker-tck {other.kit}, not {self.kit}"
        if self.python != other.python:
            return f"Python {other.python}, not {self.python}"
        if self.digest != other.digest:
            return f"different code of broker-tck {other.kit} (digest {other.digest}, not {self.digest})"
        for name, here in self.libraries.items():
            if other.libraries.get(name) != here:
                return f"{name} {other.libraries.get(name, 'none')}, not {here}"
        for name in self.subjects | other.subjects:
            if self.subjects.get(name) != other.subjects.get(name):
                return f"different code of the subject {name}"
        return ""


class Manifest(msgspec.Struct, frozen=True):
    """A campaign. The result of a round, except for its times, depends only on this and on its number."""

    contract: str
    pairs: list[Pair] = msgspec.field(name="lanes")
    seed: int
    shards: int
    operations: int
    """Number of operations of a shard in a round, shared by its pairs."""
    walk_seconds: float
    """Maximum time of an operation, in seconds."""
    walk_memory: int
    """Maximum growth of a subject's process, in MiB."""
    code: Code
    started: str
    executor: str
    """The executor of the first rounds; another one may continue."""
    goal: Goal
    way: str = ""
    """What that executor is: ``spark`` or ``processes``; empty in older campaigns."""
    threads: Budget | None = None
    """How far a shard searches the races of each pair; None: it walks."""
    merged: list[Manifest] = []
    """The manifests of the campaigns that were merged into this store. Such a store makes no rounds of its own."""
    format: int = FORMAT

    @property
    def counts(self) -> Counts:
        """What it counts."""
        return RACES if self.threads else WALKS

    @property
    def programs(self) -> int:
        """Number of programs that a shard tries on each pair."""
        return (self.threads and self.threads.programs) or 0

    @property
    def shard_seconds(self) -> float:
        """Maximum time of a shard, in seconds. It is far longer than a shard with many reductions takes."""
        steps = self.operations
        if self.threads:
            steps = len(self.pairs) * self.programs * (self.threads.schedules + self.threads.drawn)
        return 120 + steps / 200 + len(self.pairs) * (60 + 4 * self.walk_seconds)

    @property
    def subjects(self) -> list[str]:
        """The names of the subjects."""
        return list(dict.fromkeys(pair.subject for pair in self.pairs))


def code_here(subjects: list[str], kit: str) -> Code:
    """The code that this process runs."""
    run = versions(libraries(map(resolve_unloaded, subjects)))
    return Code(kit, kit_digest(), python_version(), run, subject_digests(subjects), rulebook())


def encoded(manifest: Manifest) -> str:
    """A manifest as text."""
    return msgspec.json.format(msgspec.json.encode(manifest), indent=2).decode()


def decoded(text: str, where: str) -> Manifest:
    """The manifest in a text. Raises BadInput if the text is something else."""
    try:
        found = msgspec.json.decode(text)
        number = found["format"]
    except (msgspec.DecodeError, KeyError, TypeError):
        raise BadInput(f"{where}: not the store of a campaign: its manifest cannot be read") from None
    if number != FORMAT:
        raise BadInput(f"{where}: a store of format {number}; this kit reads and writes format {FORMAT}")
    try:
        return msgspec.convert(found, Manifest)
    except msgspec.ValidationError as error:
        raise BadInput(f"{where}: not the manifest of a campaign: {error}") from None
