"""Short runs of operations that chance seldom strings together: what is under way when something else happens."""

from __future__ import annotations

from collections.abc import Iterator

from broker_tck.model.bucket_delivery.specification import BucketDelivery
from broker_tck.properties.contracts.bucket_delivery.floods import Floods
from broker_tck.properties.contracts.bucket_delivery.messages import Messages, until_next
from broker_tck.properties.contracts.bucket_delivery.moves import Moves
from broker_tck.properties.contracts.bucket_delivery.operations import (
    Advance,
    Capabilities,
    Clear,
    Complete,
    Conflict,
    Crash,
    Fail,
    Get,
    Mark,
    Reopen,
)
from broker_tck.properties.engine import plots
from broker_tck.properties.engine.choices import Choices, one_of, weighted
from broker_tck.properties.engine.operation import Operation


class Plots(plots.Plots):
    """The plots of a tracker, its storage and its cursor."""

    def __init__(self, model: BucketDelivery, choices: Choices, messages: Messages, capabilities: Capabilities) -> None:
        super().__init__()
        self.model = model
        self.choices = choices
        self.messages = messages
        self.moves = moves = Moves(model, choices, messages)
        floods = Floods(moves, capabilities.calls_under_way)
        self.floods = weighted([(floods.all_at_once, 5), (floods.one_ledger, 1)])

    def begin(self) -> Operation:
        """Begin a plot; if it has nothing to do, a message is added."""
        chosen = self.failure, self.late_load, self.moves.many, self.moves.lives
        return self.play(one_of(self.choices, chosen), self.messages.add)

    def flood(self) -> Operation:
        """Begin a plot of many messages at once."""
        return self.play(one_of(self.choices, self.floods), self.messages.add)

    # ---- Calls

    def failure(self) -> Iterator[Operation]:
        """A call fails for good."""
        waiting = self.model.durable.calls.waiting
        if waiting:
            call = one_of(self.choices, waiting)
            yield from self.moves.until_it_gives_up(call.label, Conflict if call.updates_key else Fail)

    def late_load(self) -> Iterator[Operation]:
        """A load is under way while something else happens; then it ends, well or not."""
        tracker = self.model.tracker
        if tracker is None or not tracker.held.count():
            return
        yield Advance(until_next(self.model))
        yield Get(100)
        load = next((call.label for call in self.model.durable.calls.waiting if call.reads), None)
        if load is None:
            return
        yield from self.meanwhile(load)
        if self.choices.below(3) == 0:
            yield from self.moves.all_but(load)
        if self.choices.below(3) == 0:
            yield from self.moves.until_it_gives_up(load)
        elif (place := self.moves.place_of(load)) is not None:
            yield Complete(place)
        yield Get(100)

    def meanwhile(self, load: str) -> Iterator[Operation]:
        """What may happen while a load is under way."""
        kind = self.choices.below(6)
        if kind == 0:
            yield Clear()
        elif kind == 1:
            yield from self.moves.many()
        elif kind == 2:
            yield Mark(*self.messages.position())
            yield from self.moves.many()
        elif kind == 3:
            yield self.messages.again()
        elif kind == 4:
            self.messages.rewind()
            yield one_of(self.choices, (Crash(), Reopen()))
        elif kind == 5:
            yield self.messages.add()
