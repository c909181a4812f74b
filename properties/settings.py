"""The table ``[tool.broker-tck]`` of a pyproject.toml: the defaults of a check."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import msgspec
from msgspec import Meta

from broker_tck.implementations.naming import unknown
from broker_tck.properties.engine.subjects import Subject, contract_named
from broker_tck.properties.errors import BadInput
from broker_tck.properties.search.isolation.unloaded import resolve_unloaded

FILE = "pyproject.toml"
TABLE = "[tool.broker-tck]"


class Key(NamedTuple):
    """The type of a key's value."""

    type: Any
    right: str
    """The same in words, with an example."""


Ways = dict[str, str | tuple[str, str]]
COUNT, ANY_COUNT, SEED = Annotated[int, Meta(ge=1)], Annotated[int, Meta(ge=0)], Annotated[int, Meta(ge=0, lt=2**31)]
KEYS = {
    "subjects": Key(list[str | dict[str, Any]], 'a list of names, or of tables such as {name = "pkg:MyTracker"}'),
    "walks": Key(COUNT, "a whole number of at least 1, such as 1000"),
    "examples": Key(ANY_COUNT, "a whole number of at least 0, such as 60"),
    "seed": Key(SEED, "a whole number from 0 to 2147483647"),
    "save": Key(Annotated[str, Meta(min_length=1)], 'the name of a folder, such as "findings"'),
    "contracts": Key(list[str], 'a list of contracts, such as ["delayed-delivery"]'),
    "jobs": Key(COUNT, "a whole number of at least 1, such as 2"),
}
SUBJECT_KEYS = {
    "name": Key(str, 'the name of a subject, such as "pkg:MyTracker"'),
    "profile": Key(str, 'the name of a profile, such as "timebucket-ideal"'),
    "profiles": Key(
        Annotated[list[str], Meta(min_length=1)], 'a list of profiles, such as ["timebucket-ideal", "heap"]'
    ),
    "accepts": Key(Ways, 'a table such as {"DD-06" = ["at its start", "the reason"]}'),
}


class Named(NamedTuple):
    """A subject of the table. Its values replace what its factory declares, unless they are None."""

    name: str
    profiles: tuple[str, ...] | None = None
    accepts: Ways | None = None


@dataclass(frozen=True)
class Settings:
    """The values of a table; a missing value is None or empty."""

    file: Path = Path(FILE)
    subjects: tuple[Named, ...] = ()
    walks: int | None = None
    examples: int | None = None
    seed: int | None = None
    save: Path | None = None
    contracts: tuple[str, ...] = ()
    jobs: int | None = None

    def resolved(self) -> tuple[Subject, ...]:
        """The subjects. Modules beside the file can be imported. Raises BadInput for an unknown name."""
        folder = str(self.file.parent.absolute())
        if self.subjects and folder not in sys.path:
            sys.path.insert(0, folder)
        try:
            return tuple(
                resolve_unloaded(each.name, profiles=each.profiles, accepts=each.accepts) for each in self.subjects
            )
        except BadInput as error:
            raise BadInput(f"{self.file}: {TABLE}: {error}") from None


def settings_of(folder: Path) -> Settings:
    """The settings for a folder, from its pyproject.toml or the nearest one above it.

    Raises BadInput if the file cannot be read, or if a key of the table is unknown or has a wrong value.
    """
    file = next((path for at in (folder, *folder.parents) if (path := at / FILE).is_file()), None)
    if file is None:
        return Settings()
    where = near(file, folder)
    try:
        tool = tomllib.loads(file.read_text(encoding="utf-8")).get("tool", {})
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadInput(f"{where}: not a TOML file: {error}") from None
    except OSError as error:
        raise BadInput(f"{where}: cannot be read: {error.strerror}") from None
    table = tool.get("broker-tck", {}) if isinstance(tool, dict) else {}
    if not isinstance(table, dict):
        raise BadInput(f"{where}: tool.broker-tck is {table!r}; it must be a table, {TABLE}")
    found = read(table, KEYS, f"{where}: {TABLE}")
    for name in found.get("contracts", ()):
        try:
            contract_named(name)
        except BadInput as error:
            raise BadInput(f"{where}: {TABLE}: contracts: {error}") from None
    found["subjects"] = tuple(named(found.get("subjects", ()), f"{where}: {TABLE}: subjects"))
    found["contracts"] = tuple(found.get("contracts", ()))
    found["save"] = where.parent / found["save"] if "save" in found else None
    return Settings(where, **found)


def near(file: Path, folder: Path) -> Path:
    """A file as seen from a folder, if it is in it."""
    return file.relative_to(folder) if file.parent == folder else file


def read(table: Mapping[str, Any], keys: Mapping[str, Key], where: str) -> dict[str, Any]:
    """The values of a table, converted to their types. Raises BadInput if a key is unknown or a value is wrong."""
    found = {}
    for name, value in table.items():
        if name not in keys:
            raise BadInput(f"{where}: {unknown('key', name, keys)}")
        try:
            found[name] = msgspec.convert(value, keys[name].type)
        except msgspec.ValidationError:
            raise BadInput(f"{where}: {name} is {value!r}; it must be {keys[name].right}") from None
    return found


def named(subjects: Iterable[str | dict[str, Any]], where: str) -> Iterable[Named]:
    """The subjects of a table, each a name or a table itself."""
    for number, each in enumerate(subjects):
        at = f"{where}[{number}]"
        found = read({"name": each} if isinstance(each, str) else each, SUBJECT_KEYS, at)
        if "name" not in found:
            raise BadInput(f"{at}: name is missing; it must be {SUBJECT_KEYS['name'].right}")
        if "profile" in found and "profiles" in found:
            raise BadInput(f"{at}: has both profile and profiles; leave one out")
        profiles = (found["profile"],) if "profile" in found else tuple(found.get("profiles", ())) or None
        yield Named(found["name"], profiles, found.get("accepts"))
