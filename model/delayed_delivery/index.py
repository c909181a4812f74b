"""The index of a tracker: copies of positions in buckets, which are taken in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import groupby, islice
from operator import itemgetter
from typing import ClassVar

from broker_tck.model.reference import Fault
from broker_tck.model.rules import Part, also, rule
from broker_tck.model.said import said

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

    @said(
        absent="Your tracker keeps a bucket that is empty; it has to go with its last message.",
    )
    @rule(
        "DD-01",
        "Nothing empty is kept: a bucket goes with its last message.",
        source="InMemoryDelayedDeliveryTracker",
        look="the bucket or ledger left behind by the call that took its last message",
        absent=lambda i, bucket: True,
    )
    def stays(self, bucket: set[Copy]) -> bool:
        return bool(bucket)

    @said(
        of_positions="Your tracker counts positions; a position in two buckets is two copies, and counts twice.",
        of_buckets="Your tracker counts buckets; it has to count the messages in them.",
        absent="The number of delayed messages of your tracker is always 0; it has to count what is held.",
    )
    @rule(
        "DD-28",
        "The number of delayed messages is the number of copies held.",
        source="InMemoryDelayedDeliveryTracker, PRs 24429, 24430, 25681",
        look="a counter kept beside the index: who adds to it, who takes from it",
        absent=lambda i: 0,
        of_positions=lambda i: len({c for bucket in i.held.values() for c in bucket}),
        of_buckets=lambda i: len(i.held),
    )
    def count(self) -> int:
        return self.number + self.counted_in_vain

    def first(self) -> int:
        """The smallest key. Fault where nothing is held, as who counts in vain finds out."""
        if not self.held:
            raise Fault("NoSuchElementException")
        if self.lowest not in self.held:
            self.lowest = min(self.held)
        return self.lowest

    # ---- Adding

    @said(
        entries_signed="Your tracker takes large entry ids for negative ones; they have to stay as they are.",
        ledgers_of_32_bits="Your tracker keeps 32 bits of a ledger id; it has 64.",
        entries_of_31_bits="Your tracker keeps 31 bits of an entry id; it has to keep all that it declares.",
        ledgers_unsigned="Your tracker hands out a negative ledger id as a large one; it has to stay as it is.",
        absent="Your tracker keeps 16 bits of an entry id; it has to keep all that it declares.",
    )
    @rule(
        "DD-13",
        "Ledger ids are any signed 64-bit number; entry ids up to the subject's declared width are kept as they are.",
        source="InMemoryDelayedDeliveryTracker, PR 25681",
        look="ids of more than 16 or 31 bits",
        needs="entry_id_bits",
        absent=lambda i, ledger, entry: (ledger, entry & 0xFFFF),
        entries_signed=lambda i, ledger, entry: (ledger, entry - 2**32 if 2**31 <= entry < 2**32 else entry),
        entries_of_31_bits=lambda i, ledger, entry: (ledger, entry & 0x7FFFFFFF),
        ledgers_of_32_bits=lambda i, ledger, entry: (ledger & 0xFFFFFFFF, entry),
        ledgers_unsigned=lambda i, ledger, entry: (ledger & (2**64 - 1), entry),
    )
    def stored(self, ledger: int, entry: int) -> Position:
        return ledger, entry

    @said(
        absent="Your tracker keeps a message twice that is added twice; it stays one copy.",
    )
    @rule(
        "DD-11",
        "A position that is already in its bucket stays one copy; the answer is still yes.",
        source="InMemoryDelayedDeliveryTracker, PR 25681, issue 25617",
        look="a counter raised by an add that changed nothing",
        when=lambda i, position, key: i.holds(position, key),
        absent=lambda i, position, key: i.adds,
    )
    def serial(self, position: Position, key: int) -> int:
        return 0

    @said(
        absent="Your tracker counts a message again that is added again; it stays one copy.",
    )
    @also(serial, when=lambda i: True, absent=lambda i: True)
    def counts_again(self) -> bool:
        return False

    def holds(self, position: Position, key: int) -> bool:
        """Whether the position is in its bucket."""
        return (*position, 0) in self.held.get(key, ())

    def elsewhere(self, position: Position, key: int) -> list[int]:
        """The other buckets that hold the position."""
        return [k for k, bucket in self.held.items() if k != key and any(c[:2] == position for c in bucket)]

    @rule(
        "DD-12",
        "The same position in another bucket is another copy; the earlier one is neither moved nor cancelled.",
        source="InMemoryDelayedDeliveryTracker",
        look="a map from position to bucket, where there should be none",
        when=lambda i, position, key: i.elsewhere(position, key),
    )
    def insert(self, position: Position, key: int) -> bool:
        """Hold a copy; answers whether it was absent."""
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

    @said(
        absent="Your tracker takes all that is due, however little it is asked for.",
        one_too_many="Your tracker takes one message more than it is asked for.",
        one_short="Your tracker takes one message less than it is asked for, although more are due.",
        one_bucket_only="Your tracker takes messages from one bucket alone; it has to go on to the next that is due.",
        one_ledger_only="Your tracker takes messages from one ledger alone; it has to go on to the next.",
        ledgers_descending="Your tracker takes ledgers in the wrong order; the lowest comes first.",
        entries_descending="Your tracker takes entries in the wrong order; the lowest comes first.",
        entries_before_ledgers="Your tracker takes by entry first; the order is bucket, ledger, entry.",
        budget_counts_positions="Your tracker counts positions where it is asked for so many copies.",
        by_position_alone=(
            "Your tracker takes messages by ledger and entry over all due buckets; it has to take from the first "
            "bucket first."
        ),
        last_bucket_first="Your tracker takes from the last due bucket first; it has to begin with the first one.",
        budget_for_each_bucket=(
            "Your tracker takes as many messages as it is asked for from each due bucket; that is the number for all "
            "of them."
        ),
    )
    @rule(
        "DD-20",
        "At most so many copies are taken from the due buckets, in the order of bucket, ledger, entry; they are handed "
        "out in the order of their positions, each once.",
        source="InMemoryDelayedDeliveryTracker, PRs 24035, 7731",
        look="the order of ledgers inside a bucket; a budget that ends inside a ledger; the budget counts copies",
        absent=lambda i, due, most: i.copies(due),
        one_bucket_only=lambda i, due, most: [c for c in i.copies(due) if c[0] == due[0]][: max(most, 0)],
        one_ledger_only=lambda i, due, most: i.of_first_ledger(i.copies(due))[: max(most, 0)],
        one_too_many=lambda i, due, most: i.copies(due)[: most + 1],
        one_short=lambda i, due, most: i.copies(due)[: max(most - 1, 0)],
        ledgers_descending=lambda i, due, most: i.copies(due, lambda c: (-c[0], c[1]))[: max(most, 0)],
        entries_descending=lambda i, due, most: i.copies(due, lambda c: (c[0], -c[1]))[: max(most, 0)],
        entries_before_ledgers=lambda i, due, most: i.copies(due, lambda c: (c[1], c[0]))[: max(most, 0)],
        by_position_alone=lambda i, due, most: sorted(i.copies(due), key=lambda c: c[1])[: max(most, 0)],
        last_bucket_first=lambda i, due, most: sorted(i.copies(due), key=lambda c: -c[0])[: max(most, 0)],
        budget_counts_positions=lambda i, due, most: i.worth(most, i.copies(due)),
        budget_for_each_bucket=lambda i, due, most: i.of_each_bucket(most, i.copies(due)),
    )
    def taken(self, due: list[int], most: int) -> list[tuple[int, Copy]]:
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

    @said(
        in_order_of_time=(
            "Your tracker hands messages out in the order of their times; they come in the order of their positions."
        ),
        repeated="Your tracker hands the same position out twice; each comes once.",
        descending="Your tracker hands messages out in descending order; the lowest position comes first.",
        absent=(
            "Your tracker hands messages out in the order in which it takes them, and repeats some; they come by "
            "position, each once."
        ),
    )
    @also(
        taken,
        absent=lambda i, taken: [copy[:2] for _, copy in taken],
        in_order_of_time=lambda i, taken: list(dict.fromkeys(copy[:2] for _, copy in taken)),
        repeated=lambda i, taken: sorted(copy[:2] for _, copy in taken),
        descending=lambda i, taken: sorted({copy[:2] for _, copy in taken}, reverse=True),
    )
    def handed_out(self, taken: list[tuple[int, Copy]]) -> list[Position]:
        return sorted({copy[:2] for _, copy in taken})

    @said(
        absent="Your tracker keeps what it has handed out; that has to leave the index.",
        whole_ledgers="Your tracker loses messages: a get removes all of a ledger where it hands out a part.",
        whole_buckets="Your tracker loses messages: a get removes all of a bucket where it hands out a part.",
        all_copies_of_a_position=(
            "A get removes all copies of a message from your tracker; those in buckets that it did not take from "
            "have to stay."
        ),
        all_but_the_last=(
            "A get of more than two messages leaves the last one in your tracker; all that is handed out has to leave."
        ),
    )
    @rule(
        "DD-35",
        "What leaves the index is what is handed out: nothing is lost, nothing stays.",
        source="InMemoryDelayedDeliveryTracker",
        look="what is deleted where the budget ends inside a bucket or a ledger",
        absent=lambda i, taken: [],
        whole_ledgers=lambda i, taken: i.copies_like(taken, lambda key, copy: (key, copy[0])),
        whole_buckets=lambda i, taken: i.copies_like(taken, lambda key, copy: key),
        all_copies_of_a_position=lambda i, taken: i.copies_like(taken, lambda key, copy: copy[:2]),
        all_but_the_last=lambda i, taken: taken[:-1] if len(taken) > 2 else taken,
    )
    def removed(self, taken: list[tuple[int, Copy]]) -> list[tuple[int, Copy]]:
        return taken

    def copies_like(self, taken: list[tuple[int, Copy]], kind: Callable[[int, Copy], object]) -> list[tuple[int, Copy]]:
        """Every copy held that is of one kind with one of those taken."""
        kinds = {kind(key, copy) for key, copy in taken}
        return [(key, copy) for key, bucket in self.held.items() for copy in bucket if kind(key, copy) in kinds]

    def let_go(self, taken: list[tuple[int, Copy]]) -> None:
        """Let go of what is taken."""
        self.drop(self.removed(taken))

    @said(
        absent="A clear leaves the messages in your tracker; it has to empty the index.",
        the_first_bucket_only=(
            "A clear empties only the first bucket of your tracker; it has to empty the whole index."
        ),
    )
    @rule(
        "DD-30",
        "Clear empties the index and leaves the timer alone.",
        source="InMemoryDelayedDeliveryTracker, issue 8689, PR 14740",
        look="copies, counters or memory that survive; a timeout cancelled or armed by it",
        absent=lambda i: i.held,
        the_first_bucket_only=lambda i: {key: bucket for key, bucket in i.held.items() if key > min(i.held)},
    )
    def after_clear(self) -> dict[int, set[Copy]]:
        return {}

    def clear(self) -> None:
        """Let go of everything."""
        self.hold(self.after_clear())
        self.counted_in_vain = 0
