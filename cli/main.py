"""The command line, and its exit status.

0: conforms; 1: a finding; 2: bad input; 3: the kit failed; 4: not enough; 130: interrupted; 141: nobody reads on.
"""

from __future__ import annotations

import signal
import sys
import traceback
from contextlib import suppress

import click

from broker_tck.cli.bench import bench
from broker_tck.cli.check import check
from broker_tck.cli.classpath import classpath
from broker_tck.cli.compare import compare
from broker_tck.cli.fuzz import fuzz
from broker_tck.cli.init import init
from broker_tck.cli.interleave import interleave
from broker_tck.cli.mutants import mutants_command
from broker_tck.cli.power import power
from broker_tck.cli.pulsar import pulsar
from broker_tck.cli.reduce import reduce_command
from broker_tck.cli.replay import replay_command
from broker_tck.cli.report import report
from broker_tck.cli.rules import rules
from broker_tck.cli.streams import DOCUMENTS, UNREAD, Unwritten, flush, silence, tell_errors
from broker_tck.cli.subjects import subjects
from broker_tck.cli.walk import walk_command
from broker_tck.cli.watch import watch
from broker_tck.implementations.jvm.unavailable import Unavailable
from broker_tck.implementations.naming import unknown
from broker_tck.properties.errors import BadInput, Failed, KitFailed
from broker_tck.properties.rulebook import rulebook
from broker_tck.spark_fuzz.driver.fingerprint import kit_version

EXAMPLES = """\b
Examples:
  broker-tck check
  broker-tck check --subject my_package.tracker:MyTracker
  broker-tck replay 'add 1 0 +2000; adv 2000; get 10' --subject time-bucket
  broker-tck rules DD-06
"""


@click.group(epilog=EXAMPLES, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(
    kit_version(), prog_name="broker-tck", message=f"%(prog)s, version %(version)s, rulebook {rulebook()}"
)
def cli() -> None:
    """Check implementations of the parts of a message broker that decide when a message comes back."""


for command in (
    check,
    walk_command,
    replay_command,
    reduce_command,
    rules,
    subjects,
    compare,
    pulsar,
    classpath,
    power,
    mutants_command,
    interleave,
    fuzz,
    watch,
    report,
    bench,
    init,
):
    cli.add_command(command)


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
    """Run the command line; answers with the exit status."""
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
    """Say that the kit has a bug, and where it showed; answers with the exit status."""
    click.echo(f"{where.rstrip()}\nbroker-tck: the kit failed; the lines above say where", err=True)
    return 3


def unwritten(error: Unwritten) -> int:
    """End where what is printed goes nowhere: without a word where nobody reads on; answers with the exit status."""
    status = UNREAD
    if not error.unread:
        status = 2
        with suppress(Unwritten):
            complain(str(error))
    silence()
    return status


def usage_text(error: click.ClickException) -> str:
    """What is wrong with the arguments, and where it says what would be right."""
    context = getattr(error, "ctx", None)
    text = error.format_message().rstrip(".").replace("a valid integer range", "a whole number")
    if text.startswith("No such command") and context:
        return unknown("command", text.split("'")[1], context.command.list_commands(context))
    return f"{text} (see `{context.command_path} --help`)" if context else text


def complain(message: str, status: int = 2) -> int:
    """Say in one line what is wrong; answers with the exit status."""
    click.echo(f"broker-tck: {' '.join(message.split())}", err=True)
    return status


if __name__ == "__main__":
    main()
