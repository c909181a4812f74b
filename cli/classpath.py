"""``classpath``: what a class of one's own is compiled against."""

from __future__ import annotations

import os

import click

from broker_tck.cli.options import java_options
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
@java_options
def classpath(version: str) -> None:
    """Print the jars of a release of Apache Pulsar as a class path, to compile against.

    They are those that the classes under test need, not all that a broker needs.
    """
    try:
        click.echo(os.pathsep.join(map(str, Release(version).paths(OWN))))
    except Unavailable as error:
        raise BadInput(f"Pulsar {version}: {error}") from None
