"""Trackers of a topic that share one index, to copy from: one class conforms, and one forgets where a cursor was."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar

from broker_tck.implementations.interface import (
    Clock,
    Dispatcher,
    IllegalStateException,
    Position,
    Timeout,
    Timer,
    TopicDeliveryConfig,
)

Copy = tuple[int, Position]
"""The key of a bucket, and a position in it."""
NOWHERE: Position = (-(2**63), -1)
"""Before every position."""
LAST = 2**63 - 1


class Buckets:
    """Time buckets, all as wide as the largest power of two that is no larger than the first tick."""

    def __init__(self, tick: int, strict: bool) -> None:
        self.tick = tick
        self.early = not strict
        self.width = 1 << (max(tick, 1).bit_length() - 1)

    def key(self, at: int) -> int:
        """The bucket of a time: the time rounded down, or up where no message may come too early."""
        return (at if self.early else min(at + self.width - 1, LAST)) // self.width * self.width

    def cutoff(self, now: int) -> int:
        """The last time that is due."""
        return now + self.tick * self.early

    def last(self, key: int) -> int:
        """The last time in a bucket."""
        return key + (self.width - 1) * self.early

    def wake(self, key: int) -> int:
        """When a bucket is due, and not before its key."""
        return max(key, self.last(key) - self.tick)


class Alarm:
    """One timeout, for the first bucket of which no firing has told yet."""

    def __init__(self, clock: Clock, timer: Timer, fired: Callable[[], None]) -> None:
        self.clock, self.timer, self.fired = clock, timer, fired
        self.timeout: Timeout | None = None
        self.target: int | None = None
        self.last_run: int | None = None
        self.told: int | None = None
        """Up to when firings have told, since the tick is as it is."""

    def aim(self, moments: Sequence[int], tick: int) -> None:
        """Fire at the first moment of which no firing has told, and a tick after the last at the earliest."""
        if self.last_run is not None and self.last_run > self.clock():
            self.told = self.last_run = None  # the clock was set back
        first = min((moment for moment in moments if self.told is None or moment > self.told), default=None)
        if first is not None and first != self.target:
            first = max(first, self.clock() + 1)
        if first == self.target:
            return
        if self.timeout:
            self.timeout.cancel()
        self.timeout, self.target = None, first
        if first is not None:
            earliest = first if self.last_run is None else self.last_run + tick
            self.timeout = self.timer.new_timeout(max(first, earliest), self.run)

    def run(self, timeout: Timeout) -> bool:
        """A timeout fires."""
        if timeout is self.timeout:
            self.timeout = self.target = None
            self.told = self.last_run = self.clock()
            self.fired()
        return False


class Tracker:
    """What one dispatcher was given: its view of the topic's index."""

    def __init__(self, topic: Topic, dispatcher: Dispatcher, mark: Position) -> None:
        self.topic = topic
        self.dispatcher = dispatcher
        self.mark = mark
        """Everything up to there is acknowledged."""
        self.passed = mark
        """How far the mark has been: it may have gone back since."""
        self.done: set[Copy] = set()
        """What was handed out or cleared, behind the mark."""
        self.again: set[Copy] = set()
        """What was added again, up to where the mark has been."""
        self.is_open = True
        self.is_fixed, self.highest = True, 0

    def sees(self, copy: Copy) -> bool:
        """Whether the subscription still waits for a copy."""
        return copy[1] > self.mark and (copy in self.again or (copy[1] > self.passed and copy not in self.done))

    def seen(self, keys: Iterable[int] | None = None) -> list[Copy]:
        """All that it sees in some buckets, or in all, in the order of buckets and positions."""
        self.check_open()
        held = self.topic.held
        copies = ((key, position) for key in sorted(held if keys is None else keys) for position in sorted(held[key]))
        return [copy for copy in copies if self.sees(copy)]

    def due(self) -> list[Copy]:
        """What of it is due."""
        return self.seen(self.topic.due())

    def check_open(self) -> None:
        """See that this is still the view of its subscription."""
        if not self.is_open:
            raise IllegalStateException("closed, or there is a newer one")

    # ---- What a dispatcher asks

    def add_message(self, ledger_id: int, entry_id: int, deliver_at: int) -> bool:
        """Track a message, unless it is due."""
        self.check_open()
        buckets = self.topic.buckets
        if deliver_at < 0 or deliver_at <= buckets.cutoff(self.topic.clock()):
            self.is_fixed = False
            return False
        copy = buckets.key(deliver_at), (ledger_id, entry_id)
        self.done.discard(copy)
        if self.mark < copy[1] <= self.passed:
            self.again.add(copy)
        self.topic.hold(copy)
        self.is_fixed = self.is_fixed and deliver_at >= self.highest - buckets.tick
        self.highest = max(self.highest, deliver_at)
        return True

    def has_message_available(self) -> bool:
        """Whether a message may be handed out now."""
        available = bool(self.due())
        if not available and self.topic.alarm.target is None:
            self.topic.update_alarm()
        return available

    def get_scheduled_messages(self, max_messages: int) -> Sequence[Position]:
        """Hand out what is due."""
        taken = self.due()[: max(max_messages, 0)]
        self.forget(taken)
        if not self.seen():
            self.is_fixed, self.highest = True, 0
        self.topic.settle()
        return sorted({position for _, position in taken})

    def forget(self, copies: Sequence[Copy]) -> None:
        """Be done with copies."""
        self.done.update(copies)
        self.again.difference_update(copies)

    def clear(self) -> None:
        """Forget every message. The timer is left alone."""
        self.forget(self.seen())
        self.topic.prune()

    def update_mark_delete_position(self, position: Position) -> None:
        """Everything up to a position is acknowledged."""
        self.check_open()
        self.mark = position
        self.passed = max(self.passed, position)
        self.again = {copy for copy in self.again if copy[1] > position}
        self.topic.settle()

    def get_number_of_delayed_messages(self) -> int:
        """How many messages the subscription waits for."""
        return len(self.seen())

    def should_pause_all_deliveries(self) -> bool:
        """Whether enough messages of one delay are seen, and none is due."""
        return len(self.seen()) >= self.topic.lookahead > 0 and self.is_fixed and not self.due()

    def get_buffer_memory_usage(self) -> int:
        """Never asked for: it is declared that nothing is estimated."""
        raise AssertionError("the subject declares that it estimates no memory")

    def reset_tick_time(self, tick: int) -> None:
        """Change the tick of the topic."""
        self.check_open()
        if tick != self.topic.buckets.tick:
            self.topic.buckets.tick = tick
            self.topic.alarm.told = None
            self.topic.update_alarm()

    def close(self) -> None:
        """Leave the topic."""
        if self.is_open:
            self.is_open = False
            del self.topic.trackers[self.dispatcher.name]
            self.topic.settle()


