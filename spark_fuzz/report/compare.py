"""Two campaigns side by side: what is new, gone, slower, and no longer exercised."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from broker_tck.properties.errors import BadInput
from broker_tck.spark_fuzz.report.data import Pair, PairKey, Report, report_of
from broker_tck.spark_fuzz.report.figures import TELLING
from broker_tck.spark_fuzz.report.grouping import Entry, grouped, owners, shapes
from broker_tck.spark_fuzz.report.rendering import rendered
from broker_tck.spark_fuzz.report.stories import told
from broker_tck.spark_fuzz.report.words import counted, moment, rounded
from broker_tck.spark_fuzz.store.tables import Store

THRESHOLD = 0.10
"""A smaller change of speed may be chance."""
EXPECTED = 3
"""Number of expected failing walks from which on their absence means something: it is chance in 1 case of 20."""
NEW, GONE, STILL = "New", "Gone", "In both"
KINDS = {
    NEW: "Found in the later campaign only.",
    GONE: "Found in the earlier campaign only.",
    STILL: "Found in both campaigns.",
}


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
    """An entry of one campaign or both, of the later one if it is there, with counts of the earlier and the later."""

    entry: Entry
    failed: Sequence[int]
    walks: Sequence[int]
    """Of the pair; 0 in a campaign that did not run it."""


@dataclass(frozen=True)
class Comparison:
    """Two campaigns, the earlier one first."""

    names: tuple[str, str]
    before: Report
    after: Report
    changes: Mapping[str, Sequence[Change]]
    """Those of each kind."""

    @property
    def pairs(self) -> list[tuple[Pair, Pair]]:
        """The pairs that both have run."""
        after = {pair.name: pair for pair in self.after.pairs}
        return [(pair, after[pair.name]) for pair in self.before.pairs if pair.name in after]

    @property
    def slower(self) -> list[PairKey]:
        """The pairs that have become slower; none if one campaign has too few shards to tell."""
        shards = (sum(machine.shards for machine in each.figures.machines) for each in (self.before, self.after))
        pairs = self.pairs if min(shards) >= TELLING else []
        return [old.name for old, new in pairs if new.speed < old.speed * (1 - THRESHOLD)]

    @property
    def unexercised(self) -> list[tuple[PairKey, str]]:
        """The rules that the later campaign never exercised, and the earlier one did."""
        return [(old.name, number) for old, new in self.pairs for number in new.never if number not in old.missing]

    @property
    def verdict(self) -> str:
        """The comparison in one line."""
        said = [f"{len(self.changes[kind])} {kind[0].lower()}{kind[1:]}" for kind in KINDS]
        if self.slower:
            said.append(f"{counted(len(self.slower), 'pair')} slower")
        if self.unexercised:
            said.append(f"{counted(len(self.unexercised), 'rule')} no longer exercised")
        return ", ".join(said)

    @property
    def worse(self) -> bool:
        """Whether the later campaign found something new, or no longer exercises a rule."""
        return bool(self.changes[NEW] or self.unexercised)


def compare(a: Store, b: Store, names: tuple[str, str]) -> Comparison:
    """Compare two campaigns. What the diagnosis left open is settled for both alike, so that entries match."""
    before, after = report_of(a, names[0]), report_of(b, names[1])
    if before.one != after.one:
        raise BadInput(f"{names[1]}: a campaign of {after.one}s; {names[0]} is of {before.one}s")
    found = [shapes(source.findings(of.figures.end)) for source, of in ((a, before), (b, after))]
    owned = owners([*found[0], *found[1]])
    old, new = ({entry.place: entry for entry in grouped(each, owned)} for each in found)
    ran = [{pair.name: pair.walks for pair in report.pairs} for report in (before, after)]
    changes: dict[str, list[Change]] = {kind: [] for kind in KINDS}
    for place, entry in sorted((old | new).items()):
        failed = [each[place].walks if place in each else 0 for each in (old, new)]
        walks = [each.get(place[:2], 0) for each in ran]
        kind = STILL if all(failed) else NEW if failed[1] else GONE
        changes[kind].append(Change(entry, failed, walks))
    return Comparison(names, before, after, changes)


def compare_text(a: Store, b: Store, names: tuple[str, str]) -> list[Section]:
    """The comparison as tables for a terminal; those with nothing in them are left out."""
    return [section for section in sections(compare(a, b, names)) if section.rows]


def compare_html(a: Store, b: Store, names: tuple[str, str]) -> str:
    """The comparison as one HTML file, with what is new in full."""
    both = compare(a, b, names)
    new = [change.entry for change in both.changes[NEW]]
    stories, tables = told(b, new), [*sections(both)]
    left = len(new) - len(stories)
    return rendered("compare.html", comparison=both, sections=tables, stories=stories, unlisted=left)


def sections(both: Comparison) -> Iterator[Section]:
    """The tables of a comparison."""
    head = ["rule", "subject", "profile", "before", "after", "meaning"]
    for kind, says in KINDS.items():
        yield Section(kind, says, head, [finding_row(both, change) for change in both.changes[kind]], (3, 4))
    steps = both.after.figures.steps.capitalize()
    says = f"{steps} a second of one shard. A change of {THRESHOLD * 100:.0f} % or less may be chance."
    yield figures("Speed", says, both, lambda pair: pair.speed)
    says = "Rules that a campaign never exercised: how many of the counted walks met each."
    yield Section("Rules not exercised", says, [*head[:-1], ""], [*rule_rows(both)], (3, 4))
    says = "Abstract states reached. A longer campaign reaches more."
    if not both.after.manifest.threads:
        yield figures("States", says, both, lambda pair: pair.curve.states[-1])
    says = "What differs between the earlier campaign and the later one."
    yield Section("What was run", says, ["", *both.names], [*run_rows(both)])


def finding_row(both: Comparison, change: Change) -> list[str]:
    """An entry, how often it failed in each campaign, and what that means."""
    *pair, rule = change.entry.place
    counts = zip(change.failed, change.walks, strict=True)
    often = (f"{failed:,} of {walks:,}" if walks else "not run" for failed, walks in counts)
    return [rule, *pair, *often, judged(both, change)]


def judged(both: Comparison, change: Change) -> str:
    """Whether a difference can be chance, in words."""
    if 0 in change.walks:
        return f"this pair is not in {both.names[change.walks.index(0)]}"
    before, after = (failed / walks for failed, walks in zip(change.failed, change.walks, strict=True))
    if 0 in change.failed:
        expected = max(before, after) * change.walks[change.failed.index(0)]
        if expected >= EXPECTED:
            return f"not chance: at that rate {counted(round(expected), both.after.one)} would have failed"
        return f"may be chance: at that rate {rounded(expected, 2)} {both.after.one}s would have failed"
    if before / 1.5 <= after <= before * 1.5:
        return "about as often"
    return f"{rounded(max(after / before, before / after), 2)} times as {'often' if after > before else 'rare'}"


def figures(title: str, says: str, both: Comparison, value: Callable[[Pair], float]) -> Section:
    """A figure of the pairs, and its change."""
    rows = []
    for old, new in both.pairs:
        before, after = value(old), value(new)
        change = f"{(after / before - 1) * 100:+.0f} %".replace("-", "\N{MINUS SIGN}") if before else ""
        rows.append([*old.name, f"{before:,.0f}", f"{after:,.0f}", change])
    return Section(title, says, ["subject", "profile", "before", "after", "change"], rows, (2, 3, 4))


def rule_rows(both: Comparison) -> Iterator[list[str]]:
    """The rules that enough counted walks of one campaign did not exercise."""
    for old, new in both.pairs:
        for number in sorted({*old.never, *new.never}):
            says = "exercised now" if number not in new.missing else "no longer exercised"
            if number in new.missing and (new.small or number in old.missing):
                says = "not counted yet" if new.small else "not exercised in either"
            met = (f"{pair.met.get(number, 0):,} of {pair.counted:,}" for pair in (old, new))
            yield [number, *old.name, *met, says]


def run_rows(both: Comparison) -> Iterator[list[str]]:
    """The rows of the differences between the campaigns."""
    before, after = map(run, (both.before, both.after))
    for name in dict.fromkeys([*before, *after]):
        if before.get(name) != after.get(name):
            yield [name, before.get(name) or "-", after.get(name) or "-"]


def run(report: Report) -> dict[str, str]:
    """What was run: how much, then the versions."""
    manifest, code = report.manifest, report.manifest.code
    counts = {name: f"{report.total(of):,}" for name, of in zip(manifest.counts, ("walks", "operations"), strict=False)}
    counts |= {"rounds": f"{report.figures.rounds:,}", "shards": f"{manifest.shards:,}"}
    began = {"seed": str(manifest.seed), "started": moment(manifest.started)}
    return began | counts | {"broker-tck": code.kit, "rulebook": code.rulebook, "Python": code.python} | code.libraries
