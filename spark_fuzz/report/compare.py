"""Two campaigns side by side: what is new, gone, slower, and no longer exercised."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from broker_tck.spark_fuzz.report.data import Lane, LaneKey, Report, Source, report_of
from broker_tck.spark_fuzz.report.grouping import Entry, Place, grouped, owners, shapes
from broker_tck.spark_fuzz.report.rendering import rendered
from broker_tck.spark_fuzz.report.stories import told
from broker_tck.spark_fuzz.report.words import counted, moment, rounded

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
    new: Sequence[Change]
    """Found in the later campaign only."""
    gone: Sequence[Change]
    """Found in the earlier campaign only."""
    still: Sequence[Change]
    """Found in both."""

    @property
    def lanes(self) -> list[tuple[Lane, Lane]]:
        """The lanes that both have run."""
        after = {lane.name: lane for lane in self.after.lanes}
        return [(lane, after[lane.name]) for lane in self.before.lanes if lane.name in after]

    @property
    def slower(self) -> list[LaneKey]:
        """The lanes that have become slower."""
        return [old.name for old, new in self.lanes if faster(old, new) < -THRESHOLD]

    @property
    def unexercised(self) -> list[tuple[LaneKey, str]]:
        """The rules that the later campaign never exercised, and the earlier one did."""
        return [(old.name, number) for old, new in self.lanes for number in new.never if number not in old.missing]

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
    found = [shapes(source.findings()) for source in (a, b)]
    owned = owners([*found[0], *found[1]])
    before, after = ({entry.place: entry for entry in grouped(each, owned)} for each in found)
    places = after.keys() - before, before.keys() - after, before.keys() & after
    changes = [[Change(place, before.get(place), after.get(place)) for place in sorted(each)] for each in places]
    return Comparison(names, report_of(a, names[0]), report_of(b, names[1]), *changes)


def compare_text(a: Source, b: Source, names: tuple[str, str]) -> list[Section]:
    """The comparison as tables for a terminal; those with nothing in them are left out."""
    return [section for section in sections(compare(a, b, names)) if section.rows]


def compare_html(a: Source, b: Source, names: tuple[str, str]) -> str:
    """The comparison as one HTML file, with what is new in full."""
    comparison = compare(a, b, names)
    new = [change.after for change in comparison.new if change.after]
    stories, tables = told(b, new), list(sections(comparison))
    left = len(new) - len(stories)
    return rendered("compare.html", comparison=comparison, sections=tables, stories=stories, unlisted=left)


def sections(both: Comparison) -> Iterator[Section]:
    """The tables of a comparison."""
    head, columns = ["rule", "subject", "profile", "before", "after", "which means"], (3, 4)
    for title, says, changes in (
        ("New", "Found in the later campaign only.", both.new),
        ("Gone", "Found in the earlier campaign only.", both.gone),
        ("In both", "Found in both campaigns.", both.still),
    ):
        yield Section(title, says, head, [finding_row(both, change) for change in changes], columns)
    head = ["subject", "profile", "before", "after", "change", ""]
    says = f"Operations a second of one shard. A change of {THRESHOLD * 100:.0f} % or less may be chance."
    yield Section("Speed", says, head, [speed_row(*lanes) for lanes in both.lanes], (2, 3, 4))
    head = ["rule", "subject", "profile", "before", "after", ""]
    says = "Rules that no counted walk of a campaign exercised; in brackets, how many were counted."
    yield Section("Rules not exercised", says, head, [*rule_rows(both)], columns)
    states = [(old.name, old.curve.states[-1], new.curve.states[-1]) for old, new in both.lanes]
    rows = [[*lane, f"{old:,}", f"{new:,}", signed(f"{new - old:+,}")] for lane, old, new in states]
    says = "Abstract states reached. A longer campaign reaches more."
    yield Section("States", says, ["subject", "profile", "before", "after", "difference"], rows, (2, 3, 4))
    says = "The earlier campaign and the later one. Versions are listed if they differ."
    yield Section("What was run", says, ["", *both.names], [*run_rows(both)])


def finding_row(both: Comparison, change: Change) -> list[str]:
    """An entry, how often it failed in each campaign, and what that means."""
    *lane, rule = change.place
    before, after = walks_of(both.before, lane), walks_of(both.after, lane)
    often = frequency(before, change.before), frequency(after, change.after)
    return [rule, *lane, *often, judged(both, change, before, after)]


def walks_of(report: Report, lane: Sequence[str]) -> int:
    """The walks of a lane; 0 if the campaign did not run it."""
    return next((each.walks for each in report.lanes if each.name == tuple(lane)), 0)


def frequency(walks: int, entry: Entry | None) -> str:
    """How often an entry failed in so many walks."""
    return f"{entry.walks if entry else 0:,} of {walks:,}" if walks else "not run"


def judged(both: Comparison, change: Change, before: int, after: int) -> str:
    """Whether a difference can be chance, in words; ``before`` and ``after`` are the walks of the lane."""
    if not (before and after):
        return f"this lane is not in {both.names[0 if not before else 1]}"
    if change.before and change.after:
        return ratio(change.before.walks / before, change.after.walks / after)
    found = change.after or change.before
    here, there = (after, before) if change.after else (before, after)
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


def speed_row(old: Lane, new: Lane) -> list[str]:
    """Operations a second of a lane, and the change in a word."""
    change = faster(old, new)
    says = "slower" if change < -THRESHOLD else "faster" if change > THRESHOLD else "the same"
    rates = (f"{lane.speed:,.0f}" for lane in (old, new))
    return [*old.name, *rates, signed(f"{change * 100:+.0f} %"), says]


def faster(old: Lane, new: Lane) -> float:
    """By which share a lane has become faster; negative if it has become slower."""
    return new.speed / old.speed - 1 if old.speed else 0.0


def signed(change: str) -> str:
    """A change with its sign as it is printed."""
    return "0" if change == "+0" else change.replace("-", MINUS)


def rule_rows(both: Comparison) -> Iterator[list[str]]:
    """The rules that one of the campaigns did not exercise."""
    for old, new in both.lanes:
        for number in sorted({*old.missing, *new.missing}):
            says = "no longer exercised" if number not in old.missing else "exercised now"
            if number in new.missing and (number in old.missing or new.small):
                says = "not exercised in either" if number in old.missing else "not counted yet"
            yield [number, *old.name, met(old, number), met(new, number), says]


def met(lane: Lane, number: str) -> str:
    """In how many of its counted walks a lane met a rule."""
    return f"{lane.met.get(number, 0):,} of {lane.counted:,}"


def run_rows(both: Comparison) -> Iterator[list[str]]:
    """What was run, and the versions in which the campaigns differ."""
    pair = both.before, both.after
    yield ["seed", *(str(each.manifest.seed) for each in pair)]
    yield ["walks", *(f"{each.total('walks'):,}" for each in pair)]
    yield ["operations", *(f"{each.total('operations'):,}" for each in pair)]
    yield ["rounds", *(f"{each.figures.rounds:,}" for each in pair)]
    yield ["shards", *(f"{each.manifest.shards:,}" for each in pair)]
    yield ["started", *(moment(each.manifest.started) for each in pair)]
    old, new = map(versions, pair)
    for name in [*dict.fromkeys([*old, *new])]:
        if old.get(name) != new.get(name):
            yield [name, old.get(name) or "-", new.get(name) or "-"]


def versions(report: Report) -> dict[str, str]:
    """What ran, with its version."""
    code = report.manifest.code
    return {"broker-tck": code.kit, "rulebook": code.rulebook, "Python": code.python, **code.libraries}
