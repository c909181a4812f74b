"""What is to be said of the numbers that a topic's views take, so that walks can draw them at their edges."""

from __future__ import annotations

from broker_tck.model.delayed_delivery.specification import LAST
from broker_tck.model.topic_delivery.specification import MOST_FIRINGS, TopicDelivery
from broker_tck.properties.contracts.topic_delivery.operations import AnyOperation, Capabilities, Fill, Jump
from broker_tck.properties.engine.edges import Edge, Edges
from broker_tck.properties.engine.timer import settable

MOST_APART = 300
"""So many messages at most are added at once for different times."""
MOST_BUCKETS = MOST_FIRINGS - 100
"""So many buckets are held at most: each may have the timer fire, in one step of the clock."""
MOST_LEDGERS = 300
"""Of so many ledgers messages are added at once."""


def numbers(capabilities: Capabilities) -> dict[str, Edge]:
    """What there is to say of the numbers that this subject is asked for."""
    last = 2**capabilities.entry_id_bits - 1
    entries = Edge((4_096, 65_536), "the containers of a bitmap", high=last)
    times = Edge((LAST,), "DD-05: where rounding overflows", low=-1)
    return {
        "add.entry": entries,
        "fill.entry": entries,
        "md.entry": Edge((4_096, 65_536, 2**32), "TD-15: an entry id is a long, whatever a bitmap holds"),
        "add.at": times,
        "fill.at": times,
        "fill.n": Edge((256, 4_096), "the containers of a bitmap", high=4_100),
        "fill.each": Edge((64,), "of how many ledgers a bucket has messages", high=4_100),
        "get.most": Edge((1_000,), "a dispatcher's batch: it asks for none at least", low=0),
        "adv.ms": Edge(high=2**45, why="the clock is to have times ahead of it"),
        "config.lookahead": Edge((2, 1_000), "TD-12: how many of one delay are seen"),
        "config.prune_ms": Edge((5, 50), "TD-21: the bounds of what is taken from the tick"),
        "config.strict": Edge(why="yes or no", left=True),
    }


def fits(fill: Fill, model: TopicDelivery) -> bool:
    """Whether messages for different times are not too many, and all of their times are there."""
    end = fill.at + fill.n * fill.apart
    few = fill.n <= MOST_APART and fill.n + len(model.index.held) <= MOST_BUCKETS
    return fill.apart == 0 or (few and 0 <= end <= LAST)


def may(model: TopicDelivery, operation: AnyOperation, capabilities: Capabilities) -> bool:
    """Whether all positions and times of an operation are there."""
    if isinstance(operation, Jump):
        return settable(operation.by, model.timer.now, model.timer.armed)
    if not isinstance(operation, Fill):
        return True
    o = operation
    entries, ledgers = min(o.each or o.n, o.n), o.n // o.each if o.each else 0
    there = o.entry + entries * o.step < 2**capabilities.entry_id_bits and o.ledger + ledgers < 2**63
    return there and ledgers <= MOST_LEDGERS and fits(o, model)


EDGES = Edges(numbers, now=lambda model: model.timer.now, may=may)
