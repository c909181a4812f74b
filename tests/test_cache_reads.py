"""Reads of contract ``entry-cache``: recorded traces, worked examples, defects of the real broker, properties.

Each trace is run on the model and on every subject of the profile at once; all have to say the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import pytest
from kit import trace_of

from broker_tck.implementations.entry_cache.reads import ReadLimiter
from broker_tck.implementations.entry_cache.removal_queue import RemovalQueue
from broker_tck.implementations.interface import TooManyRequestsException
from broker_tck.properties.contracts.entry_cache.operations import Capabilities, Config
from broker_tck.properties.contracts.entry_cache.reading import Answers
from broker_tck.properties.contracts.entry_cache.reading_walk import drain_readers
from broker_tck.properties.contracts.entry_cache.rig import Rig
from broker_tck.properties.contracts.entry_cache.values import Tally, Value
from broker_tck.properties.engine.check import first_difference, record
from broker_tck.properties.engine.registry import CONTRACTS
from broker_tck.properties.engine.walk import walk, walk_seed
from broker_tck.properties.search.replay import declaring

CONTRACT = CONTRACTS["entry-cache"]
MODEL: Any = CONTRACT.specification
EMPTY: list[Any] = []


def results(text: str, setting: str = "", profile: str = "pip-430") -> list[Any]:
    """What the operations of a trace end in, by the model and by all subjects alike."""
    trace = trace_of(f"entry-cache {profile} {setting}; {text}")
    model = CONTRACT.model(profile)
    subjects = declaring(CONTRACT, profile)
    assert subjects
    for subject in (subject for subject in subjects if subject.capabilities.reads):
        rig = subject.rig(trace.config, subject.capabilities)
        assert first_difference(trace.operations, model(trace.config), rig) is None
    return [step.result for step in record(trace.operations, model(trace.config))]


def last(text: str, setting: str = "", profile: str = "pip-430") -> Any:
    """What the last of them ends in."""
    return results(text, setting, profile)[-1]


def puts(*entries: int, reads: int = 1) -> str:
    """Insertions into the first cache."""
    return "; ".join(f"put 0 1 {entry} 10 {reads}" for entry in entries) + "; "


# ---- Hits, misses, population (EC-45 to EC-49, RC-04)


def test_range_that_is_cached_in_part_asks_for_what_is_missing() -> None:
    done = results(f"cursor 0 0 1 0 1; {puts(2, 3, 7)} fetch 0 0 1 0 10 0; complete 0; complete 0; complete 0; hits")
    assert done[4] == [["asks", 0, 1, 0, 1], ["asks", 0, 1, 4, 6], ["asks", 0, 1, 8, 9]]
    assert done[5] == [["counts", 1]]
    assert done[6] == [["counts", 1]]
    assert done[7] == [["answers", 1, [*range(10)], [1] * 10], ["counts", 1]]
    assert done[8] == [3, 30, 7, 10 + 30 + 10 + 30 + 20 + 10 + 30]


def test_range_that_is_cached_asks_for_nothing() -> None:
    assert last(f"{puts(0, 1)} fetch 0 0 1 0 2 0") == [["answers", 1, [0, 1], [1, 1]]]


@pytest.mark.parametrize(("cached", "asked"), [((2, 3), [["asks", 0, 1, 0, 4]]), ((0, 1, 2, 3, 4), EMPTY)])
def test_before_partial_hits_it_was_all_or_nothing(cached: Sequence[int], asked: list[Any]) -> None:
    told = last(f"{puts(*cached)} fetch 0 0 1 0 5 0", profile="queue")
    assert [event for event in told if event[0] == "asks"] == asked


def test_part_that_fails_has_all_read_from_the_storage() -> None:
    """What was obtained before is released, which counts as read (RC-07), and is read again, which counts as missed."""
    done = results(
        f"cursor 0 0 1 0 1; {puts(0, 1, reads=5)} fetch 0 0 1 0 3 0; fail 0 1; complete 0; get 0 1 0; "
        "expect 0 1 0; hits"
    )
    assert done[3] == [["asks", 0, 1, 2, 2]]
    assert done[4] == [["asks", 0, 1, 0, 2]]
    assert done[5] == [["answers", 1, [0, 1, 2], [1, 1, 1]], ["counts", 1]]
    assert done[7] == 5 - 1 + 1
    assert done[8] == [2, 20, 3, 60]


def test_second_failure_is_told_to_the_reader() -> None:
    done = results(f"{puts(0)} fetch 0 0 1 0 2 0; fail 0 1; fail 0 1")
    assert done[-2:] == [[["asks", 0, 1, 0, 1]], [["fails", 1]]]


CURSORS = "cursor 0 0 1 5 1; cursor 0 1 1 5 1; cursor 0 2 1 9 1; cursor 0 3 1 20 1; "


def test_counts_of_a_read_start_with_the_cursors_at_or_before_it() -> None:
    """A@5, B@5, C@9, D@20; C reads ten entries from the storage, then A, B and D read them from the cache."""
    read = f"{CURSORS} fetch 0 2 1 9 10 0; complete 0; done 0; "
    assert results(read)[5] == [["answers", 1, [*range(9, 19)], [3] * 10], ["counts", 1]]
    assert last(f"{read} pinned") == [10, 250]
    once_more = f"{read} fetch 0 0 1 9 10 0; fetch 0 1 1 9 10 0; done 0; done 0; "
    assert results(once_more)[7] == [["answers", 2, [*range(9, 19)], [2] * 10]]
    assert last(f"{once_more} pinned") == [0, 0]
    assert last(f"{once_more} fetch 0 3 1 9 10 0; done 0; fetch 0 3 1 9 10 0")[0][3] == [-1] * 10


def test_counts_are_those_of_the_time_of_the_answer() -> None:
    """RC-04, IL-9: B moves to 30 while the storage reads."""
    done = results(f"{CURSORS} fetch 0 2 1 9 10 0; cursor 0 1 1 30 1; complete 0")
    assert done[-1][0][3] == [2] * 10


def test_what_nobody_is_to_read_is_not_cached() -> None:
    assert results("fetch 0 0 1 0 1 0; complete 0; get 0 1 0")[1:] == [
        [["answers", 1, [0], [None]], ["counts", 1]],
        "miss",
    ]


def test_single_read_never_populates_but_hits_and_counts() -> None:
    """EC-49."""
    assert results(f"{CURSORS} single 0 1 7; complete 0; get 0 1 7")[-2:] == [[["answers", 1, [7], [None]]], "miss"]
    assert results(f"{puts(0, reads=2)} single 0 1 0; done 0; expect 0 1 0")[-1] == 2


def test_copies_share_the_count_of_the_cache() -> None:
    """EC-48, RC-06: the count is lowered when a copy is freed, and by each copy."""
    done = results(f"{puts(0, reads=3)} fetch 0 0 1 0 1 0; fetch 0 1 1 0 1 0; share 0; done 0; single 0 1 0")
    assert [done[1][0][3], done[2][0][3], done[3], done[5][0][3]] == [[3], [3], [3], [2]]


def test_two_misses_of_one_entry_insert_it_once() -> None:
    """IL-7: the second reader's count is its own, so that its release does not lower the cached one."""
    runs = "cursor 0 0 1 0 1; fetch 0 0 1 0 1 0; trim 0 1; fetch 0 0 1 0 1 0; complete 0; complete 0; "
    done = results(f"{runs} done 1; single 0 1 0; done 0; single 0 1 0")
    assert [event for told in (done[1], done[3]) for event in told] == [["asks", 0, 1, 0, 0]] * 2
    assert (done[7][0][3], done[9][0][3]) == ([1], [0])


