"""What holds of the entry caches whatever the model says: judged on what was observed alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from broker_tck.properties.contract import Law, Step, Variation
from broker_tck.properties.entry_cache.operations import Config, GoOn, Late, Total


def sizes_add_up(config: Config, steps: Sequence[Step]) -> Iterator[tuple[int, str | None]]:
    """EC-01: the broker's size is that of its caches, as long as none was left behind with entries."""
    for index, step in enumerate(steps):
        if isinstance(step.operation, Late) and step.result:
            return
        if isinstance(step.operation, Total) and len(step.seen) == 2:
            size = sum(cache[1] for cache in step.seen[0])
            yield index, None if step.result == size else f"the caches have {size} bytes, the broker {step.result}"


def reads_answer_for_their_own(config: Config, steps: Sequence[Step]) -> Iterator[tuple[int, str | None]]:
    """IL-4: a read that was begun answers with a hit, or a miss, and with no other position."""
    for index, step in enumerate(steps):
        if isinstance(step.operation, GoOn) and isinstance(step.result, list) and step.result[0] == "ends":
            answer = step.result[1]
            if isinstance(answer, str):
                yield index, None if answer in ("hit", "miss") else f"the read is a {answer}"


LAWS: tuple[Law, ...] = (Law("EC-01", sizes_add_up),)

VARIATIONS: tuple[Variation, ...] = ()

STEP_LAWS = (Law("IL-4", reads_answer_for_their_own),)
"""What holds of the steps of calls, and is judged where calls overlap, too."""
