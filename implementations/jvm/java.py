"""The Java virtual machine in this process: found, started once, and asked what it is."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from broker_tck.implementations.jvm.jars import INSTALL, Jar, path_of
from broker_tck.implementations.jvm.unavailable import Unavailable

OLDEST = 17
HEAP = "-Xmx1g"
TOOLS = (
    Jar("org.ow2.asm", "asm", "9.9"),
    Jar("org.ow2.asm", "asm-tree", "9.9"),
    Jar("net.bytebuddy", "byte-buddy", "1.18.1"),
    Jar("org.threeten", "threeten-extra", "1.8.0"),
)
"""What the kit itself uses inside Java."""
OPTIONS = (
    HEAP,
    "-XX:+UseSerialGC",
    "-Xrs",  # signals are Python's: Java would shut down on one that ends the process, and Python go on without it
    "-XX:-OmitStackTraceInFastThrow",  # else an exception that was thrown often has no message and no frames
    "-XX:+UnlockExperimentalVMOptions",
    "-XX:hashCode=2",  # sets of objects without a hash of their own are listed alike in every process
    "-Dio.netty.recycler.maxCapacityPerThread=0",  # else who writes to a buffer that it has freed may write to another
    "-Dslf4j.internal.verbosity=ERROR",
    "--add-opens=java.base/java.lang=ALL-UNNAMED",
    "--add-opens=java.base/java.util=ALL-UNNAMED",
)
NEWER = {
    21: ("--add-exports=java.base/jdk.internal.vm=ALL-UNNAMED",),
    22: ("--enable-native-access=ALL-UNNAMED",),
    24: ("--sun-misc-unsafe-memory-access=allow",),
}
"""Options that only a newer Java knows: its continuations are used; without the others it prints warnings."""
HOMES = ("/usr/lib/jvm", "/Library/Java/JavaVirtualMachines")
RELEASE = re.compile(r'^JAVA_VERSION="(\d+)', re.MULTILINE)


def java(needed: int = OLDEST) -> Any:
    """JPype with Java running in this process, in this version or later. Unavailable says what is missing.

    There is one Java for the life of a process. A process that runs it must not be forked.
    """
    see_java(needed)
    jpype = imported()
    if not jpype.isJVMStarted():
        start(jpype, *found(needed))
    return jpype


def see_java(needed: int) -> None:
    """See that the Java of this process is this version or later, without starting one. Unavailable says what is not.

    Which Java it is does not depend on who asks, so that all subjects of a command are seen to have theirs beforehand.
    """
    jpype = imported()
    if not jpype.isJVMStarted():
        found(needed)
    elif (running := int(jpype.JClass("java.lang.Runtime").version().feature())) < needed:
        raise Unavailable(f"Java {needed} or later is needed, and Java {running} runs already in this process")


def imported() -> Any:
    """JPype."""
    try:
        import jpype
        import jpype.types
    except ImportError:
        raise Unavailable(f"subjects of Java need the extra jvm: {INSTALL}") from None
    return jpype


def start(jpype: Any, home: Path, version: int) -> None:
    """Start Java with the kit's tools on its class path; releases have class loaders of their own."""
    newer = [option for since, options in NEWER.items() if version >= since for option in options]
    library = next(library_below(home))
    tools = [str(path_of(tool)) for tool in TOOLS]
    try:
        jpype.startJVM(str(library), *OPTIONS, *newer, classpath=tools, convertStrings=False)
    except (OSError, RuntimeError, jpype.JException) as error:
        raise Unavailable(f"Java {version} in {home} does not start: {error}") from None
    jpype.java.util.logging.LogManager.getLogManager().reset()  # what libraries log is no part of an outcome


def found(needed: int) -> tuple[Path, int]:
    """The home and the version of Java: of that which ``JAVA_HOME`` names, else of the newest there is.

    Unavailable: it is older than needed, or there is none.
    """
    named = os.environ.get("JAVA_HOME")
    known = [(version_of(home), home) for home in ([Path(named)] if named else homes())]
    version, home = max(known, default=(0, Path()))
    if version < needed:
        raise Unavailable(f"Java {needed} or later is needed, {missing(needed, known, named)}")
    return home, version


def missing(needed: int, known: Sequence[tuple[int, Path]], named: str | None) -> str:
    """Which Java was found in place of one that fits, and what to do."""
    there = ", ".join(f"Java {version}" for version in sorted({version for version, _ in known if version})) or "none"
    if named:
        return f"and JAVA_HOME ({named}) has {there}; set it to another, or unset it for the newest that is installed"
    return f"and found was {there}; install one (apt-get install openjdk-{needed}-jre-headless) or set JAVA_HOME"


def homes() -> Iterator[Path]:
    """The folders in which a Java may be installed."""
    if command := shutil.which("java"):
        yield Path(command).resolve().parent.parent
    for folder in map(Path, HOMES):
        for home in sorted(folder.glob("*")) if folder.is_dir() else ():
            yield home / "Contents" / "Home" if (home / "Contents").is_dir() else home


def version_of(home: Path) -> int:
    """The version of an installed Java; 0 if it cannot run in this process."""
    try:
        said = RELEASE.search((home / "release").read_text(encoding="utf-8"))
    except OSError:
        return 0
    return int(said[1]) if said and any(library_below(home)) else 0


def library_below(home: Path) -> Iterator[Path]:
    """The library that is the virtual machine."""
    for name in ("libjvm.so", "libjvm.dylib"):
        yield from sorted(home.glob(f"**/server/{name}"))
