"""Calls of the entry caches that may get in each other's way: so few that all orders of their steps can be tried."""

from __future__ import annotations

import re

from broker_tck.properties.contracts.entry_cache.operations import AnyOperation, Config, Step
from broker_tck.properties.engine.contract import Scenario
from broker_tck.properties.engine.operation import Operation, by_tag

BOOK = """
insertions: Two insertions and two others, each of a key of its own.
  begin-put 0 1 0 10 0 0; begin-put 0 1 1 20 1 0
  begin-put 0 1 2 30 0 1; begin-put 0 1 3 40 1 1
one-key: Insertions of one key, and of one key more.
  begin-put 0 1 0 10 0 0; begin-put 0 1 1 20 0 0
  begin-put 0 1 0 30 0 1; begin-put 0 1 1 40 0 1
insert-clear: An insertion, and clears.
  first put 0 1 1 10 0
  begin-put 0 1 0 10 0 0
  begin-clear 0 1; begin-clear 0 1
insert-evict: An insertion, and a pass for more than is there.
  first put 0 1 1 10 0
  begin-put 0 1 0 10 0 0
  begin-size 1000 1
evict-invalidate: A pass over two entries, and an invalidation of the first.
  first put 0 1 0 10 0; put 0 1 1 20 0
  begin-size 10 0
  begin-invalidate 0 1 1 1
time-invalidate: A pass over an old entry and a young one, and an invalidation of the old one.
  first put 0 1 0 10 0; adv 100; put 0 1 1 20 0
  begin-ttl 50 0
  begin-invalidate 0 1 1 1
evict-invalidate-insert: A pass, an invalidation, and an insertion that may have a wrapper that was used before.
  first put 0 1 0 10 0; put 0 1 1 20 0
  begin-size 10 0
  begin-invalidate 0 1 1 1; begin-put 0 1 2 30 1 1
evict-insert-look: A pass, an insertion, and a look at the queue.
  first put 0 1 0 10 0
  begin-size 10 0
  begin-put 0 1 1 20 0 1; pinned
read-evict: Two reads of an entry, and a pass that takes it.
  first put 0 1 0 10 0
  begin-get 0 1 0 0; begin-get 0 1 0 0
  begin-size 10 1
read-evict-insert: A read, and a pass with an insertion of another key, or of that key again.
  first put 0 1 0 10 0
  begin-get 0 1 0 0
  begin-size 10 1; begin-put 0 1 1 20 0 1; begin-put 0 1 0 30 0 1
range-insert: A removal of a range, and insertions into it.
  first put 0 1 0 10 0; put 0 1 2 10 0
  begin-remove 0 1 0 1 3 1 0
  begin-put 0 1 1 20 0 1; begin-put 0 1 3 30 0 1
clear-invalidate: A clear, and an invalidation of the same entries.
  first put 0 1 0 10 0; put 0 1 1 20 0; put 0 1 2 30 0
  begin-clear 0 0
  begin-invalidate 0 1 2 1
remove-insert-again: Two removals of an entry, and an insertion of its key after one of them.
  first put 0 1 0 10 0
  begin-remove 0 1 0 1 0 1 0
  begin-remove 0 1 0 1 0 1 1; begin-put 0 1 0 30 0 1
two-passes: A time pass and a size pass.
  first put 0 1 0 10 0; put 0 1 1 20 1
  begin-size 10 0
  begin-ttl 0 1
three-threads: A pass, a removal, and an insertion with a read.
  first put 0 1 0 10 0; put 0 1 1 20 1
  begin-size 20 0
  begin-remove 0 1 0 1 3 1 1
  begin-put 0 1 2 30 0 2; begin-get 0 1 0 2
evict-look-at-sizes: A pass, and looks at the broker's size.
  first put 0 1 0 10 0; put 0 1 1 20 0
  begin-size 30 0
  total; total; total
evict-read-counts: A pass, a reader who is done, and a read that is expected again.
  first put 0 1 0 10 1; put 0 1 1 20 0
  begin-size 10 0
  read 0 1 0; expect 0 1 0
"""
"""A name, a sentence, what is done first, and a script for each thread: of topic 0, ledger 1, and entries 0 to 3."""

AFTER = (
    "total; pinned; get 0 1 0; get 0 1 1; get 0 1 2; get 0 1 3; pinned; size 25; total; "
    "size 1000; total; counters; pinned; clear 0"
)
"""What shows whether everything adds up: sizes, what is queued and in which order, what was counted."""


def operations(text: str) -> tuple[Operation, ...]:
    """The operations of a text."""
    kinds = by_tag(AnyOperation)
    return tuple(kinds[tag](*map(int, numbers)) for tag, *numbers in map(str.split, text.split(";")))


def scenario(name: str, sentence: str, first: str, scripts: str) -> Scenario:
    """A scenario with the usual configuration and end."""
    threads = tuple(map(operations, scripts.strip().splitlines()))
    before = operations(first) if first else ()
    return Scenario(name, sentence, Config(max_requeue_count=1), before, threads, operations(AFTER), Step)


PATTERN = re.compile(r"^(\S+): (.+)\n(?:  first (.+)\n)?((?:  .+\n)+)", flags=re.MULTILINE)
SCENARIOS = tuple(scenario(*parts) for parts in PATTERN.findall(BOOK))
