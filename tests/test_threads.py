"""Calls from another thread, while a subject calls back. A deadlock is certain only if no other thread is at work."""

from __future__ import annotations

from pathlib import Path

from kit import python


def test_calls_from_another_thread_end_or_are_seen_to_hang() -> None:
    """Libraries that other tests import have threads that never sleep for good."""
    done = python("-m", "pytest", "-q", "-p", "no:cacheprovider", str(Path(__file__).with_name("deadlocks.py")))
    assert done.returncode == 0, done.stdout
