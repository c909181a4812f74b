"""The store of a campaign: four Delta tables in a folder, or at any URI that the package `deltalake` can write.

::

    campaign    the manifest, the drivers with their times, requests to stop
    states      the states, with the round that first reached each
    findings    the shapes of findings, by round
    figures     the figures of each round; it is written last, so its rounds are complete

The driver alone writes. A commit is made on what its process last saw of the table, and is refused if anybody has
written since: of two drivers, one always ends.
"""

from __future__ import annotations

import re
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
from broker_tck.spark_fuzz.store.drivers import Driver, this_process
from broker_tck.spark_fuzz.store.rows import KEYS, ROUND, SHAPE, TABLES, Key, arrow_schema, names

if TYPE_CHECKING:
    import pyarrow as pa
    from deltalake import DeltaTable

MANIFEST, DRIVER, STOP, END = "manifest", "driver", "stop", "end"
"""Kinds of rows of the table ``campaign``."""
APP = "broker-tck"
"""The name under which rounds are numbered, as transactions of Delta's."""
OLD = "manifest.json"
"""A store of format 1 has this file."""
PATIENCE = {"retry_timeout": "30s"}
"""The time for which requests to an object store are retried."""
LEASE, ROUNDS = 900.0, 4
"""A driver on another machine that has not been heard of for so many seconds counts as gone, or for as long as so many
of its rounds take."""
TIDY = 25
"""Number of rounds after which small files of the tables are merged."""
WHOLE = 2**20
"""A file of so many bytes is left as it is: files that were put together once too often would outgrow all others."""
KEPT = 1
"""Hours for which files that were put together stay, for readers that still have them open."""
FIRST = ("round", "shard", "walk")
"""Which of several findings was found first."""
INSISTED = 9
"""Maximum number of times that a row is written again because another process wrote one at the same moment."""
SETTINGS: dict[str, str | None] = {"delta.logRetentionDuration": f"interval {KEPT} hours"}
Event = dict[str, Any]


