"""Shipping: the kit, its libraries, the subjects' packages and their files as one archive; nothing is installed.

The executors unpack it into their working directory and look for modules there first; a variable tells them where the
subjects' files are. Libraries are shipped as they are installed here, so the executors' Python and platform must be
the driver's.
"""

from __future__ import annotations

import importlib
import os
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, distribution, packages_distributions
from pathlib import Path

from broker_tck.implementations.jvm.jars import FOLDER as JARS
from broker_tck.implementations.jvm.jars import SHIPPED
from broker_tck.properties.engine.subjects import Subject
from broker_tck.properties.errors import BadInput
from broker_tck.properties.search.isolation.unloaded import resolve_unloaded
from broker_tck.spark_fuzz.driver.fingerprint import FILES, KIT, PACKAGES, below, digest, libraries, source_of

FOLDER = "shipped"
"""The folder that the archive is unpacked into."""
KIT_PACKAGES = (*PACKAGES, "fixtures")
SPARK_LIBRARIES = ("pyarrow",)
"""The libraries with which Spark's own Python passes rows on."""
SPARE = re.compile(r"pyarrow/(include|src|tests|.*(flight|s3|libarrow_python\.so$|\.so\.\d+\.\d+))")
"""The parts of them that are not needed, more than half: headers, tests, clients of services, and a second library."""

Files = Iterator[tuple[str, Path]]


def settings(archive: Path | str) -> dict[str, str]:
    """The settings that have a cluster unpack an archive and use it: a file here, or a URI that all executors read."""
    return {
        "spark.archives": f"{archive}#{FOLDER}",
        "spark.executorEnv.PYTHONPATH": FOLDER,
        f"spark.executorEnv.{JARS}": SHIPPED,
    }


def ship(subjects: Iterable[str], to: Path) -> Path:
    """Write the archive into a folder unless it is there already, and return its path."""
    found = dict(files(subjects))
    archive = to / f"broker-tck-{digest(found.items())}.zip"
    if not archive.exists():
        write(found, archive)
    return archive


def write(found: Mapping[str, Path], into: Path) -> None:
    """Write an archive of files by their names. Raises BadInput if it cannot be written; then there is none."""
    part = into.with_name(f".{into.name}.{os.getpid()}")
    try:
        with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED, compresslevel=1, strict_timestamps=False) as out:
            for name, path in found.items():
                out.write(path, name)
        part.replace(into)
    except OSError as error:
        raise BadInput(f"{into}: cannot be written: {error.strerror}") from None
    finally:
        with suppress(OSError):
            part.unlink()


def files(subjects: Iterable[str]) -> Files:
    """All files to ship, with their names in the archive."""
    itself = importlib.import_module(KIT).__file__
    if itself:  # or the executors would take an installed kit for the one that was shipped
        yield f"{KIT}/__init__.py", Path(itself)
    for name in KIT_PACKAGES:
        folder = Path(importlib.import_module(f"{KIT}.{name}").__path__[0])
        yield from below(folder, f"{KIT}/{name}")
    yield from metadata(KIT.replace("_", "-"))
    found = [*map(resolve_unloaded, subjects)]
    for library in (*libraries(found), *SPARK_LIBRARIES):
        yield from installed(library)
    for name, path in brought(found).items():
        yield from below(path, f"{FILES}/{name}")
    for subject in found:
        if where := source_of(subject):
            yield from below(where, where.name)
            for name in packages_distributions().get(where.stem, []):
                yield from metadata(name)


def brought(subjects: Iterable[Subject]) -> dict[str, Path]:
    """The files and folders of subjects, by name. Raises BadInput if one has no name, or the name of another."""
    found: dict[str, Path] = {}
    for subject in subjects:
        for path in subject.files:
            if path.name in ("", ".."):
                raise BadInput(f"--ship: {subject.name}: {path} has no file name; name it from the folder above it")
            other = found.setdefault(path.name, path)
            if other != path and digest(below(other, "")) != digest(below(path, "")):
                raise BadInput(
                    f"--ship: {other} and {path} have the same name but different content; run them in two campaigns"
                )
    return found


def installed(name: str) -> Files:
    """The files of an installed library. Raises BadInput if they are not known."""
    try:
        known = distribution(name)
    except PackageNotFoundError:
        raise BadInput(f"--ship: {name} is not installed as a package, so its files are unknown") from None
    for file in known.files or ():
        path = Path(str(file.locate()))
        if ".." not in file.parts and "__pycache__" not in file.parts and not SPARE.match(str(file)) and path.is_file():
            yield str(file), path


def metadata(name: str) -> Files:
    """The files with the version and the entry points of a package; empty if it is not installed."""
    try:
        known = distribution(name)
    except PackageNotFoundError:
        return
    for file in known.files or ():
        if file.parts[0].endswith(".dist-info") and file.name in ("METADATA", "entry_points.txt"):
            yield str(file), Path(str(file.locate()))
