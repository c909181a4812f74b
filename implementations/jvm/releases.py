"""Releases of Apache Pulsar: which jars make one, and which Java it needs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from broker_tck.implementations.jvm.jars import Jar, lacks, own_path_of, path_of
from broker_tck.implementations.jvm.unavailable import Unavailable

GROUP = "org.apache.pulsar"
OWN = (
    "pulsar-broker",
    "managed-ledger",
    "pulsar-client-original",
    "pulsar-client-api",
    "pulsar-client-admin-api",
    "pulsar-common",
    "pulsar-broker-common",
    "pulsar-metadata",
)
"""The jars whose version is the release's."""
LIBRARIES = (
    Jar("io.netty", "netty-common", "4.1.136.Final"),
    Jar("io.netty", "netty-buffer", "4.1.136.Final"),
    Jar("io.netty", "netty-transport", "4.1.136.Final"),
    Jar("io.netty", "netty-handler", "4.1.136.Final"),
    Jar("io.netty", "netty-codec", "4.1.136.Final"),
    Jar("io.netty", "netty-resolver", "4.1.136.Final"),
    Jar("it.unimi.dsi", "fastutil", "8.5.16"),
    Jar("org.roaringbitmap", "RoaringBitmap", "1.6.9"),
    Jar("com.google.guava", "guava", "33.4.8-jre"),
    Jar("com.google.guava", "failureaccess", "1.0.3"),
    Jar("com.google.re2j", "re2j", "1.8"),
    Jar("org.apache.commons", "commons-lang3", "3.19.0"),
    Jar("org.apache.commons", "commons-collections4", "4.5.0"),
    Jar("org.apache.bookkeeper", "bookkeeper-common", "4.17.3"),
    Jar("org.apache.bookkeeper", "bookkeeper-common-allocator", "4.17.3"),
    Jar("org.apache.bookkeeper", "bookkeeper-server", "4.17.3"),
    Jar("org.apache.bookkeeper", "circe-checksum", "4.17.3"),
    Jar("org.apache.bookkeeper.stats", "bookkeeper-stats-api", "4.17.3"),
    Jar("com.carrotsearch", "hppc", "0.9.1"),
    Jar("com.google.protobuf", "protobuf-java", "3.25.5"),
    Jar("io.opentelemetry", "opentelemetry-api", "1.62.0"),
    Jar("io.opentelemetry", "opentelemetry-context", "1.62.0"),
    Jar("io.prometheus", "simpleclient", "0.16.0"),
    Jar("org.jctools", "jctools-core", "4.0.5"),
    Jar("org.slf4j", "slf4j-api", "2.0.17"),
    Jar("io.github.merlimat.slog", "slog", "0.10.0"),
)
"""What the classes under test use besides: for every release, that of 4.2.4; a folder of the user's has its own."""
SINCE_5 = {"bookkeeper-server": "4.18.0"}
"""What the classes of 5.0 use in a later version: its storage reads in batches."""
CLIENT_SINCE_5_0_1 = ("pulsar-client-api-v5", "pulsar-http-client-api", "pulsar-tls-factory-api")
"""What its client uses besides, from 5.0.1 on; their version is the release's."""
UNDER_BROKER = ("managed-ledger", "pulsar-broker-common", "pulsar-metadata")
MISSING = {
    "4.0.2": tuple(name for name in OWN if name != "pulsar-broker"),
    "4.0.4": UNDER_BROKER,
    "4.0.5": UNDER_BROKER,
    "4.1.0": ("pulsar-broker", *UNDER_BROKER),
    "4.1.1": ("pulsar-broker", *UNDER_BROKER),
}
"""Jars that no repository had when this was written: lists of subjects leave their classes out.

Whoever names such a class is told what is so now, see :meth:`Release.lacks`.
"""
INSTEAD = {"4.0.2": "4.0.1", "4.0.4": "4.0.6", "4.0.5": "4.0.6", "5.0.1": "5.0.0-M1"}
"""Another release, whose jars stand in for those that cannot be had, never for the jar that has the class."""
TRIED = ("3.0.7", "4.0.0", "4.0.1", "4.0.5", "4.0.8", "4.1.1", "4.2.4", "5.0.0-M1", "5.0.1")
"""The releases that the kit's own pages speak of. Every other one with the same classes is a subject as well."""
THREE = "3.0.0 3.0.2 3.0.7 3.1.0 3.2.0 3.2.2 3.2.3 3.3.2 3.3.5 3.3.6 "
MEASURED = {
    "pulsar-broker": THREE + "3.1.2 4.0.0 4.0.1 4.0.2 4.0.4 4.0.5 4.0.6 4.0.7 4.0.8 4.2.4 5.0.0-M1 5.0.1",
    "managed-ledger": THREE + "4.0.0 4.0.1 4.0.6 4.0.7 4.0.8 4.2.4 5.0.0-M1 5.0.1",
    "pulsar-client-original": THREE + "3.1.1 3.1.2 3.1.3 3.2.1 3.3.0 3.3.1 4.0.0 4.0.1 4.0.4 4.0.5 4.0.6 4.0.7 4.0.8 "
    "4.1.0 4.1.1 4.2.4 5.0.0-M1 5.0.1",
}
"""The releases of which the class under test was run, or is the same to the last instruction as one that was run.

By the jar that has it.
"""
VERSION = re.compile(r"\d+\.\d+\.\d+([-.][\w.-]+)?", re.ASCII)


@dataclass(frozen=True)
class Release:
    """A release, by its version. Unavailable: no release has such a version."""

    version: str

    def __post_init__(self) -> None:
        if not VERSION.fullmatch(self.version):
            raise Unavailable(f"{self.version!r} is no version of a release, such as {', '.join(TRIED)}")

    @property
    def number(self) -> tuple[int, ...]:
        """Major, minor and patch."""
        return tuple(int(part) for part in re.findall(r"\d+", self.version)[:3])

    @property
    def java(self) -> int:
        """The oldest Java that runs it."""
        return 21 if self.number >= (5,) else 17

    def measured(self, name: str) -> bool:
        """Whether the behaviour of the classes in one of its own jars is known."""
        return self.version in MEASURED[name].split()

    def jar(self, name: str) -> Jar:
        """A jar of its own."""
        return Jar(GROUP, name, self.version)

    def lacks(self, name: str) -> bool:
        """Whether a jar of its own cannot be had. Unavailable: that is not known."""
        return lacks(self.jar(name))

    def stand_ins(self, names: Sequence[str]) -> dict[str, Jar]:
        """The jars of another release that take the place of some of its own, by their names."""
        other = INSTEAD.get(self.version)
        return {name: Jar(GROUP, name, other) for name in names if other and self.lacks(name)}

    def paths(self, names: Sequence[str]) -> Iterator[Path]:
        """The files of some of its own jars, and of what they use; the first is its own in any case.

        Unavailable says which cannot be had.
        """
        instead = self.stand_ins(names[1:])
        for name in names:
            yield path_of(instead[name]) if name in instead else own_path_of(self.jar(name))
        if "pulsar-client-original" in names and self.number >= (5, 0, 1):
            yield from (path_of(self.jar(name)) for name in CLIENT_SINCE_5_0_1)
        for jar in LIBRARIES:
            later = SINCE_5 if self.number >= (5,) else {}
            yield path_of(jar._replace(version=later.get(jar.artifact, jar.version)))
