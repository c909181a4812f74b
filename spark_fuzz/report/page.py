"""The HTML report: the data that its template shows."""

from __future__ import annotations

from collections.abc import Sequence

from broker_tck.properties.verdict import at_most
from broker_tck.spark_fuzz.report import plots, words
from broker_tck.spark_fuzz.report.advice import named, resume, steps
from broker_tck.spark_fuzz.report.data import FEW, Pair, Report, RuleFigures, report_of
from broker_tck.spark_fuzz.report.rendering import rendered
from broker_tck.spark_fuzz.report.stories import told
from broker_tck.spark_fuzz.store.tables import Store

LINES = 8
"""Maximum number of lines of a plot."""
MAPS = 24
"""Maximum number of pairs with a heat map. Pairs that never exercised some rule come first."""


def report_html(source: Store, where: str) -> str:
    """The report on a campaign's store as one HTML file; ``where`` is how the store is named in commands."""
    report = report_of(source, where)
    stories = told(source, report.entries)
    replays = {i: each.stories[0].replay for i, each in enumerate(stories) if each.stories}
    mapped = sorted(report.pairs, key=lambda pair: not pair.never)[:MAPS]
    growing = sorted(report.pairs, key=lambda pair: -(pair.curve.last or 0.0))[:LINES]
    drawn = [pair for pair in report.pairs if pair in growing]
    return rendered(
        "report.html",
        report=report,
        headline=headline(report),
        few=FEW,
        larger=resume(report, report.enough_rounds),
        stories=stories,
        steps=steps(report, replays),
        maps=mapped,
        strip=strip,
        unmapped=[pair for pair in report.pairs if pair not in mapped],
        states=states_plot(drawn),
        drawn=drawn,
        speeds=speeds_plot(report),
        lines=LINES,
    )


def headline(report: Report) -> str:
    """The verdict in one line."""
    if report.broken:
        subjects, failing = {entry.place.subject for entry in report.entries}, report.total("failing")
        said = [f"{words.counted(len(report.entries), 'finding')} in {words.counted(len(subjects), 'subject')}"]
        if not subjects:
            said = [words.counted(failing, f"failing {report.one}")] * bool(failing) + ["no finding"]
        if report.figures.unfinished:
            said.append(f"{words.counted(len(report.figures.unfinished), 'shard')} not finished")
        return ", ".join(said).capitalize()
    if not report.total("walks"):
        return f"No {report.one} was run"
    bound = f"failures < {at_most(max(pair.failure_bound for pair in report.pairs))}"
    if report.never:
        return f"No finding, but {words.counted(len(report.never), 'rule')} never exercised; {bound}"
    return f"No finding in a small campaign; {bound}" if report.small else f"No finding; {bound}"


def strip(pair: Pair, each: RuleFigures) -> str:
    """The row of a rule in the heat map of a pair."""
    title = f"{each.rule.number}: met in {each.met:,} of {words.counted(pair.counted, 'counted walk')}"
    return plots.strip(each.shares, title)


def states_plot(pairs: Sequence[Pair]) -> str:
    """The plot of the states; empty if there are none."""
    if not any(pair.curve.states[-1] for pair in pairs):
        return ""
    states = "; ".join(f"{n} {named(pair.name)}: {pair.curve.states[-1]:,}" for n, pair in enumerate(pairs, 1))
    lines, says = [pair.curve[:2] for pair in pairs], words.visible(states)
    return plots.lines_plot("states", "Abstract states reached over operations", "operations", lines, says)


def speeds_plot(report: Report) -> str:
    """The plot of the speed by the clock: of all, then by machine; empty if there is none."""
    speeds, machines, steps = report.figures.speeds, report.figures.machines, report.figures.steps
    if not any(speeds):
        return ""
    rounds = [(low + high) / 2 for low, high in report.figures.spans]
    several = [machine.speeds for machine in machines[: LINES - 1]] if len(machines) > 1 else []
    says = f"Between {min(speeds):,.0f} and {max(speeds):,.0f} {steps} a second."
    lines = [(rounds, each) for each in (speeds, *several)]
    return plots.lines_plot("speed", f"{steps.capitalize()} a second, over the rounds", "round", lines, says)
