"""The properties of buckets: updates of the cursor, one after another."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial

from broker_tck.implementations.bucket_delivery.calls import Calls
from broker_tck.implementations.bucket_delivery.promises import Promise, kept


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
        self._busy = False
        self._waiting: deque[_Update] = deque()

    def put(self, key: str, number: int, done: Callable[[bool], None]) -> None:
        """Have a key lead to a snapshot; tells whether that went well."""
        self._enqueue(_Update(key, number, True, done))

    def remove(self, key: str, number: int, done: Callable[[bool], None]) -> None:
        """Remove a key if it leads to this snapshot still; tells whether that went well."""
        self._enqueue(_Update(key, number, False, done))

    def _enqueue(self, update: _Update) -> None:
        if self._busy:
            update.waited = True
            self._waiting.append(update)
        else:
            self._run(update)

    def _run(self, update: _Update | None) -> None:
        """Begin an update, and those behind it as long as each has ended at once: one after another, not nested."""
        while update is not None:
            self._busy = True
            answer = self._call(update)
            if not answer.kept:
                answer.then(partial(self._go_on, update))
                return
            update = self._ended(update, answer.result)

    def _go_on(self, update: _Update, result: Exception | None) -> None:
        self._run(self._ended(update, result))

    def _call(self, update: _Update) -> Promise[Exception | None]:
        if update.puts:
            return self._calls.put_property(update.key, str(update.number))
        if self._calls.property_of(update.key) == str(update.number):
            return self._calls.remove_property(update.key)
        return kept(None)

    def _ended(self, update: _Update, result: Exception | None) -> _Update | None:
        """Tell of an update; gives the next one if that is to begin now.

        One that did not have to wait is told of after the next one has begun, as it is for one who asks the cursor
        directly; all others before.
        """
        following = self._waiting.popleft() if self._waiting else None
        self._busy = following is not None
        if following is not None and not update.waited:
            self._run(following)
            following = None
        update.done(not isinstance(result, Exception))
        return following
