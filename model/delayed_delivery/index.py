"""The index of a tracker: copies of positions in buckets, which are taken in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import groupby, islice
from operator import itemgetter
from typing import ClassVar

from broker_tck.model.reference import Fault
from broker_tck.model.rules import Part, rule

Position = tuple[int, int]
Copy = tuple[int, int, int]
"""Ledger id, entry id, and a serial number that is 0 wherever equal positions are one copy."""


class Index(Part):
    """Buckets by key, each a set of copies. Which of them are due, it is told."""

    BUCKET: ClassVar[type[set[Copy]]] = set

    def __init__(self) -> None:
        self.counted_in_vain = 0
        self.adds = 0
        self.hold({})

    # ---- What is held

    def hold(self, held: dict[int, set[Copy]]) -> None:
        """Hold these buckets, and nothing else."""
        self.held = held
        self.number = sum(map(len, held.values()))
        self.lowest = min(held, default=0)
        """No key is below it; if it is no key itself, its bucket has gone."""

    @rule("DD-01", source="InMemoryDelayedDeliveryTracker")
    def stays(self, bucket: set[Copy]) -> bool:
        """Nothing empty is kept: a bucket goes with its last message."""
        return bool(bucket)

    @rule("DD-28", source="InMemoryDelayedDeliveryTracker, PRs 24429, 24430, 25681")
    def count(self) -> int:
        """The number of delayed messages is the number of copies held."""
        return self.number + self.counted_in_vain

    def first(self) -> int:
        """The smallest key. Fault where nothing is held, as who counts in vain finds out."""
        if not self.held:
            raise Fault("NoSuchElementException")
        if self.lowest not in self.held:
            self.lowest = min(self.held)
        return self.lowest

    # ---- Adding

    @rule("DD-13", source="InMemoryDelayedDeliveryTracker, PR 25681", needs="entry_id_bits")
    def stored(self, ledger: int, entry: int) -> Position:
        """Ledger ids are any signed 64-bit number; entry ids up to the subject's declared width are kept as they are."""
        return ledger, entry

    @rule(
        "DD-11",
        source="InMemoryDelayedDeliveryTracker, PR 25681, issue 25617",
        when=lambda i, position, key: i.holds(position, key),
    )
    def serial(self, position: Position, key: int) -> int:
        """A position that is already in its bucket stays one copy; the answer is still yes."""
        return 0

    @rule("DD-11", when=lambda i: True)
    def counts_again(self) -> bool:
        return False

    def holds(self, position: Position, key: int) -> bool:
        """Whether the position is in its bucket."""
        return (*position, 0) in self.held.get(key, ())

    def elsewhere(self, position: Position, key: int) -> list[int]:
        """The other buckets that hold the position."""
        return [k for k, bucket in self.held.items() if k != key and any(c[:2] == position for c in bucket)]

    @rule("DD-12", source="InMemoryDelayedDeliveryTracker", when=lambda i, position, key: i.elsewhere(position, key))
    def insert(self, position: Position, key: int) -> bool:
        """The same position in another bucket is another copy; the earlier one is neither moved nor cancelled."""
        if key not in self.held:
            self.held[key] = self.BUCKET()
            self.lowest = min(self.lowest, key)
        bucket = self.held[key]
        before = len(bucket)
        self.adds += 1
        ledger, entry = position
        bucket.add((ledger, entry, self.serial(position, key)))
        if len(bucket) > before:
            self.number += 1
            return True
        self.counted_in_vain += self.counts_again()
        return False

    def drop(self, copies: Iterable[tuple[int, Copy]]) -> None:
        """Let go of copies, each with the key of its bucket."""
        for key, placed in groupby(copies, key=itemgetter(0)):
            bucket = self.held[key]
            self.number -= len(bucket)
            bucket.difference_update([copy for _, copy in placed])
            self.number += len(bucket)
            if not self.stays(bucket):
                del self.held[key]

    # ---- Taking

    @rule("DD-20", source="InMemoryDelayedDeliveryTracker, PRs 24035, 7731")
    def taken(self, due: list[int], most: int) -> list[tuple[int, Copy]]:
        """At most so many copies are taken from the due buckets, in the order of bucket, ledger, entry; they are handed
        out in the order of their positions, each once.
        """
        in_order = ((key, copy) for key in due for copy in sorted(self.held[key]))
        return [*islice(in_order, max(most, 0))]

    def copies(self, keys: list[int], order: Callable[[Copy], tuple[int, ...]] | None = None) -> list[tuple[int, Copy]]:
        """Every copy in some buckets, by bucket and then in the given order, else by ledger and entry."""
        return [(key, copy) for key in keys for copy in sorted(self.held[key], key=order)]

    @staticmethod
    def of_first_ledger(copies: list[tuple[int, Copy]]) -> list[tuple[int, Copy]]:
        """The copies that share bucket and ledger with the first."""
        return [c for c in copies if (c[0], c[1][0]) == (copies[0][0], copies[0][1][0])]

    @staticmethod
    def worth(most: int, copies: list[tuple[int, Copy]]) -> list[tuple[int, Copy]]:
        """The first copies, as many as it takes for so many positions."""
        first = {copy[:2]: n for n, (_, copy) in reversed([*enumerate(copies)])}
        beyond = sorted(first.values())[max(most, 0) :]
        return copies[: beyond[0]] if beyond else copies

    @staticmethod
    def of_each_bucket(most: int, copies: list[tuple[int, Copy]]) -> list[tuple[int, Copy]]:
        """So many copies of each bucket."""
        buckets = groupby(copies, key=lambda c: c[0])
        return [c for _, bucket in buckets for c in islice(bucket, max(most, 0))]

    @rule("DD-20")
    def handed_out(self, taken: list[tuple[int, Copy]]) -> list[Position]:
        return sorted({copy[:2] for _, copy in taken})

    @rule("DD-35", source="InMemoryDelayedDeliveryTracker")
    def removed(self, taken: list[tuple[int, Copy]]) -> list[tuple[int, Copy]]:
        """What leaves the index is what is handed out: nothing is lost, nothing stays."""
        return taken

    def copies_like(self, taken: list[tuple[int, Copy]], kind: Callable[[int, Copy], object]) -> list[tuple[int, Copy]]:
        """Every copy held that is of one kind with one of those taken."""
        kinds = {kind(key, copy) for key, copy in taken}
        return [(key, copy) for key, bucket in self.held.items() for copy in bucket if kind(key, copy) in kinds]

    def let_go(self, taken: list[tuple[int, Copy]]) -> None:
        """Let go of what is taken."""
        self.drop(self.removed(taken))

    @rule("DD-30", source="InMemoryDelayedDeliveryTracker, issue 8689, PR 14740")
    def after_clear(self) -> dict[int, set[Copy]]:
        """Clear empties the index and leaves the timer alone."""
        return {}

    def clear(self) -> None:
        """Let go of everything."""
        self.hold(self.after_clear())
        self.counted_in_vain = 0
