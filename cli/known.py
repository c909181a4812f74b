"""What the kit knows to be killed, and the option ``--anew``, with which it is left aside."""

from __future__ import annotations

import click

anew_option = click.option("--anew", is_flag=True, help="Search for everything, whatever is known.")


def tell_searched(count: int, anew: bool) -> None:
    """Say for how many nothing that is known still held; nothing if that was not asked, or if all of it held."""
    if count and not anew:
        click.echo(f"{count} searched for: no walk is known that fails, or the known one no longer does")