def test_in_2026_the_second_of_two_misses_hands_its_count_over() -> None:
    runs = "cursor 0 0 1 0 1; fetch 0 0 1 0 1 0; trim 0 1; fetch 0 0 1 0 1 0; complete 0; complete 0; "
    done = results(f"{runs} done 1; single 0 1 0", profile="pip-430-2026")
    assert done[7][0][3] == [0]


# ---- Joined reads (EC-50 to EC-54)


@pytest.mark.parametrize(
    ("first", "n", "asked"),
    [
        (10, 10, []),
        (15, 10, [(20, 24)]),
        (5, 10, [(5, 9)]),
        (5, 20, [(5, 9), (20, 24)]),
        (12, 4, []),
        (20, 10, [(20, 29)]),
        (0, 10, [(0, 9)]),
    ],
)
def test_read_joins_what_runs(first: int, n: int, asked: list[tuple[int, int]]) -> None:
    """[10, 19] runs."""
    text = f"cursor 0 0 1 0 1; fetch 0 0 1 10 10 0; fetch 0 0 1 {first} {n} 0; "
    assert results(text)[2] == [["asks", 0, 1, *run] for run in asked]
    text += "complete 0; " * (len(asked) + 1)
    answers = [event for told in results(text)[3:] for event in told if event[0] == "answers"]
    assert sorted(answers) == [
        ["answers", 1, [*range(10, 20)], [1] * 10],
        ["answers", 2, [*range(first, first + n)], [1] * n],
    ]


