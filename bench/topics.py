"""What one delayed index for all subscriptions of a topic costs, beside a tracker for each of them.

A million messages have 1, 10, 100 or 1,000 subscriptions, each of which may ask for all of them. What is measured, and
how, is in :mod:`broker_tck.bench.topic_parts`. Trackers hold each message once a subscription, so only so many are
filled as the limit allows; what more of them take is extrapolated, and said to be.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence

import msgspec

from broker_tck.bench import topic_parts
from broker_tck.bench.topic_parts import EACH, SHARED, Measured

MESSAGES = 1_000_000
SUBSCRIPTIONS = (1, 10, 100, 1_000)
LIMIT = 10_000_000
"""Trackers hold so many messages at most, over all subscriptions."""
MOST_OF_ONE = 1.1
"""With more subscriptions, the shared index takes no more than this many times what it takes with one."""


class TopicCell(msgspec.Struct, frozen=True):
    """What an index costs with a number of subscriptions. Of one that was not measured only bytes are extrapolated."""

    index: str
    subscriptions: int
    messages: int
    held_bytes: int
    """The growth of the process when everything is added."""
    measured: Measured | None = None


class Claim(msgspec.Struct, frozen=True):
    """What a cell of the shared index has to keep."""

    subscriptions: int
    says: str
    holds: bool


class Result(msgspec.Struct, frozen=True):
    """The cells of both indexes, by rising numbers of subscriptions; the first has one."""

    shared: list[TopicCell]
    each: list[TopicCell]

    def claims(self) -> list[Claim]:
        """What the shared index has to keep with more subscriptions than one, and whether it does."""
        one = self.shared[0]
        claims = []
        for cell in self.shared[1:]:
            for what, took, takes in (
                ("all added", one.held_bytes, cell.held_bytes),
                ("some taken", taken_bytes(one), taken_bytes(cell)),
            ):
                times = takes / took
                says = f"{what}, memory is {times:.2f} times that of one subscription, at most {MOST_OF_ONE}"
                claims.append(Claim(cell.subscriptions, says, times <= MOST_OF_ONE))
        return claims

    @property
    def passed(self) -> bool:
        """Whether every claim holds, and all messages came out as they went in."""
        measured = [cell.measured for cell in (*self.shared, *self.each) if cell.measured]
        return all(each.content_verified for each in measured) and all(claim.holds for claim in self.claims())


def taken_bytes(cell: TopicCell) -> int:
    """What a cell takes when every subscription has taken what came due."""
    return cell.measured.taken_bytes if cell.measured else cell.held_bytes


def numbers(chosen: Sequence[int]) -> list[int]:
    """The numbers of subscriptions to measure: those that were chosen, in order, and one."""
    return sorted({1, *chosen})


def is_filled(subscriptions: int, messages: int, limit: int) -> bool:
    """Whether as many trackers are filled; one always is."""
    return subscriptions == 1 or subscriptions * messages <= limit


def steps(chosen: Sequence[int], messages: int = MESSAGES, limit: int = LIMIT) -> int:
    """How many processes measure some numbers of subscriptions."""
    return sum(1 + is_filled(number, messages, limit) for number in numbers(chosen))


def measure(
    chosen: Sequence[int] = SUBSCRIPTIONS,
    messages: int = MESSAGES,
    limit: int = LIMIT,
    tell: Callable[[int, str], None] = lambda done, says: None,
) -> Result:
    """Measure both indexes with some numbers of subscriptions, one cell after the other.

    Tells how many cells are done, and which is next.
    """
    done = 0

    def cell(index: str, subscriptions: int) -> TopicCell:
        nonlocal done
        tell(done, f"{index}, {subscriptions:,}")
        found = in_process(index, subscriptions, messages, limit)
        done += 1
        return TopicCell(index, subscriptions, messages, found.held_bytes, found)

    result = Result([], [])
    for number in numbers(chosen):
        result.shared.append(cell(SHARED, number))
        filled = is_filled(number, messages, limit)
        result.each.append(cell(EACH, number) if filled else extrapolated(result.each, number))
    return result


def extrapolated(smaller: Sequence[TopicCell], subscriptions: int) -> TopicCell:
    """So many trackers, as heavy as those of the largest cell that was measured."""
    last = [cell for cell in smaller if cell.measured][-1]
    return TopicCell(EACH, subscriptions, last.messages, round(last.held_bytes / last.subscriptions * subscriptions))


def in_process(index: str, subscriptions: int, messages: int, limit: int) -> Measured:
    """Measure a cell in a fresh process. Raises ``subprocess.CalledProcessError`` if that fails."""
    command = [sys.executable, "-m", topic_parts.__name__, index, str(subscriptions), str(messages), str(limit)]
    output = subprocess.run(command, check=True, capture_output=True).stdout
    return msgspec.json.decode(output, type=Measured)