class Store:
    """The store of a campaign. Raises BadInput if it cannot be read, Failed if it cannot be written."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.root = where.rstrip("/")
        self.options: dict[str, str] | None = PATIENCE
        self.opened: dict[str, DeltaTable] = {}
        """The tables as this process last saw them."""
        self.turn: int | None = None
        """The number of the row that says that this process drives the campaign."""
        if "://" not in where or where.startswith("file://"):
            folder = Path(where.removeprefix("file://")).absolute()
            if why := barred(folder):
                raise BadInput(f"{where}: {why}")
            if re.search(r"[][%]", str(folder)):
                raise BadInput(f"{where}: the package deltalake cannot write to a path with [, ] or %")
            if folder.exists() and not folder.is_dir():
                raise BadInput(f"{where}: is a file; the store of a campaign is a folder")
            if (folder / OLD).exists():
                raise BadInput(f"{where}: a store of format 1; broker-tck 0.1.0 reads it, of commit 3ed7418 or before")
            self.root, self.options = str(folder), None

    # ---- Tables

    def table(self, name: str) -> DeltaTable | None:
        """A table as it is now; None if there is none yet."""
        from deltalake import DeltaTable
        from deltalake.exceptions import TableNotFoundError

        with self.reading(name), suppress(TableNotFoundError):
            if name in self.opened:
                self.opened[name].update_incremental()
            else:
                self.opened[name] = DeltaTable(f"{self.root}/{name}", storage_options=self.options)
            return self.opened[name]
        return None

    def read(self, name: str, columns: Sequence[str] | None = None, predicate: str | None = None) -> pa.Table:
        """Rows of a table, as many as a predicate of SQL lets through; none if there is no table yet."""
        import pyarrow as pa

        schema = arrow_schema(TABLES[name])
        wanted = pa.schema([schema.field(column) for column in columns or schema.names])
        table = self.table(name)
        if table is None:
            return wanted.empty_table()
        with self.reading(name):
            return pa.table(table.scan(wanted.names, predicate)).cast(wanted)

    @contextmanager
    def reading(self, name: str) -> Iterator[None]:
        """A context in which a table is read."""
        import pyarrow as pa
        from deltalake.exceptions import DeltaError

        try:
            yield
        except (DeltaError, OSError, pa.ArrowException) as error:
            raise BadInput(f"{self.where}: table {name} cannot be read: {line(error)}") from None

    def write(self, name: str, rows: pa.Table, number: int, predicate: str | None = None) -> None:
        """Commit rows, with a number; those that the predicate names are replaced.

        Raises BadInput if another process has written since this one last looked.
        """
        from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake
        from deltalake.exceptions import DeltaError

        properties = CommitProperties(app_transactions=[Transaction(APP, number)], max_commit_retries=0)
        mode: Any = "overwrite" if predicate else "append"
        seen = None
        try:
            if name not in self.opened:
                at, schema = f"{self.root}/{name}", arrow_schema(TABLES[name])
                self.opened[name] = DeltaTable.create(at, schema, configuration=SETTINGS, storage_options=self.options)
            seen = self.opened[name].version()
            write_deltalake(self.opened[name], rows, mode=mode, predicate=predicate, commit_properties=properties)
        except (DeltaError, OSError) as error:
            if self.version(name) not in (seen, None):
                raise self.overtaken() from None
            raise Failed(f"{self.where}: table {name} cannot be written: {line(error)}") from None

    def version(self, name: str) -> int | None:
        """How many commits a table has by now, without the first; None: there is no table, or it cannot be read."""
        with suppress(BadInput):
            return table.version() if (table := self.table(name)) else None
        return None

    def overtaken(self, by: str = "") -> BadInput:
        """The error for the second driver of a store."""
        other = by or "another process"
        return Overtaken(
            f"{self.where}: {other} drives this campaign; `broker-tck watch {self.where}` shows its progress"
        )

    # ---- The campaign as a whole

    def events(self) -> list[Event]:
        """The rows of ``campaign``, in their order."""
        rows: list[Event] = self.read("campaign").to_pylist()
        return sorted(rows, key=lambda row: row["number"])

    def note(self, events: Sequence[Event], *added: tuple[str, str]) -> None:
        """Add rows, of kinds and texts, to those that were read. Raises Overtaken if there are others by now."""
        import pyarrow as pa

        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        rows = [
            {"number": len(events) + place, "at": at, "kind": kind, "text": text}
            for place, (kind, text) in enumerate(added)
        ]
        self.write("campaign", pa.Table.from_pylist(rows, arrow_schema(TABLES["campaign"])), len(events))

    def insist(self, kind: str) -> None:
        """Add a row, whatever others add at the same moment; END only if this process still drives the campaign."""
        for _ in range(INSISTED):
            events = self.events()
            if kind == END and not self.drives(events):
                return
            with suppress(Overtaken):
                self.note(events, (kind, ""))
                return
        raise self.overtaken()

    @property
    def manifest(self) -> Manifest:
        """The manifest. Raises BadInput if this is no store."""
        texts = [event["text"] for event in self.events() if event["kind"] == MANIFEST]
        if not texts:
            raise BadInput(f"{self.where}: has no campaign; `broker-tck fuzz --store {self.where}` starts one")
        return decoded(texts[-1], self.where)

    def check_free(self) -> None:
        """Raise BadInput if there is a campaign, unless it is an interrupted merge."""
        if self.events() and not (self.manifest.merged and not self.rounds()):
            raise BadInput(
                f"{self.where}: holds a campaign already; `broker-tck fuzz resume {self.where}` continues it"
            )

    def check_new(self) -> None:
        """Raise BadInput if no campaign can begin there: one exists, or the folder cannot be made."""
        self.check_free()
        if self.options is None:
            folder = Path(self.root)
            missing = [each for each in (folder, *folder.parents) if not each.exists()]
            try:
                folder.mkdir(parents=True, exist_ok=True)
                for each in missing:  # what cannot begin after this leaves nothing behind
                    each.rmdir()
            except OSError as error:
                raise BadInput(f"{self.where}: cannot be written: {error.strerror}") from None

    def check_idle(self) -> list[Event]:
        """The rows of ``campaign``. Raises BadInput if a process drives the campaign."""
        events = self.events()
        if by := self.driver(events):
            raise self.overtaken(by)
        return events

    @contextmanager
    def driven(self, manifest: Manifest | None = None) -> Iterator[None]:
        """A context in which this process drives the campaign, a new one if a manifest is given.

        Raises BadInput if another process drives it, or if nothing new can begin there.
        """
        if manifest:
            self.check_free()
        events = self.check_idle()
        begun = [(MANIFEST, encoded(manifest))] if manifest else []
        self.note(events, *begun, (DRIVER, msgspec.json.encode(this_process()).decode()))
        self.turn = len(events) + len(begun)
        for name in TABLES:
            self.table(name)
        try:
            yield
        finally:
            with suppress(BadInput, Failed):  # if nothing can be written now, its process tells that it has ended
                self.insist(END)

    def drives(self, events: Sequence[Event]) -> bool:
        """Whether this process is the last that began to drive the campaign."""
        return self.turn == max((event["number"] for event in events if event["kind"] == DRIVER), default=None)

    def driver(self, events: Sequence[Event] | None = None) -> str:
        """The process that drives the campaign; empty if none does."""
        rows = self.events() if events is None else events
        last = [event for event in rows if event["kind"] in (DRIVER, END)][-1:]
        if not last or last[0]["kind"] == END:
            return ""
        known = msgspec.json.decode(last[0]["text"], type=Driver)
        runs = known.runs
        if runs is None:
            silent = time.time() - max(datetime.fromisoformat(last[0]["at"]).timestamp(), self.last_commit())
            runs = silent <= max(LEASE, ROUNDS * self.last_round())
        return str(known) if runs else ""

    def last_commit(self) -> float:
        """When a round was last written, in seconds of the epoch; 0: never."""
        table = self.table("figures")
        if table is None:
            return 0.0
        with self.reading("figures"):
            return float(table.history(1)[0]["timestamp"]) / 1000

    def last_round(self) -> float:
        """How long the last round took, in seconds."""
        rows = self.read("figures", ["count"], f"kind = '{ROUND}' AND round = {self.rounds() - 1}")
        return float(sum(rows["count"].to_pylist())) / 1000

    def stop_asked(self) -> bool:
        """Whether a user asked the last driver to end. Raises BadInput if that is another process by now."""
        events = self.events()
        if not self.drives(events):
            raise self.overtaken(self.driver(events))
        return any(event["kind"] == STOP for event in events[self.turn :])

    # ---- Rounds

    def rounds(self) -> int:
        """How many rounds are whole."""
        table = self.table("figures")
        last = table.transaction_version(APP) if table else None
        return 0 if last is None else last + 1

    def commit(self, first: int, number: int, tables: Mapping[str, pa.Table]) -> None:
        """Write what rounds came to, from the first that is not whole yet. With the last of these commits they are.

        Raises BadInput if another process drives the campaign by now.
        """
        events = self.events()
        if self.rounds() != first or not self.drives(events):
            raise self.overtaken(self.driver(events))
        for name in ("states", "findings", "figures"):
            self.write(name, tables[name], number, f"round >= {first}")
        if number % TIDY == TIDY - 1:
            self.tidy()

    def tidy(self) -> None:
        """Put small files together, and delete those that were put together long ago."""
        from deltalake.exceptions import DeltaError

        with suppress(DeltaError, OSError):  # it is done again after so many rounds
            for table in self.opened.values():
                table.optimize.compact(target_size=WHOLE)
                table.vacuum(KEPT, dry_run=False, enforce_retention_duration=False)

    def figures(self) -> pa.Table:
        """The figures of each round."""
        return self.read("figures")

    def sums(self, rounds: int) -> pa.Table:
        """The sums of the first ``rounds`` rounds: the columns of ``figures`` without the rounds."""
        import pyarrow as pa
        from deltalake import QueryBuilder

        columns = arrow_schema(TABLES["figures"]).remove(0)
        table = self.table("figures")
        if table is None:
            return columns.empty_table()
        keys = ", ".join(KEYS)
        query = f"SELECT {keys}, SUM(count) AS count FROM figures WHERE round < {rounds} GROUP BY {keys}"
        return pa.table(QueryBuilder().register("figures", table).execute(query)).cast(columns)

    def whole(self, name: str, columns: Sequence[str] | None = None, rounds: int | None = None) -> pa.Table:
        """The rows of the first ``rounds`` rounds; by default, of all complete ones."""
        return self.read(name, columns, f"round < {self.rounds() if rounds is None else rounds}")

    def findings(self, rounds: int | None = None) -> pa.Table:
        """The findings of so many rounds, one row for all that are alike: how many, where first, how short; no text."""
        columns = names(TABLES["findings"])[:-1]
        rows = self.whole("findings", columns, rounds).sort_by([(name, "ascending") for name in (*SHAPE, *FIRST)])
        first = [(name, "first") for name in FIRST]
        found = rows.group_by(list(SHAPE), use_threads=False).aggregate([*first, ("count", "sum"), ("length", "min")])
        return found.rename_columns([*SHAPE, *FIRST, "count", "length"]).select(columns).cast(rows.schema)

    def texts(self, keys: Sequence[Key]) -> dict[Key, str]:
        """The shortest text of findings, as JSON."""
        rows = self.read("findings", [*SHAPE, "length", "round", "text"], f"round < {self.rounds()} AND text <> ''")
        order = [("length", "descending"), ("round", "descending")]
        found = {tuple(row[name] for name in SHAPE): row["text"] for row in rows.sort_by(order).to_pylist()}
        return {key: found[key] for key in keys if key in found}


class Overtaken(BadInput):
    """Another process has written to a campaign since this one last looked."""


NOISE = re.compile(r"\x1b\[\d+m|↳|\n +0: .*", re.DOTALL)
"""Colours, arrows and addresses of code in the errors of the package `deltalake`."""


def line(error: BaseException) -> str:
    """An error in a line: what failed, and why, without further causes."""
    said = re.search("<Message>(.*?)</Message>", str(error))
    text = said[1] if said else NOISE.sub("", str(error))
    causes = ": ".join(text.split("\n")).split(": ")
    return " ".join(": ".join([cause.strip() for cause in causes if cause.strip()][-2:]).split())