def test_read_joins_several_that_run() -> None:
    """The order in which it finds them does not matter: reads that run never overlap."""
    text = "fetch 0 0 1 2 2 0; fetch 0 0 1 6 2 0; fetch 0 0 1 0 10 0; "
    assert results(text)[2] == [["asks", 0, 1, 0, 1], ["asks", 0, 1, 4, 5], ["asks", 0, 1, 8, 9]]
    assert last(text + "complete 0; " * 5) == [["answers", 3, [*range(10)], [None] * 10], ["counts", 1]]


def test_each_listener_counts_once() -> None:
    """EC-51: the entries themselves, which are released beside the copies, do not."""
    done = results(
        "cursor 0 0 1 0 1; cursor 0 1 1 0 1; fetch 0 0 1 0 2 0; fetch 0 1 1 0 2 0; complete 0; done 0; done 0; pinned; "
        "single 0 1 0"
    )
    assert done[4] == [
        ["answers", 1, [0, 1], [2, 2]],
        ["answers", 2, [0, 1], [2, 2]],
        ["counts", 1],
    ]
    assert done[7] == [0, 0]
    assert done[8][0][3] == [0]


def test_who_joins_ahead_of_the_creator_has_the_count_go_below_zero() -> None:
    """EC-52, RC-08: cursor 1 is ahead of cursor 0, and not counted."""
    done = results(
        "cursor 0 0 1 0 1; cursor 0 1 1 5 1; fetch 0 0 1 0 1 0; fetch 0 1 1 0 1 0; complete 0; done 0; done 0; "
        "single 0 1 0"
    )
    assert done[4][0] == ["answers", 1, [0], [1]]
    assert done[7][0][3] == [-1]


def test_part_that_fails_fails_the_whole_and_counts_what_it_had() -> None:
    done = results("cursor 0 0 1 0 1; fetch 0 0 1 0 2 0; fetch 0 0 1 0 4 0; complete 0; fail 0 0; done 0; single 0 1 0")
    assert done[3] == [["answers", 1, [0, 1], [1, 1]], ["counts", 1]]
    assert done[4] == [["fails", 2]]
    assert done[6][0][3] == [-1]


@pytest.mark.parametrize("mode", [0, 1, 2, 3])
def test_reader_that_reads_again_before_it_returns_is_answered(mode: int) -> None:
    """EC-53: a read that has come is not joined, however the storage answers."""
    done = results(f"cursor 0 0 1 0 1; storage {mode}; fetch 0 0 1 0 1 1; complete 0; complete 0")
    told = [event[:2] for told in done[2:] for event in told if event[0] in ("answers", "fails")]
    assert told == [["answers" if mode < 2 else "fails", number] for number in (1, 2)]


@pytest.mark.parametrize(("kind", "asked"), [(0, []), (1, [["asks", 0, 1, 0, 1]])])
def test_failure_has_the_ledgers_running_reads_forgotten(kind: int, asked: list[Any]) -> None:
    """EC-54: unless it was of too many requests."""
    assert last(f"fetch 0 0 1 0 2 0; fetch 0 0 1 5 1 0; fail 1 {kind}; fetch 0 0 1 0 2 0") == asked


