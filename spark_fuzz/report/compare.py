"""Two campaigns side by side: what is new, gone, slower, and no longer exercised."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from broker_tck.spark_fuzz.report.data import Lane, Report, report_of
from broker_tck.spark_fuzz.report.figures import LaneKey
from broker_tck.spark_fuzz.report.grouping import COLUMNS, Entry, Place, entries, owners
from broker_tck.spark_fuzz.report.rendering import rendered
from broker_tck.spark_fuzz.report.source import Source
from broker_tck.spark_fuzz.report.stories import told
from broker_tck.spark_fuzz.report.words import counted, moment, one_in, rounded

THRESHOLD = 0.10
"""A smaller change of speed is not told from chance."""
MINUS = "\N{MINUS SIGN}"
EXPECTED = 3
"""So many failing walks have to be expected before their absence means something: then it is chance in 1 of 20."""


@dataclass(frozen=True)
class Section:
    """A table of a comparison; ``right`` are its columns of numbers."""

    title: str
    says: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    right: Sequence[int] = ()


@dataclass(frozen=True)
class Change:
    """An entry in both campaigns, or in one."""

    place: Place
    before: Entry | None
    after: Entry | None


@dataclass(frozen=True)
class Comparison:
    """Two campaigns, the earlier one first."""

    names: tuple[str, str]
    before: Report
    after: Report
    changes: Sequence[Change]

    @property
    def new(self) -> list[Change]:
        """Found in the later campaign only."""
        return [each for each in self.changes if not each.before]

    @property
    def gone(self) -> list[Change]:
        """Found in the earlier campaign only."""
        return [each for each in self.changes if not each.after]

    @property
    def still(self) -> list[Change]:
        """Found in both."""
        return [each for each in self.changes if each.before and each.after]

    @property
    def lanes(self) -> list[tuple[Lane, Lane]]:
        """The lanes that both have run."""
        after = {lane.name: lane for lane in self.after.lanes}
        return [(lane, after[lane.name]) for lane in self.before.lanes if lane.name in after]

    @property
    def slower(self) -> list[LaneKey]:
        """The lanes that have become slower."""
        return [old.name for old, new in self.lanes if speed_change(old, new) < -THRESHOLD]

    @property
    def unexercised(self) -> list[tuple[LaneKey, str]]:
        """The rules that the later campaign never exercised, and the earlier one did."""
        return [(old.name, number) for old, new in self.lanes for number in new.never if number not in old.never]

    @property
    def verdict(self) -> str:
        """The comparison in one line."""
        said = [f"{len(self.new)} new", f"{len(self.gone)} gone", f"{len(self.still)} in both"]
        if self.slower:
            said.append(f"{counted(len(self.slower), 'lane')} slower")
        if self.unexercised:
            said.append(f"{counted(len(self.unexercised), 'rule')} no longer exercised")
        return ", ".join(said)

    @property
    def worse(self) -> bool:
        """Whether the later campaign found something new, or no longer exercises a rule."""
        return bool(self.new or self.unexercised)


def compare(a: Source, b: Source, names: tuple[str, str]) -> Comparison:
    """Compare two campaigns. What the diagnosis left open is settled for both alike, so that entries match."""
    tables = [source.findings().select(COLUMNS.names).cast(COLUMNS) for source in (a, b)]
    owned = owners(pa.concat_tables(tables))
    before, after = ({entry.place: entry for entry in entries(table, owned)} for table in tables)
    places = sorted({*before, *after})
    changes = [Change(place, before.get(place), after.get(place)) for place in places]
    return Comparison(names, report_of(a, names[0]), report_of(b, names[1]), changes)


def compare_text(a: Source, b: Source, names: tuple[str, str]) -> list[Section]:
    """The comparison as tables for a terminal; those with nothing in them are left out."""
    return [section for section in sections(compare(a, b, names)) if section.rows]


def compare_html(a: Source, b: Source, names: tuple[str, str]) -> str:
    """The comparison as one HTML file, with what is new in full."""
    comparison = compare(a, b, names)
    new = [change.after for change in comparison.new if change.after]
    stories = told(b, new)
    return rendered(
        "compare.html",
        comparison=comparison,
        sections=list(sections(comparison)),
        stories=stories,
        unlisted=len(new) - len(stories),
    )


def sections(comparison: Comparison) -> Iterator[Section]:
    """The tables of a comparison."""
    yield findings("New", "Found in the later campaign only.", comparison, comparison.new)
    yield findings("Gone", "Found in the earlier campaign only.", comparison, comparison.gone)
    yield findings("In both", "Found in both campaigns.", comparison, comparison.still)
    yield speeds(comparison)
    yield rules(comparison)
    yield states(comparison)
    yield campaigns(comparison)


def campaigns(comparison: Comparison) -> Section:
    """What was run."""
    pair = comparison.before, comparison.after
    rows = [
        ["seed", *(str(each.manifest.seed) for each in pair)],
        ["walks", *(f"{each.walks:,}" for each in pair)],
        ["operations", *(f"{each.operations:,}" for each in pair)],
        ["rounds", *(f"{each.rounds:,}" for each in pair)],
        ["shards", *(str(each.manifest.shards) for each in pair)],
        ["started", *(moment(each.manifest.started) for each in pair)],
        *versions(*pair),
    ]
    says = "The earlier campaign and the later one; versions are listed where they differ."
    return Section("What was run", says, ["", *comparison.names], rows)


def versions(before: Report, after: Report) -> Iterator[list[str]]:
    """The versions in which the campaigns differ."""
    old, new = (libraries(each) for each in (before, after))
    for name in [*dict.fromkeys([*old, *new])]:
        if old.get(name) != new.get(name):
            yield [name, old.get(name) or "-", new.get(name) or "-"]


def libraries(report: Report) -> dict[str, str]:
    """What ran, with its version."""
    code = report.manifest.code
    return {"broker-tck": code.kit, "rulebook": code.rulebook, "Python": code.python, **code.libraries}


def findings(title: str, says: str, comparison: Comparison, changes: Sequence[Change]) -> Section:
    """The entries of one kind, with how often they failed in each campaign and what that means."""
    rows = [
        [
            change.place.rule,
            change.place.subject,
            change.place.profile,
            *frequencies(comparison, change),
            judged(comparison, change),
        ]
        for change in changes
    ]
    return Section(title, says, ["rule", "subject", "profile", "before", "after", "which means"], rows, (3, 4))


def frequencies(comparison: Comparison, change: Change) -> list[str]:
    """How often an entry failed, before and after."""
    pairs = (comparison.before, change.before), (comparison.after, change.after)
    return [frequency(walks_of(report, change.place[:2]), entry) for report, entry in pairs]


def frequency(walks: int, entry: Entry | None) -> str:
    """How often an entry failed in so many walks."""
    if not walks:
        return "not run"
    return f"{entry.walks:,} of {walks:,}" if entry else f"0 of {walks:,}"


def judged(comparison: Comparison, change: Change) -> str:
    """Whether a difference can be chance, in words."""
    before = walks_of(comparison.before, change.place[:2])
    after = walks_of(comparison.after, change.place[:2])
    if not (before and after):
        return f"this lane is not in {comparison.names[0 if not before else 1]}"
    if change.before and change.after:
        return ratio(change.before.walks / before, change.after.walks / after)
    found, here, there = (change.after, after, before) if change.after else (change.before, before, after)
    expected = found.walks / here * there if found else 0.0
    if expected >= EXPECTED:
        return f"not chance: at that rate {counted(round(expected), 'walk')} would have failed"
    return f"may be chance: at that rate {rounded(expected, 2)} walks would have failed"


def ratio(before: float, after: float) -> str:
    """Two failure rates against each other."""
    if after > before * 1.5:
        return f"{rounded(after / before, 2)} times as often"
    if after < before / 1.5:
        return f"{rounded(before / after, 2)} times as rare"
    return "about as often"


def speeds(comparison: Comparison) -> Section:
    """Operations a second, by lane."""
    rows = [
        [
            *old.name,
            f"{old.figures.speed:,.0f}",
            f"{new.figures.speed:,.0f}",
            percent(speed_change(old, new)),
            speed_says(old, new),
        ]
        for old, new in comparison.lanes
    ]
    says = f"Operations a second of one shard; a change of {THRESHOLD * 100:.0f} % or less is not told from chance."
    return Section("Speed", says, ["subject", "profile", "before", "after", "change", ""], rows, (2, 3, 4))


def speed_change(old: Lane, new: Lane) -> float:
    """By which share a lane has become faster; negative where it has become slower."""
    return new.figures.speed / old.figures.speed - 1 if old.figures.speed else 0.0


def speed_says(old: Lane, new: Lane) -> str:
    """A change of speed, in a word."""
    change = speed_change(old, new)
    return "slower" if change < -THRESHOLD else "faster" if change > THRESHOLD else "the same"


def percent(change: float) -> str:
    """A change with its sign."""
    return f"{change * 100:+.0f} %".replace("-", MINUS)


def rules(comparison: Comparison) -> Section:
    """The rules that one campaign exercised and the other did not."""
    rows = []
    for old, new in comparison.lanes:
        for number in sorted({*old.never, *new.never}):
            then, now = (reach(lane, number) for lane in (old, new))
            says = (
                "never exercised in either"
                if then == now
                else "no longer exercised"
                if number in new.never
                else "exercised now"
            )
            rows.append([number, *old.name, then, now, says])
    head = ["rule", "subject", "profile", "before", "after", ""]
    return Section("Rules not exercised", "Rules that a campaign says nothing of.", head, rows, (3, 4))


def reach(lane: Lane, number: str) -> str:
    """In how many walks a lane met a rule."""
    return "never" if number in lane.never else one_in(lane.figures.reach(number)) + " walks"


def states(comparison: Comparison) -> Section:
    """Abstract states reached, by lane."""
    rows = [
        [
            *old.name,
            f"{old.figures.states:,}",
            f"{new.figures.states:,}",
            signed(new.figures.states - old.figures.states),
        ]
        for old, new in comparison.lanes
    ]
    says = "Abstract states reached; a longer campaign reaches more."
    return Section("States", says, ["subject", "profile", "before", "after", "difference"], rows, (2, 3, 4))


def signed(change: int) -> str:
    """A difference with its sign."""
    return f"{change:+,}".replace("-", MINUS) if change else "0"


def walks_of(report: Report, lane: Sequence[str]) -> int:
    """The walks of a lane; 0 where the campaign did not run it."""
    return next((each.figures.walks for each in report.lanes if each.name == tuple(lane)), 0)
