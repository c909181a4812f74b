"""The command line, and its exit status.

0: conforms; 1: a finding; 2: bad input; 3: the kit failed; 4: not enough; 130: interrupted; 141: broken pipe.
"""

from __future__ import annotations

import signal
import sys
import traceback
from contextlib import suppress

import click

import broker_tck
from broker_tck.cli.commands import Commands
from broker_tck.cli.streams import DOCUMENTS, UNREAD, Unwritten, flush, silence, tell_errors
from broker_tck.implementations.jvm.unavailable import Unavailable
from broker_tck.implementations.naming import unknown
from broker_tck.properties.errors import BadInput, Failed, KitFailed

EXAMPLES = """\b
Examples:
  broker-tck check
  broker-tck check --subject my_package.tracker:MyTracker
  broker-tck replay 'add 1 0 +2000; adv 2000; get 10' --subject time-bucket
  broker-tck rules DD-06
"""

COMMANDS = {
    "check": "Check subjects against their contract.",
    "walk": "Make seeded random walks of subjects, and nothing else.",
    "replay": "Replay traces on the model, and on subjects.",
    "reduce": "Reduce a failing trace to the shortest trace that breaks the same rule.",
    "rules": "List a contract's rules; with rule numbers, print the details of these rules.",
    "subjects": "List the subjects of a contract: bundled, from other packages, and classes of Pulsar releases.",
    "compare": "Compare subjects with the specification, rule by rule.",
    "pulsar": "Check each class of Apache Pulsar releases, and search its races.",
    "classpath": "Print the class path of an Apache Pulsar release, to compile against.",
    "prove": "Run every known mistake as the subject: a walk must notice it, and its own rule must be named.",
    "interleave": "Try the orders in which the steps of overlapping calls can run.",
    "threads": "Search races of Java classes.",
    "fuzz": "Run a campaign: random walks in rounds, on Spark or in processes of this machine.",
    "watch": "Show the progress of a campaign until it ends. Without a terminal, print one line.",
    "report": "Make a report of a campaign, or compare two.",
    "bench": "Measure how fast walks are.",
    "init": "Write the files of a first subject.",
}
"""A sentence for each command. The module of the command has its name, see :class:`Commands`."""


def tell_version(context: click.Context, _parameter: click.Parameter, asked: bool) -> None:
    """Print the versions of the kit and of its rules, and end. Only this option imports all rules."""
    if asked and not context.resilient_parsing:
        click.echo(f"broker-tck, version {broker_tck.__version__}, rulebook {broker_tck.RULEBOOK}")
        context.exit()


@click.group(
    cls=Commands,
    package="broker_tck.cli",
    says=COMMANDS,
    epilog=EXAMPLES,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=tell_version,
    help="Show the version and exit.",
)
def cli() -> None:
    """Check the parts of a message broker that decide when a message is delivered again."""


def main() -> None:
    """Run the command line and exit with its status."""
    as_json = "--json" in sys.argv
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # whoever started this may have ignored it
    signal.signal(signal.SIGTERM, terminated)
    tell_errors()
    if as_json:
        DOCUMENTS.set_apart()
    try:
        status = run(sys.argv[1:])
        flush()
    except Unwritten as error:
        status = unwritten(error)
    sys.exit(status)


def terminated(_signal: int, _frame: object) -> None:
    """End as Ctrl-C does, with the status of a program that SIGTERM ended."""
    sys.exit(128 + signal.SIGTERM)


def run(arguments: list[str]) -> int:
    """Run the command line, and return the exit status."""
    try:
        result = cli.main(arguments, prog_name="broker-tck", standalone_mode=False)
    except (BadInput, Unavailable) as error:
        return complain(str(error))
    except Failed as error:
        return complain(str(error), 3)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.ctx.get_help(), err=True)
        return 2
    except click.ClickException as error:
        return complain(usage_text(error))
    except (click.Abort, KeyboardInterrupt):
        click.echo("broker-tck: interrupted", err=True)
        return 130
    except Unwritten:
        raise
    except KitFailed as error:
        return kit_failed(str(error))
    except Exception:
        return kit_failed(traceback.format_exc())
    return result if isinstance(result, int) else 0


def kit_failed(where: str) -> int:
    """Report a bug of the kit with its traceback, and return the exit status."""
    click.echo(f"{where.rstrip()}\nbroker-tck: the kit failed; the traceback above shows where", err=True)
    return 3


def unwritten(error: Unwritten) -> int:
    """End after output that cannot be written, silently if a pipe was closed, and return the exit status."""
    status = UNREAD
    if not error.unread:
        status = 2
        with suppress(Unwritten):
            complain(str(error))
    silence()
    return status


def usage_text(error: click.ClickException) -> str:
    """The error in the arguments, with the help command that shows the right ones."""
    context = getattr(error, "ctx", None)
    text = error.format_message().rstrip(".").replace("a valid integer range", "a whole number")
    if text.startswith("No such command") and context:
        return unknown("command", text.split("'")[1], context.command.list_commands(context))
    return f"{text} (see `{context.command_path} --help`)" if context else text


def complain(message: str, status: int = 2) -> int:
    """Print an error in one line, and return the exit status."""
    click.echo(f"broker-tck: {' '.join(message.split())}", err=True)
    return status


if __name__ == "__main__":
    main()
