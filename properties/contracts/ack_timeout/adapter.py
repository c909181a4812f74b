"""The adapter of a tracker of ack timeouts."""

from __future__ import annotations

from typing import Any

from broker_tck.implementations.interface import AckTimeoutFactory, TrackedId
from broker_tck.properties.contracts.ack_timeout.operations import Capabilities, Config
from broker_tck.properties.engine.answers import number
from broker_tck.properties.engine.client import ClientAdapter, Ids


class Adapter(ClientAdapter):
    """A subject under test, and all that it deals with. Its methods are the operations."""

    def __init__(self, factory: AckTimeoutFactory, config: Config, capabilities: Capabilities) -> None:
        super().__init__(config.clock, capabilities.threads, requests)
        self.topics = config.topics
        self.chunks: dict[tuple[int, int], int] = {}
        """From how many chunks each message is made that was added: its id has them all."""
        self.tracker = factory(config, self, self, self)

    on_ack_timeout_send = ClientAdapter.call_back

    def message(self, ledger: int, entry: int, index: int) -> TrackedId:
        """The id of a message."""
        topic = self.topics[ledger % len(self.topics)] if self.topics else ""
        chunks = self.chunks.get((ledger, entry), 1) if index < 0 else 1
        return TrackedId(ledger, entry, index, range(entry - chunks + 1, entry + 1) if chunks > 1 else (), topic)

    def add(self, ledger: int, entry: int, count: int, index: int, chunks: int) -> Any:
        """Track a message."""
        self.chunks[int(ledger), int(entry)] = chunks  # plain numbers: these may be followed
        return self.tracker.add(self.message(ledger, entry, index), count)

    def fill(self, ledger: int, entry: int, n: int, count: int) -> int:
        """Track n messages."""
        return sum([self.add(ledger, entry + i, count, -1, 1) for i in range(n)])

    def remove(self, ledger: int, entry: int, index: int) -> Any:
        """A message was acknowledged."""
        return self.tracker.remove(self.message(ledger, entry, index))

    def remove_till(self, ledger: int, entry: int, index: int) -> Any:
        """All messages up to one were acknowledged."""
        return self.tracker.remove_messages_till(self.message(ledger, entry, index))

    def remove_topic(self, name: str) -> Any:
        """A topic was left."""
        return self.tracker.remove_topic_messages(name)

    def clear(self) -> None:
        """Let go of everything."""
        self.tracker.clear()

    def seen(self) -> tuple[Any, list[int]]:
        """The size, and the times of all armed timeouts in milliseconds."""
        return number(self.tracker.size()), self.armed()


def requests(ids: Ids, made: list[Ids], failed: bool) -> Any:
    """The number of requests of one callback; the requests in full if they are not for the ids of the callback.

    If the callback or a request has ``failed``, it does not matter whether one is made.
    """
    if any(request != ids for request in made):
        return made
    return 0 if failed else len(made)
