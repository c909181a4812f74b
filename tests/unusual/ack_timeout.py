"""A right but unusual tracker of ack timeouts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from broker_tck.implementations.ack_timeout.timing_wheel import TimingWheel
from broker_tck.implementations.interface import (
    AckTimeoutConfig,
    AckTimeoutConsumer,
    AckTimer,
    Clocks,
    Timeout,
    TrackedPosition,
)


class RestlessWheel(TimingWheel):
    """Arms its timer for every tick while it tracks something, and disarms it as soon as it tracks nothing."""

    contract: ClassVar[str] = "ack-timeout"

    def __init__(self, config: AckTimeoutConfig, clocks: Clocks, timer: AckTimer, consumer: AckTimeoutConsumer) -> None:
        super().__init__(config, clocks, timer, consumer)
        self.consumer = consumer
        self._consumer = self

    def on_ack_timeout_send(self, ids: Iterable[TrackedPosition]) -> None:
        """Hand ids on as the keys of a dictionary, the last one first."""
        self.consumer.on_ack_timeout_send(dict.fromkeys(reversed([*ids])).keys())

    def redeliver_unacknowledged_messages(self, ids: Iterable[TrackedPosition]) -> None:
        """Hand ids on as a set."""
        self.consumer.redeliver_unacknowledged_messages({*ids})

    def _arm_for(self, tick: int) -> None:
        super()._arm_for(min(tick, self._now() + 1))

    def _fired(self, timeout: Timeout) -> None:
        super()._fired(timeout)
        self._rest()

    def clear(self) -> None:
        """Let go of everything, the timer as well."""
        super().clear()
        self._rest()

    def _remove(self, positions: Iterable[TrackedPosition]) -> int:
        removed = super()._remove(positions)
        self._rest()
        return removed

    def _rest(self) -> None:
        if not self._kept and self._timeout:
            self._timeout.cancel()
            self._timeout = None
