"""The option ``--anew``, which ignores the stored walks and traces, and what is said of those that no longer hold."""

from __future__ import annotations

import click

anew_option = click.option("--anew", is_flag=True, help="Ignore the stored walks and traces, and search for all.")


def tell_searched(count: int, anew: bool) -> None:
    """Say for how many a failing walk was searched for; nothing with ``--anew``, or if all stored walks hold."""
    if count and not anew:
        click.echo(f"{count} searched for: no failing walk is stored, or the stored one no longer fails")
