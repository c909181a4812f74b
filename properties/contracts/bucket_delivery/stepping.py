"""How calls of threads take effect: the dispatcher's calls, time that passes, and the ends of calls to the storage.

A tracker holds its monitor in each call of the dispatcher's, which takes effect at one moment. The end of a call to
storage or cursor takes effect in steps: those who waited for it go on one by one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from msgspec import structs

from broker_tck.model.bucket_delivery.specification import BucketDelivery
from broker_tck.model.bucket_delivery.stored import Promise, putting_off
from broker_tck.model.bucket_delivery.tracker import Tracker
from broker_tck.model.reference import Fault
from broker_tck.properties.engine.check import disallowed, failed
from broker_tck.properties.engine.concurrent import Word
from broker_tck.properties.engine.operation import Operation
from broker_tck.properties.engine.passing_time import ExpiringTime


class Shared:
    """What all calls under way on one model share."""

    def __init__(self) -> None:
        self.calls: dict[int, Any] = {}
        """The calls under way, by their threads."""
        self.left: list[Callable[[], None]] = []
        """Who waited for something that has ended, and is yet to go on."""


def shared(model: BucketDelivery) -> Shared:
    """What all calls on a model share; the model has it, so that it is part of its state."""
    found: Shared = vars(model).setdefault("shared", Shared())
    return found


class TimePasses(ExpiringTime):
    """Time passes, in milliseconds."""

    def __init__(self, model: BucketDelivery, operation: Operation, thread: int) -> None:
        super().__init__(model, operation.ms)  # type: ignore[attr-defined]  # it is an Advance
        self.thread = thread
        shared(model).calls[thread] = self

    def ends(self, result: Any) -> bool:
        """Whether all has fired on the way."""
        ends = super().ends(result)
        if ends:
            del shared(self.model).calls[self.thread]
        return ends

    def now(self) -> int:
        """The time."""
        return int(self.model.now)

    def move_to(self, time: int) -> None:
        """Move the clock."""
        self.model.now = self.timer.now = time

    @property
    def timer(self) -> Any:
        """The timer of the tracker. If there is no tracker, as a recovery has failed, it is one that nobody arms."""
        tracker = self.model.tracker
        return tracker.timer if tracker else self.model.Tracker.Timer(self.model.now)


class Stepping(ABC):
    """A call that acts at one moment. Who waits for what ends by it goes on one by one, before it ends or later.

    Later is until another call ends that is under way: who made the call that has ended may be about to wait for it.
    """

    def __init__(self, model: BucketDelivery, operation: Operation, thread: int) -> None:
        self.model, self.operation, self.thread = model, operation, thread
        self.acted = False
        self.result: Any = None
        self.shared = shared(model)
        self.shared.calls[thread] = self

    @abstractmethod
    def acts(self) -> Sequence[Word]:
        """What it may do at its moment."""

    @abstractmethod
    def act(self, word: Word) -> None:
        """Do that."""

    def words(self) -> Sequence[Word]:
        """It acts, or somebody goes on."""
        return [*self.acts(), *(("goes on", i) for i in range(len(self.shared.left)))]

    def step(self, word: Word) -> None:
        """Do that."""
        if word[0] == "goes on":
            with putting_off(self.shared.left):
                self.shared.left.pop(word[1])()
        else:
            self.act(word)
            self.acted = True

    def ends(self, result: Any) -> bool:
        """Whether it has acted and answers this; the last of all calls under way leaves nobody who is to go on."""
        others = [call for call in self.shared.calls.values() if isinstance(call, Stepping) and call is not self]
        ends = self.acted and disallowed(self.result, result) is None and not (self.shared.left and not others)
        if ends:
            del self.shared.calls[self.thread]
        return ends


class Dispatched(Stepping):
    """A call of the dispatcher's. A get takes effect once more if a load that it has begun ends before it does."""

    load: Promise | None = None
    """The load that it has begun."""

    def acts(self) -> Sequence[Word]:
        """It takes effect."""
        return [("takes effect",)] if not self.acted or (self.load and self.load.settled and self.load.outcome) else []

    def act(self, _: Word) -> None:
        """Note the result. Who waits for what ends by it goes on at once, as the tracker's monitor is held."""
        before = loading(self.model)
        if self.acted:
            most = self.operation.most  # type: ignore[attr-defined]  # only a Get acts again
            self.result = sorted([*self.result, *(self.model.get(most - len(self.result)) or [])])
        else:
            self.result = result_of(self.operation, self.model)
        after = loading(self.model)
        self.load = None if after is before else after

    def says(self) -> str:
        """What it answered."""
        return f"{self.result}" if self.acted else ""


def loading(model: BucketDelivery) -> Promise | None:
    """The load that the tracker, if there is one, has begun last."""
    return model.tracker.loading.load if model.tracker else None


def result_of(operation: Operation, model: BucketDelivery) -> Any:
    """What an operation comes to."""
    try:
        return operation.on(model)
    except Fault as fault:
        return failed(fault)


class Ending(Stepping):
    """The end of a call to storage or cursor."""

    def acts(self) -> Sequence[Word]:
        """It ends one of the calls that wait, whichever stands there."""
        return [] if self.acted else [("ends", i) for i in range(max(1, len(self.model.durable.calls.waiting)))]

    def act(self, word: Word) -> None:
        """Note which by its label."""
        with putting_off(self.shared.left):
            self.result = structs.replace(self.operation, call=word[1]).on(self.model)

    def says(self) -> str:
        """What it has ended, or may end."""
        if self.acted:
            return str(self.result)
        return " or ".join(call.label for call in self.model.durable.calls.waiting) or "nothing"


class Reopening(Stepping):
    """The tracker is closed; then somebody looks whether that has ended; then another tracker recovers."""

    closed: Tracker | None = None

    def __init__(self, model: BucketDelivery, operation: Operation, thread: int) -> None:
        super().__init__(model, operation, thread)
        self.to_do = ["closes", "looks", "recovers"]

    def acts(self) -> Sequence[Word]:
        """The next of these."""
        return [(word,) for word in self.to_do[:1]]

    def act(self, word: Word) -> None:
        """Note whether the close has ended, or why the recovery has failed."""
        self.to_do.remove(word[0])
        if word[0] == "closes":
            self.closed = self.model.tracker
            with putting_off(self.shared.left):
                self.model.close()
        elif word[0] == "looks":
            self.result = self.closed is None or self.closed.has_closed()
        else:
            try:
                self.model.recover(0, 0)
            except Fault as fault:
                self.result = failed(fault)

    def ends(self, result: Any) -> bool:
        """Whether another tracker has recovered, and the close had ended by then if this says so."""
        return not self.to_do and super().ends(result)

    def says(self) -> str:
        """What it has noted."""
        return "" if self.to_do else f"{self.result}"
