"""The choice of the executor: Spark if it is installed, else processes of this machine."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryDirectory
from typing import NamedTuple

from broker_tck.properties.errors import BadInput
from broker_tck.spark_fuzz.executors import PROCESSES, SPARK, Executor
from broker_tck.spark_fuzz.executors.session import cache_folder, is_local, java, need_spark, session
from broker_tck.spark_fuzz.executors.ship import settings as ship_settings
from broker_tck.spark_fuzz.executors.ship import ship

MASTER = "local[*]"
LOST = re.compile(r" (TaskSetManager: Lost task|HealthTracker: Excluding|TaskSetExcludelist: Excluding)")
"""Lines of Spark's log about failed tasks and excluded executors."""


class Choice(NamedTuple):
    """The user's options; None if not given."""

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
    """The executor while the block runs; ``subjects`` are what is shipped. Raises BadInput if it is not here."""
    from broker_tck.spark_fuzz.executors.processes import processes

    by_processes = choice.executor == PROCESSES or choice.processes
    by_spark = choice.executor == SPARK or any(
        (choice.master, choice.remote, choice.confs, choice.python, choice.shipped, choice.archive)
    )
    if by_processes and by_spark:
        raise BadInput(
            "choose one executor: --processes is for local processes; --master, --remote and others are for Spark"
        )
    if choice.shipped and choice.archive:
        raise BadInput("choose one: --ship sends an archive, --archive names one that is there already")
    if choice.remote and any((choice.master, choice.python, choice.shipped, choice.archive)):
        raise BadInput(
            "--remote: a Connect server has its own master, Python and kit; leave out --master, --python and --ship"
        )
    if not by_processes and not by_spark and (why := lacking()):
        say(f"{why}; the campaign runs in processes of this machine")
        by_processes = True
    with processes(choice.processes) if by_processes else spark(choice, subjects, say) as made:
        yield made


def lacking() -> str:
    """What is missing here for Spark, in a few words; empty if nothing."""
    try:
        need_spark()
        java()
    except BadInput as error:
        return str(error).partition(";")[0]
    return ""


@contextmanager
def spark(choice: Choice, subjects: Sequence[str], say: Callable[[str], None]) -> Iterator[Executor]:
    """A session of Spark as the executor."""
    from broker_tck.spark_fuzz.executors.spark import Spark

    master = None if choice.remote else choice.master or MASTER
    settings = dict(map(setting, choice.confs))
    with TemporaryDirectory(prefix="broker-tck-") as temporary:
        archive: Path | str | None = choice.archive
        if choice.shipped and not is_local(master):
            archive = ship(subjects, cache_folder() or Path(temporary))
        if archive and not is_local(master):
            settings = {**ship_settings(archive), **settings}
        with logged(say) as log, session(master, choice.remote, settings, choice.python, log) as made:
            yield Spark(made, f"Spark, {choice.remote or master}")


@contextmanager
def logged(say: Callable[[str], None]) -> Iterator[Path]:
    """A file for Spark's log while the block runs; it stays, and is named, if it tells of tasks that were lost."""
    with NamedTemporaryFile(prefix="broker-tck-", suffix=".log", delete=False) as file:
        log = Path(file.name)
    try:
        yield log
    finally:
        if LOST.search(log.read_text(encoding="utf-8", errors="replace")):
            say(f"Spark lost tasks or executors; see {log}")
        else:
            log.unlink()


def setting(text: str) -> tuple[str, str]:
    """A setting of Spark."""
    name, equals, value = text.partition("=")
    if not equals or not name.startswith("spark."):
        raise BadInput(f"--conf {text}: write a setting as spark.name=value")
    return name, value
