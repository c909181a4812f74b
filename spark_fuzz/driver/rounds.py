"""Rounds: an executor runs the shards of a round, and their rows are merged with the results of earlier rounds.

While a round is merged, the shards of the next ones run, so no core waits for the slowest shard. An executor runs
shards in the order in which they began.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import count
from time import perf_counter
from typing import TYPE_CHECKING, Any

from broker_tck.properties.errors import BadInput, Failed
from broker_tck.spark_fuzz.driver.known import Known
from broker_tck.spark_fuzz.executors import Executor
from broker_tck.spark_fuzz.store.reduce import reduced
from broker_tck.spark_fuzz.store.rows import MACHINE, REFUSED, ROWS, UNFINISHED, UNFIT, arrow_schema
from broker_tck.spark_fuzz.store.tables import Store
from broker_tck.spark_fuzz.worker.shard import share_of

if TYPE_CHECKING:
    import pyarrow as pa

AHEAD = 2
"""Maximum number of rounds that run while one is merged."""
TRIES = 3
"""Number of times that an unfinished shard is tried. Another executor may be able to run it."""
Another = Callable[[int], bool]
"""Whether a round, given by its number, must be made."""


class Rounds:
    """Makes the rounds of one campaign."""

    def __init__(self, executor: Executor, store: Store, say: Callable[[str], None]) -> None:
        self.executor = executor
        self.store = store
        self.manifest = store.manifest
        self.known = Known(store.whole("states"), store.findings())
        self.say = say
        self.told: set[str] = set()
        """The reasons for excluded executors and unfinished shards that were printed already."""

    def made(self, first: int, another: Another, ahead: int = AHEAD) -> Iterator[pa.Table]:
        """Make rounds as long as there must be another; yields the figures of each as soon as it is whole.

        So many others may have begun by then; 0: whether there is another is known only when a round is whole.
        """
        begun: deque[Future[tuple[pa.Table, float]]] = deque()
        threads = ThreadPoolExecutor(AHEAD)

        def begin(number: int, most: int) -> None:
            """Begin rounds from this one on, up to the maximum number of running rounds."""
            while len(begun) < most and another(number + len(begun)):
                begun.append(threads.submit(self.answered, number + len(begun)))

        before = perf_counter()
        try:
            for number in count(first):
                begin(number, max(1, ahead))
                if not begun:
                    return
                rows, ended = begun.popleft().result()
                begin(number + 1, ahead)
                ended = max(before, ended)  # its last shard may have ended before the last of the round before
                tables = self.known.merged(number, rows, ended - before)
                self.store.commit(number, number, tables)
                yield tables["figures"]
                before = ended
        finally:
            threads.shutdown(wait=False, cancel_futures=True)  # what they do ends with the executor

    def answered(self, number: int) -> tuple[pa.Table, float]:
        """The reduced rows of a round, and the time of its last shard. Raises BadInput if no executor can run it."""
        import pyarrow as pa

        left, kept, troubles, tries = [*range(self.manifest.shards)], [], list[dict[str, Any]](), 0
        refusals: set[str] = set()
        while left and tries < TRIES:
            rows, troubles = parted(self.executor.run(self.manifest, number, left))
            kept.append(rows)
            left = sorted(row["shard"] for row in troubles)
            if unfit := reasons(troubles, UNFIT):  # no executor can make the subject
                raise BadInput(f"{self.store.where}: {min(unfit)}")
            new = reasons(troubles, REFUSED) - refusals
            refusals |= new
            # An executor that refuses for the first time is left out from now on: its shards were not tried.
            tries += not (new and any(map(len, kept)))
        if not any(map(len, kept)) and refusals:
            raise BadInput(
                f"{self.store.where}: {min(refusals)}; `fuzz resume` with --ship sends the packages that it needs"
            )
        self.tell("executor excluded", refusals)
        self.tell("shard not finished", reasons(troubles, REFUSED, UNFINISHED))
        unfinished = [self.unfinished(number, row) for row in troubles]
        found = reduced(pa.concat_tables([*kept, pa.Table.from_pylist(unfinished, arrow_schema(ROWS))]))
        self.check(number, found)
        return found, perf_counter()

    def tell(self, what: str, whys: set[str]) -> None:
        """Print each reason once."""
        new, self.told = sorted(whys - self.told), self.told | whys
        for text in new:
            self.say(f"{what}: {text}")

    def unfinished(self, number: int, row: dict[str, Any]) -> dict[str, Any]:
        """The row of a shard that was given up."""
        share = share_of(self.manifest, number, row["shard"])
        return {**row, "kind": UNFINISHED, "key": f"round {number}, {row['key']}, {share}"}

    def check(self, number: int, rows: pa.Table) -> None:
        """Raise Failed if an executor lost shards, or ran one twice."""
        import pyarrow as pa
        import pyarrow.compute as pc

        few = rows.filter(pc.is_in(rows["kind"], pa.array([MACHINE, UNFINISHED]))).to_pylist()
        told = sum(row["count"] for row in few if row["kind"] == UNFINISHED or row["name"] == "shards")
        if told != self.manifest.shards:
            raise Failed(f"round {number}: {told} shards gave an answer, not {self.manifest.shards}")


def parted(batches: Iterable[pa.RecordBatch]) -> tuple[pa.Table, list[dict[str, Any]]]:
    """The rows of shards, and those that say why a shard was not walked."""
    import pyarrow as pa
    import pyarrow.compute as pc

    rows = pa.Table.from_batches(batches, arrow_schema(ROWS))
    trouble = pc.is_in(rows["kind"], pa.array([REFUSED, UNFIT, UNFINISHED]))
    return rows.filter(pc.invert(trouble)), rows.filter(trouble).to_pylist()


def reasons(troubles: list[dict[str, Any]], *kinds: str) -> set[str]:
    """Why shards were not walked, as far as that is of these kinds."""
    return {row["name"] for row in troubles if row["kind"] in kinds}
