"""Mutants of passes over the queue of removal: what one takes, what it gives another turn, and when it is made."""

from __future__ import annotations

from broker_tck.implementations.entry_cache.removal_queue import RemovalQueue
from broker_tck.implementations.interface import Clock, EntryCacheConfig, Execute
from broker_tck.implementations.mutants.mutant import mutant

# ---- Requeueing


@mutant(
    "EC-24", shows="A configuration that is ignored at the start, and heeded once it is set again.", source="PR 26627"
)
class SettingsAtStartIgnored(RemovalQueue):
    """Begins with the default settings of requeueing, whatever is configured."""

    def __init__(self, config: EntryCacheConfig, clock: Clock, execute: Execute) -> None:
        super().__init__(config, clock, execute)
        self._most_requeued, self._extends_accessed = 5, True


# ---- When passes are made


@mutant("EC-30", shows="A flag that is never reset: the first pass is right, no other comes.")
class OnePassAndNoMore(RemovalQueue):
    """Goes on to believe that a pass is ordered."""

    def _run_ordered(self) -> None:
        self._relieve()


@mutant("EC-40", shows="A statistic that counts what it should not; every entry is right.")
class TimePassesCounted(RemovalQueue):
    """Counts passes of time as well."""

    def evict_entries_before_timestamp(self, timestamp: int) -> tuple[int, int]:
        """Remove from the head what was put there before a time."""
        self._counters[2] += 1
        return super().evict_entries_before_timestamp(timestamp)
