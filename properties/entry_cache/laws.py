"""What holds of the entry caches whatever the model says: judged on what was observed alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from broker_tck.properties.contract import Law, Step, Variation
from broker_tck.properties.entry_cache.operations import Config, Late, Reopen, Total
from broker_tck.properties.entry_cache.reading import Answers


def sizes_add_up(config: Config, steps: Sequence[Step]) -> Iterator[tuple[int, str | None]]:
    """EC-01: the broker's size is that of its caches, as long as none was left behind with entries."""
    reopened = False
    for index, step in enumerate(steps):
        reopened = reopened or isinstance(step.operation, Reopen)
        if (isinstance(step.operation, Late) and step.result) or (reopened and isinstance(step.operation, Answers)):
            return
        if isinstance(step.operation, Total) and len(step.seen) == 2:
            size = sum(cache[1] for cache in step.seen[0])
            yield index, None if step.result == size else f"the caches have {size} bytes, the broker {step.result}"


LAWS: tuple[Law, ...] = (Law("EC-01", sizes_add_up),)

VARIATIONS: tuple[Variation, ...] = ()
