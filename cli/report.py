"""``report``: a campaign as one HTML file, beside another, or for CI servers."""

from __future__ import annotations

import click

from broker_tck.cli.campaigns import opened
from broker_tck.cli.output import print_table, written
from broker_tck.properties.errors import BadInput
from broker_tck.spark_fuzz.executors.session import need

EXAMPLES = """\b
Examples:
  broker-tck report night -o night.html
  broker-tck report night -o night.html --junit night.xml
  broker-tck report --compare monday tuesday
  broker-tck report --compare monday tuesday -o compared.html
"""


@click.command("report", epilog=EXAMPLES)
@click.argument("where", metavar="STORE", required=False)
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False), metavar="FILE", help="Write the report as an HTML file."
)
@click.option(
    "--junit", type=click.Path(dir_okay=False), metavar="FILE", help="Write the report as JUnit XML for CI servers."
)
@click.option("--compare", nargs=2, metavar="A B", help="Compare two stores: show what is new, gone or slower in B.")
def report_command(
    where: str | None,
    output: str | None,
    junit: str | None,
    compare: tuple[str, str] | None,
) -> int:
    """Make a report of a campaign, or compare two. The campaign may still be running.

    The HTML file needs no network. The exit status is always 0.
    """
    if (where is None) is (compare is None) or (compare and junit) or (where and not (output or junit)):
        raise BadInput("report needs a store with -o FILE or --junit FILE, or --compare A B")
    need("reports", ("jinja2", "matplotlib"), "report")
    if compare:
        return compared(*compare, output)
    assert where
    from broker_tck.spark_fuzz.report.junit import junit_xml
    from broker_tck.spark_fuzz.report.page import report_html

    store = opened(where)
    if output:
        written(output, report_html(store, where))
    if junit:
        written(junit, junit_xml(store))
    return 0


def compared(a: str, b: str, output: str | None) -> int:
    """Print a comparison of two campaigns, and write it as a page if there is a file to write."""
    from broker_tck.spark_fuzz.report.compare import compare_html, compare_text

    before, after = opened(a), opened(b)
    for section in compare_text(before, after, (a, b)):
        click.echo(f"{section.title}: {section.says}" if section.says else section.title)
        if section.rows:
            print_table("", section.head, section.rows, right=section.right)
        click.echo()
    if output:
        written(output, compare_html(before, after, (a, b)))
    return 0