def test_closed_handle_is_opened_once_more() -> None:
    done = results("fetch 0 0 1 0 2 0; fetch 0 0 1 5 1 0; fail 1 2; fetch 0 0 1 5 1 0; fail 1 2; fail 0 2; complete 0")
    assert done[2] == [["asks", 0, 1, 5, 5]]
    assert done[3] == [["asks", 0, 1, 5, 5]]
    assert done[4] == [["fails", 2]]
    assert done[5] == [["asks", 0, 1, 0, 1]]
    assert done[6][0][:2] == ["answers", 1]


def test_storage_that_raises_takes_the_ledger_along() -> None:
    done = results(f"{puts(0, 1)} put 0 2 0 10 1; storage 3; fetch 0 0 1 0 3 0; range 0 0 0 9 9")
    assert done[4] == [["asks", 0, 1, 0, 2], ["asks", 0, 1, 2, 2], ["fails", 1]]
    assert done[5] == [[2, 0]]


@pytest.mark.parametrize("drop", ["trim 0 1", "clear 0", "reopen 0"])
def test_dropped_ledger_is_read_anew_and_cached_late(drop: str) -> None:
    """IL-6, EC-15, EC-16, EC-18: what ran before still comes, and populates the cache that it was for."""
    done = results(
        f"cursor 0 0 1 0 1; fetch 0 0 1 0 1 0; {drop}; fetch 0 0 1 0 1 0; complete 0; total; complete 0; total"
    )
    assert done[3] == [["asks", 0, 1, 0, 0]]
    assert done[5] == 10
    assert done[7] == (20 if drop == "reopen 0" else 10)


# ---- The limit of reads in flight (EC-55)


def test_limiter_lets_small_ones_overtake_and_serves_the_head() -> None:
    granted: list[tuple[str, bool]] = []
    limiter = ReadLimiter(100, 10, 60_000, lambda: 0)
    for name, permits in (("a", 80), ("b", 50), ("c", 20)):
        limiter.acquire(permits, lambda yes, name=name: granted.append((name, yes)))
    assert granted == [("a", True), ("c", True)]
    limiter.release(80)
    assert granted[2:] == [("b", True)]
    assert limiter.remaining == 30


TEN = "max_reads_in_flight=740"
"""Ten entries of 10 bytes and 64 more."""


def test_reads_wait_for_permits() -> None:
    """The same through the cache: of ten entries at a time eight are held, five wait, two overtake."""
    text = "storage 1; written 0 1 1; fetch 0 0 1 0 8 0; fetch 0 0 1 0 5 0; fetch 0 0 1 0 2 0; permits; done 0; permits"
    done = results(text, TEN)
    assert done[3] == EMPTY
    assert done[4][0] == ["answers", 3, [0, 1], [None] * 2]
    assert done[5] == 0
    assert done[6][0] == ["answers", 2, [*range(5)], [None] * 5]
    assert done[7] == 3 * 74


def test_release_grants_once() -> None:
    """Of two that wait, one fits."""
    text = "storage 1; written 0 1 1; fetch 0 0 1 0 10 0; fetch 0 0 1 0 6 0; fetch 0 0 1 0 6 0; done 0; permits; done 0"
    done = results(text, TEN)
    assert [event[1] for event in done[5] if event[0] == "answers"] == [2]
    assert done[6] == 4 * 74
    assert [event[1] for event in done[7] if event[0] == "answers"] == [3]


@pytest.mark.parametrize(("queue", "told"), [(1, [["fails", 3]]), (2, EMPTY)])
def test_full_queue_refuses(queue: int, told: list[Any]) -> None:
    text = "written 0 1 1; fetch 0 0 1 0 10 0; fetch 0 0 1 20 1 0; fetch 0 0 1 30 1 0"
    assert last(text, f"{TEN} acquire_queue={queue}") == told


