"""What to run next, derived from what a campaign found and from what it could not tell."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from broker_tck.spark_fuzz.report.data import FEW, Pair, PairKey, Report
from broker_tck.spark_fuzz.report.words import counted, listed, rounded, share


class Step(NamedTuple):
    """One thing to do."""

    what: str
    why: str
    command: str = ""


def steps(report: Report, replays: Mapping[int, str]) -> list[Step]:
    """What to do, most urgent first; ``replays`` has the replay line of some entries, by their place in the report."""
    return [*after_findings(report, replays), *after_never(report), *go_on(report), *after_speed(report)]


def after_findings(report: Report, replays: Mapping[int, str]) -> Iterator[Step]:
    """Replay the most frequent finding, fix it, check the subject."""
    if not report.entries:
        return
    first, one = report.entries[0], report.one
    if 0 in replays:
        why = f"{counted(first.walks, one)} failed like this, more than like any other."
        what = "the race" if report.manifest.threads else first.place.rule
        yield Step(f"Replay {what} on {first.place.subject}", why, replays[0])
    broken = list(dict.fromkeys(entry.place.subject for entry in report.entries))
    why = "A check takes seconds. A walk ends at its first failure, so a fix may uncover another one."
    command = f"broker-tck check --subject {shlex.quote(broken[0])}"
    if report.manifest.threads:
        why = "This takes seconds. Each replay line must then say that the model allows the history."
        command = f"broker-tck threads --subject {shlex.quote(broken[0])}"
    yield Step(f"After the fix, check {listed(broken)} before the next campaign", why, command)


def after_never(report: Report) -> Iterator[Step]:
    """Find out why rules were never exercised, though enough walks were counted."""
    best = {number: max(report.pairs, key=lambda pair: reach(pair, number)) for number in report.never}
    nowhere = [number for number, pair in best.items() if not reach(pair, number)]
    pair = next((pair for pair in report.pairs if {*pair.never} - {*nowhere}), None)
    if pair:
        mine = [number for number in pair.never if number not in nowhere]
        other = best[mine[0]]
        why = (
            f"{named(other.name)} exercises {mine[0]} in {share(reach(other, mine[0]))} of its walks, so such walks "
            f"are generated. Look at the configurations and capabilities that {pair.name[0]} declares."
        )
        command = f"broker-tck check --subject {shlex.quote(pair.name[0])} --walks 10000"
        yield Step(f"See why {pair.name[0]} never exercised {listed(mine)}", why, command)
    if nowhere:
        why = "No pair did. This command runs the known mistakes; if one is not noticed, no walk exercises its rule."
        command = f"broker-tck prove --contract {report.manifest.contract}"
        yield Step(f"See whether any walk can exercise {listed(nowhere)}", why, command)


def reach(pair: Pair, rule: str) -> float:
    """The share of a pair's counted walks that met a rule."""
    return pair.met.get(rule, 0) / max(1, pair.counted)


def go_on(report: Report) -> Iterator[Step]:
    """Go on with this seed, or with another one if its walks reach little that is new."""
    growing = [pair for pair in report.pairs if pair.growing]
    if not report.total("walks"):
        yield Step("Run the campaign", f"No {report.one} was run yet.", resume(report))
    elif report.small:
        why = f"Too few {report.manifest.counts.judged} were counted: each pair needs {FEW}. "
        why += f"This takes about {report.enough_rounds} rounds in all."
        yield Step("Run a larger campaign", why, resume(report, report.enough_rounds))
    elif growing:
        most = max(growing, key=lambda pair: pair.curve.last or 0.0)
        part = share(most.curve.last or 0.0)
        why = f"{named(most.name)} reached {part} of its states in the last tenth of its operations: there are more."
        yield Step("Go on with this campaign", why, resume(report, 2 * report.figures.rounds))
    elif any(pair.curve.last is None for pair in report.pairs):
        why = f"Twice the {report.manifest.counts.judged} exclude failures that are half as frequent."
        yield Step("Go on with this campaign", why, resume(report, 2 * report.figures.rounds))
    else:
        command, other = another(report)
        why = "The curves of the states are flat, so this seed reaches little that is new. Another seed may."
        yield Step("Begin with another seed", why, command)
        merge = shlex.join([report.where, other, "--into", beside(report, "merged")])
        yield Step("Then merge both campaigns", "You get one report on all walks.", f"broker-tck fuzz merge {merge}")


def after_speed(report: Report) -> Iterator[Step]:
    """Look at the slowest machine."""
    slow = sorted(report.slow.items(), key=lambda each: each[1])
    if slow:
        host, part = slow[0]
        why = f"{host} ran at {rounded(part * 100, 2)} % of the usual speed. A slow machine delays the end of a round."
        yield Step(f"Look at {listed([each for each, _ in slow])}", why)


def resume(report: Report, rounds: int | None = None) -> str:
    """The command that goes on, to so many rounds in all; a merged campaign goes on with another seed."""
    if report.manifest.merged:
        return another(report)[0]
    return f"broker-tck fuzz resume {shlex.quote(report.where)}{f' --rounds {rounds}' if rounds else ''}"


def another(report: Report) -> tuple[str, str]:
    """The command that starts a campaign with a new seed, and its store."""
    seed = max([report.manifest.seed, *(each.seed for each in report.manifest.merged)]) + 1
    store = beside(report, seed)
    named = [word for name in report.manifest.subjects for word in ("--subject", name)]
    kind = ["--threads", *named] if report.manifest.threads else []
    return shlex.join(["broker-tck", "fuzz", *kind, "--seed", str(seed), "--store", store]), store


def beside(report: Report, name: object) -> str:
    """A store beside the one that is reported."""
    return f"{report.where.rstrip('/')}-{name}"


def named(pair: PairKey) -> str:
    """A pair in a sentence."""
    return f"{pair[0]} ({pair[1]})"
