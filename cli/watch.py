"""``watch``: how a campaign stands."""

from __future__ import annotations

import sys
from threading import Event

import click

from broker_tck.cli.campaigns import opened, shown, totals_json, totals_text
from broker_tck.cli.options import json_option
from broker_tck.cli.output import print_json
from broker_tck.spark_fuzz.driver.campaign import totals_of

EVERY = 1.0
"""Seconds between two looks at the store."""


@click.command("watch", epilog="\b\nExamples:\n  broker-tck watch night\n  broker-tck watch night --json\n")
@click.argument("where", metavar="STORE")
@json_option
def watch_command(where: str, as_json: bool) -> None:
    """Show the progress of a campaign until it ends. Without a terminal, print one line."""
    store = opened(where)
    totals = totals_of(store)
    if as_json:
        print_json({**totals_json(totals), "driver": store.driver()})
        return
    if sys.stderr.isatty():
        with shown(totals.manifest, totals.manifest.goal) as tell:
            while store.driver():
                tell(totals_of(store))
                Event().wait(EVERY)
        totals = totals_of(store)
    click.echo(f"{where}: {totals_text(totals)}; {store.driver() or 'no process'} drives it")
