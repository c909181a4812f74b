"""The adapter of a negative-acks tracker."""

from __future__ import annotations

from typing import Any, cast

from broker_tck.implementations.interface import ChunkLedgers, MessageId, NegativeAcksFactory, Position
from broker_tck.properties.contracts.negative_acks.operations import Capabilities, Chunks, Config
from broker_tck.properties.engine.answers import number
from broker_tck.properties.engine.client import ClientAdapter

IDS_OF_A_REQUEST = 1_000


class Adapter(ClientAdapter):
    """A subject under test, and all that it deals with. Its methods are the operations."""

    def __init__(self, factory: NegativeAcksFactory, config: Config, capabilities: Capabilities) -> None:
        super().__init__(config.clock, capabilities.threads, requests)
        self.tracker = factory(config, self, self, self)

    on_negative_acks_send = ClientAdapter.call_back

    def nack(self, ledger: int, entry: int, count: int) -> None:
        """Nack by message."""
        self.tracker.add_message(MessageId(ledger, entry), count)

    def nack_id(self, ledger: int, entry: int) -> None:
        """Nack by id."""
        self.tracker.add(MessageId(ledger, entry))

    def batch(self, ledger: int, entry: int, index: int, count: int) -> None:
        """Nack a message of a batch."""
        self.tracker.add_message(MessageId(ledger, entry, index), count)

    def chunked(self, chunks: Chunks, count: int) -> None:
        """Nack a message in chunks."""
        ledger, entry = chunks[-1]
        if chunks[0][0] == ledger:
            self.tracker.add_message(MessageId(ledger, entry, -1, tuple([each for _, each in chunks])), count)
        else:
            cast(ChunkLedgers, self.tracker).add_chunked_message(chunks, count)

    def seen(self) -> tuple[Any, list[int]]:
        """The number of items, and the times of all armed timeouts in milliseconds."""
        return number(self.tracker.get_nacked_messages_count()), self.armed()


def requests(ids: list[Position], made: list[list[Position]], failed: bool) -> Any:
    """The sizes of the requests of one callback; the requests in full if they are not for the ids of the callback.

    If there are as few as there can be, and none is too large, it does not matter where the ids are cut. If one, or the
    callback, has ``failed``, it does not matter which others are made (NA-35).
    """
    requested = sorted(p for request in made for p in request)
    if not made or (failed and set(requested) <= set(ids) and max(map(len, made)) <= IDS_OF_A_REQUEST):
        return 0
    if requested != ids:
        return made
    sizes = [len(request) for request in made]
    full, rest = divmod(len(ids) - 1, IDS_OF_A_REQUEST)
    if len(sizes) == full + 1 and max(sizes) <= IDS_OF_A_REQUEST:
        sizes = [IDS_OF_A_REQUEST] * full + [rest + 1]
    return 1 if len(sizes) == 1 else sizes
