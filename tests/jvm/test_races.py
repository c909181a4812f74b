"""Known races of released classes: each comes out of its program, on its releases and not on those that mended it."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import msgspec
import pytest
from jvm.schedules import Program

from broker_tck.implementations.jvm.releases import Release
from broker_tck.implementations.jvm.subject import explorer_of
from broker_tck.implementations.jvm.unavailable import Unavailable
from broker_tck.implementations.jvm.weaving import Explorer
from broker_tck.implementations.released import KINDS
from broker_tck.properties.engine.subjects import resolve
from broker_tck.properties.search.replay import asked, golden_traces

CURSORS = {"clock": 1_700_000_000_000, "grace": 2_000}
CACHES = {"max_requeue_count": 5, "extend_ttl_of_recently_accessed": True}
NACKS = {"clock": 1_700_000_000_000, "delay_us": 1_000_000, "precision_bits": 8, "backoff_ms": None, "multiplier": None}
ACKS = {"clock": 1_700_000_000_000, "ack_timeout": 2_000, "tick": 1_000, "backoff": None, "topics": []}
DELAYS = {"clock": 1_700_000_000_000, "tick": 1, "strict": True, "lookahead": 0}
BUCKETS = {
    "clock": 1_000_000,
    "min_index_count": 2,
    "time_step": 10,
    "max_indexes": -1,
    "max_buckets": -1,
    "tick": 1,
    "strict": True,
}


class Race(NamedTuple):
    """A race, its program, and what only a history that goes wrong has."""

    kind: str
    config: dict[str, Any]
    program: str
    wrong: str
    preemptions: int
    on: str
    """The releases that have it."""
    mended: str = ""


RACES = {
    "readers flush the list together": Race(
        "cursor-list",
        CURSORS,
        """add "c0" [1,0]; add "c1" [1,2]; add "c2" [1,4]; add "c3" [1,6]; slowest; update "c1" [1,5]; update "c0" [1,1]
        | slowest | slowest | count "c0"; slowest""",
        "-0 0 [1,4]\n=[0,[]]\n=[[1,4],[]]\n",
        1,
        "4.2.4 5.0.0-M1",
        "5.0.1",
    ),
    "a mark of access is written after the lock": Race(
        "range-cache",
        CACHES,
        "put 0 1 1 10 0; adv 10 | size 10; put 0 1 2 5 0 | get 0 1 1 | adv 10; ttl 0",
        '-1 0 "miss"\n=[null,[[[1,5],[0,0],[0,0]],1]]\n=[[0,0],[[[1,5],[0,0],[0,0]],1]]\n',
        1,
        "4.2.4 5.0.1",
    ),
    "an entry is removed under a newer wrapper": Race(
        "range-cache",
        CACHES,
        "put 0 1 1 10 0 | remove 0 1 1 1 1 1; put 0 1 1 3 0 | size 1; get 0 1 1 | clear 0",
        "=[[0,0],[[[0,3],[0,0],[0,0]],1]]\n",
        2,
        "4.0.8",
        "4.2.4",
    ),
    "two insertions both take place": Race(
        "range-cache",
        CACHES,
        "| put 0 1 1 10 0 | put 0 1 1 3 0 | clear 0",
        "-1 0 true\n-0 0 true\n=[[1,3],[[[0,10],[0,0],[0,0]],1]]\n",
        1,
        "3.0.0",
        "3.0.7 4.2.4",
    ),
    "a value is retained that is used again": Race(
        "range-cache",
        CACHES,
        "put 0 1 1 10 0 | remove 0 1 1 1 1 1; put 0 1 2 3 0 | get 0 1 1 | clear 0",
        '"hit of 1 2"',
        1,
        "3.0.0 3.2.2",
        "3.0.7 4.2.4",
    ),
    "a nack tracker fires as it is closed": Race(
        "negative-acks",
        NACKS,
        "id 1 1 | adv 2000 | close | adv 5000",
        '-0 0 {"raises":"NullPointerException"}\n',
        1,
        "4.0.8 4.1.1 4.2.4 5.0.0-M1 5.0.1",
    ),
    "an ack timeout is armed after the tracker is closed": Race(
        "ack-timeout",
        ACKS,
        "add 1 1 0 -1 1 | adv 1000 | close | adv 0",
        "=[[],[0,[1700000002000]]]\n",
        1,
        "3.0.7 4.0.8 4.1.1 4.2.4 5.0.0-M1 5.0.1",
    ),
    "a firing forgets a timeout that is newer": Race(
        "in-memory",
        DELAYS,
        "add 0 0 1700000000001; add 0 0 1700000000002 | adv 1 | get 1 | has",
        "=[false,[1,[1700000000002,1700000000002]]]\n",
        1,
        "3.0.0 3.0.7 4.0.0 4.0.1 4.0.5 4.0.8",
        "4.2.4 5.0.0-M1 5.0.1",
    ),
    "a delayed-delivery tracker fires as it is closed": Race(
        "in-memory",
        DELAYS,
        "add 0 0 1700000000001 | adv 1 | close |",
        '-1 0 {"raises":"NullPointerException"}\n',
        2,
        "3.0.0 3.0.7 4.0.0 4.0.1 4.0.5 4.0.8",
        "4.2.4 5.0.0-M1 5.0.1",
    ),
    "a tracker is cleared between two looks at it": Race(
        "in-memory",
        DELAYS,
        "add 0 0 1700000000002 | has | clear | has",
        '-0 0 {"raises":',
        1,
        "3.0.0 3.0.7 4.0.0 4.0.1 4.0.5 4.0.8",
        "4.2.4 5.0.0-M1 5.0.1",
    ),
    "the timer that a load arms fires before the load has ended": Race(
        "bucket",
        BUCKETS,
        """add 1 1 1000100; add 1 2 1000200; add 2 1 1000300; complete 0; complete 0; adv 100; get 10
        | complete 0 | adv 0; get 10 | has""",
        "-1 0 [1000100]\n+1 1\n-1 1 []\n-0 0",
        1,
        "4.0.0 4.0.8 4.2.4 5.0.1",
    ),
    "a firing forgets a timeout of a bucket tracker that is newer": Race(
        "bucket",
        BUCKETS,
        "add 1 1 1000100 | adv 100 | get 10; add 1 2 1000200 | has",
        "[1000200,1000200]",
        1,
        "4.0.0 4.0.8",
        "4.2.4 5.0.1",
    ),
    "a bucket tracker fires as it is closed": Race(
        "bucket",
        BUCKETS,
        "add 1 1 1000100 | adv 100 | reopen |",
        '-1 0 {"raises":"NullPointerException"}\n',
        2,
        "4.0.0 4.0.8",
        "4.2.4 5.0.1",
    ),
    "a load ends after its bucket tracker is closed": Race(
        "bucket",
        BUCKETS,
        """add 1 1 1000100; add 1 2 1000200; add 2 1 1000300; complete 0; complete 0; adv 100; get 10
        | complete 0 | reopen | adv 0""",
        '=[{"raises":',
        1,
        "4.0.0 4.0.8 4.2.4 5.0.1",
    ),
    "a timer fires after its bucket tracker is closed": Race(
        "bucket",
        BUCKETS,
        "add 1 1 1000100 | adv 100 | reopen |",
        '-0 0 {"raises":',
        1,
        "4.0.0 4.0.8 4.2.4 5.0.1",
    ),
}


@cache
def explorer(kind: str, version: str) -> Explorer:
    """What has threads call a class of a release."""
    return explorer_of(KINDS[kind], Release(version))


def program(race: Race) -> Program:
    """The program of a race, out of ``before | thread | thread | after``."""
    parts = [
        [
            [word if i == 0 else msgspec.json.decode(word) for i, word in enumerate(call.split())]
            for call in part.split(";")
        ]
        for part in race.program.split("|")
    ]
    before, *threads, after = [[call for call in part if call] for part in parts]
    return Program(before, threads, after, race.config)


@pytest.mark.parametrize(
    ("name", "version"), [(name, version) for name, race in RACES.items() for version in race.on.split()]
)
def test_race_is_found(name: str, version: str) -> None:
    race = RACES[name]
    found = explorer(race.kind, version).explore(program(race), race.preemptions, 10_000, 0, 0)
    assert found.complete
    wrong = [history for history in found.histories if race.wrong in history.text]
    assert wrong
    text, _ = explorer(race.kind, version).follow(program(race), wrong[0].schedule)
    assert text == wrong[0].text


@pytest.mark.parametrize(
    ("name", "version"), [(name, version) for name, race in RACES.items() for version in race.mended.split()]
)
def test_race_is_mended(name: str, version: str) -> None:
    race = RACES[name]
    found = explorer(race.kind, version).explore(program(race), race.preemptions, 10_000, 0, 0)
    assert [history.text for history in found.histories if race.wrong in history.text] == []


def test_classes_of_the_user_stand_before_the_release() -> None:
    race = RACES["readers flush the list together"]
    old = next(Release("4.2.4").paths(("managed-ledger",)))
    patched = explorer_of(KINDS[race.kind], Release("5.0.1"), (old,))
    found = patched.explore(program(race), race.preemptions, 10_000, 0, 0)
    assert any(race.wrong in history.text for history in found.histories)


def test_class_without_a_box_is_refused() -> None:
    with pytest.raises(Unavailable, match="cannot call this class from several threads"):
        explorer_of(replace(KINDS["bucket"], boxes=()), Release("4.2.4"))


# ---- Boxes, by what was recorded of their classes


UNASKED = ("spoil", "crash")
"""A real entry that is freed may be in use again, and no box crashes. Nor do threads read a ledger's storage."""


