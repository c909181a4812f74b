"""What a subject keeps of the ids that it let go of: numbers of a class of their own, followed by weak references."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from broker_tck.implementations.delayed_delivery.time_bucket import TimeBucketTracker
from broker_tck.implementations.entry_cache.removal_queue import RemovalQueue, Slot, TopicCache
from broker_tck.implementations.interface import Entry, MessageId, Position
from broker_tck.implementations.negative_acks.sorted_buckets import SortedBucketsTracker
from broker_tck.implementations.topic_delivery.manager import SharedIndexManager
from broker_tck.implementations.topic_delivery.tracker import View
from broker_tck.properties.contracts.negative_acks.operations import Nack
from broker_tck.properties.engine.following import MOST_COLLECTIONS, StillThere, following, lives_on
from broker_tck.properties.engine.registry import CONTRACTS
from broker_tck.properties.engine.subjects import bundled, declared
from broker_tck.properties.engine.trace import from_text
from broker_tck.properties.engine.walk import walk, walk_seed
from broker_tck.properties.explain.checked import check_subject
from broker_tck.properties.mistakes.implementations.ack_timeout.wheels import AcknowledgedStayOnTheWheel
from broker_tck.properties.search.budget import Budget
from broker_tck.properties.search.failing import breach_of, broken_by

RULES = {
    "negative-acks": "P16",
    "entry-cache": "EC-P18",
    "delayed-delivery": "DD-40",
    "topic-delivery": "TD-41",
    "ack-timeout": "AT-64",
}


class Logging(SortedBucketsTracker):
    """Keeps every id until it is closed."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.log: list[MessageId] = []

    def add_message(self, message_id: MessageId, redelivery_count: int) -> None:
        """Track a message, and log it."""
        self.log.append(message_id)
        super().add_message(message_id, redelivery_count)

    def close(self) -> None:
        """Close, and drop the log."""
        super().close()
        self.log.clear()


class Circling(SortedBucketsTracker):
    """Leaves a circle behind that leads to each id."""

    def add_message(self, message_id: MessageId, redelivery_count: int) -> None:
        """Track a message."""
        circle: list[Any] = [message_id]
        circle.append(circle)
        super().add_message(message_id, redelivery_count)


class Remembering(TimeBucketTracker):
    """Remembers what it was ever given."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.known: set[Position] = set()

    def add_message(self, ledger_id: int, entry_id: int, deliver_at: int) -> bool:
        """Track a message, and remember it."""
        self.known.add((ledger_id, entry_id))
        return super().add_message(ledger_id, entry_id, deliver_at)

    def clear(self) -> None:
        """Forget everything."""
        self.known.clear()
        super().clear()


class Values(TopicCache):
    """Keeps the value of a place until a pass takes the place out of the queue."""

    def take_out(self, slot: Slot) -> None:
        """Take a slot out of the cache; what it held stays in the broker."""
        self.broker.kept.append(slot.value)  # type: ignore[attr-defined]
        super().take_out(slot)


class Keeping(RemovalQueue):
    """Has caches that do so."""

    cache_type = Values

    def __init__(self, *given: Any) -> None:
        self.kept: list[Entry | None] = []
        super().__init__(*given)

    def evict_least_accessed_entries(self, size: int) -> tuple[int, int]:
        """A size pass."""
        removed = super().evict_least_accessed_entries(size)
        self.kept.clear()
        return removed


class Listing(SharedIndexManager):
    """Keeps every view in a list."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.given: list[View] = []

    def create_or_get_tracker(self, dispatcher: Any) -> View:
        """Give a new dispatcher its view."""
        self.given.append(super().create_or_get_tracker(dispatcher))
        return self.given[-1]


