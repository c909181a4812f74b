"""Calls from another thread, while a subject calls back: `test_threads.py` runs this file in a process of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from select import select
from threading import Event, RLock, Timer, get_ident
from typing import Any, ClassVar

import pytest
from kit import on_linux

from broker_tck.implementations.entry_cache.reads import CacheReads, Reader, Running
from broker_tck.implementations.entry_cache.removal_queue import RemovalQueue
from broker_tck.implementations.interface import Entry, Hang, MessageId, Timeout
from broker_tck.implementations.negative_acks.sorted_buckets import SortedBucketsTracker
from broker_tck.properties.engine.check import no_answer
from broker_tck.properties.engine.subjects import declared
from broker_tck.properties.engine.threads import elsewhere, first_elsewhere
from broker_tck.properties.engine.trace import from_text
from broker_tck.properties.search.failing import Failure, failure


def test_first_call_is_made_from_another_thread() -> None:
    calls = first_elsewhere()
    threads = [next(calls)(get_ident) for _ in range(3)]
    assert [thread == get_ident() for thread in threads] == [False, True, True]


@pytest.mark.parametrize("error", [ValueError("no"), Hang(), SystemExit(3)])
def test_what_the_call_raises_is_raised(error: BaseException) -> None:
    def call() -> None:
        raise error

    with pytest.raises(type(error)) as raised:
        elsewhere(call)
    assert raised.value is error


# ---- A deadlock, and what is none


@on_linux
def test_call_that_needs_a_lock_of_this_thread_hangs() -> None:
    lock = RLock()
    with lock, pytest.raises(Hang):
        elsewhere(lock.acquire)


def waits_for_a_time(lock: Any) -> None:
    """Give up on a lock after a while."""
    lock.acquire(timeout=0.2)


def waits_for_a_third(_lock: Any) -> None:
    """Wait without a limit for a thread that goes on after a while."""
    event = Event()
    Timer(0.2, event.set).start()
    event.wait()


def waits_for_a_system(_lock: Any) -> None:
    """Wait for something that is no lock."""
    select([], [], [], 0.2)


@pytest.mark.parametrize("call", [waits_for_a_time, waits_for_a_third, waits_for_a_system])
def test_call_that_takes_long_does_not_hang(call: Callable[[Any], None]) -> None:
    lock = RLock()
    with lock:
        elsewhere(lambda: call(lock))


# ---- Subjects that hold a lock while they call


class CallsUnderLock(SortedBucketsTracker):
    """Calls the application with the lock held that a nack takes."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.lock = RLock()

    def add_message(self, message_id: MessageId, redelivery_count: int) -> None:
        with self.lock:
            super().add_message(message_id, redelivery_count)

    def _fired(self, timeout: Timeout) -> None:
        with self.lock:
            super()._fired(timeout)


class CalledByOneThread(CallsUnderLock):
    """Says that no other thread calls it then."""

    capabilities: ClassVar[dict[str, object]] = {"threads": False}


class LockedReads(CacheReads):
    """Tells readers with the lock held that a read takes."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.lock = RLock()

    def completed(self, running: Running, values: Sequence[Entry]) -> None:
        with self.lock:
            super().completed(running, values)

    def join_or_read(self, reader: Reader, first: int, last: int) -> None:
        with self.lock:
            super().join_or_read(reader, first, last)


class TellsUnderLock(RemovalQueue):
    """Answers readers so."""

    reads = LockedReads


NACKS = "negative-acks; nack 0 0 0; inside nack 0 1 0; adv 1000"
READS = "entry-cache; fetch 0 0 0 0 1 1; complete 0"


def outcome(kind: type, text: str) -> Failure | None:
    """Where a subject fails on a trace, and how."""
    trace = from_text(text)
    subject = declared(kind.__name__, kind)
    return failure(subject, trace.contract.specification, trace.config, trace.operations)


@on_linux
@pytest.mark.parametrize(
    ("kind", "text", "at"),
    [
        (CallsUnderLock, NACKS, 2),
        (TellsUnderLock, READS, 1),
        (CalledByOneThread, NACKS, None),
        (SortedBucketsTracker, NACKS, None),
        (RemovalQueue, READS, None),
    ],
)
def test_lock_that_is_held_during_a_call_is_found(kind: type, text: str, at: int | None) -> None:
    found = outcome(kind, text)
    assert found == (None if at is None else (at, no_answer("Hang", "no answer within the limit")))
