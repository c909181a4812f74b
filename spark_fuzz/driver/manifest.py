"""The manifest of a campaign: all that a round depends on."""

from __future__ import annotations

import msgspec

from broker_tck.properties.errors import BadInput
from broker_tck.properties.rulebook import rulebook
from broker_tck.properties.search.isolation.unloaded import resolve_unloaded
from broker_tck.spark_fuzz.driver.fingerprint import kit_digest, libraries, python_version, subject_digests, versions

FORMAT = 2
"""The version of the store's layout."""


class Lane(msgspec.Struct, frozen=True):
    """A subject under a profile: each shard walks every lane."""

    subject: str
    profile: str


class Goal(msgspec.Struct, frozen=True):
    """When a campaign ends: after so many rounds, after the round in which so many seconds are over, or findings."""

    rounds: int | None = None
    seconds: float | None = None
    findings: int | None = None

    def reached(self, rounds: int, seconds: float) -> bool:
        """Whether so many rounds, or seconds, are enough."""
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
        """What is other there than here, in a few words; empty: nothing."""
        if self.kit != other.kit:
            return f"broker-tck {other.kit}, not {self.kit}"
        if self.python != other.python:
            return f"Python {other.python}, not {self.python}"
        if self.digest != other.digest:
            return f"other code of broker-tck {other.kit} (digest {other.digest}, not {self.digest})"
        for name, here in self.libraries.items():
            if other.libraries.get(name) != here:
                return f"{name} {other.libraries.get(name, 'none')}, not {here}"
        for name in self.subjects | other.subjects:
            if self.subjects.get(name) != other.subjects.get(name):
                return f"other code of the subject {name}"
        return ""


class Manifest(msgspec.Struct, frozen=True):
    """A campaign. A round is a function of this and of its number, times aside."""

    contract: str
    lanes: list[Lane]
    seed: int
    shards: int
    operations: int
    """How many operations a shard makes in a round, shared by the lanes."""
    walk_seconds: float
    """How long a walk may take."""
    walk_memory: int
    """How much memory a walk may take, in MiB."""
    code: Code
    started: str
    executor: str
    """What ran the first rounds; others may go on."""
    goal: Goal
    merged: list[Manifest] = []
    """Those of the campaigns that were merged into this store; such a store has no rounds of its own."""
    format: int = FORMAT

    @property
    def shard_seconds(self) -> float:
        """How long a shard may take: far more than any does that still goes on, its findings' reductions among it."""
        return 120 + self.operations / 200 + len(self.lanes) * (60 + 4 * self.walk_seconds)

    @property
    def subjects(self) -> list[str]:
        """The names of the subjects."""
        return list(dict.fromkeys(lane.subject for lane in self.lanes))


def code_here(subjects: list[str], kit: str) -> Code:
    """The code that this process runs."""
    run = versions(libraries(map(resolve_unloaded, subjects)))
    return Code(kit, kit_digest(), python_version(), run, subject_digests(subjects), rulebook())


def encoded(manifest: Manifest) -> str:
    """A manifest as text."""
    return msgspec.json.format(msgspec.json.encode(manifest), indent=2).decode()


def decoded(text: str, where: str) -> Manifest:
    """The manifest in a text. BadInput says what it is instead."""
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
