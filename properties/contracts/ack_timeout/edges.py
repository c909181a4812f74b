"""The boundary values of ack timeouts, and how far time can go."""

from __future__ import annotations

from broker_tck.model.ack_timeout.specification import AckTimeout
from broker_tck.properties.contracts.ack_timeout.operations import (
    LAST_ID,
    Advance,
    AnyOperation,
    Capabilities,
    Config,
    Fill,
    Jump,
)
from broker_tck.properties.engine.edges import Edge, Edges

LAST = 3 * 2**41
"""The last time of both clocks, in milliseconds: its nanoseconds fit into 64 bits."""
TICKS = 64
"""Maximum number of ticks in an ack timeout, in a delay of the backoff, and in a step of the clock."""
CONTAINERS = (256, 1_000, 4_096)
MOST_FILLED = 10_000
LONGEST = 2**40
"""Milliseconds: ack timeouts and ticks are no longer."""


def left(model: AckTimeout) -> int:
    """How many milliseconds are left until both clocks are at their end."""
    return max(0, LAST - model.now - max(0, model.ahead))


def numbers(_capabilities: Capabilities) -> dict[str, Edge]:
    """The boundary values of the numbers that this subject is asked for."""
    of_pool = Edge(left=True, why="AT-08: an entry is in chunks or not, for good, as the pool has it")
    fields = (
        "add.ledger",
        "add.entry",
        "add.index",
        "add.chunks",
        "inside.ledger",
        "inside.entry",
        "fill.ledger",
        "fill.entry",
    )
    return dict.fromkeys(fields, of_pool) | {
        "fill.n": Edge(CONTAINERS, "sizes at which a container of ids changes", high=MOST_FILLED),
        "config.ack_timeout": Edge((1_000, 2**31), "AT-10, AT-11; what 32 bits hold", high=LONGEST),
        "config.tick": Edge((1, 1_000, 2**31), "AT-10, AT-11; what 32 bits hold", high=LONGEST),
        "config.clock": Edge(high=2**41, why="time is to be left"),
    }


def may(model: AckTimeout, operation: AnyOperation, _capabilities: Capabilities) -> bool:
    """Whether there is time for an operation, and not too many ticks in it."""
    match operation:
        case Advance(ms):
            return ms <= min(left(model), TICKS * model.wheel.tick)
        case Jump(by):
            return -model.now - model.ahead <= by <= left(model)
        case Fill(_, entry, n):
            return entry + n <= LAST_ID + 1
    return True


def may_start(config: Config, _capabilities: Capabilities) -> bool:
    """Whether a tracker can be configured so."""
    most = TICKS * min(config.tick, config.ack_timeout)
    return max(config.ack_timeout, *(config.backoff or (0,))) <= most


EDGES = Edges(numbers, may=may, may_start=may_start)
