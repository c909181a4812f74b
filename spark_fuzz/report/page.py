"""From data to the page: what the template is given, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from broker_tck.spark_fuzz.report import plots, words
from broker_tck.spark_fuzz.report.advice import named, steps
from broker_tck.spark_fuzz.report.data import MAPS, Lane, Report, RuleFigures, report_of
from broker_tck.spark_fuzz.report.figures import residual
from broker_tck.spark_fuzz.report.rendering import rendered
from broker_tck.spark_fuzz.report.source import Source
from broker_tck.spark_fuzz.report.stories import told

CURVES = 8
"""So many lanes have a line of their own in the plot of the states."""
SHARDS = 16
"""So many shards are listed; of more, the slowest."""
MOST_ROWS = 1_500
"""The longest list of further entries."""


def report_html(source: Source, where: str) -> str:
    """The report on a campaign's store as one HTML file; ``where`` is how the store is named in commands."""
    report = report_of(source, where)
    stories = told(source, report.entries)
    replays = {i: each.stories[0].replay for i, each in enumerate(stories) if each.stories}
    return rendered(
        "report.html",
        report=report,
        headline=headline(report),
        stories=stories,
        others=report.entries[len(stories) :][:MOST_ROWS],
        unlisted=max(0, len(report.entries) - len(stories) - MOST_ROWS),
        steps=steps(report, replays),
        maps=[HeatMap(report, lane) for lane in mapped(report)],
        unmapped=[lane for lane in report.lanes if lane not in mapped(report)],
        rounds_a_column=rounds_a_column(report),
        states=states_plot(report),
        drawn=drawn_lanes(report),
        speeds=speeds_plot(report),
        shards=shards(report),
        slowest=min(report.shards.values(), default=0.0),
        fastest=max(report.shards.values(), default=0.0),
        named=named,
        residual=residual,
    )


def headline(report: Report) -> str:
    """The verdict in one line."""
    if report.entries:
        subjects = {entry.place.subject for entry in report.entries}
        return f"{words.counted(len(report.entries), 'finding')} in {words.counted(len(subjects), 'subject')}"
    if report.failing:
        return f"{words.counted(report.failing, 'failing walk')}, and no finding"
    if not report.walks:
        return "No walk was run"
    bound = f"residual < {words.small(report.residual)}"
    if report.never:
        rules = {number for _, number in report.never}
        return f"No finding, but {words.counted(len(rules), 'rule')} never exercised; {bound}"
    return f"No finding; {bound}"


class HeatMap:
    """The rules of a lane over the rounds."""

    def __init__(self, report: Report, lane: Lane) -> None:
        self.lane = lane
        self.rows = [(each, self.strip(report, each), self.says(each)) for each in lane.rules]

    def strip(self, report: Report, each: RuleFigures) -> Any:
        """The row of a rule as a picture."""
        cells = report.heat.row(self.lane.name, each.rule.number)
        if each.never or not each.met:
            cells = [0.0] * len(cells)
        return plots.strip(cells, f"{each.rule.number} by round: {spread(cells)}")

    def says(self, each: RuleFigures) -> str:
        """What the walks say of a rule, in few words."""
        if each.walks:
            return "broken"
        if each.never:
            return "never exercised"
        return words.one_in(each.bound) if each.met else "deviation"


def mapped(report: Report) -> Sequence[Lane]:
    """The lanes that have a heat map."""
    if len(report.lanes) <= MAPS:
        return report.lanes
    return sorted(report.lanes, key=lambda lane: not lane.never)[:MAPS]


def spread(cells: Sequence[float | None]) -> str:
    """From which share to which the columns of a row go."""
    shares = [cell for cell in cells if cell is not None]
    if not shares:
        return "not counted"
    low, high = words.share(min(shares)), words.share(max(shares))
    return f"{low} of the walks" if low == high else f"{low} to {high} of the walks"


def rounds_a_column(report: Report) -> str:
    """What a column of the heat maps is."""
    sizes = sorted({last - first + 1 for first, last in report.heat.spans})
    if sizes in ([], [1]):
        return "one round"
    return f"{sizes[0]} rounds" if len(sizes) == 1 else f"{sizes[0]} or {sizes[-1]} rounds"


def drawn_lanes(report: Report) -> Sequence[Lane]:
    """The lanes in the plot of the states: all, or those that grew most at the end."""
    if len(report.lanes) <= CURVES:
        return report.lanes
    return sorted(report.lanes, key=lambda lane: -(lane.curve.last or 0.0))[:CURVES]


def states_plot(report: Report) -> Any:
    """The plot of the states; None where there are none."""
    lanes = drawn_lanes(report)
    if not any(lane.figures.states for lane in lanes):
        return None
    says = "; ".join(f"{n} {named(lane.name)}: {lane.figures.states:,} states" for n, lane in enumerate(lanes, 1))
    return plots.states_plot([lane.curve for lane in lanes], words.visible(says))


def speeds_plot(report: Report) -> Any:
    """The plot of the shards' speeds; None where there are none."""
    if not report.speeds:
        return None
    low, high = min(s.slowest for s in report.speeds), max(s.fastest for s in report.speeds)
    return plots.speeds_plot(report.speeds, f"Between {low:,.0f} and {high:,.0f} operations a second.")


def shards(report: Report) -> Mapping[int, float]:
    """The shards that are listed: all, or the slowest."""
    if len(report.shards) <= SHARDS:
        return report.shards
    slowest = sorted(report.shards, key=lambda number: (report.shards[number], number))[:SHARDS]
    return {number: report.shards[number] for number in slowest}
