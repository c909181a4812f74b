"""``classpath``: what a class of one's own is compiled against."""

from __future__ import annotations

import os

import click

from broker_tck.cli.options import jars_option
from broker_tck.implementations.jvm.releases import OWN, Release
from broker_tck.implementations.jvm.unavailable import Unavailable
from broker_tck.properties.errors import BadInput

EXAMPLES = """\b
Examples:
  broker-tck classpath 4.2.4
  javac -cp "$(broker-tck classpath 4.2.4)" -d classes MyTracker.java
"""


@click.command(epilog=EXAMPLES)
@click.argument("version", metavar="VERSION")
@jars_option
def classpath_command(version: str) -> None:
    """Print the jars of a release of Apache Pulsar as a class path, to compile against.

    They are those that the classes under test need, not all that a broker needs.
    """
    try:
        release = Release(version)
        paths = [*release.paths(OWN)]
        instead = release.stand_ins(OWN)
    except Unavailable as error:
        raise BadInput(f"Pulsar {version}: {error}") from None
    if instead:
        lacking, of = ", ".join(instead), next(iter(instead.values())).version
        click.echo(f"broker-tck: of {version}, {lacking} cannot be had; those of {of} stand in", err=True)
    click.echo(os.pathsep.join(map(str, paths)))
