"""The properties of buckets: updates of the cursor, one after another."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from broker_tck.implementations.bucket_delivery.calls import Calls


class _Update:
    """A property that is put, or removed."""

    __slots__ = ("done", "key", "number", "puts", "waited")

    def __init__(self, key: str, number: int, puts: bool, done: Callable[[bool], None]) -> None:
        self.key = key
        self.number = number
        self.puts = puts
        self.done = done
        self.waited = False


class KeyUpdates:
    """Puts and removes properties of buckets. None begins before the one before it has ended (BD-17)."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._current: _Update | None = None
        self._waiting: deque[_Update] = deque()

    def put(self, key: str, number: int, done: Callable[[bool], None]) -> None:
        """Have a key lead to a snapshot; tells whether that went well."""
        self._enqueue(_Update(key, number, True, done))

    def remove(self, key: str, number: int, done: Callable[[bool], None]) -> None:
        """Remove a key if it leads to this snapshot still; tells whether that went well."""
        self._enqueue(_Update(key, number, False, done))

    def _enqueue(self, update: _Update) -> None:
        if self._current is None:
            self._run(update)
        else:
            update.waited = True
            self._waiting.append(update)

    def _run(self, update: _Update | None) -> None:
        """Begin an update, and those behind it as long as each has ended at once: one after another, not nested."""
        while update is not None:
            self._current = update
            if update.puts or self._calls.property_of(update.key) == str(update.number):
                answers = self._call(update)
                if not answers:
                    return
                update = self._ended(update, answers.pop())
            else:
                update = self._ended(update, well=True)

    def _call(self, update: _Update) -> list[bool]:
        """Call the cursor; whether that went well, if it is told before the call returns. If not, go on later."""
        answers: list[bool] = []
        calling = True

        def done(result: object) -> None:
            well = not isinstance(result, Exception)
            if calling:
                answers.append(well)
            else:
                self._run(self._ended(update, well))

        if update.puts:
            self._calls.put_property(update.key, str(update.number), done)
        else:
            self._calls.remove_property(update.key, done)
        calling = False
        return answers

    def _ended(self, update: _Update, well: bool) -> _Update | None:
        """Tell of an update; gives the next one if that is to begin now.

        One that did not have to wait is told of after the next one has begun, as it is for one who asks the cursor
        directly; all others before.
        """
        following = self._waiting.popleft() if self._waiting else None
        if following is None:
            self._current = None
            update.done(well)
            return None
        if update.waited:
            update.done(well)
            return following
        self._run(following)
        update.done(well)
        return None
