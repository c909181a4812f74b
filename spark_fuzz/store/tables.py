"""The store of a campaign: four Delta tables in a folder, or at any URI that the package `deltalake` can write.

::

    campaign    the manifest, who drove from when to when, requests to stop
    states      the states, with the round that first reached each
    findings    the shapes of findings, by round
    figures     what each round came to; it is written last, so a round that it has is whole

The driver alone writes. Each commit carries a number, as a transaction of Delta's: of two drivers that commit the same
number, or of which one has not seen a commit of the other, the second is refused.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from broker_tck.implementations.reachable import barred
from broker_tck.properties.errors import BadInput, Failed
from broker_tck.spark_fuzz.driver.manifest import Manifest, decoded, encoded
from broker_tck.spark_fuzz.store.reduce import merged_findings
from broker_tck.spark_fuzz.store.rows import KEYS, ROUND, TABLES, arrow_schema

if TYPE_CHECKING:
    import pyarrow as pa
    from deltalake import DeltaTable

MANIFEST, DRIVER, STOP, END = "manifest", "driver", "stop", "end"
"""Kinds of rows of the table ``campaign``."""
APP = "broker-tck"
"""The name under which commits are numbered."""
OLD = "manifest.json"
"""A store of format 1 has this file."""
LEASE, ROUNDS = 900.0, 4
"""A driver on another machine that has not been heard of for so many seconds counts as gone, or for as long as so many
of its rounds take."""
TIDY = 25
"""After so many rounds, small files of the tables are put together."""
WHOLE = 2**20
"""A file of so many bytes is left as it is: files that were put together once too often would outgrow all others."""
KEPT = 1
"""Hours for which files that were put together stay, for readers that still have them open."""
SETTINGS: dict[str, str | None] = {"delta.logRetentionDuration": f"interval {KEPT} hours"}
Key = tuple[str, str, str, str]
"""A finding's subject, profile, rules and shape."""


class Driver(msgspec.Struct):
    """Who drives a campaign."""

    host: str
    pid: int
    started: str = ""
    """When the process started, as its machine counts; empty on a system that does not say."""

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}"

    @property
    def ended(self) -> bool:
        """Whether it is a process of this machine that has ended."""
        return self.host == socket.gethostname() and self.started != started(self.pid)


