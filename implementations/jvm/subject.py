"""Subjects of Java: a class of a release, with the user's classes before the release's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from broker_tck.implementations.jvm.errors import guarded
from broker_tck.implementations.jvm.jars import path_of
from broker_tck.implementations.jvm.java import TOOLS, java, see_java
from broker_tck.implementations.jvm.loader import CLASSES, Loader, classes_in
from broker_tck.implementations.jvm.releases import OWN, Release
from broker_tck.implementations.jvm.standins import of_class
from broker_tck.implementations.jvm.unavailable import Unavailable
from broker_tck.implementations.jvm.weaving import Explorer, WeavingLoader

Wrapper = Callable[[Loader, Release], Callable[..., Any]]
"""Loads a class and answers with a factory of its contract."""


@dataclass(frozen=True)
class Line:
    """What a class is from some version on, until the next line."""

    since: tuple[int, ...]
    profile: str
    """Empty: these releases do not have the class, or it does what no profile says."""
    capabilities: Mapping[str, Any]


@dataclass(frozen=True)
class Boxed:
    """How threads call a class, from some version on, until the next."""

    since: tuple[int, ...]
    box: str
    """The class of the kit's own that makes one and calls it. Empty: threads cannot call it in these releases."""
    woven: tuple[str, ...]
    """How the names of the classes begin that points are woven into."""
    own: str = ""
    """The class that the box makes, if it is the user's own."""
    stand_ins: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The classes that are too large to make, whose stand-ins the box has, and the methods that these answer."""
    apart: tuple[str, ...] = ()
    """The names of operations that take several calls of the class, so that threads make them at rest alone."""
    called_back: bool = False
    """Whether futures call it back."""
    timed: tuple[str, ...] = ()
    """The names of the classes that get no points, but must be told the time."""
    line: Line | None = None
    """What the class is to threads, if it is another subject to checks, or none."""


@dataclass(frozen=True)
class Kind:
    """A class that releases have, behind the interface of its contract."""

    name: str
    contract: str
    java: str
    """The class's own name, for people."""
    wrapper: Wrapper | None
    """None: it is no subject of checks."""
    lines: tuple[Line, ...]
    """In ascending order."""
    jars: tuple[str, ...] = OWN
    """Those of the release's own jars that it needs. The first has the class."""
    boxes: tuple[Boxed, ...] = ()
    """In ascending order; empty if threads cannot call it."""

    def line(self, release: Release) -> Line | None:
        """The class in a release; None if the release does not have it."""
        known = [line for line in self.lines if line.since <= release.number]
        return known[-1] if known and known[-1].profile else None

    def boxed(self, release: Release) -> Boxed | None:
        """How threads call the class in a release; None if they cannot."""
        known = [boxed for boxed in self.boxes if boxed.since <= release.number]
        return known[-1] if known and known[-1].box else None

    def line_of_threads(self, release: Release) -> Line | None:
        """The class in a release as threads call it; None if they cannot."""
        boxed = self.boxed(release)
        return (boxed.line or self.line(release)) if boxed else None


class JavaFactory:
    """Makes trackers, or caches, of a class of a release. Java starts when the first is made."""

    forks = False
    libraries = ("jpype1",)

    def __init__(self, name: str, kind: Kind, release: Release, line: Line, classpath: tuple[Path, ...]) -> None:
        """Nothing is loaded yet. ``classpath`` stands before the release."""
        self.name, self.kind, self.release, self.classpath = name, kind, release, classpath
        self.contract = kind.contract
        self.profiles = (line.profile,)
        self.capabilities = dict(line.capabilities)

    @property
    def untried(self) -> str:
        """Why the behaviour of a class of the release is not known; empty if it is known."""
        if self.classpath or self.release.measured(self.kind.jars[0]):
            return ""
        version, profile = self.release.version, self.profiles[0]
        return f"the kit was never run on that class of {version}; that it is {profile} is a guess"

    def prepare(self) -> None:
        """See that there is a Java, every jar, and a use for the class path. Unavailable says what is missing."""
        see_java(self.release.java)
        self.files()
        for place in self.classpath:
            if not self.stands_before(place):
                raise Unavailable(f"{place}: has no class that {self.name} could use; is it where the packages begin?")

    def stands_before(self, place: Path) -> bool:
        """Whether something in a place of the user's is the subject, or stands for a class of the release."""
        theirs = set(classes_in(place, ("",)))
        jars = self.places[len(self.classpath) :]
        return self.kind.java in theirs or any(not theirs.isdisjoint(classes_in(jar, ("",))) for jar in jars)

    @cached_property
    def places(self) -> tuple[Path, ...]:
        """Where its classes are, those of the user first; it stays so for this factory, wherever jars are later."""
        return (*self.classpath, *self.release.paths(self.kind.jars))

    def files(self) -> tuple[Path, ...]:
        """Every file that it loads classes from."""
        return (*self.places, *map(path_of, TOOLS))

    @cached_property
    def made(self) -> Callable[..., Any]:
        """The factory, with the class loaded."""
        assert self.kind.wrapper
        load: Wrapper = guarded(self.kind.wrapper)
        return load(loader_of(self.release.java, self.places), self.release)

    @property
    def apart(self) -> tuple[str, ...]:
        """The names of operations that threads do not make at the same time."""
        boxed = self.kind.boxed(self.release)
        return boxed.apart if boxed else ()

    @cached_property
    def explorer(self) -> Explorer:
        """What has threads call objects of the class. Unavailable: threads cannot call it."""
        return explorer_of(self.kind, self.release, self.classpath)

    def __call__(self, *arguments: Any) -> Any:
        """Make one, as the contract says."""
        return self.made(*arguments)


@cache
def loader_of(needed: int, places: tuple[Path, ...]) -> Loader:
    """The class loader of some places in this process, on such a Java or a later one.

    A class that was loaded stays as it was, also where its place has another later.
    """
    return Loader(java(needed), places)


def explorer_of(kind: Kind, release: Release, classpath: tuple[Path, ...] = ()) -> Explorer:
    """What has threads call objects of a class of a release. Unavailable: threads cannot call it."""
    boxed = kind.boxed(release)
    if boxed is None:
        raise Unavailable(f"{kind.java} of {release.version}: the kit cannot call this class from several threads")
    places = (*classpath, *release.paths(kind.jars))
    names = dict.fromkeys(name for place in (*places, CLASSES) for name in classes_in(place, boxed.woven))
    loader = WeavingLoader(java(release.java), places, list(names), boxed.called_back, boxed.timed)
    for name, methods in boxed.stand_ins.items():
        of_class(loader, name, methods)
    return Explorer(loader, boxed.box, boxed.own)
