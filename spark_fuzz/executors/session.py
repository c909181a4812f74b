"""The session of Spark that drives a campaign."""

from __future__ import annotations

import logging
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from broker_tck.properties.errors import BadInput

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

JAVA = 17
"""The oldest Java that Spark runs on."""
INSTALL_JAVA = f"`sudo apt-get install openjdk-{JAVA}-jre-headless` installs it on Debian and Ubuntu"
ERROR = re.compile(r"(?:Caused by: |: )?((?:\w+\.)*\w*(?:Error|Exception)\b.*)")
LOG = Path(__file__).with_name("log4j2.properties")
FAILURES = 4
"""How often a task is tried, on a local master too: a process of Python may be killed by others."""
JVM = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""The walks need the cores: what a round is merged from is small, and not worth Java's optimizing compiler."""
SETTINGS = {
    "spark.app.name": "broker-tck fuzz",
    "spark.log.level": "ERROR",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={LOG.as_uri()} {JVM}",
    "spark.executor.extraJavaOptions": JVM,
    "spark.sql.parquet.compression.codec": "zstd",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
    # A plan that is made anew between its stages would wait behind the rounds that begin meanwhile, each time.
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "10000",
    # What Spark remembers of jobs that have ended, or the driver would grow for as long as a thousand of them take.
    "spark.ui.retainedJobs": "20",
    "spark.ui.retainedStages": "20",
    "spark.ui.retainedTasks": "500",
    "spark.sql.ui.retainedExecutions": "20",
}
LOCAL = {"spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}


def java() -> str:
    """The command that starts Java. BadInput where there is none, or one that is too old."""
    home = os.environ.get("JAVA_HOME")
    found = shutil.which("java", path=str(Path(home) / "bin") if home else None)
    if found is None:
        raise BadInput(f"campaigns need Java {JAVA} or later, and there is none; {INSTALL_JAVA}")
    said = subprocess.run([found, "-version"], capture_output=True, text=True, check=False).stderr
    number = re.search(r'version "(?:1\.)?(\d+)', said)
    if number is None or int(number[1]) < JAVA:
        raise BadInput(
            f"campaigns need Java {JAVA} or later; {found} is {number[1] if number else 'none'}; {INSTALL_JAVA}"
        )
    return found


def need_spark() -> None:
    """BadInput where a library of the extra ``spark`` is missing."""
    need("campaigns", ("pyspark", "pyarrow", "pandas"), "spark")


def need_report() -> None:
    """BadInput where a library of the extra ``report`` is missing."""
    need("reports", ("jinja2", "matplotlib"), "report")


def need(what: str, names: tuple[str, ...], extra: str) -> None:
    """BadInput where a library of an extra is missing."""
    for name in names:
        if find_spec(name) is None:
            install = f"`pip install 'broker-tck[{extra}]'` installs it"
            raise BadInput(f"{what} need {name}, and it is not installed; {install}")


def is_local(master: str) -> bool:
    """Whether the master is this process's own machine."""
    return master.startswith("local")


def enduring(master: str) -> str:
    """A local master that tries a failed task again; others do so by themselves."""
    if master == "local":
        return f"local[1,{FAILURES}]"
    return re.sub(r"^local\[(\w+|\*)\]$", rf"local[\1,{FAILURES}]", master)


def parallelism(spark: SparkSession) -> int:
    """How many tasks a cluster runs at a time, as it tells when nobody asks for a number of tasks."""
    from pyspark.sql import functions as f

    tasks: int = spark.range(100_000).select(f.spark_partition_id()).distinct().count()
    return tasks


@contextmanager
def session(master: str, settings: dict[str, str], python: str | None, log: Path | None) -> Iterator[SparkSession]:
    """A session while the block runs; what Java prints goes to a file."""
    need_spark()
    java()
    from pyspark.sql import SparkSession

    python = python or (sys.executable if is_local(master) else None)
    if python:
        os.environ["PYSPARK_PYTHON"] = python
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    chosen = {**SETTINGS, **(LOCAL if is_local(master) else {}), **settings}
    builder: Any = SparkSession.builder.master(enduring(master))
    for name, value in chosen.items():
        builder = builder.config(name, value)
    with stderr_in(log), interruptible():
        try:
            spark: SparkSession = builder.getOrCreate()
        except Exception as error:
            raise BadInput(f"{master}: no session of Spark: {cause(error)}") from None
    silent = logging.NullHandler()
    logging.getLogger().addHandler(silent)  # Spark's connection logs a trace when it is interrupted
    try:
        yield spark
    finally:
        with warnings.catch_warnings(), suppress(OSError):  # Java may have ended already, by the same interrupt
            warnings.simplefilter("ignore", RuntimeWarning)
            spark.stop()
        logging.getLogger().removeHandler(silent)


@contextmanager
def interruptible() -> Iterator[None]:
    """Have SIGINT do what it did before the block. Spark's handler talks to Java while Java is being talked to."""
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, before)


@contextmanager
def stderr_in(log: Path | None) -> Iterator[None]:
    """Have the processes that are started in the block write their standard error to a file."""
    before = os.dup(2)
    file = os.open(log or os.devnull, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.dup2(file, 2)
    try:
        yield
    finally:
        os.dup2(before, 2)
        os.close(before)
        os.close(file)


def cause(error: BaseException) -> str:
    """What Spark says is the matter, in a line: the innermost error that it tells of."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    told = [found[1] for line in lines if (found := ERROR.match(line))]
    return (told or lines or [type(error).__name__])[-1 if told else 0][:300]