class Topic:
    """One index for all subscriptions: copies of positions in buckets, each of which stays while somebody sees it."""

    contract: ClassVar = "topic-delivery"
    profiles: ClassVar = ("ideal",)
    capabilities: ClassVar = dict.fromkeys(("memory_estimate", "shows_index"), False)

    def __init__(self, config: TopicDeliveryConfig, clock: Clock, timer: Timer) -> None:
        self.lookahead = config.lookahead
        self.clock = clock
        self.buckets = Buckets(config.tick, bool(config.strict))
        self.alarm = Alarm(clock, timer, self.fired)
        self.held: dict[int, set[Position]] = {}
        """Positions by the key of their bucket."""
        self.trackers: dict[str, Tracker] = {}
        """The one of each subscription, by its name."""
        self.is_open = True

    def create_or_get_tracker(self, dispatcher: Dispatcher) -> Tracker:
        """A tracker for a new dispatcher. An earlier one of the same subscription is refused from now on."""
        if not self.is_open:
            raise IllegalStateException("the topic is closed")
        if earlier := self.trackers.get(dispatcher.name):
            earlier.is_open = False
        tracker = self.trackers[dispatcher.name] = Tracker(self, dispatcher, self.mark_of(dispatcher))
        return tracker

    def mark_of(self, dispatcher: Dispatcher) -> Position:
        """Up to where a subscription has acknowledged everything."""
        return dispatcher.mark_delete_position or NOWHERE

    def due(self) -> list[int]:
        """The buckets of which all is due."""
        cutoff = self.buckets.cutoff(self.clock())
        return [key for key in self.held if self.buckets.last(key) <= cutoff]

    def is_seen(self, copy: Copy) -> bool:
        """Whether somebody waits for a copy."""
        return any(tracker.sees(copy) for tracker in self.trackers.values())

    def hold(self, copy: Copy) -> None:
        """Hold a copy that was added, if somebody sees it."""
        if self.is_seen(copy):
            self.held.setdefault(copy[0], set()).add(copy[1])
        self.update_alarm()

    def prune(self) -> None:
        """Let go of what nobody sees, and of buckets that are empty then."""
        left = {key: {each for each in bucket if self.is_seen((key, each))} for key, bucket in self.held.items()}
        self.held = {key: bucket for key, bucket in left.items() if bucket}

    def update_alarm(self) -> None:
        """Have the alarm aim at the first bucket."""
        self.alarm.aim([self.buckets.wake(key) for key in self.held], self.buckets.tick)

    def settle(self) -> None:
        """Somebody has taken, acknowledged or left: let go of what nobody sees, and aim anew."""
        self.prune()
        self.update_alarm()

    def fired(self) -> None:
        """Ask those to read who have something to read; only then, as they may come back at once."""
        asked = [tracker for tracker in self.trackers.values() if tracker.due()]
        self.update_alarm()
        for tracker in asked:
            tracker.dispatcher.read_more_entries()

    def get_number_of_delayed_messages(self) -> int:
        """How many copies are held."""
        return sum(map(len, self.held.values()))

    def get_buffer_memory_usage(self) -> int:
        """Never asked for: it is declared that nothing is estimated."""
        raise AssertionError("the subject declares that it estimates no memory")

    def close(self) -> None:
        """Close every tracker."""
        self.is_open = False
        for tracker in [*self.trackers.values()]:
            tracker.close()


class ForgetfulTopic(Topic):
    """The same with one mistake: a subscription that is opened again begins anew."""

    def mark_of(self, dispatcher: Dispatcher) -> Position:
        """Up to where a subscription has acknowledged everything."""
        return NOWHERE
