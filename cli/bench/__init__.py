"""``bench``: speed and memory, measured side by side in one run."""

from __future__ import annotations

import click

from broker_tck.cli.commands import Commands

COMMANDS = {
    "drivers": "Checked operations a second: walks beside the Hypothesis machine, and what the parts of a walk take.",
    "walks": "Compare how fast walks are at the last commit of this clone and at another commit.",
    "memory": "Growth of the resident set of a fresh process that tracks many messages, content verified.",
    "cursors": "What update, slowest and rank cost in each container, with 10, 100, 1,000 and 10,000 cursors.",
    "cache": "What eviction costs: one queue of removal beside a policy for each cache, each in a fresh process.",
    "bucket": "What an index in 50, 200 and 1,000 buckets costs, beside one in memory and a heap.",
    "topic": "What the shared index of a topic costs with more and more subscriptions, beside a tracker for each.",
    "campaign": "What campaigns cost: the same walks in plain processes, isolated, on processes, and on Spark.",
    "rounds": "What a campaign costs its driver: many rounds of many shards, with rows that are made up.",
}


@click.group(
    cls=Commands,
    package="broker_tck.cli.bench",
    says=COMMANDS,
    epilog="\b\nExamples:\n  broker-tck bench drivers\n  broker-tck bench memory --json\n",
)
def bench_command() -> None:
    """Measure the drivers' speed and the trackers' memory."""
