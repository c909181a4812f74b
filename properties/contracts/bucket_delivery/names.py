"""What operations name by numbers: calls by their places among those that wait, snapshots by the order of their making.

Both change with what is left out before. A call is known again by its kind and its range of ledgers, a snapshot by its
range; where no range is the same, by the nearest one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from msgspec import structs

from broker_tck.model.bucket_delivery.specification import BucketDelivery
from broker_tck.model.bucket_delivery.stored import Range
from broker_tck.properties.contracts.bucket_delivery.operations import (
    Complete,
    Conflict,
    Fail,
    Snapshot,
    Spoil,
    Stored,
    Vanish,
)
from broker_tck.properties.engine.operation import Operation

NO_LEDGERS = (0, 0)


class Thing(NamedTuple):
    """A call, or a snapshot."""

    kind: str
    ledgers: Range


NOTHING = Thing("", NO_LEDGERS)


class Names:
    """What numbers mean in the state of a model."""

    def __init__(self, model: BucketDelivery) -> None:
        self.durable = model.durable
        self.ranges: dict[int, Range] = {}
        """The ledgers of each snapshot that was made."""

    def done(self) -> None:
        """An operation was done: look for what it has made."""
        for number in range(len(self.ranges) + 1, self.durable.made + 1):
            stored = self.durable.snapshots.get(number)
            held = [ledger for about in stored.about for ledger, _ in about.positions] if stored else []
            self.ranges[number] = (min(held), max(held)) if held else NO_LEDGERS

    def meant(self, operation: Operation) -> Thing | None:
        """What an operation names by a number; None: it does not name anything so."""
        if isinstance(operation, Complete | Fail | Conflict | Stored):
            calls = self.calls()
            return calls[operation.call % len(calls)] if calls else NOTHING
        if isinstance(operation, Snapshot | Spoil | Vanish):
            return Thing("snapshot", self.ranges[operation.number]) if operation.number in self.ranges else NOTHING
        return None

    def named(self, operation: Operation, thing: Thing) -> Operation | None:
        """The operation with the number that names a thing now; None: there is no such thing."""
        if isinstance(operation, Snapshot | Spoil | Vanish):
            number = nearest(thing, ((n, Thing("snapshot", ledgers)) for n, ledgers in self.ranges.items()))
            return None if number is None else structs.replace(operation, number=number)
        place = nearest(thing, enumerate(self.calls()))
        return None if place is None else structs.replace(operation, call=place)

    def calls(self) -> list[Thing]:
        """The calls that wait."""
        return [self.call(call.label) for call in self.durable.calls.waiting]

    def call(self, label: str) -> Thing:
        """A call by its label: that of a snapshot, or of a range."""
        kind, _, rest = label.partition(":")
        if kind in ("load", "delete"):
            number, _, segments = rest.partition(":")
            ledgers = self.ranges.get(int(number), NO_LEDGERS) if number.isdecimal() else NO_LEDGERS
            return Thing("describe" if kind == "load" and not segments else kind, ledgers)
        first, last = rest.partition(":")[0].partition("=")[0].split("-")
        return Thing(kind, (int(first), int(last)))


def nearest(thing: Thing, others: Iterable[tuple[int, Thing]]) -> int | None:
    """The number of the thing of the same kind whose range is nearest, the first of these."""
    alike = [(i, other.ledgers) for i, other in others if other.kind == thing.kind]
    (first, last) = thing.ledgers
    return min(alike, key=lambda each: abs(each[1][0] - first) + abs(each[1][1] - last))[0] if alike else None
