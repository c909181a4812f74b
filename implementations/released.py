"""The classes of Apache Pulsar's releases as subjects, by name: ``pulsar-4.2.4/in-memory``.

``@`` and a class path, as Java writes it, put the user's classes before the release's. A name with dots is a class of
the user's own: ``pulsar-4.2.4/com.acme.MyTracker@target/classes``.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from zipfile import is_zipfile

from broker_tck.implementations.ack_timeout import released as ack_timeout
from broker_tck.implementations.active_cursors import released as active_cursors
from broker_tck.implementations.bucket_delivery import released as bucket_delivery
from broker_tck.implementations.delayed_delivery import released as delayed_delivery
from broker_tck.implementations.delayed_delivery.own import own
from broker_tck.implementations.entry_cache import released as entry_cache
from broker_tck.implementations.jvm.jars import FOLDER, SHIPPED, folder
from broker_tck.implementations.jvm.releases import MISSING, TRIED, Release
from broker_tck.implementations.jvm.subject import JavaFactory, Kind
from broker_tck.implementations.jvm.unavailable import Unavailable
from broker_tck.implementations.naming import asked_back
from broker_tck.implementations.negative_acks import released as negative_acks
from broker_tck.implementations.reachable import barred

ROOMS = (delayed_delivery, negative_acks, active_cursors, entry_cache, bucket_delivery, ack_timeout)
KINDS = {kind.name: kind for room in ROOMS for kind in room.KINDS}
CLASSPATH = "BROKER_TCK_CLASSPATH"
"""The environment variable with the class path of every released subject that is named without one."""
RELEASE = re.compile(r"pulsar-(?!client-go-)(?P<version>[^/@]+)")
NAME = re.compile(rf"{RELEASE.pattern}/(?P<kind>[^@]+)(?:@(?P<classpath>.+))?")


def released(name: str) -> JavaFactory | None:
    """The subject of a name; None where it is not the name of a class of a release.

    Unavailable says what is wrong with it, or what cannot be had.
    """
    found = NAME.fullmatch(name)
    if found is None:
        return None
    classpath = found["classpath"] or os.environ.get(CLASSPATH, "")
    factory = made(found["version"], found["kind"], classpath, folder())
    factory.prepare()
    return factory


@cache
def made(version: str, name: str, classpath: str, _folder: Path | None) -> JavaFactory:
    """The subject of a class in a release, with jars from a folder; the same object for the same words."""
    release = Release(version)
    kind = own(name) if "." in name else KINDS.get(name)
    if kind is None or not (line := kind.line(release)):
        known = ", ".join(names(release))
        near = asked_back(name, names(release))
        asked = f"{near} There are: " if near else "; there are: "
        raise Unavailable(
            f"no class {name!r} of Pulsar {version} is a subject{asked}{known}, and classes of your own by their "
            "full name (com.acme.MyTracker)"
            if known
            else f"no class of Pulsar {version} is a subject; releases from 3.0 on have some"
        )
    full = f"pulsar-{version}/{name}" + (f"@{classpath}" if classpath else "")
    places = tuple(map(place, classpath.split(os.pathsep))) if classpath else ()
    return JavaFactory(full, kind, release, line, places)


def options(name: str) -> str:
    """What makes a subject besides its name, as options of a command: the folder of a released class's jars.

    What a campaign has shipped to an executor is no folder of the user's, and is left out.
    """
    where = os.environ.get(FOLDER, "") if NAME.fullmatch(name) else ""
    return "" if where in ("", SHIPPED) else f"--pulsar {shlex.quote(where)} "


def place(written: str) -> Path:
    """A folder of classes, or a jar, on the user's class path. What was shipped lies in the folder of jars."""
    here, where = Path(written), folder()
    if why := barred(here):
        raise Unavailable(f"{written}: {why}")
    if not here.exists() and where is not None and (where / here.name).exists():
        return where / here.name
    if not (here.is_dir() or is_zipfile(here)):
        raise Unavailable(f"{written}: is neither a jar nor a folder of class files")
    return here


def names(release: Release) -> Iterator[str]:
    """The names of the classes of a release that are subjects, but for those of jars that are known to be missing."""
    absent = () if folder() else MISSING.get(release.version, ())
    return (kind.name for kind in KINDS.values() if kind.line(release) and kind.jars[0] not in absent)


def tried(contract: str | None = None) -> Iterator[tuple[str, Kind, Release]]:
    """Every subject of the releases that the kit's pages speak of, by name; of one contract, or of all."""
    for release in map(Release, TRIED):
        for name in names(release):
            if contract in (None, KINDS[name].contract):
                yield f"pulsar-{release.version}/{name}", KINDS[name], release
