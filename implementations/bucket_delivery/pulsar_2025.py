"""The broker's bucket tracker as it was in September 2025, and is in 4.0.8."""

from __future__ import annotations

from typing import ClassVar

from broker_tck.implementations.bucket_delivery.pulsar_timer import WakeUp, WakeUp2025
from broker_tck.implementations.bucket_delivery.pulsar_tracker import Tracker
from broker_tck.implementations.interface import Clock, IllegalArgumentException, Timer


class PulsarBuckets2025(Tracker):
    """Nothing looks at the mark-delete position; any number of merges run, and their errors leave the add."""

    profiles: ClassVar[tuple[str, ...]] = ("bucket-2025",)

    def _no_timer(self, clock: Clock, timer: Timer) -> WakeUp:
        return WakeUp2025(clock, timer, self._move_scheduled)

    def add_message(self, ledger_id: int, entry_id: int, deliver_at: int) -> bool:
        """Track a message, unless it is due; one that is tracked is taken, due or not: PR 26230."""
        if self._members.holds(ledger_id, entry_id):
            return True
        if deliver_at < 0 or deliver_at <= self._cutoff():
            return False
        self._track(ledger_id, entry_id, deliver_at)
        return True

    def _enqueue(self, ledger: int, entry: int, at: int, is_covered: bool) -> None:
        """Raises for a ledger inside of the growing range: PR 25371."""
        if self._growing.first <= ledger < self._growing.last and not is_covered:
            raise IllegalArgumentException(f"ledger {ledger} is below {self._growing.last}")
        super()._enqueue(ledger, entry, at, is_covered)

    def _maintain(self) -> None:
        self._merge()

    def _next_time(self) -> int:
        """Raises where both queues are empty: PR 26080."""
        if not self._growing.queue and not self._shared:
            raise IllegalArgumentException("no message is queued")
        return super()._next_time()

    def _first_live(self) -> int:
        return -1