@pytest.mark.parametrize(("ms", "told"), [(49, EMPTY), (50, [["fails", 2]])])
def test_timer_refuses_at_the_time(ms: int, told: list[Any]) -> None:
    text = f"written 0 1 1; fetch 0 0 1 0 10 0; fetch 0 0 1 20 2 0; adv {ms}; timeouts"
    assert last(text, f"{TEN} acquire_timeout=50") == told


@pytest.mark.parametrize(("ms", "told"), [(50, 0), (51, 2)])
def test_release_refuses_after_the_time(ms: int, told: int) -> None:
    """A head that does not fit waits on at exactly that age; beyond it it makes room for the next."""
    text = "storage 1; written 0 1 1; fetch 0 0 1 0 1 0; fetch 0 0 1 0 9 0; fetch 0 0 1 0 11 0; fetch 0 0 1 0 1 0; "
    done = results(f"{text} adv {ms}; done 0", f"{TEN} acquire_timeout=50")
    assert len([event for event in done[-1] if event[0] in ("answers", "fails")]) == told


def test_read_beyond_the_limit_ends_all_the_same() -> None:
    """It waits, and those behind it that do not fit, until its time is over; then it fails."""
    text = "written 0 1 1; fetch 0 0 1 0 11 0; adv 60000; timeouts; permits"
    assert results(text, TEN)[-2:] == [[["fails", 1]], 740]


def test_hits_and_single_reads_are_limited_too() -> None:
    """Also without anything that is cached: the limiter does not ask."""
    text = f"written 0 1 1; {puts(0)} fetch 0 0 1 0 1 0; permits; single 0 1 0; permits"
    assert [r for r in results(text, TEN) if type(r) is int] == [740 - 74, 740 - 148]
    assert last("written 0 1 1; fetch 0 0 1 0 2 0; permits", f"{TEN} max_size=0") == 592


def test_permits_come_back_with_the_last_entry_or_the_failure() -> None:
    text = (
        "written 0 1 1; fetch 0 0 1 0 2 0; fail 0 0; permits; fetch 0 0 1 0 2 0; complete 0; permits; done 0; permits"
    )
    assert [r for r in results(text, TEN) if type(r) is int] == [740, 592, 740]


@pytest.mark.parametrize(
    ("before", "estimate"),
    [
        ("", 10_240 + 64),
        ("put 0 1 0 20000 1; ", 20_000 + 64),
        ("put 0 1 0 20000 1; put 0 1 1 10000 1; ", 15_000 + 64),
        ("put 0 1 0 100 1; ", 10_240 + 64),
        ("written 0 1 2; ", 20 + 64),
        ("written 0 1 4; put 0 1 0 20000 1; ", 25 + 64),
    ],
)
def test_size_of_an_entry_is_estimated(before: str, estimate: int) -> None:
    assert last(f"{before} fetch 0 0 1 9 1 0; permits", "max_reads_in_flight=100000") == 100_000 - estimate


# ---- Cursors and added entries (EC-56 to EC-58, RC-03, RC-05, RC-09 to RC-13)


def test_where_reads_are_counted_cursors_invalidate_nothing() -> None:
    assert last(f"cursor 0 0 1 0 1; {puts(0, 1)} cursor 0 0 1 9 1; uncursor 0 0; range 0 0 0 9 9") == [[1, 0], [1, 1]]


def test_where_they_are_not_the_slowest_cursor_does() -> None:
    """A@0, B@0; A goes to 10 and nothing goes, B to 5 and what is before 5 does."""
    text = f"cursor 0 0 1 0 1; cursor 0 1 1 0 1; {puts(*range(10))} cursor 0 0 1 10 1; "
    off = "by_read_count=false"
    assert len(last(f"{text} range 0 0 0 9 9", off)) == 10
    assert last(f"{text} cursor 0 1 1 5 1; range 0 0 0 9 9", off) == [[1, entry] for entry in range(5, 10)]
    assert last(f"{text} uncursor 0 1; uncursor 0 0; range 0 0 0 9 9", off) == EMPTY


