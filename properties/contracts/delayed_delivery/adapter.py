"""The adapter: a delayed-delivery subject with a clock and a timer of its own, behind the names of the operations."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any, cast

from broker_tck.implementations.interface import BatchAdds, DelayedDeliveryFactory
from broker_tck.properties.contracts.delayed_delivery.operations import Capabilities, Config
from broker_tck.properties.engine.answers import HandedOut, number
from broker_tck.properties.engine.timer import DispatcherTimer


class Adapter(DispatcherTimer):
    """A subject under test. Its methods are the operations; it knows nothing of the reference model."""

    def __init__(self, factory: DelayedDeliveryFactory, config: Config, capabilities: Capabilities) -> None:
        super().__init__(config.clock)
        self.batch_adds = capabilities.batch_adds
        self.handed_out = HandedOut()
        self.tracker = factory(config, lambda: self.now, self)
        self.count: Callable[[], int | None] = self.tracker.get_number_of_delayed_messages

    def add(self, ledger: int, entry: int, at: int) -> bool:
        """Track a message."""
        return self.tracker.add_message(ledger, entry, at)

    def fill(self, ledger: int, entry: int, step: int, n: int, at: int, apart: int) -> int:
        """Track n messages, in one call where the subject has batch adds."""
        entries, times = range(entry, entry + n * step, step), [at + i * apart for i in range(n)]
        if self.batch_adds:
            return sum(cast(BatchAdds, self.tracker).add_messages(ledger, entries, times))
        add = self.tracker.add_message
        return sum([add(ledger, e, t) for e, t in zip(entries, times, strict=True)])

    def has(self) -> bool:
        """Whether a message is available."""
        return self.tracker.has_message_available()

    def get(self, most: int) -> Any:
        """Hand out what is due, as a list."""
        return self.handed_out.listed(self.tracker.get_scheduled_messages(most))

    def pause(self) -> bool:
        """Whether all deliveries should pause."""
        return self.tracker.should_pause_all_deliveries()

    def reset_tick(self, tick: int) -> None:
        """Change the tick."""
        self.tracker.reset_tick_time(tick)

    def memory(self) -> int:
        """The memory estimate in bytes."""
        return self.tracker.get_buffer_memory_usage()

    def clear(self) -> None:
        """Forget every message. What the call returns is its own affair: the broker's answers with a future."""
        self.tracker.clear()
        self.handed_out.compare_all()

    def close(self) -> None:
        """Close the subject."""
        self.tracker.close()
        self.count = self.count_closed
        self.handed_out.compare_all()

    def let_go(self) -> None:
        """Forget what was handed out, too."""
        super().let_go()
        self.handed_out = HandedOut()

    def collect_garbage(self) -> None:
        """Collect garbage; a tracker outside of Python has a method of its own for that."""
        getattr(self.tracker, "collect_garbage", gc.collect)()

    def seen(self) -> tuple[Any, list[int]]:
        """The number of messages, and the times of all armed timeouts."""
        return number(self.count()), self.armed()

    def count_closed(self) -> int | None:
        """The number of messages that a closed tracker tells; it need not tell any."""
        try:
            return self.tracker.get_number_of_delayed_messages()
        except Exception:
            return None
