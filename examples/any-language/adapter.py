"""A delayed-delivery tracker behind the protocol of broker-tck, with nothing but Python's standard library.

Check it with ``broker-tck check --subject 'exec:python adapter.py'``. The second half is what another language needs as
well: the clock and timer, the operations, and the lines. docs/protocol.md of broker-tck says how they work.
"""

from __future__ import annotations

import json
import sys
from bisect import bisect_left
from collections.abc import Callable
from typing import Any

LAST_TIME = 2**63 - 1


class Tracker:
    """The implementation under test: keeps (key of the bucket, ledger, entry) in order."""

    def __init__(self, config: dict[str, Any], timer: Timer) -> None:
        self.timer = timer
        self.strict: bool = config["strict"]
        self.lookahead: int = config["lookahead"]
        self.tick: int = config["tick"]
        self.width = 1 << (max(self.tick, 1).bit_length() - 1)
        self.held: list[tuple[int, int, int]] = []
        self.fixed_delay, self.highest = True, 0
        self.timeout: Timeout | None = None
        self.target: int | None = None
        self.last_run: int | None = None

    def add(self, ledger: int, entry: int, at: int) -> bool:
        """Track a message, unless it is due now."""
        if at <= self.cutoff():
            self.fixed_delay = False
            return False
        up = min(at + self.width - 1, LAST_TIME) if self.strict else at
        one = (up & -self.width, ledger, entry)
        place = bisect_left(self.held, one)
        if self.held[place : place + 1] != [one]:
            self.held.insert(place, one)
        self.update_timer()
        self.fixed_delay = self.fixed_delay and at >= self.highest - self.tick
        self.highest = max(self.highest, at)
        return True

    def has(self) -> bool:
        """Whether the first bucket is due."""
        available = bool(self.held) and self.is_due(self.held[0][0])
        if not available:
            self.update_timer()
        return available

    def get(self, most: int) -> list[tuple[int, int]]:
        """Take what is due, so much at most."""
        count = 0
        while count < min(most, len(self.held)) and self.is_due(self.held[count][0]):
            count += 1
        taken, self.held = self.held[:count], self.held[count:]
        if not self.held:
            self.fixed_delay, self.highest = True, 0
        self.update_timer()
        return sorted({(ledger, entry) for _, ledger, entry in taken})

    def pause(self) -> bool:
        """Whether enough is held, all of one delay, and nothing of it is available."""
        return 0 < self.lookahead <= len(self.held) and self.fixed_delay and not self.has()

    def reset_tick(self, tick: int) -> None:
        """Change the tick; the buckets keep their width."""
        self.tick = tick

    def clear(self) -> None:
        """Forget every message."""
        self.held = []

    def close(self) -> None:
        """Cancel what is armed."""
        if self.timeout:
            self.timeout.cancel()
        self.timeout = self.target = None

    def cutoff(self) -> int:
        """The last time that is due now."""
        return self.timer.now + (0 if self.strict else self.tick)

    def is_due(self, key: int) -> bool:
        """Whether all that a bucket may hold is due."""
        return key + (0 if self.strict else self.width - 1) <= self.cutoff()

    def update_timer(self) -> None:
        """Arm for the first bucket."""
        if not self.held:
            self.close()
            return
        key, now = self.held[0][0], self.timer.now
        wake = key if self.strict else max(key, key + self.width - 1 - self.tick)
        if wake == self.target:
            return
        self.close()
        if self.last_run is not None and self.last_run > now:
            self.last_run = None  # the clock was set back
        if wake > now:
            self.target = wake
            earliest = wake if self.last_run is None else self.last_run + self.tick
            self.timeout = self.timer.new_timeout(max(wake, earliest), self.fired)

    def fired(self, timeout: Timeout) -> bool:
        """Ask for a read, unless the timeout was cancelled."""
        if timeout.cancelled:
            return False
        self.last_run = self.timer.now
        self.timeout = self.target = None
        return True


# ---- The clock and the timer


