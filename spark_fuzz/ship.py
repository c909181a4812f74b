"""Shipping: the kit, its libraries and the subjects' packages as one archive; nothing is installed on the cluster.

The executors unpack it into their working directory and look for modules there first. Libraries are shipped as they
are installed here, so the executors' Python and platform have to be the driver's.
"""

from __future__ import annotations

import importlib
import zipfile
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution, packages_distributions
from pathlib import Path

from broker_tck.properties.errors import BadInput
from broker_tck.properties.subjects import resolve
from broker_tck.spark_fuzz.fingerprint import KIT, LIBRARIES, PACKAGES, source_of

FOLDER = "shipped"
"""The folder that the archive is unpacked into."""
KIT_PACKAGES = (*PACKAGES, "fixtures")
SPARK_LIBRARIES = ("pyarrow",)
"""What Spark's own Python needs to hand rows over."""

Files = Iterator[tuple[str, Path]]


def settings(archive: Path) -> dict[str, str]:
    """The settings that have a cluster unpack an archive and use it."""
    return {"spark.archives": f"{archive}#{FOLDER}", "spark.executorEnv.PYTHONPATH": FOLDER}


def ship(subjects: Iterable[str], to: Path) -> Path:
    """Write the archive; answers with its path."""
    archive = to / "broker-tck.zip"
    written: set[str] = set()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as out:
        for name, path in files(subjects):
            if name not in written:
                written.add(name)
                out.write(path, name)
    return archive


def files(subjects: Iterable[str]) -> Files:
    """All files to ship, with their names in the archive."""
    for name in KIT_PACKAGES:
        folder = Path(importlib.import_module(f"{KIT}.{name}").__path__[0])
        yield from below(folder, f"{KIT}/{name}")
    yield from metadata(KIT.replace("_", "-"))
    for library in (*LIBRARIES, *SPARK_LIBRARIES):
        yield from installed(library)
    for subject in subjects:
        where = source_of(resolve(subject))
        if where is not None:
            yield from below(where, where.name)
            for name in packages_distributions().get(where.stem, []):
                yield from metadata(name)


def below(where: Path, name: str) -> Files:
    """A folder's files, without caches; or the one file."""
    if where.is_file():
        yield name, where
        return
    for path in sorted(where.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield f"{name}/{path.relative_to(where)}", path


def installed(name: str) -> Files:
    """The files of an installed library."""
    for file in found(name).files or ():
        path = Path(str(file.locate()))
        if ".." not in file.parts and "__pycache__" not in file.parts and path.is_file():
            yield str(file), path


def metadata(name: str) -> Files:
    """What tells the version and the entry points of an installed package; nothing where it is not installed."""
    try:
        known = distribution(name)
    except PackageNotFoundError:
        return
    for file in known.files or ():
        if file.parts[0].endswith(".dist-info") and file.name in ("METADATA", "entry_points.txt"):
            yield str(file), Path(str(file.locate()))


def found(name: str) -> Distribution:
    """An installed library."""
    try:
        return distribution(name)
    except PackageNotFoundError:
        raise BadInput(f"--ship: {name} is not installed as a package, so its files are not known") from None
