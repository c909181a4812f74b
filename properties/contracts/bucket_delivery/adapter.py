"""The adapter: a bucket tracker with clock, timer, storage and cursor, behind the names of the operations."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, cast

from broker_tck.implementations.interface.bucket_delivery import (
    BadVersionException,
    BucketDelayedDeliveryTracker,
    BucketDeliveryFactory,
    BucketSnapshotPersistenceException,
    ShowsBuckets,
)
from broker_tck.properties.contracts.bucket_delivery.operations import AT_ONCE, Capabilities, Config
from broker_tck.properties.contracts.bucket_delivery.storage import Call, Door, Durable, range_of
from broker_tck.properties.engine.answers import HandedOut, number, numbers, rows
from broker_tck.properties.engine.check import NOT_SHOWN
from broker_tck.properties.engine.timer import DispatcherTimer

NOTHING = (None,) * 6
"""What is seen where there is no tracker."""


class Adapter(DispatcherTimer):
    """A subject under test. Its methods are the operations; it knows nothing of the reference model."""

    def __init__(
        self,
        factory: BucketDeliveryFactory,
        config: Config,
        capabilities: Capabilities,
        durable: Durable | None = None,
    ) -> None:
        super().__init__(config.clock)
        self.handed_out = HandedOut()
        self.factory = factory
        self.config = config
        self.shows_buckets = capabilities.shows_buckets
        self.durable = durable or Durable()
        self.tracker: BucketDelayedDeliveryTracker | None = None
        self.closings: list[list[object]] = []
        """What each tracker that was closed has told of its end: nothing at first."""
        self.recover(0, 0)

    # ---- The tracker is asked

    def add(self, ledger: int, entry: int, at: int) -> bool | None:
        """Track a message."""
        return None if self.tracker is None else self.tracker.add_message(ledger, entry, at)

    def fill(self, ledger: int, entry: int, each: int, n: int, at: int, apart: int, within: int) -> int | None:
        """Track n messages, ``each`` of a ledger; answers how many were taken."""
        if self.tracker is None:
            return None
        add, taken = self.tracker.add_message, 0
        for i in range(n):
            ms = i * apart % within if within else i * apart
            taken += add(ledger + i // each, entry + i % each, at + ms)
        return taken

    def contains(self, ledger: int, entry: int) -> bool | None:
        """Whether a message is tracked."""
        return None if self.tracker is None else self.tracker.contains_message(ledger, entry)

    def has(self) -> bool | None:
        """Whether a message is available."""
        return None if self.tracker is None else self.tracker.has_message_available()

    def get(self, most: int) -> Any:
        """Hand out what is due, as a list."""
        return None if self.tracker is None else self.handed_out.listed(self.tracker.get_scheduled_messages(most))

    def pause(self) -> bool | None:
        """Whether all deliveries should pause."""
        return None if self.tracker is None else self.tracker.should_pause_all_deliveries()

    def reset_tick(self, tick: int) -> None:
        """Change the tick."""
        if self.tracker is not None:
            self.tracker.reset_tick_time(tick)

    def clear(self) -> None:
        """Forget every message. What the call returns is its own affair: the broker's answers with a future."""
        if self.tracker is not None:
            self.tracker.clear()
            self.handed_out.compare_all()

    # ---- Calls end

    def end(self, i: int, outcome: Callable[[Call], Any]) -> str | None:
        """A call ends with an outcome; answers with its label."""
        call = self.durable.calls.release(i)
        if call:
            call.done(outcome(call))
        return call.label if call else None

    def complete(self, i: int) -> str | None:
        """A call takes effect, and ends."""
        return self.end(i, lambda call: call.effect())

    def fail(self, i: int) -> str | None:
        """A call ends without effect."""
        return self.end(i, lambda call: BucketSnapshotPersistenceException(call.label))

    def conflict(self, i: int) -> str | None:
        """A call ends without effect, at a bad version if it updates a key."""
        return self.end(i, bad_version)

    def stored(self, i: int) -> str | None:
        """A call takes effect, and ends as if it had not."""
        return self.end(i, lambda call: (call.effect(), BucketSnapshotPersistenceException(call.label))[1])

    def storage(self, mode: int) -> None:
        """When calls end from now on."""
        self.durable.at_once = mode == AT_ONCE

    # ---- What is durable

    def mark(self, ledger: int, entry: int) -> None:
        """The cursor's mark-delete position moves."""
        self.durable.mark = ledger, entry

    def vanish(self, number: int) -> None:
        """A snapshot is gone."""
        self.durable.delete(number)

    def spoil(self, number: int) -> None:
        """A snapshot can no longer be read."""
        self.durable.spoil(number)

    def lost(self) -> None:
        """The cursor's properties are gone."""
        self.durable.lose()

    def snapshot(self, number: int) -> list[Any] | None:
        """What is stored under a number."""
        return self.durable.shown(number)

    def snapshots(self) -> list[int]:
        """The numbers of the snapshots that are stored."""
        return self.durable.numbers()

    # ---- Trackers come and go

    def crash(self, failing: int, order: int) -> None:
        """Let go of everything that is not durable, and recover."""
        self.durable.calls.held = []
        self.live = []
        self.closings = []
        self.recover(failing, order)

    def reopen(self) -> bool:
        """Close the tracker, and recover; answers whether it had closed at once."""
        ended: list[object] = []
        if self.tracker is not None:
            self.closings.append(ended)
            self.tracker.close(partial(told_once, ended))
            self.door.close()
            self.handed_out.compare_all()
        closed = self.tracker is None or bool(ended)
        self.recover(0, 0)
        return closed

    def closing(self) -> int:
        """How many of the trackers that were closed have not told of their end."""
        self.closings = [told for told in self.closings if not told]
        return len(self.closings)

    def recover(self, failing: int, order: int) -> None:
        """Have another tracker made, on what is durable."""
        self.tracker = None
        self.last_cancelled = None
        keys = sorted(self.durable.properties, key=range_of, reverse=self.config.key_order == "down")
        self.door = Door(self.durable, permuted(keys, order), failing)
        self.tracker = self.factory(self.config, lambda: self.now, self, self.door, self.door)
        self.door.recovering = False

    # ---- What is seen

    def seen(self) -> tuple[Any, ...]:
        """Count, buckets, queues, armed timeouts, calls under way, and keys."""
        tracker = self.tracker
        if tracker is None:
            return NOTHING
        inside: tuple[Any, Any] = NOT_SHOWN, NOT_SHOWN
        if self.shows_buckets:
            shown = cast(ShowsBuckets, tracker)
            inside = rows(shown.get_buckets()), numbers(shown.get_queue_sizes())
        return (
            number(tracker.get_number_of_delayed_messages()),
            *inside,
            self.armed(),
            [call.label for call in self.durable.calls.held],
            self.durable.keys(),
        )

    def glimpsed(self) -> tuple[Any, ...]:
        """Count, armed timeouts, and calls under way."""
        tracker = self.tracker
        if tracker is None:
            return NOTHING
        count = number(tracker.get_number_of_delayed_messages())
        return count, None, None, self.armed(), [call.label for call in self.durable.calls.held], None


class ToldTwice(Exception):
    """A subject has told twice that its close has ended."""


def told_once(told: list[object], result: object) -> None:
    """Note that a close has ended. Raises ToldTwice if the subject has told so before."""
    if told:
        raise ToldTwice("the end of a close was told before")
    told.append(result)


def bad_version(call: Call) -> Exception:
    """What a call ends with that meets a bad version, as only an update of a key can."""
    updates_key = call.label.startswith(("put", "remove"))
    return (BadVersionException if updates_key else BucketSnapshotPersistenceException)(call.label)


def permuted(keys: list[str], number: int) -> list[str]:
    """One of the orders of some keys, by its number: 0 leaves them as they are."""
    left, order = [*keys], []
    while left:
        number, i = divmod(number, len(left))
        order.append(left.pop(i))
    return order
