"""Values between the kit and Java: each entry of Java's has bytes, which are a value of the kit's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from broker_tck.implementations.interface import Entry, Position
from broker_tck.implementations.jvm.errors import translating
from broker_tck.implementations.jvm.loader import Loader
from broker_tck.implementations.jvm.standins import by_handler, of_interface
from broker_tck.implementations.jvm.weaving import ALLOCATOR

LEDGER = "org/apache/bookkeeper/mledger/"
ANSWERED = ("retain", "release", "retainedDuplicate", "duplicate", "readableBytes", "readerIndex", "writeBytes")
"""What Java does with the bytes of an entry."""


class Values:
    """Makes what Java has of the kit's values."""

    def __init__(self, loader: Loader, position: Callable[[int, int], Any]) -> None:
        self.position = position
        self.bytes: Callable[[Payload], Any] = by_handler(loader, "io.netty.buffer.ByteBuf", ANSWERED)
        self.weak = loader.jpype.JClass("java.lang.ref.WeakReference")
        self.int = loader.jpype.JInt
        self.empty = loader.named("io.netty.buffer.Unpooled").EMPTY_BUFFER
        allocator = loader.named(ALLOCATOR) if loader.is_loaded(ALLOCATOR) else loader.put_first(ALLOCATOR)
        allocating = {"directBuffer": lambda *_: Allocated(self).java()}
        allocator.DEFAULT = of_interface(loader, "io.netty.buffer.ByteBufAllocator", allocating)


class Payload:
    """The bytes of one entry of Java's. Its methods are those of the bytes."""

    def __init__(self, values: Values, value: Entry) -> None:
        self.values, self.value, self.length = values, value, value.length
        self.references = 1

    def java(self) -> Any:
        """The bytes as Java has them."""
        return self.values.bytes(self)

    def invoke(self, this: Any, method: Any, arguments: Any) -> Any:
        """A call of Java's."""
        return getattr(self, str(method.getName()))(this, *(arguments or ()))

    def retain(self, this: Any) -> Any:
        """One more reference."""
        self.references += 1
        self.value.retain()
        return this

    def release(self, _this: Any) -> bool:
        """One reference less, unless the value was released once too often. With the last, Java keeps no value."""
        value = self.value
        self.references -= 1
        if not self.references:
            del self.value
        if value.count:
            value.release()
        return not self.references

    def retainedDuplicate(self, _this: Any) -> Any:  # noqa: N802 - the name that Java calls
        """The bytes of another entry, which is a value of its own."""
        return Payload(self.values, copied(self.value)).java()

    def duplicate(self, _this: Any) -> Any:
        """What Java looks for metadata in: there are none."""
        return self.values.empty

    def readableBytes(self, _this: Any) -> Any:  # noqa: N802 - the name that Java calls
        """How many there are."""
        return self.values.int(self.length)

    def readerIndex(self, this: Any, *index: Any) -> Any:  # noqa: N802 - the name that Java calls
        """Where Java reads, or is to read: always from the first."""
        return this if index else self.values.int(0)


class Inserted(Payload):
    """The bytes of a value that the kit inserts: what Java makes of them has the same value."""

    made = False
    """Whether Java has made its entry of them."""

    def retainedDuplicate(self, this: Any) -> Any:  # noqa: N802 - the name that Java calls
        """The bytes of that entry, then those of others."""
        if self.made:
            return super().retainedDuplicate(this)
        self.made = True
        return this

    def release(self, this: Any) -> bool:
        """The entry is freed. Its count may be another's by now."""
        if self.value.reads is not None:
            cast(JavaCount, self.value.reads).refresh()
        return super().release(this)


class Allocated(Payload):
    """Bytes that Java copies those of an entry to, and has as those of another from then on."""

    def __init__(self, values: Values) -> None:
        self.values, self.references = values, 1

    def writeBytes(self, this: Any, other: Any) -> Any:  # noqa: N802 - the name that Java calls
        """They are a copy."""
        self.value = copied(other.handler.value)
        self.length = self.value.length
        return this


def copied(value: Entry) -> Entry:
    """A value for another entry of Java's, which tells the count itself."""
    copy = value.copy()
    copy.counts_as_read = False
    return copy


@translating
class JavaCount:
    """A read count of Java's, which no time matters to.

    Java's queue holds the values, and they their counts: one that led back to the queue would never be let go.
    """

    def __init__(self, java: Any, refuel: Callable[[], None]) -> None:
        self._java, self._refuel = java, refuel
        self.entry: Any = None
        """Java's weak reference to the entry that was inserted with it, which an insertion may give another."""

    def refresh(self) -> Any:
        """The count of Java's now."""
        entry = self.entry and self.entry.get()
        if entry is not None:
            self._java = entry.getReadCountHandler() or self._java
        return self._java

    def get_expected_read_count(self) -> int:
        """The count now."""
        self._refuel()
        return int(self.refresh().getExpectedReadCount())

    def increment_expected_read_count(self) -> None:
        """One more read is expected."""
        self._refuel()
        self.refresh().incrementExpectedReadCount()

    def mark_read(self) -> None:
        """A reader is done."""
        self._refuel()
        self.refresh().markRead()


@translating
class JavaEntry:
    """An entry of Java's that a reader was given."""

    def __init__(self, java: Any, ready: Callable[[], None], drain: Callable[[], None], refuel: Any) -> None:
        self._java, self._ready, self._drain = java, ready, drain
        self.position: Position = int(java.getLedgerId()), int(java.getEntryId())
        count = java.getReadCountHandler() if hasattr(java, "getReadCountHandler") else None
        self.reads = None if count is None else JavaCount(count, refuel)

    def retain(self) -> None:
        """One more reference."""
        self._ready()
        self._java.retain()

    def release(self) -> None:
        """One reference less; with the last one, permits may come back."""
        self._ready()
        self._java.release()
        self._drain()


def value_of(entry: Any) -> Entry:
    """The kit's value of an entry of Java's."""
    value: Entry = entry.getDataBuffer().handler.value
    return value
