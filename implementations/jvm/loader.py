"""The classes of a release, in a class loader of their own; the user's classes stand before them.

Releases live side by side in one process. What is under test is loaded as the kit holds it (`held.py`); nothing else is
changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from broker_tck.implementations.jvm.errors import rooted
from broker_tck.implementations.jvm.held import FUEL, HELD, hold, read
from broker_tck.implementations.jvm.unavailable import Unavailable

CLASSES = Path(__file__).parent / "classes"
"""The kit's own classes, compiled from ``sources``: stand-ins, and what instrumented classes call."""


class Loader:
    """Loads classes from files and folders, the first of which wins; the kit's own come last."""

    def __init__(self, jpype: Any, places: Sequence[Path]) -> None:
        """Nothing is loaded yet. ``places`` are jars, and folders of class files."""
        self.jpype = jpype
        places = (*places, CLASSES)
        urls = [jpype.java.io.File(str(place.resolve())).toURI().toURL() for place in places]
        self._begins = {
            form: place for url, place in zip(urls, places, strict=True) for form in (f"jar:{url}!/", str(url))
        }
        platform = jpype.java.lang.ClassLoader.getPlatformClassLoader()
        self.java = jpype.java.net.URLClassLoader(jpype.JArray(jpype.java.net.URL)(urls), platform)
        self._define = self._reached(
            "defineClass", jpype.java.lang.String, jpype.JArray(jpype.JByte), jpype.JInt, jpype.JInt
        )
        self._found = self._reached("findLoadedClass", jpype.java.lang.String)
        self.held = self.named(HELD)
        self._wall = 0
        self.refuel()

    def _reached(self, name: str, *kinds: Any) -> Any:
        """A method of Java's class loaders that is not public."""
        method = self.jpype.java.lang.ClassLoader.class_.getDeclaredMethod(name, *(kind.class_ for kind in kinds))
        method.setAccessible(True)
        return method

    def define(self, code: bytes) -> None:
        """Define a class."""
        start, end = self.jpype.JInt(0), self.jpype.JInt(len(code))
        try:
            self._define.invoke(self.java, None, self.jpype.JArray(self.jpype.JByte)(code), start, end)
        except self.jpype.JException as error:
            raise Unavailable(f"a class cannot be loaded: {rooted(error).toString()}") from None

    def put_first(self, name: str) -> Any:
        """Load a class of the kit's own, also if there is one of this name elsewhere."""
        self.define((CLASSES / path_of(name)).read_bytes())
        return self.named(name)

    def named(self, name: str) -> Any:
        """A class by its name. Unavailable: there is none, or it cannot be loaded."""
        dotted = name.replace("/", ".")
        try:
            found = self.jpype.java.lang.Class.forName(dotted, True, self.java)
        except self.jpype.JException as error:
            raise Unavailable(f"{dotted}: cannot be loaded: {error.toString()}") from None
        return self.jpype.JClass(found)

    def has(self, name: str) -> bool:
        """Whether there is a class of this name."""
        return self.java.findResource(path_of(name)) is not None

    def place_of(self, name: str) -> Path:
        """The jar or folder that a class comes from."""
        url = self.java.findResource(path_of(name))
        if url is None:
            raise Unavailable(f"there is no class {name}, neither on the class path nor in the jars of the release")
        return next(place for begin, place in self._begins.items() if str(url).startswith(begin))

    def code_of(self, name: str) -> bytes:
        """The class file of a class."""
        stream = self.java.findResource(path_of(name)).openStream()
        try:
            return bytes(stream.readAllBytes())
        finally:
            stream.close()

    def is_loaded(self, name: str) -> bool:
        """Whether a class is loaded already, so that it stays as it is."""
        return self._found.invoke(self.java, name) is not None

    def hold(self, names: Sequence[str]) -> None:
        """Load classes as the kit holds them; what one extends comes before it."""
        wanted = dict.fromkeys(name for name in names if not self.is_loaded(name))
        while wanted:
            self._hold(next(iter(wanted)), wanted)

    def _hold(self, name: str, wanted: dict[str, None]) -> None:
        del wanted[name]
        code = read(self.code_of(name), self.jpype)
        for above in (code.superName, *code.interfaces):
            if (dotted := str(above).replace("/", ".")) in wanted:
                self._hold(dotted, wanted)
        self.define(self.changed(code))

    def changed(self, tree: Any) -> bytes:
        """The code of a class as it is to be loaded."""
        return hold(tree, self.jpype)

    def ready(self, wall: int) -> None:
        """Before a call: what is held reads this time of the wall clock, in milliseconds, and has all its fuel."""
        if wall != self._wall:
            self.held.wall = self._wall = wall
        self.held.fuel = FUEL

    def refuel(self) -> None:
        """Let what is held loop as long as ever again."""
        self.held.fuel = FUEL


def path_of(name: str) -> str:
    """Where a class stands in a jar or a folder."""
    return name.replace(".", "/") + ".class"


def classes_in(place: Path, prefixes: Sequence[str]) -> list[str]:
    """The names of the classes in a jar or a folder that begin with one of some prefixes.

    A prefix that ends with a dot is a package, or the whole name of a class.
    """
    if place.is_dir():
        files = [path.relative_to(place).as_posix() for path in sorted(place.rglob("*.class"))]
    else:
        from zipfile import ZipFile

        with ZipFile(place) as jar:
            files = sorted(name for name in jar.namelist() if name.endswith(".class"))
    names = [name.removesuffix(".class").replace("/", ".") for name in files]
    return [name for name in names if f"{name}.".startswith(tuple(prefixes))]
