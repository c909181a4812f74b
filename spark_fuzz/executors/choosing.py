"""Which executor runs a campaign: Spark if it is here, else processes of this machine."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory, mkstemp
from typing import NamedTuple

from broker_tck.properties.errors import BadInput
from broker_tck.spark_fuzz.executors import Executor
from broker_tck.spark_fuzz.executors.session import cache_folder, is_local, java, need_spark, session
from broker_tck.spark_fuzz.executors.ship import settings as ship_settings
from broker_tck.spark_fuzz.executors.ship import ship

SPARK, PROCESSES = "spark", "processes"
MASTER = "local[*]"
LOST = re.compile(r" (TaskSetManager: Lost task|HealthTracker: Excluding|TaskSetExcludelist: Excluding)")
"""What Spark's log has of tasks that failed, and of executors that it leaves out."""


class Choice(NamedTuple):
    """What a user asked for; None: nothing."""

    executor: str | None = None
    processes: int | None = None
    master: str | None = None
    remote: str | None = None
    confs: Sequence[str] = ()
    python: str | None = None
    shipped: bool = False
    archive: str | None = None


@contextmanager
def executor(choice: Choice, subjects: Sequence[str], say: Callable[[str], None]) -> Iterator[Executor]:
    """The executor while the block runs; ``subjects`` are what is shipped. BadInput if it is not here."""
    of_spark = any((choice.master, choice.remote, choice.confs, choice.python, choice.shipped, choice.archive))
    of_processes = choice.executor == PROCESSES or choice.processes
    if of_processes and (of_spark or choice.executor == SPARK):
        raise BadInput("choose one executor: --processes is for processes; --master, --remote and others are for Spark")
    if choice.shipped and choice.archive:
        raise BadInput("choose one: --ship sends the archive, --archive says where it is already")
    if choice.remote and any((choice.master, choice.python, choice.shipped, choice.archive)):
        raise BadInput(
            "--remote: a Connect server has a master, a Python and a kit; --master, --python and --ship are not for it"
        )
    if choice.executor == SPARK or of_spark:
        chosen = SPARK
    elif of_processes:
        chosen = PROCESSES
    elif why := lacking():
        say(f"{why}; processes of this machine run the campaign")
        chosen = PROCESSES
    else:
        chosen = SPARK
    with spark(choice, subjects, say) if chosen == SPARK else processes_here(choice.processes) as made:
        yield made


def lacking() -> str:
    """What Spark lacks here, in a few words; empty: nothing."""
    try:
        need_spark()
        java()
    except BadInput as error:
        return str(error).partition(";")[0]
    return ""


def processes_here(number: int | None) -> AbstractContextManager[Executor]:
    """Processes of this machine as the executor."""
    from broker_tck.spark_fuzz.executors.processes import processes

    return processes(number)


@contextmanager
def spark(choice: Choice, subjects: Sequence[str], say: Callable[[str], None]) -> Iterator[Executor]:
    """A session of Spark as the executor."""
    from broker_tck.spark_fuzz.executors.spark import Spark

    master = None if choice.remote else choice.master or MASTER
    settings = dict(map(setting, choice.confs))
    with TemporaryDirectory(prefix="broker-tck-") as temporary:
        if not is_local(master):
            settings = {**sent(choice, subjects, Path(temporary)), **settings}
        with logged(say) as log, session(master, choice.remote, settings, choice.python, log) as made:
            yield Spark(made, f"Spark, {choice.remote or master}")


def sent(choice: Choice, subjects: Sequence[str], folder: Path) -> dict[str, str]:
    """The settings of what executors are sent, or fetch; none if they have all they need."""
    if choice.archive:
        return ship_settings(choice.archive)
    return ship_settings(ship(subjects, cache_folder() or folder)) if choice.shipped else {}


@contextmanager
def logged(say: Callable[[str], None]) -> Iterator[Path]:
    """A file for Spark's log while the block runs; it stays, and is named, if it tells of tasks that were lost."""
    number, name = mkstemp(prefix="broker-tck-", suffix=".log")
    os.close(number)
    log = Path(name)
    try:
        yield log
    finally:
        if LOST.search(log.read_text(encoding="utf-8", errors="replace")):
            say(f"Spark lost tasks or executors; {log} says which, and why")
        else:
            log.unlink()


def setting(text: str) -> tuple[str, str]:
    """A setting of Spark."""
    name, equals, value = text.partition("=")
    if not equals or not name.startswith("spark."):
        raise BadInput(f"--conf {text}: a setting is written spark.name=value")
    return name, value