@pytest.mark.parametrize(("setting", "added"), [("", [1, 1, None]), ("by_read_count=false", [None, None, None])])
def test_added_entries_are_cached_within_the_grace_time(setting: str, added: list[Any]) -> None:
    """IL-10: at the start, 1,999 ms later, and exactly 2,000 ms later."""
    done = results("append 0 1; adv 1999; append 0 1; adv 1; append 0 1", setting)
    assert [done[0], done[2], done[4]] == [bool(a) if a else None for a in added]


def test_last_cursor_leaves_and_a_new_one_comes() -> None:
    """What is added in between is cached, without expected reads."""
    done = results("cursor 0 0 1 0 1; adv 5000; uncursor 0 0; adv 10; append 0 1; cursor 0 1 1 0 1; fetch 0 1 1 0 1 0")
    assert done[4] is True
    assert done[6] == [["answers", 1, [0], [None]]]


def test_without_grace_nothing_is_cached_before_a_cursor_is_there() -> None:
    assert results("append 0 1; cursor 0 0 1 0 1; append 0 1", "grace=0") == [None, None, True]


def test_added_entries_are_expected_by_all_cursors() -> None:
    """RC-03: wherever they are."""
    assert last("cursor 0 0 1 0 1; cursor 0 1 1 90 1; append 0 1; fetch 0 0 1 0 1 0")[0][3] == [2]
    assert last("cursor 0 0 1 0 1; append 0 1; fetch 0 0 1 0 1 0", "by_read_count=false")[0][3] == [None]


@pytest.mark.parametrize(("caching", "left"), [(0, None), (1, 1)])
def test_where_reads_are_not_counted_the_cursor_says_whether_to_cache(caching: int, left: int | None) -> None:
    """RC-05: a count of 1, which protects the entry all the same."""
    text = f"cursor 0 1 1 0 1; cursor 0 0 1 0 {caching}; fetch 0 0 1 0 1 0; complete 0; pinned"
    done = results(text, "by_read_count=false")
    assert done[3][0][3] == [left]
    assert done[4] == ([1, 10] if caching else [0, 0])


def test_replay_keeps_the_protection_before_the_release_and_not_after() -> None:
    """RC-09, RC-10, IL-12: a time pass in between."""
    held = f"{puts(0)} fetch 0 0 1 0 1 0; "
    after = "extend_ttl_of_recently_accessed=false"
    assert last(f"{held} replay 0; done 0; adv 9; ttl 5; get 0 1 0", after) == "hit"
    assert last(f"{held} done 0; adv 9; ttl 5; get 0 1 0", after) == "miss"
    assert results(f"{held} replay 0; replay 0")[2:] == [[2], [3]]
    assert results("put 0 1 0 10 0; fetch 0 0 1 0 1 0; replay 0")[2] == [None]


def test_read_without_dispatch_is_read_again_from_the_cache() -> None:
    """Ten are read, three dispatched, seven put back."""
    text = "cursor 0 0 1 0 1; fetch 0 0 1 0 3 0; complete 0; fetch 0 0 1 3 7 0; complete 0; done 0; replay 0; done 0; "
    done = results(f"{text} fetch 0 0 1 3 7 0; hits")
    assert done[8] == [["answers", 3, [*range(3, 10)], [1] * 7]]
    assert done[9][0] == 7


def test_cursors_that_come_and_go_leave_the_counts() -> None:
    """RC-11."""
    text = "cursor 0 0 1 0 1; append 0 1; cursor 0 1 1 0 1; uncursor 0 0; cursor 0 1 0 0 1; fetch 0 1 1 0 1 0"
    assert last(text)[0][3] == [1]


@pytest.mark.parametrize(("extended", "gone"), [("true", 2020), ("false", 1010)])
def test_entry_of_a_topic_with_one_cursor(extended: str, gone: int) -> None:
    """RC-13: added at 0, read at 100, a run every 10 ms."""
    text = "cursor 0 0 1 0 1; append 0 1; adv 100; fetch 0 0 1 0 1 0; done 0; " + "adv 10; run; total; " * 300
    totals = results(text, f"extend_ttl_of_recently_accessed={extended}")[7::3]
    assert 100 + 10 * (totals.index(0) + 1) == gone


# ---- Properties


