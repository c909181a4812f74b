"""From data to the page: what the template is given, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from broker_tck.spark_fuzz.report import plots, words
from broker_tck.spark_fuzz.report.advice import named, resume, steps
from broker_tck.spark_fuzz.report.data import Lane, Report, RuleFigures, Source, report_of
from broker_tck.spark_fuzz.report.figures import FEW
from broker_tck.spark_fuzz.report.rendering import rendered
from broker_tck.spark_fuzz.report.stories import told

LINES = 8
"""A plot has at most so many lines."""
MAPS = 24
"""So many lanes have a heat map: of more, first those that never exercised some rule."""
MOST_ROWS = 1_500
"""The longest list of further entries."""
MOST_UNFINISHED, MOST_MACHINES = 40, 200
"""So many unfinished shards, and machines, are listed."""


def report_html(source: Source, where: str) -> str:
    """The report on a campaign's store as one HTML file; ``where`` is how the store is named in commands."""
    report = report_of(source, where)
    stories = told(source, report.entries)
    replays = {i: each.stories[0].replay for i, each in enumerate(stories) if each.stories}
    mapped = first(report.lanes, MAPS, lambda lane: not lane.never)
    heat = report.figures.heat()
    drawn = first(report.lanes, LINES, lambda lane: -(lane.figures.curve.last or 0.0))
    return rendered(
        "report.html",
        report=report,
        headline=headline(report),
        few=FEW,
        larger=resume(report, report.enough_rounds),
        stories=stories,
        others=report.entries[len(stories) :][:MOST_ROWS],
        unlisted=max(0, len(report.entries) - len(stories) - MOST_ROWS),
        unfinished=report.unfinished[:MOST_UNFINISHED],
        steps=steps(report, replays),
        maps=[HeatMap(lane, report.figures.spans, heat) for lane in mapped],
        unmapped=[lane for lane in report.lanes if lane not in mapped],
        rounds_a_column=rounds_a_column(report),
        states=states_plot(drawn),
        drawn=drawn,
        speeds=speeds_plot(report),
        machines=report.machines[:MOST_MACHINES],
        curves=min(len(report.machines), LINES - 1) if len(report.machines) > 1 else 0,
    )


def headline(report: Report) -> str:
    """The verdict in one line."""
    unfinished = f"{words.counted(len(report.unfinished), 'shard')} not finished" if report.unfinished else ""
    if report.entries:
        subjects = {entry.place.subject for entry in report.entries}
        said = f"{words.counted(len(report.entries), 'finding')} in {words.counted(len(subjects), 'subject')}"
        return f"{said}, {unfinished}" if unfinished else said
    if report.failing:
        return f"{words.counted(report.failing, 'failing walk')}, and no finding"
    if unfinished:
        return f"No finding, but {unfinished}"
    if not report.walks:
        return "No walk was run"
    bound = f"residual < {words.at_most(report.residual)}"
    if report.never:
        rules = {number for _, number in report.never}
        return f"No finding, but {words.counted(len(rules), 'rule')} never exercised; {bound}"
    return f"No finding in a small campaign; {bound}" if report.small else f"No finding; {bound}"


class HeatMap:
    """The rules of a lane over the rounds."""

    def __init__(self, lane: Lane, spans: Sequence[Any], heat: Any) -> None:
        self.lane, self.spans, self.heat = lane, spans, heat
        self.rows = [(each, self.strip(each), self.says(each)) for each in lane.rules]

    def strip(self, each: RuleFigures) -> str:
        """The row of a rule as a picture."""
        cells = self.heat.get((self.lane.name, each.rule.number)) if each.met else None
        cells = cells or [0.0] * len(self.spans)
        return plots.strip(cells, f"{each.rule.number} by round: {spread(cells)}")

    def says(self, each: RuleFigures) -> str:
        """What the walks say of a rule, in few words."""
        if each.walks:
            return "broken"
        if each.missing:
            return "not counted yet" if self.lane.figures.small else "never exercised"
        return words.one_in(each.bound) if each.met else "deviation"


def first(lanes: Sequence[Lane], most: int, order: Any) -> Sequence[Lane]:
    """All lanes, or the first so many in an order."""
    return lanes if len(lanes) <= most else sorted(lanes, key=order)[:most]


def spread(cells: Sequence[float | None]) -> str:
    """From which share to which the columns of a row go."""
    shares = [cell for cell in cells if cell is not None]
    if not shares:
        return "not counted"
    low, high = words.share(min(shares)), words.share(max(shares))
    return f"{low} of the walks" if low == high else f"{low} to {high} of the walks"


def rounds_a_column(report: Report) -> str:
    """What a column of the heat maps is."""
    sizes = sorted({high - low + 1 for low, high in report.figures.spans})
    if sizes in ([], [1]):
        return "one round"
    return f"{sizes[0]} rounds" if len(sizes) == 1 else f"{sizes[0]} or {sizes[-1]} rounds"


def states_plot(lanes: Sequence[Lane]) -> str:
    """The plot of the states; empty if there are none."""
    if not any(lane.figures.states for lane in lanes):
        return ""
    says = "; ".join(f"{n} {named(lane.name)}: {lane.figures.states:,} states" for n, lane in enumerate(lanes, 1))
    curves = [(lane.figures.curve.operations, lane.figures.curve.states) for lane in lanes]
    title = "Abstract states reached over operations"
    return plots.lines_plot("states", title, "operations", curves, words.visible(says))


def speeds_plot(report: Report) -> str:
    """The plot of the operations a second by the clock: all, then by machine; empty if there are none."""
    speeds, machines = report.figures.speeds(), report.machines[: LINES - 1] if len(report.machines) > 1 else []
    if not any(speeds):
        return ""
    rounds = [(low + high) / 2 for low, high in report.figures.spans]
    lines = [(rounds, speeds), *((rounds, machine.speeds) for machine in machines)]
    says = f"Between {min(speeds):,.0f} and {max(speeds):,.0f} operations a second."
    return plots.lines_plot("speed", "Operations a second, over the rounds", "round", lines, says)
