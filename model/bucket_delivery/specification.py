"""Bucket delivery: a tracker of delayed messages that survives its broker (profile ``ideal``).

Read ``tracker`` from top to bottom, then its parts: ``sealing`` and ``loading`` say how messages go into sealed buckets
and come out again, ``parts`` what is held and where, ``stored`` what is stored and how, ``maintenance`` how buckets are
trimmed, merged and recovered. Here a tracker stands beside its storage and its cursor, as a broker has them. A method
under ``@rule`` is a clause: its docstring is the rule, its body says the same in code. The methods named as operations
are flows: they say which clauses apply, and in which order. Times are absolute milliseconds. Rules without a clause are
in ``without_clause``. Each release of the broker replaces the clauses in which it differs: see ``releases``.
"""

from __future__ import annotations

from typing import Any, ClassVar

from broker_tck.model.bucket_delivery.stored import (
    BAD_VERSION,
    NOT_PERSISTED,
    OK,
    Durable,
    Position,
    Range,
    name,
)
from broker_tck.model.bucket_delivery.tracker import Config, Tracker
from broker_tck.model.bucket_delivery.without_clause import WITHOUT_CLAUSE
from broker_tck.model.reference import Reference
from broker_tck.model.rules import Rule, rule

NOTHING = (None,) * 6
"""What is seen without a tracker."""
WAITS, AT_ONCE = range(2)
"""When calls to storage and cursor end: when an operation ends them, or as they are made."""


