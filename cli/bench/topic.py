"""``bench topic``: what one index for all subscriptions of a topic costs."""

from __future__ import annotations

from collections.abc import Callable

import click
import msgspec

from broker_tck.bench import topics as topic_bench
from broker_tck.bench.drivers import machine_words
from broker_tck.bench.pictures import check_plot
from broker_tck.bench.topic_parts import Measured, Spread
from broker_tck.bench.topic_picture import draw_topics
from broker_tck.bench.topics import Result, TopicCell
from broker_tck.cli.bench.plots import plot_option
from broker_tck.cli.options import json_option
from broker_tck.cli.output import print_json, print_table, progress

EXAMPLES = """\b
Examples:
  broker-tck bench topic
  broker-tck bench topic --subscriptions 100 --messages 100000
  broker-tck bench topic --limit 100000000 --plot topic.svg
"""


@click.command("topic", epilog=EXAMPLES)
@click.option(
    "--subscriptions",
    "chosen",
    multiple=True,
    type=click.IntRange(1, 10_000),
    metavar="N",
    help="How many subscriptions there are, beside one. Repeatable. Default: 10, 100 and 1,000.",
)
@click.option(
    "--messages",
    default=topic_bench.MESSAGES,
    show_default=True,
    type=click.IntRange(1_000),
    help="How many messages each subscription may ask for.",
)
@click.option(
    "--limit",
    default=topic_bench.LIMIT,
    show_default=True,
    type=click.IntRange(1_000),
    help="How many messages trackers hold at most, over all subscriptions; a tenth as many are sampled.",
)
@plot_option("Also draw memory, adds and takes.")
@json_option
def topic_command(chosen: tuple[int, ...], messages: int, limit: int, plot: str | None, as_json: bool) -> int:
    """What the shared index of a topic costs with more and more subscriptions, beside a tracker for each.

    Messages are each for a random time within a day. Every subscription adds them, takes what comes due, and
    acknowledges; half of them leave; the last takes all that is left. Trackers hold each message once a subscription:
    beyond the limit they are not filled, and what they would take is extrapolated, and has a ~. The shared index has
    all from the first subscription, and a sample of adds from the others; takes are a sample in either. Each cell is
    measured in a fresh process, and content is verified. The exit status is 1 unless the shared index takes 1.1 times
    at most of what it takes with one subscription.
    """
    check_plot(plot)
    numbers = chosen or topic_bench.SUBSCRIPTIONS
    with progress(topic_bench.steps(numbers, messages, limit), "measuring", "cells") as tell:
        result = topic_bench.measure(numbers, messages, limit, tell)
    if as_json:
        told = {"machine": machine_words(), "passed": result.passed, **msgspec.to_builtins(result)}
        print_json({**told, "claims": msgspec.to_builtins(result.claims())})
    else:
        print_topics(result)
    if plot:
        draw_topics(result, plot)
    return 0 if result.passed else 1


LINES: list[tuple[str, Callable[[Measured], Spread | None]]] = [
    ("us, first add", lambda found: found.first),
    ("us, add by another", lambda found: found.again),
    ("us, take of a message", lambda found: found.take),
    ("ms, mark-delete", lambda found: found.mark),
    ("ms, leave", lambda found: found.leave),
]
"""What has a spread, with what the table calls it."""
COUNTS: list[tuple[str, Callable[[Measured], int]]] = [
    ("added by another", lambda found: found.added),
    ("taken by each", lambda found: found.taken),
    ("acknowledged by each", lambda found: found.acknowledged),
]


def print_topics(result: Result) -> None:
    """Print a table for each index, a column for each number of subscriptions, and what has to hold."""
    for table in (result.shared, result.each):
        head = [table[0].index, *(f"{cell.subscriptions:,}" for cell in table)]
        title = f"{table[0].messages:,} messages; {machine_words()}" if table is result.shared else ""
        print_table(title, head, cells(table), right=tuple(range(1, len(head))))
        click.echo()
    for claim in result.claims():
        click.echo(f"{claim.subscriptions:,} subscriptions: {claim.says}{'' if claim.holds else ': OVER'}")


def cells(table: list[TopicCell]) -> list[tuple[str, ...]]:
    """The lines of an index."""
    found = [cell.measured for cell in table]
    lines = [("MiB, all added", *(f"{'' if cell.measured else '~'}{mib(cell.held_bytes)}" for cell in table))]
    lines.append(("MiB, some taken", *(mib(each.taken_bytes) if each else "-" for each in found)))
    for says, spread_of in LINES:
        spreads = [spread_of(each) if each else None for each in found]
        lines.append((says, *(number(spread.median) if spread else "-" for spread in spreads)))
        lines.append(("  spread", *(ends(spread) for spread in spreads)))
    lines += [(says, *(f"{count(each):,}" if each else "-" for each in found)) for says, count in COUNTS]
    exact = ("-" if each is None else "exact" if each.content_verified else "WRONG" for each in found)
    return [*lines, ("content", *exact)]


def ends(spread: Spread | None) -> str:
    """The least and the most of some samples."""
    return "-" if spread is None else f"{number(spread.least)} to {number(spread.most)}"


def number(value: float) -> str:
    """A figure, with as many digits as say something."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 1 else f"{value:.2g}"


def mib(count: int) -> str:
    """Bytes as MiB."""
    return f"{count / 2**20:,.1f}"
