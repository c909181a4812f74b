"""Calls of a manager of caches, in steps: they insert, read, remove, and close and open a topic.

The manager's size lags behind its caches: each call takes off what it removed at its end, in one go. A call in steps
therefore counts in a step of its own, and whoever asks for the size gets what is counted at that moment.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, ClassVar, cast

from broker_tck.model.entry_cache.overlapping import Call, Calls, Did, Getting, Putting, Removing
from broker_tck.model.entry_cache.releases import RefusingManager
from broker_tck.model.entry_cache.specification import EntryCaches
from broker_tck.properties.contracts.entry_cache.operations import Put, SizeOfAll
from broker_tck.properties.engine.concurrent import Word

COUNTS = ("counts",)


class Managed(ABC):
    """A call under way. Its inner call is one of the model's, if it has begun one."""

    CHANGES_SIZES: ClassVar[bool] = True

    def __init__(self, model: EntryCaches, call: Any, thread: int) -> None:
        self.model, self.thread = model, thread
        self.inner: Call | None = None
        self.uncounted = 0
        """The bytes that it has removed, and the manager does not know of."""
        model.under_way[thread] = self  # type: ignore[assignment]  # a call of these models, of another kind
        self.begin(call)

    @abstractmethod
    def begin(self, call: Any) -> None:
        """The call begins."""

    def notice(self) -> None:
        """Another call has done something."""
        if self.inner:
            self.inner.notice()

    def allowed(self) -> list[Did]:
        """What its inner call may do."""
        return self.inner.choices() if self.inner and not self.inner.blocked() else []

    def choices(self) -> list[Did]:
        """The same, its end apart."""
        return [did for did in self.allowed() if did[0] != "ends"]

    def over(self) -> bool:
        """Whether its inner call may end."""
        return any(did[0] == "ends" for did in self.allowed())

    @abstractmethod
    def words(self) -> Sequence[Word]:
        """What its next step may do."""

    def step(self, word: Word) -> None:
        """Do that, and have all others notice."""
        self.do([*word])
        for other in self.model.under_way.values():
            other.notice()

    def do(self, did: Did) -> None:
        """What a step does."""
        assert self.inner
        self.inner.follow(did)

    @abstractmethod
    def may_end(self, result: Any) -> bool:
        """Whether it may end now with this result."""

    def ends(self, result: Any) -> bool:
        """Whether it may end now with this result; if so, it has ended."""
        allowed = self.may_end(result)
        if allowed:
            del self.model.under_way[self.thread]
        return allowed

    @abstractmethod
    def says(self) -> str:
        """What it may do now."""

    def state(self) -> Hashable:
        """How far it is, its inner call apart."""
        return self.uncounted


def size_of(model: EntryCaches) -> int:
    """The manager's size: what calls under way have not counted yet is still in it."""
    calls = cast(Mapping[int, Managed], model.under_way)
    return model.store.total + sum(call.uncounted for call in calls.values())


# ---- Calls on a cache


class OnCache(Managed):
    """A call on the cache that the topic has as the call begins, whoever closes it later."""

    def begin(self, call: Any) -> None:
        """Its inner call begins."""
        self.inner = call.on(Calls(self.model))

    def says(self) -> str:
        """What it may do now, in words."""
        return cast(Call, self.inner).says()


