"""Which executor runs a campaign: Spark if it is here, else processes of this machine."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from broker_tck.properties.errors import BadInput
from broker_tck.spark_fuzz.executors import Executor
from broker_tck.spark_fuzz.executors.session import is_local, java, need_spark, session
from broker_tck.spark_fuzz.executors.ship import settings as ship_settings
from broker_tck.spark_fuzz.executors.ship import ship

SPARK, PROCESSES = "spark", "processes"
MASTER = "local[*]"


class Choice(NamedTuple):
    """What a user asked for; None: nothing."""

    executor: str | None = None
    processes: int | None = None
    master: str | None = None
    remote: str | None = None
    confs: Sequence[str] = ()
    python: str | None = None
    shipped: bool = False


@contextmanager
def executor(choice: Choice, subjects: Sequence[str], say: Callable[[str], None]) -> Iterator[Executor]:
    """The executor while the block runs; ``subjects`` are what is shipped. BadInput if it is not here."""
    of_spark = choice.master or choice.remote or choice.confs or choice.python or choice.shipped
    of_processes = choice.executor == PROCESSES or choice.processes
    if of_processes and (of_spark or choice.executor == SPARK):
        raise BadInput("choose one executor: --processes is for processes; --master, --remote and others are for Spark")
    if choice.remote and (choice.master or choice.python or choice.shipped):
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
    with spark(choice, subjects) if chosen == SPARK else processes_here(choice.processes) as made:
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
def spark(choice: Choice, subjects: Sequence[str]) -> Iterator[Executor]:
    """A session of Spark as the executor."""
    from broker_tck.spark_fuzz.executors.spark import Spark

    master = None if choice.remote else choice.master or MASTER
    settings = dict(map(setting, choice.confs))
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="broker-tck-")))
        if choice.shipped and not is_local(master):
            settings = {**ship_settings(ship(subjects, folder)), **settings}
        made = session(master, choice.remote, settings, choice.python, folder / "spark.log")
        yield Spark(stack.enter_context(made), f"Spark, {choice.remote or master}")


def setting(text: str) -> tuple[str, str]:
    """A setting of Spark."""
    name, equals, value = text.partition("=")
    if not equals or not name.startswith("spark."):
        raise BadInput(f"--conf {text}: a setting is written spark.name=value")
    return name, value
