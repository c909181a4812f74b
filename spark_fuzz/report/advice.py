"""What to run next, derived from what a campaign found and from what it could not tell."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from broker_tck.spark_fuzz.report.data import Lane, Report
from broker_tck.spark_fuzz.report.figures import LaneKey
from broker_tck.spark_fuzz.report.words import counted, listed, rounded, share

FEW = 1_000
"""Among fewer counted walks, a rule that was never met may just have been missed."""


class Step(NamedTuple):
    """One thing to do."""

    what: str
    why: str
    command: str = ""


def steps(report: Report, replays: Mapping[int, str]) -> list[Step]:
    """What to do, most urgent first; ``replays`` has the replay line of some entries, by their place in the report."""
    return [
        *after_findings(report, replays),
        *after_unexercised(report),
        *after_states(report),
        *after_speed(report),
    ]


def after_findings(report: Report, replays: Mapping[int, str]) -> Iterator[Step]:
    """Replay the most frequent finding, mend it, check the subject."""
    if not report.entries:
        return
    place = report.entries[0].place
    if 0 in replays:
        why = f"{counted(report.entries[0].walks, 'walk')} failed so; it is the most frequent finding."
        yield Step(f"Replay {place.rule} on {place.subject}", why, replays[0])
    broken = list(dict.fromkeys(entry.place.subject for entry in report.entries))
    command = f"broker-tck check --subject {shlex.quote(broken[0])}"
    why = "It takes seconds. A walk ends at its first failure, so what is mended may have hidden something else."
    yield Step(f"Once mended, check {listed(broken)} before the next campaign", why, command)


def after_unexercised(report: Report) -> Iterator[Step]:
    """Find out why rules were never met."""
    lanes = [lane for lane in report.lanes if lane.never and lane.figures.walks]
    if not lanes:
        return
    least = min(lanes, key=lambda lane: lane.figures.counted)
    if least.figures.counted < FEW:
        counts = counted(least.figures.counted, "walk")
        why = f"Rules were counted in {counts} of {named(least.name)} only: what is rare may have been missed."
        yield Step("Run more walks, for the rules that were never exercised", why, resume(report))
    numbers = sorted({number for lane in lanes for number in lane.never})
    somewhere = [number for number in numbers if meeting(report, number)]
    nowhere = [number for number in numbers if number not in somewhere]
    if somewhere:
        yield met_elsewhere(report, lanes, somewhere)
    if nowhere:
        why = "No lane did. This runs the wrong ways of each rule as subjects: where one survives, no walk gets there."
        command = f"broker-tck power --contract {report.manifest.contract}"
        yield Step(f"See whether any walk can exercise {listed(nowhere)}", why, command)


def meeting(report: Report, number: str) -> list[Lane]:
    """The lanes that met a rule, the one that met it most often first."""
    lanes = [lane for lane in report.lanes if lane.figures.met.get(number)]
    return sorted(lanes, key=lambda lane: -lane.figures.reach(number))


def met_elsewhere(report: Report, lanes: list[Lane], numbers: list[str]) -> Step:
    """Look at the subject, where other lanes do meet the rules."""
    lane = next(lane for lane in lanes if set(lane.never) & set(numbers))
    mine = [number for number in numbers if number in lane.never]
    other = meeting(report, mine[0])[0]
    why = (
        f"{named(other.name)} meets {mine[0]} in {share(other.figures.reach(mine[0]))} of its walks, so the generator "
        f"does get there. Look at the configurations and at the capabilities that {lane.name[0]} declares."
    )
    command = f"broker-tck check --subject {shlex.quote(lane.name[0])} --walks 10000"
    return Step(f"See why {lane.name[0]} never exercised {listed(mine)}", why, command)


def after_states(report: Report) -> Iterator[Step]:
    """Go on where there is more to see; else begin elsewhere."""
    growing = [lane for lane in report.lanes if lane.growing]
    if growing:
        most = max(growing, key=lambda lane: lane.curve.last or 0.0)
        part = share(most.curve.last or 0.0)
        why = f"{named(most.name)} reached {part} of its states in the last tenth of the operations: there are more."
        yield Step("Go on with this campaign", why, resume(report))
    elif not report.walks:
        yield Step("Run the campaign", "No walk was run yet.", resume(report))
    elif any(lane.curve.last is None for lane in report.lanes):
        why = f"{counted(report.rounds, 'round')} are too few to see whether new states still turn up."
        yield Step("Go on with this campaign", why, resume(report))
    else:
        other, both = beside(report, next_seed(report)), beside(report, "merged")
        why = "The curves of the states are flat: more of the same seed reaches little that is new. Another seed may."
        stores = shlex.join([report.where, other, "--into", both])
        yield Step("Begin with another seed", why, another(report))
        yield Step("Then put both together", "One report on all walks.", f"broker-tck fuzz merge {stores}")


def after_speed(report: Report) -> Iterator[Step]:
    """Look at the machine of a slow shard."""
    slow = sorted(report.slow.items(), key=lambda each: each[1])
    if slow:
        number, part = slow[0]
        numbers = listed([str(each) for each, _ in slow])
        shards = f"{'shard' if len(slow) == 1 else 'shards'} {numbers}"
        speed = f"{rounded(part * 100, 2)} % of the usual speed"
        why = f"Shard {number} ran at {speed}, and every round waits for its slowest shard."
        yield Step(f"Look at the machine that ran {shards}", why)


def resume(report: Report) -> str:
    """The command that goes on for as many rounds again; what was merged goes on with another seed."""
    if report.manifest.merged:
        return another(report)
    return f"broker-tck fuzz resume {shlex.quote(report.where)} --rounds {2 * max(report.rounds, 1)}"


def another(report: Report) -> str:
    """The command that begins with a seed of its own."""
    seed = next_seed(report)
    return f"broker-tck fuzz --seed {seed} --store {shlex.quote(beside(report, seed))}"


def beside(report: Report, name: object) -> str:
    """A store beside the one that is reported."""
    return f"{report.where.rstrip('/')}-{name}"


def next_seed(report: Report) -> int:
    """A seed that no campaign in the store had."""
    seeds = [int(each["seed"]) for each in report.manifest.merged]
    return max([report.manifest.seed, *seeds]) + 1


def named(lane: LaneKey) -> str:
    """A lane in a sentence."""
    return f"{lane[0]} ({lane[1]})"
