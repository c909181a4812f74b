"""``bench``: speed and memory, measured side by side in one run."""

from __future__ import annotations

import click

from broker_tck.cli.bench.bucket import bench_bucket
from broker_tck.cli.bench.cache import bench_cache
from broker_tck.cli.bench.campaign import bench_campaign
from broker_tck.cli.bench.cursors import bench_cursors
from broker_tck.cli.bench.drivers import bench_drivers
from broker_tck.cli.bench.memory import bench_memory
from broker_tck.cli.bench.topic import bench_topic


@click.group(epilog="\b\nExamples:\n  broker-tck bench drivers\n  broker-tck bench memory --json\n")
def bench() -> None:
    """Measure the drivers' speed and the trackers' memory."""


for command in (bench_drivers, bench_memory, bench_cursors, bench_cache, bench_bucket, bench_topic, bench_campaign):
    bench.add_command(command)
