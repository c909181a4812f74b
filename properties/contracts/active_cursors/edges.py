"""The boundary values of active cursors, and how all cursors are removed."""

from __future__ import annotations

from collections.abc import Iterator

from broker_tck.model.active_cursors.specification import ActiveCursors
from broker_tck.properties.contracts.active_cursors.operations import (
    Advance,
    AnyOperation,
    Caches,
    Capabilities,
    Config,
    Listed,
    Remove,
    Size,
    Slowest,
)
from broker_tck.properties.engine.choices import Choices
from broker_tck.properties.engine.edges import Edge, Edges

LAST = 3 * 2**41
"""The last time of the clock, in milliseconds: its nanoseconds fit into 64 bits."""
CROWDED = (4, 64, 256, 1_000)
"""Sizes at which the list of cursors rebuilds itself, and what a byte counts."""
MOST = 1_100
"""Maximum number of cursors: each question about all of them looks at each."""
ASKED = 8
"""As cursors are removed, a question is asked after one in this number."""


def numbers(_capabilities: Capabilities) -> dict[str, Edge]:
    """The boundary values of the numbers that this subject is asked for."""
    many = Edge(CROWDED, "CC-09, CC-10: where the list rebuilds itself; counts of 8 bits", high=MOST)
    return {
        "crowd.n": many,
        "march.n": many,
        "march.among": Edge(left=True, why="the generator has a few cursors of a crowd move many times"),
        "remove.n": Edge(left=True, why="the generator removes what it knows to be there"),
        "adv.ms": Edge((2_000, 2**31, 2**32), "EC-58; what 32 bits hold", high=2**41),
        "config.grace": Edge((0, 2_000, 2**31), "EC-58: without one nothing is cached when the last cursor has gone"),
        "config.clock": Edge(high=2**41, why="time is to be left"),
    }


def left(model: ActiveCursors) -> int:
    """How many milliseconds are left until the clock is at its end."""
    return max(0, LAST - model.now)


def may(model: ActiveCursors, operation: AnyOperation, _capabilities: Capabilities) -> bool:
    """Whether there is time for an operation."""
    return not isinstance(operation, Advance) or operation.ms <= left(model)


def may_start(config: Config, capabilities: Capabilities) -> bool:
    """Whether a container can be configured so: one without grace time has none."""
    return capabilities.grace or config.grace == 0


EDGES = Edges(numbers, may=may, may_start=may_start)


def ebb(model: ActiveCursors, choices: Choices, _capabilities: Capabilities) -> Iterator[AnyOperation]:
    """All cursors are removed: in the order in which they came, the last one first, or anyhow."""
    names = [*model.objects]
    kind = choices.below(3)
    if kind == 0:
        names.reverse()
    while names:
        if kind == 1:
            i = choices.below(len(names))
            names[i], names[-1] = names[-1], names[i]
        yield Remove(names.pop())
        if choices.below(ASKED) == 0:
            yield Slowest()
    yield from (Slowest(), Size(), Listed(), Caches())