@pytest.mark.parametrize("m", [1, 2, 5])
def test_counts_end_at_0_when_all_cursors_have_read_all(m: int) -> None:
    """P13."""
    text = "".join(f"cursor 0 {name} 1 0 1; " for name in range(m)) + "append 0 1; " * 6
    text += "".join(f"fetch 0 {name} 1 0 6 0; done 0; " for name in range(m))
    done = results(f"{text} fetch 0 0 1 0 6 0; hits; pinned")
    assert done[-3][0][3] == [0] * 6
    assert done[-2] == [6 * (m + 1), (m + 1) * 140, 0, 0]
    assert done[-1] == [0, 0]


@pytest.mark.slow
@pytest.mark.parametrize("number", range(12))
def test_permits_are_what_readers_do_not_have(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """P17: whatever is made of a walk, what is left and what is held is the limit."""
    config = Config(max_reads_in_flight=1_480, acquire_timeout=50, acquire_queue=3)
    done = walk(CONTRACT, walk_seed(17, number), lambda c, k: MODEL(c), MODEL, Capabilities(steps=False))
    model, rig = MODEL(config), Rig(RemovalQueue, config, Capabilities(steps=False))
    readers: dict[int, Any] = {}
    begin = model.reads.perform

    def perform(reader: Any) -> None:
        readers[reader.number] = reader
        begin(reader)

    monkeypatch.setattr(model.reads, "perform", perform)
    for operation in chain(done.operations, drain_readers(model)):
        record([operation], model)
        record([operation], rig)
        assert model.permits() + sum(reader.permits for reader in readers.values()) == 1_480
        assert 0 <= rig.permits() <= 1_480
        assert rig.permits() == model.permits()
    assert rig.permits() == 1_480


def test_what_is_answered_was_a_hit_or_a_miss() -> None:
    """P19: where nothing is joined and nothing fails."""
    entries = 0
    for number in range(12):
        done = walk(CONTRACT, walk_seed(19, number), lambda c, k: MODEL(c), MODEL, Capabilities(steps=False))
        kept = [o for o in done.operations if o.tag not in ("storage", "fail")]
        model = MODEL(Config())
        model.storage(1)
        told = [step.result for step in record(kept, model) if isinstance(step.operation, Answers)]
        answered = sum(len(event[2]) for events in told for event in events if event[0] == "answers")
        hits, _, misses, _ = model.hits()
        assert hits + misses == answered
        entries += answered
    assert entries > 100


# ---- Values


def test_copy_is_another_entry_with_the_same_count() -> None:
    """Also of a value whose source is released before (EC-08): its bytes are its own."""
    tally = Tally()
    count = RemovalQueue(Config(), lambda: 0, lambda task: None).new_read_count(2)
    assert count is not None
    value = Value(tally, (1, 0), 10, count)
    copy = value.copy()
    value.release()
    assert (tally.alive, copy.length, count.get_expected_read_count()) == (1, 10, 2)
    copy.retain()
    copy.release()
    assert count.get_expected_read_count() == 2
    copy.release()
    assert (tally.alive, count.get_expected_read_count()) == (0, 1)


def test_error_of_a_reader_is_not_taken_for_one_of_the_storage() -> None:
    """It goes on to whoever completed the read, and the ledger is not dropped."""
    rig = Rig(RemovalQueue, Config(), Capabilities(steps=False))
    rig.put(0, 1, 0, 10, 1)
    rig.storage(1)

    def answered(answer: Any) -> None:
        raise LookupError("a reader's own")

    with pytest.raises(LookupError):
        rig.caches[0].read_entries(rig.storages.ledger(0, 1), 0, 1, lambda: 0, answered)
    assert rig.caches[0].get_number_of_entries() == 1


def test_refused_readers_are_told_why() -> None:
    rig = Rig(RemovalQueue, Config(max_reads_in_flight=1, acquire_timeout=1), Capabilities(steps=False))
    told: list[Any] = []
    rig.caches[0].read_entry(rig.storages.ledger(0, 1), 0, told.append)
    rig.advance(1)
    rig.timeouts()
    assert isinstance(told[0], TooManyRequestsException)