class Store:
    """The store of a campaign. BadInput if it cannot be read, Failed if it cannot be written."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.root = where.rstrip("/")
        self.opened: dict[str, DeltaTable] = {}
        """The tables as this process last saw them. What it writes is refused if others have written since."""
        if not is_uri(where):
            folder = Path(where.removeprefix("file://")).absolute()
            if why := barred(folder):
                raise BadInput(f"{where}: {why}")
            if folder.exists() and not folder.is_dir():
                raise BadInput(f"{where}: a file; the store of a campaign is a folder")
            if (folder / OLD).exists():
                raise BadInput(f"{where}: a store of format 1; broker-tck 0.1.0 reads it, of commit 3ed7418 or before")
            self.root = str(folder)

    # ---- Tables

    def table(self, name: str) -> DeltaTable | None:
        """A table as it is now; None if there is none yet."""
        from deltalake import DeltaTable
        from deltalake.exceptions import DeltaError, TableNotFoundError

        try:
            if name in self.opened:
                self.opened[name].update_incremental()
            else:
                self.opened[name] = DeltaTable(f"{self.root}/{name}")
        except TableNotFoundError:
            return None
        except (DeltaError, OSError) as error:
            raise BadInput(f"{self.where}: cannot be read: {line(error)}") from None
        return self.opened[name]

    def read(self, name: str, columns: Sequence[str] | None = None, predicate: str | None = None) -> pa.Table:
        """Rows of a table, as many as a predicate of SQL lets through; none if there is no table yet."""
        import pyarrow as pa
        from deltalake.exceptions import DeltaError

        schema = arrow_schema(TABLES[name])
        wanted = pa.schema([schema.field(column) for column in columns or schema.names])
        table = self.table(name)
        if table is None:
            return wanted.empty_table()
        try:
            return pa.table(table.scan(wanted.names, predicate)).cast(wanted)
        except (DeltaError, OSError) as error:
            raise BadInput(f"{self.where}: cannot be read: {line(error)}") from None

    def write(self, name: str, rows: pa.Table, number: int, predicate: str | None = None) -> None:
        """Commit rows as this process's numbered commit; those that the predicate names are replaced."""
        from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake
        from deltalake.exceptions import CommitFailedError, DeltaError

        properties = CommitProperties(app_transactions=[Transaction(APP, number)], max_commit_retries=0)
        try:
            if name not in self.opened:
                self.opened[name] = DeltaTable.create(
                    f"{self.root}/{name}", arrow_schema(TABLES[name]), mode="error", configuration=SETTINGS
                )
            mode: Any = "overwrite" if predicate else "append"
            write_deltalake(self.opened[name], rows, mode=mode, predicate=predicate, commit_properties=properties)
        except CommitFailedError:
            raise BadInput(refused(self.where, "")) from None
        except (DeltaError, OSError) as error:
            raise Failed(f"{self.where}: cannot be written: {line(error)}") from None

    # ---- The campaign as a whole

    def events(self) -> list[dict[str, Any]]:
        """The rows of ``campaign``, in their order."""
        rows: list[dict[str, Any]] = self.read("campaign").to_pylist()
        return sorted(rows, key=lambda row: row["number"])

    def note(self, *events: tuple[str, str]) -> None:
        """Add rows, of kinds and texts, to ``campaign``. BadInput if another driver did so meanwhile."""
        import pyarrow as pa

        number = 1 + max((row["number"] for row in self.events()), default=-1)
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        rows = [{"number": number, "at": at, "kind": kind, "text": text} for kind, text in events]
        self.write("campaign", pa.Table.from_pylist(rows, arrow_schema(TABLES["campaign"])), number)

    @property
    def manifest(self) -> Manifest:
        """The manifest. BadInput if this is no store."""
        text = next((row["text"] for row in self.events() if row["kind"] == MANIFEST), None)
        if text is None:
            raise BadInput(f"{self.where}: no campaign there; `broker-tck fuzz --store {self.where}` starts one")
        return decoded(text, self.where)

    def check_new(self) -> None:
        """BadInput if the store has a campaign already."""
        if self.events():
            raise BadInput(
                f"{self.where}: holds a campaign already; `broker-tck fuzz resume {self.where}` goes on with it"
            )

    @contextmanager
    def driven(self, manifest: Manifest | None = None) -> Iterator[None]:
        """A context in which this process drives the campaign, a new one if a manifest is given.

        BadInput if another process drives it.
        """
        if by := self.driver():
            raise BadInput(refused(self.where, by))
        me = Driver(socket.gethostname(), os.getpid(), started(os.getpid()))
        begun = [(MANIFEST, encoded(manifest))] if manifest else []
        self.note(*begun, (DRIVER, msgspec.json.encode(me).decode()))
        try:
            yield
        finally:
            with suppress(BadInput, Failed):  # if nothing can be written now, its process tells that it has ended
                self.note((END, ""))

    def driver(self) -> str:
        """Who drives the campaign; empty: nobody."""
        last = [row for row in self.events() if row["kind"] in (DRIVER, END)][-1:]
        if not last or last[0]["kind"] == END:
            return ""
        known = msgspec.json.decode(last[0]["text"], type=Driver)
        silent = time.time() - max(datetime.fromisoformat(last[0]["at"]).timestamp(), self.last_commit())
        return "" if known.ended or silent > max(LEASE, ROUNDS * self.last_round()) else str(known)

    def last_commit(self) -> float:
        """When a round was last written, in seconds of the epoch; 0: never."""
        table = self.table("figures")
        return float(table.history(1)[0]["timestamp"]) / 1000 if table else 0.0

    def last_round(self) -> float:
        """How long the last round took, in seconds."""
        rows = self.read("figures", ["count"], f"kind = '{ROUND}' AND round = {self.rounds() - 1}")
        return sum(rows["count"].to_pylist()) / 1000

    def ask_to_stop(self) -> None:
        """Ask the driver to end."""
        self.note((STOP, ""))

    def stop_asked(self) -> bool:
        """Whether somebody has asked the last driver to end."""
        kinds = [row["kind"] for row in self.events()]
        return STOP in kinds[len(kinds) - kinds[::-1].index(DRIVER) :] if DRIVER in kinds else False

    # ---- Rounds

    def rounds(self) -> int:
        """How many rounds are whole."""
        table = self.table("figures")
        last = table.transaction_version(APP) if table else None
        return 0 if last is None else last + 1

    def commit(self, number: int, tables: Mapping[str, pa.Table]) -> None:
        """Write what a round, or all rounds up to it, came to. With the last of these commits it is whole."""
        first = min(tables["figures"]["round"].to_pylist(), default=number)
        for name in ("states", "findings", "figures"):
            self.write(name, tables[name], number, f"round >= {first}")
        if number % TIDY == TIDY - 1:
            self.tidy()

    def tidy(self) -> None:
        """Put small files together, and delete those that were put together long ago."""
        for table in self.opened.values():
            table.optimize.compact(target_size=WHOLE)
            table.vacuum(KEPT, dry_run=False, enforce_retention_duration=False)

    def figures(self) -> pa.Table:
        """What each round came to."""
        return self.read("figures")

    def sums(self) -> pa.Table:
        """What all rounds came to together: the columns of ``figures`` without the rounds."""
        import pyarrow as pa
        from deltalake import QueryBuilder

        columns = arrow_schema(TABLES["figures"]).remove(0)
        table = self.table("figures")
        if table is None:
            return columns.empty_table()
        keys = ", ".join(KEYS)
        query = f"SELECT {keys}, SUM(count) AS count FROM figures GROUP BY {keys}"
        return pa.table(QueryBuilder().register("figures", table).execute(query)).cast(columns)

    def states(self) -> pa.Table:
        """The states that whole rounds reached."""
        return self.read("states", predicate=f"round < {self.rounds()}")

    def findings(self) -> pa.Table:
        """All findings of whole rounds, one row for all that are alike, without their texts."""
        columns = [column for column in arrow_schema(TABLES["findings"]).names if column != "text"]
        return merged_findings(self.read("findings", columns, f"round < {self.rounds()}"))

    def texts(self, keys: Sequence[Key]) -> dict[Key, str]:
        """The shortest text of findings, as JSON."""
        if not keys:
            return {}
        shapes = ", ".join("'{}'".format(shape.replace("'", "''")) for shape in sorted({key[3] for key in keys}))
        rows = self.read("findings", predicate=f"text <> '' AND shape IN ({shapes})").to_pylist()
        found = {}
        for row in sorted(rows, key=lambda row: (-row["length"], -row["round"])):
            found[row["subject"], row["profile"], row["rules"], row["shape"]] = row["text"]
        return {key: found[key] for key in keys if key in found}


def started(pid: int) -> str:
    """When a process of this machine started, as its system counts; "gone" if it has ended."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return "gone"
    except PermissionError:
        pass
    try:
        state, *fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return ""
    return "gone" if state == "Z" else fields[18]


def refused(where: str, by: str) -> str:
    """What the second driver of a store is told."""
    return f"{where}: {by or 'another process'} drives this campaign; `broker-tck watch {where}` shows it"


def is_uri(where: str) -> bool:
    """Whether a store is given by a URI that is no folder of this machine."""
    return "://" in where and not where.startswith("file://")


def line(error: BaseException) -> str:
    """An error in a line."""
    return " ".join(str(error).split())[:300]
