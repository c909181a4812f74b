"""The session of Spark that drives a campaign."""

from __future__ import annotations

import hashlib
import logging
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import warnings
from collections.abc import Iterator
from configparser import ConfigParser
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from broker_tck.properties.errors import BadInput

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

JAVA = 17
"""The oldest Java that Spark runs on."""
INSTALL_JAVA = f"`sudo apt-get install openjdk-{JAVA}-jre-headless` installs it on Debian and Ubuntu"
ERROR = re.compile(r"(?:Caused by: |: )?((?:\w+\.)*\w*(?:Error|Exception)\b.*)")
SAID = re.compile(r'^(?:Exception in thread "[^"]*" |[-\d]+ [:\d]+ ERROR \w+: )(.*)', re.MULTILINE)
"""How Java's log says why there is no session."""
MUTE = ("JAVA_GATEwayEXITED", "stopped SparkContext")
"""Python's errors whose reason is only in Java's log."""
LOG = Path(__file__).with_name("log4j2.properties")
FAILURES = 4
"""How often a local master tries a task: others may kill a process of Python."""
PATIENCE = 10.0
"""How many seconds a master, or a Connect server, may take to accept a connection."""
PORTS = {"spark": 7077, "sc": 15002}
CONNECT = ("grpc", "grpc_status", "zstandard")
"""The libraries that PySpark needs as a client of Spark Connect."""
JVM = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""The walks need the cores: what a round is merged from is small, and not worth Java's optimizing compiler."""
MUTED = "-Xshare:auto -Xlog:cds=off -Xlog:cds+dynamic=off"
"""Java does without an archive that does not suit it, and does not say so."""
SETTINGS = ConfigParser(interpolation=None)
SETTINGS.optionxform = str  # type: ignore[assignment,method-assign]
SETTINGS.read_string(Path(__file__).with_name("settings.ini").read_text(encoding="utf-8"))


def java() -> str:
    """The command that starts Java. Raises BadInput if there is none, or if it is too old."""
    home = os.environ.get("JAVA_HOME")
    found = shutil.which("java", path=str(Path(home) / "bin") if home else None)
    if found is None:
        raise BadInput(f"campaigns on Spark need Java {JAVA} or later, and no Java was found; {INSTALL_JAVA}")
    number = re.search(r'version "(?:1\.)?(\d+)', version(found))
    known = number[1] if number else "none"
    if number is None or int(known) < JAVA:
        raise BadInput(f"campaigns on Spark need Java {JAVA} or later; {found} is {known}; {INSTALL_JAVA}")
    return found


def version(java: str) -> str:
    """The text with a Java's version."""
    return subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr


def cache_folder() -> Path | None:
    """The user's cache folder; None if it cannot be written."""
    with suppress(OSError, RuntimeError):
        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "broker-tck"
        folder.mkdir(parents=True, exist_ok=True)
        return folder if os.access(folder, os.W_OK) else None
    return None


def archive(java: str) -> str:
    """The option to load Spark's classes from an archive, or to write it when Java ends; empty if neither can be."""
    import pyspark

    spark, folder = Path(pyspark.__file__), cache_folder()
    if folder is None:
        return ""
    of = f"{version(java)} {JVM} {pyspark.__version__} {spark} {spark.stat().st_mtime_ns}"
    file = folder / f"spark-{hashlib.sha256(of.encode()).hexdigest()[:16]}.jsa"
    with suppress(OSError), file.open("rb") as written:
        if any(written.read(4)):  # Java writes the head of an archive last
            return f'-XX:SharedArchiveFile="{file}" {MUTED}'
    return f'-XX:ArchiveClassesAtExit="{file}" {MUTED}'


def need_spark() -> None:
    """Raise BadInput if a library of the extra ``spark`` is missing."""
    need("campaigns on Spark", ("pyspark", "pyarrow", "pandas"), "spark")


def need(what: str, names: tuple[str, ...], extra: str) -> None:
    """Raise BadInput if a library of an extra is missing."""
    for name in names:
        if find_spec(name) is None:
            install = f"`pip install 'broker-tck[{extra}]'` installs it"
            raise BadInput(f"{what} need {name}, which is not installed; {install}")


def is_local(master: str | None) -> bool:
    """Whether the master is this process's own machine."""
    return (master or "").startswith("local")


