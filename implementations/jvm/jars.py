"""Jars: named by Maven coordinates, taken from a folder of the user's, from Maven's cache, or from a repository.

The folder is what the environment variable ``BROKER_TCK_JARS`` names: the ``lib`` of a distribution, or what a
campaign has shipped to an executor.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from broker_tck.implementations.jvm.unavailable import Unavailable

FOLDER = "BROKER_TCK_JARS"
INSTALL = "pip install 'broker-tck[jvm]'"
TIMEOUT = 30
"""Seconds that a repository may take to answer."""


class Jar(NamedTuple):
    """A jar by its Maven coordinates."""

    group: str
    artifact: str
    version: str

    def __str__(self) -> str:
        return ":".join(self)


def folder() -> Path | None:
    """The folder of jars that the user named."""
    named = os.environ.get(FOLDER)
    return Path(named) if named and Path(named).is_dir() else None


def path_of(jar: Jar) -> Path:
    """The file of a jar: out of the folder, in another version if need be, else of Maven's cache, downloaded once."""
    return next(chain(in_folder(jar, jar.version), in_folder(jar, "[0-9]*")), None) or cached(jar)


def own_path_of(jar: Jar) -> Path:
    """The file of a jar of the release itself: where a folder is named, it has to be there, in this version."""
    where = folder()
    if where is None:
        return cached(jar)
    found = next(in_folder(jar, jar.version), None)
    if found is None:
        others = ", ".join(sorted(path.name for path in in_folder(jar, "[0-9]*"))) or "no other version either"
        raise Unavailable(f"{where}: has no {jar.artifact}-{jar.version}.jar ({others})")
    return found


def in_folder(jar: Jar, version: str) -> Iterator[Path]:
    """The files in the user's folder that are this jar; distributions put the group before the name."""
    where = folder()
    if where is not None:
        for name in (f"{jar.artifact}-{version}.jar", f"{jar.group}-{jar.artifact}-{version}.jar"):
            yield from sorted(where.glob(name))


@cache
def cached(jar: Jar) -> Path:
    """The file of a jar in Maven's cache. It is downloaded, and its digest compared, where it is not there yet."""
    try:
        from jgo.maven import MavenContext
    except ImportError:
        raise Unavailable(f"subjects of Java need the extra jvm: {INSTALL}") from None
    component = MavenContext(timeout=TIMEOUT).project(jar.group, jar.artifact).at_version(jar.version)
    try:
        return Path(component.artifact().resolve())
    except Exception as error:
        raise Unavailable(
            f"{jar}: cannot be had from Maven's cache or repository ({type(error).__name__}); "
            "name a folder that has it: --pulsar DIR"
        ) from None