@pytest.mark.parametrize(
    ("kind", "version"),
    [
        ("cursor-heap", "4.0.8"),
        ("cursor-heap", "4.2.4"),
        ("cursor-tree-set", "4.2.4"),
        ("cursor-list", "4.2.4"),
        ("range-cache", "5.0.1"),
        ("negative-acks", "4.0.8"),
        ("negative-acks", "4.2.4"),
        ("ack-timeout", "4.2.4"),
        ("in-memory", "3.0.7"),
        ("in-memory", "5.0.1"),
        ("bucket", "4.0.8"),
        ("bucket", "4.2.4"),
        ("bucket", "5.0.1"),
    ],
)
def test_box_does_what_was_recorded(kind: str, version: str) -> None:
    """One thread alone: each result and each observable is that of the recorded trace."""
    subject = resolve(f"pulsar-{version}/{kind}")
    for recorded in golden_traces(subject.contract.name, subject.profiles[0]):
        trace = asked(recorded, subject)
        if any(operation.tag in UNASKED or operation.needs == "reads" for operation in trace.operations):
            continue
        calls = msgspec.to_builtins([*trace.operations])
        alone = Program(calls, [[]], [], msgspec.to_builtins(trace.config))
        lines = explorer(kind, version).follow(alone, ())[0].replace('"raises"', '"error"').splitlines()
        told = [msgspec.json.decode(line.removeprefix("=")) for line in lines]
        assert told == [[result, seen] for result, *seen in msgspec.to_builtins([*trace.outcomes])]
