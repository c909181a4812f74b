"""What holds of readers whatever the model says: judged on what was observed alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from broker_tck.properties.contracts.entry_cache.operations import Begin, Config
from broker_tck.properties.contracts.entry_cache.reading import Answers, Done, Fetch, FetchMany, FetchOne, Permits
from broker_tck.properties.engine.contract import Law, Step


class Readers:
    """Who awaits an answer, and who holds what it was given, by number."""

    def __init__(self) -> None:
        self.begun = 0
        self.again: set[int] = set()
        self.awaited: set[int] = set()
        self.holding: set[int] = set()

    def begin(self, again: bool = False) -> None:
        """One more reader."""
        self.begun += 1
        self.awaited.add(self.begun)
        if again:
            self.again.add(self.begun)

    def see(self, step: Step) -> None:
        """What an operation made of them."""
        if isinstance(step.operation, Fetch | FetchOne):
            self.begin(isinstance(step.operation, Fetch) and bool(step.operation.again))
        if isinstance(step.operation, FetchMany):
            for _ in range(step.operation.times):
                self.begin()
        if isinstance(step.operation, Done) and self.holding:
            self.holding.remove(sorted(self.holding)[step.operation.i % len(self.holding)])
        told = {event[1]: event[0] for event in step.result if event[0] in ("answers", "fails")}
        for _ in self.again.intersection(told):
            self.begin()
        self.awaited.difference_update(told)
        self.holding.update(number for number, how in told.items() if how == "answers")


def permits_come_back(config: Config, steps: Sequence[Step]) -> Iterator[tuple[int, str | None]]:
    """EC-P17: what is left of the limit is never below 0, and is all of it when nobody awaits or holds anything."""
    readers, limit = Readers(), config.max_reads_in_flight
    for index, step in enumerate(steps):
        if isinstance(step.result, dict) or isinstance(step.operation, Begin):
            return
        if isinstance(step.operation, Answers):
            readers.see(step)
        elif isinstance(step.operation, Permits) and limit:
            if not 0 <= step.result <= limit:
                yield index, f"{step.result} bytes are left of {limit}"
            elif not (readers.awaited or readers.holding):
                yield index, None if step.result == limit else f"nobody reads, and {step.result} of {limit} are left"


READING_LAWS: tuple[Law, ...] = (Law("EC-P17", permits_come_back),)
