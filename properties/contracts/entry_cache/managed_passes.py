"""Passes of a manager of caches, in steps: its scheduled run, and those that it orders itself."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Sequence
from typing import Any, cast

from broker_tck.model.entry_cache.entries import Cache
from broker_tck.model.entry_cache.eviction import Judges
from broker_tck.model.entry_cache.overlapping import LOOKS, Did, Passing
from broker_tck.properties.contracts.entry_cache.managed import COUNTS, Managed, size_of
from broker_tck.properties.contracts.entry_cache.operations import Background, Run
from broker_tck.properties.engine.concurrent import Word

ENDS = ("ends",)

# ---- Passes over the queue, since 4.2


class Evicting(Managed):
    """Passes that one thread makes. Each counts what it has removed when it is over."""

    asked = 0
    """The bytes of its size pass."""

    def begin_pass(self, judges: Judges) -> None:
        """A pass begins."""
        self.inner = self.model.Passing(self.model, judges)

    @abstractmethod
    def decide(self, did: Did) -> None:
        """Do what was decided."""

    def relieve(self) -> None:
        """Make a size pass if one is needed."""
        self.asked = self.model.manager.asks_for(size_of(self.model))
        if self.asked:
            self.model.manager.count_pass()
            self.begin_pass(self.model.passes.by_size(self.asked))

    def words(self) -> Sequence[Word]:
        """A pass goes on or is over, or it is decided on another."""
        if self.inner is None:
            return [COUNTS] if self.uncounted else self.decisions()
        looks = [] if cast(Passing, self.inner).going_on or self.inner.blocked() else [LOOKS]
        return [(*did,) for did in [*self.choices(), *looks]] + ([ENDS] if self.over() else [])

    @abstractmethod
    def decisions(self) -> list[Word]:
        """What may be decided when no pass is under way."""

    def do(self, did: Did) -> None:
        """Do what a step does."""
        if did == [*COUNTS]:
            self.uncounted = 0
        elif self.inner is None:
            self.decide(did)
        elif did == [*ENDS]:
            super().do(["ends", [*cast(Passing, self.inner).removed]])
            self.inner = None
        else:
            super().do(did)
            self.uncounted = cast(Passing, self.inner).removed[1]

    def may_end(self, result: Any) -> bool:
        """Whether it may end now with this result."""
        return self.inner is None and not self.uncounted

    def says(self) -> str:
        """What it may do now, in words."""
        return self.inner.says() if self.inner else "the end"


class Scheduled(Evicting):
    """The scheduled run: a time pass, then a size pass if it is needed. Meanwhile no pass is ordered.

    Its end forgets one that was ordered before and awaits its turn, so that another may be ordered.
    """

    def begin(self, _: Run) -> None:
        """Nothing is done before its first step."""
        self.agenda = ["marks", "ages", "decides", "forgets"]

    def decisions(self) -> list[Word]:
        """One after the other."""
        return [(*self.agenda[:1],)] if self.agenda else []

    def decide(self, did: Did) -> None:
        """Do what was decided."""
        self.agenda.pop(0)
        if did == ["ages"]:
            self.begin_pass(self.model.passes.by_age(self.model.now - self.model.config.ttl))
        elif did == ["decides"]:
            self.relieve()
        else:
            self.model.manager.pass_awaits = did == ["marks"]

    def may_end(self, result: Any) -> bool:
        """Whether it may end now with this result."""
        return result is None and not self.agenda and super().may_end(result)

    def state(self) -> Hashable:
        """How far it is, its inner call apart."""
        return self.uncounted, self.asked, len(self.agenda)


class Ordered(Evicting):
    """The passes that were ordered are made, until none awaits its turn."""

    def begin(self, _: Background) -> None:
        """None is made yet."""
        self.made, self.makes = 0, False

    def decisions(self) -> list[Word]:
        """The next one is made, or the last one is over."""
        if self.makes:
            return [("forgets",)]
        return [("decides",)] if self.model.manager.waiting else []

    def decide(self, did: Did) -> None:
        """Do what was decided."""
        self.makes = did == ["decides"]
        if not self.makes:
            self.model.manager.pass_awaits = False
            return
        self.made += 1
        self.model.manager.waiting -= 1
        self.relieve()

    def may_end(self, result: Any) -> bool:
        """Whether it may end now with this result."""
        over = not self.makes and not self.model.manager.waiting
        return over and bool(result == self.made) and super().may_end(result)

    def state(self) -> Hashable:
        """How far it is, its inner call apart."""
        return self.uncounted, self.asked, self.made, self.makes


# ---- Before 4.2 each cache evicts for itself, in one go


class AgeingAlone(Managed):
    """The scheduled run: one cache after the other drops what is old."""

    def begin(self, _: Run) -> None:
        """All caches that are open now have a turn."""
        self.due = [*self.model.caches]

    def words(self) -> Sequence[Word]:
        """The next cache evicts, or what it has removed is counted."""
        if self.uncounted:
            return [COUNTS]
        return [("evicts",)] if self.due else []

    def do(self, did: Did) -> None:
        """Do what a step does."""
        model = self.model
        if did == [*COUNTS]:
            self.uncounted = 0
            return
        passes = model.Passes(model.config, model.store, [self.due.pop(0)])
        self.uncounted = passes.time_pass(model.now - model.config.ttl)[1]

    def may_end(self, result: Any) -> bool:
        """Whether it may end now with this result."""
        return result is None and not self.due and not self.uncounted

    def says(self) -> str:
        """What it may do now, in words."""
        return "old entries to be removed, then the end"

    def state(self) -> Hashable:
        """How far it is, its inner call apart."""
        return self.uncounted, len(self.due)


class OrderedAlone(Managed):
    """The passes that were ordered are made, until none awaits its turn: caches lose their lowest positions.

    How much a pass takes of which cache is no promise, as it goes by sizes that others change meanwhile.
    """

    def begin(self, _: Background) -> None:
        """None is made yet."""
        self.made, self.makes = 0, False

    def caches(self) -> list[Cache]:
        """Those that were open at some time, with something in them."""
        model = self.model
        known = dict.fromkeys([*model.caches, *(cache for cache in model.left if cache)])
        return [cache for cache in known if cache.entries]

    def words(self) -> Sequence[Word]:
        """A pass is made: caches lose their lowest positions, and what was removed is counted."""
        if not self.makes:
            return [("makes",)] if self.model.manager.waiting else []
        evicts: list[Word] = [("evicts", i) for i in range(len(self.caches()))]
        return [*evicts, COUNTS if self.uncounted else ("forgets",)]

    def do(self, did: Did) -> None:
        """Do what a step does."""
        manager = self.model.manager
        match did:
            case ["makes"]:
                self.makes, self.made = True, self.made + 1
                manager.waiting -= 1
                manager.count_pass()
            case ["forgets"]:
                self.makes = manager.pass_awaits = False
            case ["counts"]:
                self.uncounted = 0
            case _:
                entries = self.caches()[did[1]].entries
                self.uncounted += self.model.store.remove(entries[min(entries)])[1]

    def may_end(self, result: Any) -> bool:
        """Whether it may end now with this result."""
        return not self.makes and not self.model.manager.waiting and bool(result == self.made)

    def says(self) -> str:
        """What it may do now, in words."""
        return "lowest positions to be removed, then the number of passes"

    def state(self) -> Hashable:
        """How far it is, its inner call apart."""
        return self.uncounted, self.made, self.makes
