"""The store of a campaign: a folder, or any URI that Spark can write.

::

    manifest.json         what the campaign is
    rows/round=N          what the shards of a round answered
    summary/round=N       a round, merged; it is written last, so a round that has one is whole
    states/slot=0, 1      the states reached up to the last round, and up to the one before it
    findings/slot=0, 1    the findings, likewise
    stop                  that somebody asked the driver to end
    lock                  who drives
    driver.log            what Java had to say, in a folder

A folder needs no Spark to be read.
"""

from __future__ import annotations

import os
import socket
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any, TextIO

import msgspec

from broker_tck.implementations.reachable import barred
from broker_tck.properties.errors import BadInput
from broker_tck.spark_fuzz.driver.manifest import Manifest, decoded, encoded
from broker_tck.spark_fuzz.executors.session import cause
from broker_tck.spark_fuzz.store.rows import FINDINGS, STATES, SUMMARY, arrow_schema

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

MANIFEST = "manifest.json"
STOP = "stop"
LOCK = "lock"
LOG = "driver.log"
TRIES, MOMENT = 4, 0.05
"""A lock is tried for so often, so many seconds apart: whoever looks who drives holds it for an instant."""
LEASE, ROUNDS = 900.0, 4
"""Where a store has no locks, a driver that has not been heard of for so many seconds counts as gone, or for as long as
so many of its rounds take."""
TABLES = {"summary": f"{SUMMARY}, round int", "states": STATES, "findings": FINDINGS}
Key = tuple[str, str, str, str]
"""A finding's subject, profile, rules and shape."""


class Driver(msgspec.Struct):
    """Who drives a campaign."""

    host: str
    pid: int
    until: float
    """When it counts as gone unless it is heard of again, in seconds of the epoch; 0: it has ended."""

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}"


class Store(ABC):
    """The store of a campaign."""

    where: str
    """As it was given."""

    @abstractmethod
    def path(self, *parts: str) -> str:
        """A place in the store, as Spark takes it."""

    @abstractmethod
    def read_text(self, name: str) -> str | None:
        """A small text; None where there is none."""

    @abstractmethod
    def write_text(self, name: str, text: str) -> None:
        """Write a small text, over the one that is there. BadInput where the store refuses it."""

    @abstractmethod
    def write_table(self, table: pa.Table, *parts: str) -> None:
        """Write a small table at a place in the store, whole or not at all."""

    @abstractmethod
    def rounds(self) -> int:
        """How many rounds are whole."""

    @abstractmethod
    def table(self, name: str, columns: Sequence[str] | None = None) -> pa.Table:
        """A merged table: ``summary``, all rounds; ``states`` or ``findings``, as of the last round."""

    @abstractmethod
    def texts(self, keys: Sequence[Key]) -> dict[Key, str]:
        """The text of findings, as JSON."""

    @abstractmethod
    def driven(self) -> Any:
        """A context in which this process drives the campaign. BadInput where another does."""

    @abstractmethod
    def driver(self) -> str:
        """Who drives the campaign; empty: nobody."""

    @abstractmethod
    def heard(self, seconds: float) -> None:
        """Tell that the driver lives, and how long its last round took."""

    @property
    def manifest(self) -> Manifest:
        """The manifest. BadInput where this is no store."""
        text = self.read_text(MANIFEST)
        if text is None:
            raise BadInput(f"{self.where}: no campaign there; `broker-tck fuzz --store {self.where}` starts one")
        return decoded(text, self.where)

    def summary(self) -> pa.Table:
        """All rounds."""
        return self.table("summary")

    def findings(self) -> pa.Table:
        """All findings, without their texts."""
        return self.table("findings", [c.split()[0] for c in FINDINGS.split(",") if "text" not in c])

    def create(self, manifest: Manifest) -> None:
        """Begin a campaign. BadInput where there is one already."""
        if self.read_text(MANIFEST) is not None:
            raise BadInput(
                f"{self.where}: holds a campaign already; `broker-tck fuzz resume {self.where}` goes on with it"
            )
        self.write_text(MANIFEST, encoded(manifest))

    def slot(self, name: str, rounds: int) -> str:
        """Where a table is as of so many rounds."""
        return self.path(name, f"slot={(rounds + 1) % 2}")