class Inserting(OnCache):
    """An insertion. Before 4.2 it asks first whether there is space; later ones order a pass at their end."""

    def begin(self, call: Put) -> None:
        """Its inner call begins."""
        super().begin(call)
        self.asks_first = isinstance(self.model.manager, RefusingManager)
        self.agenda = ["looks"] if self.asks_first else []
        """What it does about passes next."""
        self.has_space, self.counted = True, False

    def words(self) -> Sequence[Word]:
        """It looks at the size, orders a pass if one is due and none is ordered, and goes on as an insertion does."""
        if self.agenda:
            return [(*self.agenda[:1],)]
        if not self.has_space or self.counted:
            return []
        return [(*did,) for did in self.choices()] or ([COUNTS] if cast(Putting, self.inner).entry else [])

    def do(self, did: Did) -> None:
        """Do what a step does."""
        manager, size = self.model.manager, size_of(self.model)
        if did == ["looks"]:
            self.has_space = not isinstance(manager, RefusingManager) or manager.has_space(size)
            self.agenda = ["marks"] if manager.triggers(size) else []
        elif did == ["marks"]:
            self.agenda = [] if manager.pass_awaits else ["orders"]
            manager.pass_awaits = True
        elif did == ["orders"]:
            self.agenda = []
            manager.waiting += 1
        elif did == [*COUNTS]:
            self.count()
        else:
            super().do(did)

    def count(self) -> None:
        """The manager knows of the entry."""
        entry = cast(Putting, self.inner).entry
        assert entry
        self.model.store.count_in(entry)
        self.model.steps.putting.remove(entry)
        self.counted, self.agenda = True, [] if self.asks_first else ["looks"]

    def may_end(self, result: Any) -> bool:
        """Whether it may end now with this result."""
        if self.agenda or self.counted or not self.has_space:
            return not self.agenda and result is self.counted
        return result is False and bool(self.inner and self.inner.permits(["ends", False]))

    def says(self) -> str:
        """What it may do now, in words."""
        return super().says() if self.has_space else "a refusal, as there is no space"

    def state(self) -> Hashable:
        """How far it is, its inner call apart."""
        return self.has_space, self.counted, (*self.agenda,)


class Reading(OnCache):
    """A read of one entry."""

    def words(self) -> Sequence[Word]:
        """It marks its entry once."""
        return [] if cast(Getting, self.inner).marked else [(*did,) for did in self.choices()]

    def may_end(self, result: Any) -> bool:
        """Whether it may end now with this result."""
        return bool(self.inner and self.inner.permits(["ends", result]))


class Taking(OnCache):
    """A call that removes something of a cache, and counts it at its end."""

    def words(self) -> Sequence[Word]:
        """It removes an entry, or counts all that it has removed."""
        return [*((*did,) for did in self.choices()), *([COUNTS] if self.uncounted and self.over() else [])]

    def do(self, did: Did) -> None:
        """Do what a step does."""
        if did == [*COUNTS]:
            self.inner, self.uncounted = None, 0
            return
        super().do(did)
        self.uncounted = cast(Removing, self.inner).removed[1]

    def may_end(self, result: Any) -> bool:
        """Whether it may end now with this result."""
        return result is None and not self.uncounted and (self.inner is None or self.over())

    def says(self) -> str:
        """What it may do now, in words."""
        return "entries of the range to be removed, then the end"


class Closing(Taking):
    """A topic is closed and opened again. If another call has closed it already, there is nothing to empty."""

    def begin(self, call: Any) -> None:
        """Nothing is done before its first step."""
        self.topic, self.closed = call.cache, False

    def is_open(self) -> bool:
        """Whether the topic has a cache that the manager knows."""
        return self.model.left[self.topic] is not self.model.caches[self.topic]

    def words(self) -> Sequence[Word]:
        """The manager forgets the cache, then it is emptied."""
        return super().words() if self.closed else [("closes",)]

    def do(self, did: Did) -> None:
        """Do what a step does."""
        if did != ["closes"]:
            super().do(did)
            return
        self.closed = True
        if self.is_open():
            cache = self.model.left[self.topic] = self.model.caches[self.topic]
            self.inner = self.model.Removing(self.model, cache, lambda position: True, False)

    def may_end(self, result: Any) -> bool:
        """At its end the topic has a cache again, which others may have opened."""
        allowed = self.closed and super().may_end(result)
        if allowed and not self.is_open():
            self.model.caches[self.topic] = self.model.manager.new_cache()
        return allowed

    def state(self) -> Hashable:
        """How far it is, its inner call apart."""
        return self.uncounted, self.closed, self.is_open()


class Telling(Managed):
    """The manager tells its size."""

    def begin(self, _: SizeOfAll) -> None:
        """It has not looked yet."""
        self.size: int | None = None

    def words(self) -> Sequence[Word]:
        """It looks once."""
        return [("looks",)] if self.size is None else []

    def do(self, _: Did) -> None:
        """Do what a step does."""
        self.size = size_of(self.model)

    def may_end(self, result: Any) -> bool:
        """Whether it may end now with this result."""
        return self.size is not None and bool(result == self.size)

    def says(self) -> str:
        """What it may do now, in words."""
        return f"{self.size}"

    def state(self) -> Hashable:
        """How far it is, its inner call apart."""
        return self.size
