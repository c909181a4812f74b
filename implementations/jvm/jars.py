"""Jars: named by Maven coordinates, taken from a folder of the user's, from Maven's cache, or from a repository.

The folder is what the environment variable ``BROKER_TCK_JARS`` names: the ``lib`` of a distribution, or what a
campaign has shipped to an executor.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import is_zipfile

from broker_tck.implementations.jvm.unavailable import Unavailable
from broker_tck.implementations.reachable import barred

FOLDER = "BROKER_TCK_JARS"
SHIPPED = "shipped/jars"
"""That folder on an executor of a campaign that ships its jars; it is not the user's."""
INSTALL = "pip install '.[jvm]' in a clone of broker-tck"
ELSEWHERE = "name a folder that has it: --pulsar DIR"
TIMEOUT = 30
"""Seconds that a repository may take to answer."""
GONE = {404, 410}
"""The statuses by which a repository says that it does not have a file."""


class Jar(NamedTuple):
    """A jar by its Maven coordinates."""

    group: str
    artifact: str
    version: str

    def __str__(self) -> str:
        return ":".join(self)


def folder() -> Path | None:
    """The folder of jars that the user named. Unavailable: it is not there."""
    named = os.environ.get(FOLDER)
    if named and (why := barred(named)):
        raise Unavailable(f"{FOLDER} names {named}, which {why}")
    if named and not Path(named).is_dir():
        raise Unavailable(f"{FOLDER} names {named}, which is no folder")
    return Path(named) if named else None


def path_of(jar: Jar) -> Path:
    """The file of a jar: out of the folder, in another version if need be, else of Maven's cache, downloaded once."""
    return next(chain(in_folder(jar, jar.version), in_folder(jar, "[0-9]*")), None) or cached(jar)


def own_path_of(jar: Jar) -> Path:
    """The file of a jar of the release itself. If the user named a folder, the jar must be there, in this version."""
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


def lacks(jar: Jar) -> bool:
    """Whether a jar cannot be had: the folder that the user named does not have it, else no repository."""
    return sought(jar) is None if folder() is None else not any(in_folder(jar, jar.version))


def cached(jar: Jar) -> Path:
    """The file of a jar in Maven's cache. Unavailable: no repository has it, or that is not known."""
    found = sought(jar)
    if found is None:
        raise Unavailable(f"{jar} is in no repository; {ELSEWHERE}")
    return found


@cache
def sought(jar: Jar) -> Path | None:
    """The file of a jar in Maven's cache, downloaded if it is missing; None if no repository has it.

    Unavailable: no repository answers, or the file is not a whole jar. The result is remembered for this process.
    """
    try:
        from jgo.maven import MavenContext
    except ImportError:
        raise Unavailable(f"subjects of Java need the extra jvm: {INSTALL}") from None
    artifact = MavenContext(timeout=TIMEOUT).project(jar.group, jar.artifact).at_version(jar.version).artifact()
    try:
        found = fetched(artifact)
    except OSError as error:
        why = error.strerror or "no repository answers, is there a network?"
        raise Unavailable(f"{jar} cannot be downloaded ({why}); {ELSEWHERE}") from None
    if found and not is_zipfile(found):
        raise Unavailable(f"{found} is no whole jar, as a download leaves it that was cut short; remove it, try again")
    return found


def fetched(artifact: Any) -> Path | None:
    """The file of an artifact of jgo's; None if every repository says that it does not have it.

    OSError: it is not known.
    """
    try:
        return Path(artifact.resolve())
    except RuntimeError:  # jgo says so of every status but 200
        odd = statuses(artifact) - GONE
        if odd:
            raise OSError(errno.EIO, f"a repository answers with status {min(odd)}") from None
        return None


def statuses(artifact: Any) -> set[int]:
    """The statuses that repositories answer with when they are asked for an artifact."""
    from jgo.util import http

    path = f"{artifact.component.path_prefix.as_posix()}/{artifact.filename}"
    repositories = artifact.context.remote_repos.values()
    return {http.head(f"{where}/{path}", timeout=TIMEOUT).status_code for where in repositories}