LOST = "nothing is held, but {} objects that were given are kept"
KEEPING = [
    # the subject, the trace, and what is wrong at which operation
    (Logging, "negative-acks; nack 1 2 0; adv 100000", (1, LOST.format(2))),
    (Logging, "negative-acks; chunked 1 2 2 0; adv 100000", (1, LOST.format(2))),
    (Logging, "negative-acks; nack 1 2 0; close", (None, "")),
    (Logging, "negative-acks; nack 1 2 0; adv 1", (None, "")),
    (Circling, "negative-acks; nack 1 2 0; batch 1 3 4 0; chunked 2 9 2 0; adv 100000", (None, "")),
    (Remembering, "delayed-delivery; add 1 2 +5000; adv 9000; get 9", (2, LOST.format(2))),
    (Remembering, "delayed-delivery; add 1 2 +5000; clear", (None, "")),
    (Keeping, "entry-cache; put 0 1 2 3 0; get 0 1 2; hold 0 1 2; clear 0; free", (4, LOST.format(2))),
    (Keeping, "entry-cache; put 0 1 2 3 0; put 0 1 3 3 0; clear 0; size 1", (2, LOST.format(4))),
    (Keeping, "entry-cache; put 0 1 2 3 0; size 1", (None, "")),
    (AcknowledgedStayOnTheWheel, "ack-timeout; add 1 2 0; remove 1 2; adv 11000", (1, LOST.format(3))),
    (AcknowledgedStayOnTheWheel, "ack-timeout; add 1 2 0 -1 2; adv 11000; add 1 2 0; clear", (None, "")),
    (
        Listing,
        "topic-delivery; open A; open B; add A1 1 2 +5000; adv 9000; get A1 9; close A1; close B1",
        (6, LOST.format(3)),
    ),
]


@pytest.mark.parametrize(("kind", "text", "broken"), KEEPING)
def test_subject_that_keeps_an_id_is_seen(kind: Callable[..., Any], text: str, broken: tuple[int | None, str]) -> None:
    contract = CONTRACTS[text.partition(";")[0]]
    trace = from_text(text.replace(contract.name, f"{contract.name} {contract.default}", 1))
    subject = declared(kind.__name__, kind, contract)
    at, why = breach_of(contract, subject.fresh, RULES[contract.name], trace.config, trace.operations)
    assert (at, why) == broken


@pytest.mark.slow
@pytest.mark.parametrize("name", RULES)
def test_no_bundled_subject_keeps_more_than_its_profile_says(name: str) -> None:
    contract, rule = CONTRACTS[name], RULES[name]
    for subject in bundled(contract):
        model = contract.model(subject.profiles[0])
        for number in range(0 if rule in model.BREAKS else 8):
            done = walk(contract, walk_seed(0, number), subject.adapter, model, subject.capabilities)
            assert broken_by(contract, done, subject.adapter, subject.capabilities, {rule}) == []


@pytest.mark.slow
def test_tracker_that_keeps_ids_is_broken_by_that_alone() -> None:
    checked = check_subject(declared("logging", Logging, CONTRACTS["negative-acks"]), "pip-393-spec", Budget(0, 60, 3))
    (found,) = checked.findings
    assert found.diagnosis.rules == ("P16",)
    assert [o.tag for o in found.operations] in (["nack", "adv"], ["id", "adv"])


class Holder:
    """Holds what it is given, and says that it holds nothing."""

    def __init__(self) -> None:
        self.collected = 0
        self.ids: list[int] = []

    def nack(self, ledger: int, entry: int, count: int) -> None:
        """Keep the ids of a message."""
        self.ids += [ledger, entry]

    def seen(self) -> tuple[int]:
        """Nothing."""
        return (0,)

    def collect_garbage(self) -> None:
        """Count the collections."""
        self.collected += 1


def test_garbage_is_collected_a_few_times_and_only_if_ids_are_there() -> None:
    holder, ask = Holder(), StillThere()
    assert ask.on(holder) is None
    following(Nack)(1, 2, 0).on(holder)
    assert [ask.on(holder) for _ in range(MOST_COLLECTIONS + 1)] == [2] * MOST_COLLECTIONS + [None]
    assert (holder.collected, lives_on(holder).left()) == (MOST_COLLECTIONS, 2)
    holder.ids.clear()
    assert (ask.on(holder), holder.collected) == (0, MOST_COLLECTIONS)


def test_operation_with_followed_ids_is_written_as_the_plain_one() -> None:
    assert msgspec.json.encode(following(Nack)(1, 2, 0)) == msgspec.json.encode(Nack(1, 2, 0))
