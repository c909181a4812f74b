"""Dispatchers at work: what they ask, and which tracker leaves a message waiting for ever, or spins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from broker_tck.implementations.delayed_delivery.time_bucket import TimeBucketTracker
from broker_tck.implementations.delayed_delivery.timer import DeliveryTimer
from broker_tck.implementations.interface import Position
from broker_tck.implementations.topic_delivery.manager import SharedIndexManager
from broker_tck.properties.engine.registry import CONTRACTS
from broker_tck.properties.engine.subjects import declared
from broker_tck.properties.engine.trace import from_text
from broker_tck.properties.search.failing import judged

RULES = {"delayed-delivery": "DD-41", "topic-delivery": "TD-43"}
FORGOTTEN = "{} held, nobody asks, no timeout armed"


class ArmsOnce(TimeBucketTracker):
    """Forgets after its first firing what is left."""

    _armed = False

    def _update_timer(self, now: int) -> None:
        if not self._armed:
            super()._update_timer(now)
        self._armed |= self._timer.target > 0


class TakesAndForgets(TimeBucketTracker):
    """Says after a get that nothing more is available, and arms nothing, until the next add."""

    _got = False

    def add_message(self, ledger_id: int, entry_id: int, deliver_at: int) -> bool:
        """Track a message."""
        self._got = False
        return super().add_message(ledger_id, entry_id, deliver_at)

    def has_message_available(self) -> bool:
        """Whether a message may be handed out."""
        return not self._got and super().has_message_available()

    def get_scheduled_messages(self, max_messages: int) -> list[Position]:
        """Hand out messages that are due."""
        self._got = True
        return super().get_scheduled_messages(max_messages)


class Spinner(DeliveryTimer):
    """Is armed for a millisecond from now, whatever is held."""

    def _arm(self, wake: int, tick: int) -> None:
        super()._arm(min(wake, self._clock() + 1), tick)


class Spins(TimeBucketTracker):
    """Looks at its buckets in each tick."""

    timer_class = Spinner


class Late(TimeBucketTracker):
    """Its timer fires an hour late."""

    def _update_timer(self, now: int) -> None:
        if self._index.first < 2**60:
            self._timer.aim(self._index.first + 3_600_000, now, self._tick)


class Throws(TimeBucketTracker):
    """Fails with the second message that it hands out."""

    def get_scheduled_messages(self, max_messages: int) -> list[Position]:
        """Hand out messages that are due."""
        if max_messages > 1:
            raise ValueError
        return super().get_scheduled_messages(max_messages)


class ArmsIfAsked(SharedIndexManager):
    """Arms nothing in a firing for which nothing is due: the next question of a view arms the timer."""

    def _fired(self) -> None:
        if any(map(self.is_available, self._views.values())):
            super()._fired()


TWO = "add 1 0 +5000; add 1 1 +9000"
SEEN = [
    (TimeBucketTracker, f"delayed-delivery; {TWO}; add 1 2 +9000; tick 3000; jump -50; adv 6000; stale", None),
    (TimeBucketTracker, "delayed-delivery; add 1 0 +5000; clear; has; get 9; memory; close", None),
    (TimeBucketTracker, f"delayed-delivery; add 1 0 +{2**62}; {TWO}", None),
    (ArmsOnce, f"delayed-delivery; {TWO}", FORGOTTEN.format(1)),
    (TakesAndForgets, "delayed-delivery; add 1 0 +5000; add 1 1 +5000", FORGOTTEN.format(1)),
    (Spins, f"delayed-delivery; {TWO}", "the timer fires again and again, and nothing is due"),
    (Late, "delayed-delivery; add 1 0 +5000", "the last message was taken 3596608 ms too late"),
    (Throws, "delayed-delivery; add 1 0 +5000; add 1 1 +5000", "a dispatcher meets an error: ValueError"),
    (SharedIndexManager, "topic-delivery; open A; open A; add A1 1 0 +9; add A2 1 0 +5000; shutdown; open B", None),
    (SharedIndexManager, f"topic-delivery; open A; open B; {TWO.replace('add', 'add A1')}; md A1 1 0; close A1", None),
    (ArmsIfAsked, f"topic-delivery; open A; {TWO.replace('add', 'add A1')}", None),
    (ArmsIfAsked, "topic-delivery; open A; add A1 1 0 +5000; jump -3000", FORGOTTEN.format(1)),
]


@pytest.mark.parametrize(("kind", "text", "complaint"), SEEN)
def test_who_forgets_a_message_is_seen(kind: Callable[..., Any], text: str, complaint: str | None) -> None:
    contract = CONTRACTS[text.partition(";")[0]]
    trace = from_text(text.replace(contract.name, f"{contract.name} {contract.default}", 1))
    subject = declared(kind.__name__, kind, contract)
    for on in (subject.fresh, contract.specification) if complaint is None else (subject.fresh,):
        (verdict,) = judged(contract, on, trace.config, trace.operations, wanted={RULES[contract.name]})
        assert verdict.complaint == (complaint or "")
        assert verdict.at == (len(trace.operations) - 1 if complaint else None)
        assert verdict.met == ("clear" not in text and "shutdown" not in text)