class Folder(Store):
    """A store in a folder of this machine."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.folder = Path(where.removeprefix("file://")).absolute()
        if why := barred(self.folder):
            raise BadInput(f"{where}: {why}")
        if self.folder.exists() and not self.folder.is_dir():
            raise BadInput(f"{where}: a file; the store of a campaign is a folder")

    def path(self, *parts: str) -> str:
        return f"file://{self.folder.joinpath(*parts)}"  # not as_uri: Hadoop does not take escapes back

    def read_text(self, name: str) -> str | None:
        try:
            return (self.folder / name).read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        except OSError as error:
            raise BadInput(f"{self.where}: cannot be read: {error.strerror}") from None

    def write_text(self, name: str, text: str) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            (self.folder / f".{name}").write_text(text, encoding="utf-8")
            (self.folder / f".{name}").replace(self.folder / name)
        except OSError as error:
            raise BadInput(f"{self.where}: cannot be written: {error.strerror}") from None

    def write_table(self, table: pa.Table, *parts: str) -> None:
        import pyarrow.parquet as pq

        to = self.folder.joinpath(*parts)
        to.mkdir(parents=True, exist_ok=True)
        pq.write_table(table, to / "_part", compression="zstd")
        (to / "_part").replace(to / "part.parquet")

    def rounds(self) -> int:
        number = 0
        while any((self.folder / "summary" / f"round={number}").glob("*.parquet")):
            number += 1
        return number

    def dataset(self, name: str) -> Any:
        """A merged table as a dataset of Arrow."""
        import pyarrow.dataset as ds

        schema = arrow_schema(TABLES[name])
        rounds = self.rounds()
        if name == "summary":
            files = [str(f) for n in range(rounds) for f in (self.folder / name / f"round={n}").glob("*.parquet")]
            parts = ds.partitioning(arrow_schema("round int"), flavor="hive")
            return ds.dataset(files, schema, format="parquet", partitioning=parts)
        slot = self.folder / name / f"slot={(rounds + 1) % 2}"
        return ds.dataset([str(f) for f in slot.glob("*.parquet")] if rounds else [], schema, format="parquet")

    def table(self, name: str, columns: Sequence[str] | None = None) -> pa.Table:
        return self.dataset(name).to_table(columns=list(columns) if columns else None)

    def texts(self, keys: Sequence[Key]) -> dict[Key, str]:
        import pyarrow as pa
        import pyarrow.compute as pc

        wanted = set(keys)
        shapes = pc.field("shape").isin(pa.array(sorted({key[3] for key in keys}), pa.string()))
        rows = self.dataset("findings").to_table(filter=shapes).to_pylist()
        found = {(r["subject"], r["profile"], r["rules"], r["shape"]): r["text"] for r in rows}
        return {key: text for key, text in found.items() if key in wanted}

    @contextmanager
    def driven(self) -> Iterator[None]:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            file = (self.folder / LOCK).open("a+", encoding="utf-8")
        except OSError as error:
            raise BadInput(f"{self.where}: cannot be written: {error.strerror}") from None
        with file:
            if not any(locked(file) or Event().wait(MOMENT) for _ in range(TRIES)):
                file.seek(0)
                raise BadInput(refused(self.where, file.read()))
            file.truncate(0)
            file.write(f"process {os.getpid()} on {socket.gethostname()}")
            file.flush()
            try:
                yield
            finally:
                if not (self.folder / MANIFEST).exists():
                    self.forsake()

    def heard(self, seconds: float) -> None:
        """Its lock tells that the driver lives."""

    def forsake(self) -> None:
        """Leave nothing behind of a campaign that did not begin."""
        for name in (LOCK, LOG):
            (self.folder / name).unlink(missing_ok=True)
        with suppress(OSError):
            self.folder.rmdir()

    def driver(self) -> str:
        try:
            with (self.folder / LOCK).open(encoding="utf-8") as file:
                return "" if locked(file) else file.read()
        except OSError:
            return ""


class Remote(Store):
    """A store at a URI: everything goes through Spark. It has no locks, so its driver holds a lease."""

    def __init__(self, where: str, spark: SparkSession) -> None:
        self.where = where
        self.spark = spark

    def path(self, *parts: str) -> str:
        return "/".join([self.where.rstrip("/"), *parts])

    def read_text(self, name: str) -> str | None:
        from pyspark.errors import AnalysisException

        try:
            lines = self.spark.read.text(self.path(name), wholetext=True).collect()
        except AnalysisException:
            return None
        except Exception as error:
            raise BadInput(f"{self.where}: cannot be read: {cause(error)}") from None
        return str(lines[0].value) if lines else None

    def write_text(self, name: str, text: str) -> None:
        import pyarrow as pa

        # Arrow's, as all that is made here: rows of Python would take a worker process of Spark's to write them
        line = self.spark.createDataFrame(pa.table({"value": [text]})).coalesce(1)
        try:
            line.write.mode("overwrite").text(self.path(name))
        except Exception as error:
            raise BadInput(f"{self.where}: cannot be written: {cause(error)}") from None

    def write_table(self, table: pa.Table, *parts: str) -> None:
        rows = self.spark.createDataFrame(table).coalesce(1)
        rows.write.mode("overwrite").parquet(self.path(*parts))

    def rounds(self) -> int:
        found = self._read("summary").select("round").distinct().toArrow()
        numbers = set(found.column("round").to_pylist())
        return next(n for n in range(len(numbers) + 1) if n not in numbers)

    def table(self, name: str, columns: Sequence[str] | None = None) -> pa.Table:
        known = self._read(name)
        return (known.select(*columns) if columns else known).toArrow()

    def texts(self, keys: Sequence[Key]) -> dict[Key, str]:
        import pyarrow as pa

        names = ["subject", "profile", "rules", "shape"]
        schema = pa.schema([(name, pa.string()) for name in names])
        asked = pa.Table.from_pylist([dict(zip(names, key, strict=True)) for key in keys], schema)
        wanted = self.spark.createDataFrame(asked)
        rows = self._read("findings").join(wanted, names, "left_semi").toArrow().to_pylist()
        return {(r["subject"], r["profile"], r["rules"], r["shape"]): r["text"] for r in rows}

    def _read(self, name: str) -> DataFrame:
        where = self.path(name) if name == "summary" else self.slot(name, self.rounds())
        return frame(self.spark, TABLES[name], where)

    def driver(self) -> str:
        text = self.read_text(LOCK)
        known = msgspec.json.decode(text, type=Driver) if text else None
        return str(known) if known and time.time() < known.until else ""

    @contextmanager
    def driven(self) -> Iterator[None]:
        if by := self.driver():
            raise BadInput(refused(self.where, by))
        self.heard(0)
        try:
            yield
        finally:
            self._lease(0)

    def heard(self, seconds: float) -> None:
        self._lease(time.time() + max(LEASE, ROUNDS * seconds))

    def _lease(self, until: float) -> None:
        driver = Driver(socket.gethostname(), os.getpid(), until)
        self.write_text(LOCK, msgspec.json.encode(driver).decode())


def locked(file: TextIO) -> bool:
    """Whether a file could be locked. The system takes the lock away when the process ends, however it ends."""
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def refused(where: str, by: str) -> str:
    """What the second driver of a store is told."""
    return f"{where}: {by or 'another process'} drives this campaign; `broker-tck watch {where}` shows it"


def is_uri(where: str) -> bool:
    """Whether a store is given by a URI that is no folder of this machine."""
    return "://" in where and not where.startswith("file://")


def frame(spark: SparkSession, columns: str, path: str) -> DataFrame:
    """The rows at a path, none where there is nothing yet."""
    from pyspark.errors import AnalysisException

    try:
        return spark.read.schema(columns).parquet(path)
    except AnalysisException:
        return spark.createDataFrame(arrow_schema(columns).empty_table())
