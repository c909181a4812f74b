"""``bench``: how fast walks are, measured side by side in one run."""

from __future__ import annotations

import click

from broker_tck.cli.commands import Commands

COMMANDS = {"walks": "Compare how fast walks are at the last commit of this clone and at another commit."}
FIGURES = {name: name for name in ("bucket", "cache", "campaign", "cursors", "rounds", "topic")} | {
    "memory": "memory nacks"
}
GONE = {
    name: f"`bench {name}` is now `python benchmarks/figures.py {figure}`, in a clone of the repository"
    for name, figure in FIGURES.items()
} | {"drivers": "`bench drivers` is gone: `broker-tck walk --subject S` prints operations a second"}


@click.group(
    cls=Commands,
    package="broker_tck.cli.bench",
    says=COMMANDS,
    gone=GONE,
    epilog="\b\nExamples:\n  broker-tck bench walks --against main\n",
)
def bench_command() -> None:
    """Measure how fast walks are."""
