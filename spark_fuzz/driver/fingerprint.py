"""Digests of the code that a campaign runs: the kit and the packages of the subjects."""

from __future__ import annotations

import hashlib
import importlib
import platform
import sys
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from broker_tck.properties.engine.subjects import Subject
from broker_tck.properties.search.isolation.unloaded import resolve_unloaded

PACKAGES = ("model", "implementations", "properties", "spark_fuzz")
"""The packages of the kit on which the result of a walk depends."""
KIT = "broker_tck"
FILES = "jars"
"""Files and folders that subjects bring are in this folder, by their names."""
LIBRARIES = ("msgspec", "pyroaring", "sortedcontainers")
"""What a walk runs besides the kit and its subject."""


def python_version() -> str:
    """The Python that runs, as major.minor."""
    return ".".join(platform.python_version_tuple()[:2])


def versions(names: Iterable[str]) -> dict[str, str]:
    """The versions of libraries, ``none`` where one is missing."""
    found = {}
    for name in names:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "none"
    return found


def kit_version() -> str:
    """The version of the kit that is installed."""
    return versions(["broker-tck"])["broker-tck"]


def kit_digest() -> str:
    """A digest of the kit's code."""
    folders = [Path(importlib.import_module(f"{KIT}.{name}").__path__[0]) for name in PACKAGES]
    return digest(file for folder in folders for end in (".py", ".class") for file in below(folder, folder.name, end))


def subject_digest(subject: Subject) -> str:
    """A digest of the package or module that a subject comes from, and of its files; empty if it has neither.

    A program's own name and version follow.
    """
    where = source_of(subject)
    code = [*below(where, where.name, ".py")] if where else []
    found = [*code, *(file for path in subject.files for file in below(path, f"{FILES}/{path.name}"))]
    return " ".join(filter(None, (digest(found) if found else "", getattr(subject.factory, "software", ""))))


def source_of(subject: Subject) -> Path | None:
    """The folder of the package that a subject comes from, or the file of its module; None for the kit's own."""
    top = str(getattr(subject.factory, "__module__", "")).partition(".")[0]
    if top in ("", KIT):
        return None
    if top in sys.modules and getattr(sys.modules[top], "__spec__", None) is None:  # made by hand, as __main__ is
        return None
    spec = find_spec(top)  # of a module at the top, which is not imported for that
    if spec is None:
        return None
    if spec.origin:
        path = Path(spec.origin)
        return path.parent if path.name == "__init__.py" else path
    return Path(next(iter(spec.submodule_search_locations or ())))


def below(where: Path, name: str, ending: str = "") -> Iterator[tuple[str, Path]]:
    """A folder's files of an ending, without caches, with their names below one; or the one file."""
    if where.is_file():
        yield name, where
        return
    for path in sorted(where.rglob(f"*{ending}")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield f"{name}/{path.relative_to(where).as_posix()}", path


def digest(files: Iterable[tuple[str, Path]]) -> str:
    """A digest of files by name and content."""
    total = hashlib.sha256()
    for name, path in sorted(files):
        total.update(f"{name}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()[:16]


def libraries(subjects: Iterable[Subject]) -> list[str]:
    """The libraries that walks of these subjects run."""
    return list(dict.fromkeys([*LIBRARIES, *(name for subject in subjects for name in subject.libraries)]))


def subject_digests(names: Sequence[str]) -> dict[str, str]:
    """The digest of each subject that is not the kit's own, or brings files."""
    return {name: found for name in names if (found := subject_digest(resolve_unloaded(name)))}