class Timeout:
    """What is armed for a time."""

    def __init__(self, timer: Timer, deadline: int, fired: Callable[[Timeout], bool]) -> None:
        self.timer, self.deadline, self.fired, self.cancelled = timer, deadline, fired, False

    def cancel(self) -> None:
        """Disarm."""
        if self in self.timer.armed:
            self.timer.armed.remove(self)
            self.timer.last_cancelled = self
        self.cancelled = True


class Timer:
    """A timer, and the clock behind it, which operations move."""

    def __init__(self, now: int) -> None:
        self.now = now
        self.armed: list[Timeout] = []
        self.last_cancelled: Timeout | None = None

    def new_timeout(self, deadline: int, fired: Callable[[Timeout], bool]) -> Timeout:
        """Arm a timeout."""
        self.armed.append(Timeout(self, deadline, fired))
        return self.armed[-1]

    def advance(self, ms: int) -> list[int]:
        """Move the clock. Timeouts fire on the way; the times at which one asked for a read."""
        until, asked = self.now + ms, list[int]()
        while self.armed:
            timeout = min(self.armed, key=lambda each: each.deadline)  # of several, the one that was armed first
            if timeout.deadline > until:
                break
            self.now = max(self.now, timeout.deadline)
            self.armed.remove(timeout)
            if timeout.fired(timeout):
                asked.append(self.now)
        self.now = until
        return asked

    def jump(self, by: int) -> None:
        """Set the clock; timeouts wait as long as before."""
        self.now += by
        for timeout in self.armed:
            timeout.deadline += by

    def stale(self) -> bool:
        """Let the timeout that was cancelled last fire all the same; whether it asked for a read."""
        return self.last_cancelled is not None and self.last_cancelled.fired(self.last_cancelled)


# ---- The operations, and what is seen after each


class Adapter:
    """A tracker for one trace, with a clock and a timer of its own."""

    def __init__(self, config: dict[str, Any]) -> None:
        self.timer = timer = Timer(config["clock"])
        self.tracker = tracker = Tracker(config, timer)
        self.operations: dict[str, Callable[..., Any]] = {
            "add": tracker.add,
            "fill": self.fill,
            "has": tracker.has,
            "get": tracker.get,
            "pause": tracker.pause,
            "tick": tracker.reset_tick,
            "adv": timer.advance,
            "jump": timer.jump,
            "stale": timer.stale,
            "clear": tracker.clear,
            "close": tracker.close,
        }

    def fill(self, ledger: int, entry: int, step: int, n: int, at: int, apart: int) -> int:
        """Add several messages; how many were taken."""
        return sum([self.tracker.add(ledger, entry + i * step, at + i * apart) for i in range(n)])

    def answer(self, operation: list[Any]) -> list[Any]:
        """The outcome of an operation: its result, then the observables."""
        name, *fields = operation
        try:
            result = self.operations[name](*fields)
        except Exception as error:
            result = {"error": type(error).__name__, "message": str(error)}
        return [result, len(self.tracker.held), sorted(timeout.deadline for timeout in self.timer.armed)]


# ---- The lines

HELLO = {
    "protocol": 1,
    "contract": "delayed-delivery",
    "profiles": ["timebucket-ideal"],
    "capabilities": {"entry_id_bits": 63, "memory_estimate": False},
    "levels": sys.argv[1:] or ["operations", "traces"],
    "software": "sorted-list 1",
}


def main() -> None:
    """Speak, until standard input ends."""
    lines, sys.stdout = sys.stdout, sys.stderr  # what anybody prints is not part of the conversation

    def say(message: Any) -> None:
        lines.write(json.dumps(message, separators=(",", ":")) + "\n")
        lines.flush()

    say(HELLO)
    welcome = json.loads(sys.stdin.readline())
    if "error" in welcome:
        sys.exit(welcome["error"])
    adapter = None
    for line in sys.stdin:
        message = json.loads(line)
        if isinstance(message, dict):
            adapter = Adapter(message["config"])
        elif adapter:
            say(adapter.answer(message))


if __name__ == "__main__":
    main()
