"""``classpath``: the class path to compile your own class against."""

from __future__ import annotations

import os

import click

from broker_tck.cli.options import jars_option
from broker_tck.implementations.jvm.loader import CLASSES
from broker_tck.implementations.jvm.releases import OWN, Release
from broker_tck.implementations.jvm.unavailable import Unavailable
from broker_tck.properties.errors import BadInput

EXAMPLES = """\b
Examples:
  broker-tck classpath 4.2.4
  javac -cp "$(broker-tck classpath 4.2.4)" -d classes MyTracker.java
  javac -cp "$(broker-tck classpath)" -d classes MyClass.java MyBox.java
"""


@click.command(epilog=EXAMPLES)
@click.argument("version", metavar="[VERSION]", required=False)
@jars_option
def classpath_command(version: str | None) -> None:
    """Print the class path of an Apache Pulsar release, to compile against.

    The path has the jars that the classes under test need, not all jars of a broker. Without a VERSION, it has the
    kit's own classes, such as the interface of a box for `threads`.
    """
    if version is None:
        click.echo(CLASSES)
        return
    try:
        release = Release(version)
        paths = [*release.paths(OWN)]
        instead = release.stand_ins(OWN)
    except Unavailable as error:
        raise BadInput(f"Pulsar {version}: {error}") from None
    if instead:
        lacking, of = ", ".join(instead), next(iter(instead.values())).version
        click.echo(f"broker-tck: {lacking} of {version} are not available; those of {of} are used", err=True)
    click.echo(os.pathsep.join(map(str, paths)))
