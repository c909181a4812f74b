"""The properties of buckets: updates of the cursor, one after another."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from functools import partial

from broker_tck.implementations.bucket_delivery.calls import Calls
from broker_tck.implementations.bucket_delivery.promises import Promise, Steps, run
from broker_tck.implementations.interface import BadVersionException


@dataclass(slots=True)
class _Update:
    """A property that is put, or removed."""

    key: str
    number: int
    puts: bool
    waited: bool = False
    well: Promise[bool] = field(default_factory=Promise)


class KeyUpdates:
    """Puts and removes properties of buckets. None begins before the one before it has ended (BD-17)."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._busy = False
        self._waiting: deque[_Update] = deque()

    def put(self, key: str, number: int) -> Promise[bool]:
        """Have a key lead to a snapshot; tells whether that went well."""
        return self._enqueued(_Update(key, number, puts=True))

    def remove(self, key: str, number: int) -> Promise[bool]:
        """Remove a key if it leads to this snapshot still; tells whether that went well."""
        return self._enqueued(_Update(key, number, puts=False))

    def _enqueued(self, update: _Update) -> Promise[bool]:
        if self._busy:
            update.waited = True
            self._waiting.append(update)
        else:
            run(self._make(update))
        return update.well

    def _make(self, update: _Update) -> Steps[None]:
        """Make an update, then those that wait.

        One that did not have to wait is told of after the next one has begun, as it is for one who asks the cursor
        directly; all others before.
        """
        while True:
            self._busy = True
            well = yield from self._call(update)
            following = self._waiting.popleft() if self._waiting else None
            self._busy = following is not None
            if following is None or update.waited:
                update.well.keep(well)
            if following is None:
                return
            if not update.waited:
                run(self._make(following))
                update.well.keep(well)
                return
            update = following

    def _call(self, update: _Update) -> Steps[bool]:
        cursor = self._calls.cursor
        if update.puts:
            call = partial(cursor.put_cursor_property, update.key, str(update.number))
        elif self._calls.property_of(update.key) == str(update.number):
            call = partial(cursor.remove_cursor_property, update.key)
        else:
            return True
        result = yield self._calls.change(call, BadVersionException)
        return not isinstance(result, Exception)
