"""What calls on the shared index look at: no more views, and no more sets of entries, than they have to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from broker_tck.implementations.topic_delivery.index import Entries
from broker_tck.implementations.topic_delivery.manager import SharedIndexManager
from broker_tck.implementations.topic_delivery.sight import Sight
from broker_tck.implementations.topic_delivery.tracker import View
from broker_tck.properties.contracts.topic_delivery.operations import Config

MESSAGES = 400
START = 1_000_000
"""Buckets of 512 ms: each message has one of its own."""


class Reader:
    """A dispatcher that reads on its own."""

    def __init__(self, name: str, mark: tuple[int, int] | None = None) -> None:
        self.name = name
        self.mark_delete_position = mark

    def read_more_entries(self) -> None:
        """Read nothing."""


class Silent:
    """A timer that never fires."""

    cancelled = False

    def new_timeout(self, deadline: int, fired: Callable[..., bool]) -> Silent:
        return self

    def cancel(self) -> None:
        """Stop nothing."""


class Topic:
    """A topic of which every view may ask for all messages, and how often a set of entries is looked at."""

    def __init__(self, views: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = START
        self.manager = SharedIndexManager(Config(strict=True), lambda: self.now, Silent())
        self.views = [self.manager.create_or_get_tracker(Reader(f"s{n}")) for n in range(views)]
        self.looks = 0
        looked = Sight.of

        def counted(sight: Sight, held: Entries) -> Any:
            self.looks += 1
            return looked(sight, held)

        monkeypatch.setattr(Sight, "of", counted)
        self.read_by(self.views[0])

    def read_by(self, view: View) -> None:
        """Have a view add everything, as it reads the topic itself."""
        for entry in range(MESSAGES):
            view.add_message(1, entry, START + 512 * (entry + 1))

    def cost(self, call: Callable[[], Any]) -> int:
        """How often a set is looked at during a call."""
        before = self.looks
        call()
        return self.looks - before

    def come(self, messages: int) -> None:
        """Have the first messages come due."""
        self.now = START + 512 * (messages + 1)


@pytest.mark.parametrize("views", [3, 60])
def test_calls_look_at_what_they_touch(monkeypatch: pytest.MonkeyPatch, views: int) -> None:
    topic = Topic(views, monkeypatch)
    first, *_, last = topic.views
    assert topic.cost(lambda: topic.read_by(last)) == 0
    topic.come(10)
    for view in topic.views:
        # Two looks to find a message and to see that there is more, one to see who else waits for it.
        assert topic.cost(lambda view=view: view.get_scheduled_messages(5)) <= 3 * 5 + 1
    assert topic.manager.get_number_of_delayed_messages() == MESSAGES - 5
    for view in topic.views:
        assert topic.cost(lambda view=view: view.update_mark_delete_position((1, 19))) <= 2 * 20
    assert topic.manager.get_number_of_delayed_messages() == MESSAGES - 20
    assert topic.cost(first.close) <= 1
    assert topic.cost(lambda: topic.manager.create_or_get_tracker(Reader("late", (1, 200)))) == 0


def test_view_that_leaves_looks_at_what_only_it_saw(monkeypatch: pytest.MonkeyPatch) -> None:
    topic = Topic(40, monkeypatch)
    topic.come(30)
    slow, *others = topic.views
    for view in others:
        assert len(view.get_scheduled_messages(30)) == 30
    others[0].update_mark_delete_position((1, 49))
    assert topic.manager.get_number_of_delayed_messages() == MESSAGES
    assert topic.cost(slow.close) <= 2 * 30
    assert topic.manager.get_number_of_delayed_messages() == MESSAGES - 30


def test_what_is_done_with_is_not_kept_in_mind(monkeypatch: pytest.MonkeyPatch) -> None:
    topic = Topic(2, monkeypatch)
    first, _ = topic.views
    for messages in range(20, 200, 20):
        topic.come(messages)
        first.get_scheduled_messages(19)
        assert sum(len(each.entries) for each in first.sight.done_with()) <= 1
