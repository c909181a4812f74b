"""Who drives a campaign: a session of Spark, and a store that nobody else writes."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from broker_tck.properties.errors import BadInput
from broker_tck.spark_fuzz.executors.session import is_local, java, need_spark, parallelism, session
from broker_tck.spark_fuzz.executors.ship import settings as ship_settings
from broker_tck.spark_fuzz.executors.ship import ship
from broker_tck.spark_fuzz.store.places import LOG, MANIFEST, Folder, Remote, Store, is_uri

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@contextmanager
def driving(
    where: str,
    master: str,
    confs: Sequence[str],
    python: str | None,
    shipped: Sequence[str] | None,
    check: Callable[[Store], object],
) -> Iterator[tuple[SparkSession, Store]]:
    """A session and a store that nobody else drives; ``shipped`` are subjects, none for those of the store's campaign.

    ``check`` raises BadInput where the store will not do, as early as it can be looked at.
    """
    need_spark()
    java()
    chosen = dict(map(setting, confs))
    with ExitStack() as stack:
        folder = None if is_uri(where) else Folder(where)
        if folder:
            check(folder)
            stack.enter_context(folder.driven())
        if shipped is not None and not is_local(master):
            to = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="broker-tck-")))
            names = shipped or (folder.manifest.subjects if folder else [])
            chosen = {**ship_settings(ship(names, to)), **chosen}
        log = folder.folder / LOG if folder else None
        spark = stack.enter_context(session(master, chosen, python, log))
        store: Store = folder or Remote(where, spark)
        if not folder:
            check(store)
            stack.enter_context(store.driven())
        yield spark, store


def check_new(store: Store) -> None:
    """BadInput where a store has a campaign already."""
    if store.read_text(MANIFEST) is not None:
        raise BadInput(
            f"{store.where}: holds a campaign already; `broker-tck fuzz resume {store.where}` goes on with it"
        )


@contextmanager
def opened(where: str, confs: Sequence[str] = ()) -> Iterator[Store]:
    """A store to read; the settings are for one that is not a folder."""
    need_spark()
    if not is_uri(where):
        yield Folder(where)
        return
    java()
    with session("local[1]", dict(map(setting, confs)), None, None) as spark:
        yield Remote(where, spark)


def store_at(where: str, spark: SparkSession) -> Store:
    """A store to read, where there is a session."""
    return Remote(where, spark) if is_uri(where) else Folder(where)


def setting(text: str) -> tuple[str, str]:
    """A setting of Spark."""
    name, equals, value = text.partition("=")
    if not equals or not name.startswith("spark."):
        raise BadInput(f"--conf {text}: a setting is written spark.name=value")
    return name, value


def cores(spark: SparkSession, master: str) -> int:
    """How many cores a master has."""
    number = re.match(r"local\[(\d+)", master)
    if number:
        return int(number[1])
    return (os.cpu_count() or 1) if is_local(master) else parallelism(spark)
