"""``bench walks``: did a change make walks slower?"""

from __future__ import annotations

from collections.abc import Sequence

import click
import msgspec

from broker_tck.bench import walks as walks_bench
from broker_tck.bench.walks import Part, Result, Row, machine_words, total
from broker_tck.cli.options import json_option
from broker_tck.cli.output import print_json, print_table, progress

EXAMPLES = """\b
Examples:
  broker-tck bench walks --against main
  broker-tck bench walks --against 18407f7 --subject heap --subject lazy-list --turns 5
"""


@click.command("walks", epilog=EXAMPLES)
@click.option("--against", required=True, metavar="COMMIT", help="The commit to compare with.")
@click.option(
    "--subject",
    "names",
    multiple=True,
    default=walks_bench.SUBJECTS,
    metavar="S",
    help="A bundled subject. Repeatable. Default: one of each contract.",
)
@click.option(
    "--walks",
    "count",
    type=click.IntRange(1),
    help="Walks of a subject in a turn. Default: by its contract.",
)
@click.option("--turns", default=walks_bench.TURNS, show_default=True, type=click.IntRange(1), help="How many turns.")
@json_option
def walks_command(against: str, names: tuple[str, ...], count: int | None, turns: int, as_json: bool) -> None:
    """Compare how fast walks are at the last commit of this clone and at another commit.

    The code of both commits is taken out of the clone that the current folder is in. The commits take turns, each in
    processes of its own, each turn with other walks. Rates are checked operations a processor-second. The spread is the
    lowest and the highest ratio of a turn. "other walks" means that the same seeds make other walks at both commits.
    """
    with progress(walks_bench.steps(names, turns), "measuring", "processes") as tell:
        result = walks_bench.measure(against, names, count, turns, tell)
    if as_json:
        ratios = {row.subject: row.ratio for row in result.rows if not row.missing}
        print_json({"machine": machine_words(), "ratios": ratios, **msgspec.to_builtins(result)})
    else:
        print_walks(result, turns)


def print_walks(result: Result, turns: int) -> None:
    """Print the rates of each subject at both commits, their ratio, and what it means."""
    head = ["subject", "walks", result.old, result.new, "ratio", "spread", ""]
    title = f"operations a second, {turns} turns; {machine_words()}"
    print_table(title, head, [cells(row) for row in result.rows], right=(1, 2, 3, 4))


def cells(row: Row) -> tuple[str, ...]:
    """A row of the table."""
    rates = (rate(row.old), rate(row.new))
    if row.missing:
        return (row.subject, f"{row.walks:,}", *rates, "-", "-", "one commit does not have it")
    least, most = min(row.ratios), max(row.ratios)
    said = "slower" if most < 1 else "faster" if least > 1 else ""
    others = "" if row.same else "other walks"
    spread = f"{least:.2f} to {most:.2f}"
    return (row.subject, f"{row.walks:,}", *rates, f"{row.ratio:.2f}", spread, ", ".join(filter(None, [said, others])))


def rate(parts: Sequence[Part]) -> str:
    """Operations a second, over all turns."""
    return f"{total(parts).rate:,.0f}" if parts else "-"