def enduring(master: str) -> str:
    """A local master that tries a failed task again; others do so by themselves."""
    one = re.fullmatch(r"local(?:\[(\w+|\*)\])?", master)
    return f"local[{one[1] or 1},{FAILURES}]" if one else master


@contextmanager
def session(
    master: str | None, remote: str | None, settings: dict[str, str], python: str | None, log: Path
) -> Iterator[SparkSession]:
    """A session while the block runs, by a master or on a Connect server; what Java prints goes to a file.

    BadInput in a line if there is none, with the reason.
    """
    need_spark()
    where = remote or master or ""
    answers(where)
    on_interrupt = signal.getsignal(signal.SIGINT)
    with stderr_in(log):
        try:
            spark = connected(remote, settings) if remote else classic(where, settings, python)
        except BadInput:
            raise
        except Exception as error:
            raise BadInput(f"{where}: no session of Spark: {cause(error, log.read_text(errors='replace'))}") from None
        finally:
            signal.signal(signal.SIGINT, on_interrupt)  # Spark's handler talks to Java while Java is being talked to
    silent = logging.NullHandler()
    logging.getLogger().addHandler(silent)  # Spark's connection logs a trace when it is interrupted
    try:
        yield spark
    finally:
        with warnings.catch_warnings(), suppress(OSError):  # Java may have ended already, by the same interrupt
            warnings.simplefilter("ignore", RuntimeWarning)
            spark.stop()
        logging.getLogger().removeHandler(silent)


def classic(master: str, settings: dict[str, str], python: str | None) -> SparkSession:
    """A session whose driver is a Java of this machine."""
    from pyspark.sql import SparkSession

    python = python or (sys.executable if is_local(master) else None)
    if python:
        os.environ["PYSPARK_PYTHON"] = python
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    options = f"-Dlog4j2.configurationFile={LOG.as_uri()} {JVM} {archive(java())}"
    of_java = {"spark.driver.extraJavaOptions": options, "spark.executor.extraJavaOptions": JVM}
    of_place = SETTINGS["local" if is_local(master) else "cluster"]
    builder: Any = SparkSession.builder.master(enduring(master))
    for name, value in {**of_java, **SETTINGS["every session"], **of_place, **settings}.items():
        builder = builder.config(name, value)
    spark: SparkSession = builder.getOrCreate()
    server: Any = getattr(spark.sparkContext, "_accumulatorServer", None)
    if server:  # it prints a trace if Java ends first
        server.handle_error = lambda *_: None
    return spark


def connected(remote: str, settings: dict[str, str]) -> SparkSession:
    """A session on a Connect server, which was started with all settings but those that it lets a session choose."""
    from pyspark.sql import SparkSession

    need("sessions of Spark Connect", CONNECT, "connect")
    spark: SparkSession = SparkSession.builder.remote(remote).getOrCreate()
    for name, value in {**SETTINGS["every session"], **settings}.items():
        if spark.conf.isModifiable(name):
            spark.conf.set(name, value)
        elif name in settings:
            raise BadInput(f"--conf {name}: a session cannot set this; set it when the Connect server starts")
    return spark


def answers(where: str) -> None:
    """Raise BadInput if no server answers at a ``spark://`` or ``sc://`` URL. Spark itself takes minutes to say so."""
    kind, _, rest = where.partition("://")
    if kind not in PORTS:
        return
    why = ""
    for address in rest.partition("/")[0].split(","):
        try:
            at = urlsplit(f"//{address}")
            socket.create_connection((at.hostname or "", at.port or PORTS[kind]), PATIENCE).close()
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or str(error)
        else:
            return
    raise BadInput(f"{where}: no server answers: {why}")


@contextmanager
def stderr_in(log: Path) -> Iterator[None]:
    """Have processes that the block starts write their standard error to a file."""
    before = os.dup(2)
    with log.open("ab") as file:
        os.dup2(file.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(before, 2)
            os.close(before)


def cause(error: BaseException, log: str = "") -> str:
    """Spark's error in a line: the innermost one, or the first that Java logged."""
    if (said := SAID.search(log)) and any(words in str(error) for words in MUTE):
        return said[1][:300]
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    told = [found[1] for line in lines if (found := ERROR.match(line))]
    return (told[-1] if told else lines[0] if lines else type(error).__name__)[:300]