class BucketDelivery(Reference):
    """A tracker, the storage of its snapshots, and its cursor."""

    PROFILE = "ideal"
    Tracker: type[Tracker] = Tracker
    WITHOUT_CLAUSE: ClassVar[tuple[Rule, ...]] = WITHOUT_CLAUSE

    def __init__(self, config: Config) -> None:
        self.config = config
        self.durable = Durable()
        self.tracker: Tracker | None = self.Tracker(config, self.durable, config.clock)
        self.closed: list[Tracker] = []
        """The trackers whose closing had not ended at the last look."""
        self.now = config.clock

    # ---- The tracker is asked

    def add(self, ledger: int, entry: int, at: int) -> bool | None:
        """Track a message."""
        return None if self.tracker is None else self.tracker.add(ledger, entry, at)

    def fill(self, ledger: int, entry: int, each: int, n: int, at: int, apart: int, within: int) -> int | None:
        """Track n messages, ``each`` of a ledger; answers how many were taken."""
        if self.tracker is None:
            return None
        add, taken = self.tracker.add, 0
        for i in range(n):
            ms = i * apart % within if within else i * apart
            taken += add(ledger + i // each, entry + i % each, at + ms)
        return taken

    def contains(self, ledger: int, entry: int) -> bool | None:
        """Whether a message is held, so that it need not be read."""
        return None if self.tracker is None else self.tracker.contains(ledger, entry)

    def has(self) -> bool | None:
        """Whether a message is available."""
        return None if self.tracker is None else self.tracker.has()

    def get(self, most: int) -> list[Position] | None:
        """Hand out what is due."""
        return None if self.tracker is None else self.tracker.get(most)

    def pause(self) -> bool | None:
        """Whether all deliveries should pause."""
        return None if self.tracker is None else self.tracker.pause()

    def reset_tick(self, tick: int) -> None:
        """Change the tick, until another tracker recovers."""
        if self.tracker:
            self.tracker.reset_tick(tick)

    def stale(self) -> bool:
        """The timeout that was cancelled last fires nevertheless; answers whether it asked for a read."""
        return self.tracker is not None and self.tracker.timer.stale()

    def clear(self) -> None:
        """Forget every message."""
        if self.tracker:
            self.tracker.clear()

    @rule("DD-24")
    def advance(self, ms: int) -> list[int]:
        """A firing arms nothing itself."""
        self.now += ms
        return self.tracker.timer.advance(ms) if self.tracker else []

    def jump(self, by: int) -> None:
        """Set the clock, forwards or back; no timer fires."""
        self.now += by
        if self.tracker:
            self.tracker.timer.jump(by)

    # ---- Calls end

    def complete(self, i: int) -> str | None:
        """A call takes effect, and ends."""
        return self.end(i, takes_effect=True)

    def fail(self, i: int) -> str | None:
        """A call ends without effect: it was not persisted."""
        return self.end(i, takes_effect=False, failure=NOT_PERSISTED)

    def conflict(self, i: int) -> str | None:
        """A key update meets a version that has changed. Any other call fails."""
        return self.end(i, takes_effect=False, failure=BAD_VERSION)

    def stored(self, i: int) -> str | None:
        """A call takes effect, and ends as if it had not."""
        return self.end(i, takes_effect=True, failure=NOT_PERSISTED)

    def end(self, i: int, takes_effect: bool, failure: int = OK) -> str | None:
        """A call ends; answers with its label."""
        call = self.durable.calls.take(i)
        if call is None:
            return None
        answer = call.effect() if takes_effect else None
        if failure:
            answer = (failure if call.updates_key else NOT_PERSISTED), None
        call.ended.settle(answer)
        return call.label

    def storage(self, mode: int) -> None:
        """From now on calls wait to be ended, or take effect and end as they are made."""
        self.durable.answers_at_once = mode == AT_ONCE

    # ---- What is durable

    def mark(self, ledger: int, entry: int) -> None:
        """The cursor's mark-delete position moves."""
        self.durable.first_live = ledger

    def vanish(self, number: int) -> None:
        """A snapshot is gone."""
        self.durable.snapshots.pop(number, None)

    def spoil(self, number: int) -> None:
        """A snapshot can no longer be read."""
        self.durable.unreadable.add(number)

    def lost(self) -> None:
        """The cursor's properties are gone."""
        self.durable.keys.clear()

    def snapshot(self, number: int) -> list[Any] | None:
        """What is stored: of each segment its times, its positions as it says itself, and its indexes."""
        stored = self.durable.snapshots.get(number)
        return stored and [
            [about.first_time, about.last_time, sorted(about.positions), segment]
            for about, segment in zip(stored.about, stored.segments, strict=True)
        ]

    def snapshots(self) -> list[int]:
        """The numbers of the snapshots that are stored."""
        return sorted(self.durable.snapshots)

    # ---- Trackers come and go

    def crash(self, failing: int, order: int) -> None:
        """The broker is gone with all calls under way, and another one recovers; ``failing`` reads fail at first."""
        self.durable.calls.waiting = []
        self.closed = []
        self.recover(failing, order)

    def reopen(self) -> bool:
        """The tracker is closed, and another one recovers; answers whether the closing has ended at once."""
        ended = self.close()
        self.recover(0, 0)
        return ended

    def close(self) -> bool:
        """Close the tracker; answers whether that has ended at once."""
        ended = self.tracker is None or self.tracker.close()
        if self.tracker and not ended:
            self.closed.append(self.tracker)
        return ended

    def closing(self) -> int:
        """Number of closed trackers that have not ended yet."""
        self.closed = [tracker for tracker in self.closed if not tracker.has_closed()]
        return len(self.closed)

    def recover(self, failing: int, order: int) -> None:
        """Another tracker takes over. Fault if it cannot."""
        self.tracker = None
        tracker = self.Tracker(self.config, self.durable, self.now)
        keys = sorted(self.durable.keys, reverse=self.config.key_order == "down")
        tracker.Recovery(tracker).recover(permuted(keys, order), failing)
        self.tracker = tracker

    # ---- What is seen

    def seen(self) -> tuple[Any, ...]:
        """Count, buckets, queues, armed timeouts, calls under way, and keys."""
        t = self.tracker
        if t is None:
            return NOTHING
        return (
            t.held.count(),
            [[low[0], high[0], bucket.current, len(bucket.about)] for low, high, bucket in t.placed.pieces],
            [len(t.shared), len(t.mutable.queue)],
            t.armed(),
            self.durable.labels(),
            {name(ledgers): str(number) for ledgers, number in self.durable.keys.items()},
        )

    def glimpsed(self) -> tuple[Any, ...]:
        """Count, armed timeouts, and calls under way."""
        t = self.tracker
        if t is None:
            return NOTHING
        return t.held.count(), None, None, t.armed(), self.durable.labels(), None


def permuted(keys: list[Range], number: int) -> list[Range]:
    """One of the orders of some keys, by its number: 0 leaves them as they are."""
    left, order = [*keys], []
    while left:
        number, i = divmod(number, len(left))
        order.append(left.pop(i))
    return order
