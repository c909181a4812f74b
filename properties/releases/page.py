"""A survey as a Markdown page: a table of the releases, one of their races, then the deviations of each class."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from broker_tck.implementations.jvm.releases import INSTEAD, Release
from broker_tck.implementations.released import KINDS
from broker_tck.properties.engine.registry import CONTRACTS
from broker_tck.properties.releases.survey import GO, UNKNOWN, Answer, Question
from broker_tck.properties.verdict import BROKEN, CONFORMS, at_most


@dataclass
class Departure:
    """A rule of the specification that a class breaks, and the releases in which it was seen to."""

    rule: str
    sentence: str
    releases: list[str] = field(default_factory=list)
    finding: dict[str, Any] = field(default_factory=dict)
    """The one with the shortest trace."""


def page(
    answers: Sequence[Answer],
    missing: Mapping[str, Sequence[str]],
    command: str,
    date: str,
    left: Sequence[Question] = (),
) -> str:
    """The page of some releases, with the jars of each that were not available.

    ``command`` and ``date`` say how and when the answers were found; ``left`` are the questions without an answer yet.
    """
    releases = [*missing]
    checks = [each for each in answers if not each.question.of_races]
    races = [each for each in answers if each.question.of_races]
    unchecked = [question for question in left if not question.of_races]
    unsearched = [at(question) for question in left if question.of_races]
    told = [*opening(command, date), *unfinished(len(answers), len(left)), *table(checks, releases, unchecked)]
    told += [*caveats(missing), *not_seen(checks), *of_races(races, releases, unsearched)]
    return "\n".join([*told, *chapters(checks, releases)])


def unfinished(done: int, left: int) -> Iterator[str]:
    """A note if some checks are missing."""
    if left:
        yield f"**Not finished:** {done} of {done + left} checks are done. The same command makes the others."
        yield ""


def opening(command: str, date: str) -> Iterator[str]:
    """The first paragraphs of the page."""
    yield "# What the kit says of Apache Pulsar"
    yield ""
    yield "Each class of each release was checked twice: against its profile, and against the specification. A profile"
    yield "says what a release is known to do, its defects included; a class that *conforms* to it does nothing new."
    yield "Below are the deviations of each class from the specification, each with the shortest trace that was found."
    yield ""
    yield f"Made on {date} by `{command}`."
    yield ""


def table(answers: Sequence[Answer], releases: Sequence[str], left: Sequence[Question]) -> Iterator[str]:
    """Releases across, classes down."""
    yield from heads(releases)
    for name in kinds_of(answers):
        places = [(name, release) for release in releases]
        cells = (cell([a for a in answers if at(a.question) == place], place in map(at, left)) for place in places)
        yield row(name, cells)
    yield ""
    yield "A cell has the profile and the verdict, then in brackets the number of checked operations and the 95 % upper"
    yield "bound on the share of walks that would fail. Its last line is the number of rules of the specification that"
    yield "were seen broken."
    yield ""
    yield "The libraries around the classes (Netty, fastutil, RoaringBitmap and others) were those of 4.2.4 for every"
    yield "release, unless `--pulsar` named a folder with the release's own."
    yield ""
    if any(release.startswith(GO) for release in releases):
        yield f"`{GO}` and a version is a release of Apache Pulsar's client in Go. Its class has the name of Java's."
        yield ""


def heads(releases: Sequence[str]) -> Iterator[str]:
    """The head of a table."""
    yield "| contract | class | " + " | ".join(releases) + " |"
    yield "| --- | --- |" + " --- |" * len(releases)


def row(name: str, cells: Iterable[str]) -> str:
    """The row of a kind of classes."""
    return f"| `{KINDS[name].contract}` | {KINDS[name].java} | " + " | ".join(cells) + " |"


def at(question: Question) -> tuple[str, str]:
    """The class and the release that a question is about."""
    return question.kind, question.release


def cell(answers: Sequence[Answer], more: bool) -> str:
    """The cell of a class in a release; ``more`` says that a check of it is missing."""
    if not answers:
        return "not checked yet" if more else "-"
    said = [f"`{each.question.profile}`: {verdict(each)}" for each in answers if each.question.own]
    for each in answers:
        if against_specification(each) and not each.question.own:
            broken = len({finding["rules"][0] for finding in each.findings})
            of_it = each.verdict if each.verdict == CONFORMS else verdict(each)
            said.append(f"{broken} rule{'s' * (broken > 1)} broken" if broken else f"the specification: {of_it}")
    return "<br>".join(said)


def verdict(each: Answer) -> str:
    """A verdict, with how sure it is."""
    if each.verdict != CONFORMS:
        return f"**{each.verdict}**" + (f" ({plain(each.why)})" if each.why else "")
    return f"conforms ({each.checked['operations']:,}; < {at_most(each.checked['residual'])})"


def plain(text: str) -> str:
    """Text inside a table."""
    return text.replace("|", "\\|")


def caveats(missing: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """What a reader must know about the jars."""
    for release, jars in missing.items():
        told = f"Of {release}, {', '.join(jars)} were not available"
        if jars and release in INSTEAD:
            yield f"{told}. Jars of {INSTEAD[release]} took their place; classes in these jars were not checked."
            if Release(release).number >= (5,):
                yield "A small stand-in replaced its `LongBitmap`, so estimates of memory were not compared."
            yield ""
        elif jars:
            yield f"{told}: their classes were not checked."
            yield ""


def not_seen(answers: Sequence[Answer]) -> Iterator[str]:
    """The rules that a profile breaks and for which no trace was found."""
    for each in answers:
        if rules := each.not_seen:
            yield f"`{each.question.subject}`: its profile breaks {', '.join(rules)}, but no trace of that was found."
            yield ""


def of_races(answers: Sequence[Answer], releases: Sequence[str], left: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Which promises break if several threads call a class: releases across, classes down, then what replays each."""
    if not answers:
        return
    yield "## Races"
    yield ""
    yield "Several threads called each class, as [Races in released Pulsar](threads.md) says. A cell has the promises"
    yield "that broke, or the number of schedules in which none did."
    yield ""
    yield from heads(releases)
    for name in kinds_of(answers):
        found = {release: "not searched yet" for kind, release in left if kind == name}
        found |= {each.question.release: race_cell(each) for each in answers if each.question.kind == name}
        yield row(name, (found.get(release, "-") for release in releases))
    yield ""
    for name in kinds_of(answers):
        yield from replays(name, [each for each in answers if each.question.kind == name])


def race_cell(each: Answer) -> str:
    """The promises that broke, with the number of programs in which one did; or how many schedules were quiet."""
    if each.verdict == UNKNOWN:
        return verdict(each)
    if not each.races:
        return f"quiet ({each.checked['schedules']:,} schedules)"
    promises = ", ".join(promise.short for promise in each.races)
    return f"**{promises}** ({each.checked['failing']:,} of {each.checked['programs']:,} programs)"


def replays(name: str, answers: Sequence[Answer]) -> Iterator[str]:
    """For each promise of a class that broke, the releases, and what replays the race that is shortest to tell."""
    for promise in dict.fromkeys(promise for each in answers for promise in each.races):
        found = {each.question.release: each.races[promise] for each in answers if promise in each.races}
        yield f"{KINDS[name].java}, {promise.short}: {promise.value} Seen in {', '.join(found)}."
        yield ""
        yield "```sh"
        yield min(found.values(), key=lambda race: len(race["program"]))["replay"]
        yield "```"
        yield ""


def chapters(answers: Sequence[Answer], releases: Sequence[str]) -> Iterator[str]:
    """The deviations of each class from the specification."""
    for name in kinds_of(answers):
        of_kind = [a for a in answers if a.question.kind == name and a.verdict != UNKNOWN]
        compared = {each.question.release for each in of_kind if against_specification(each)}
        judged = [release for release in releases if release in compared]
        departures = departures_of(of_kind)
        yield f"## {KINDS[name].java}"
        yield ""
        if not departures:
            yield "No rule of the specification was seen broken." if judged else "It was not compared: no verdict."
            yield ""
        for departure in departures:
            yield from section(departure, judged)
        for each in of_kind:
            if each.question.own and each.verdict == BROKEN:
                yield from surprises(each)


def against_specification(each: Answer) -> bool:
    """Whether a class was checked against the specification, which may be its own profile."""
    return each.question.profile == CONTRACTS[each.question.contract].default


def departures_of(answers: Sequence[Answer]) -> list[Departure]:
    """The rules of the specification that a class breaks in some release."""
    found: dict[str, Departure] = {}
    for each in answers:
        for finding in each.findings if against_specification(each) else ():
            rule = finding["rules"][0]
            known = found.setdefault(rule, Departure(rule, finding["sentences"][0]))
            if each.question.release not in known.releases:
                known.releases.append(each.question.release)
            if not known.finding or len(finding["operations"]) < len(known.finding["operations"]):
                known.finding = finding
    return [found[rule] for rule in sorted(found)]


def section(departure: Departure, judged: Sequence[str]) -> Iterator[str]:
    """A rule that is broken; ``judged`` are the releases of which there is a verdict."""
    without = [release for release in judged if release not in departure.releases]
    yield f"### {departure.rule}"
    yield ""
    yield departure.sentence
    yield ""
    yield f"Seen in {', '.join(departure.releases)}" + (f"; not seen in {', '.join(without)}." if without else ".")
    yield ""
    yield "```text"
    yield from departure.finding["story"]
    yield ""
    yield f"  {departure.finding['replay']}"
    yield "```"
    yield ""


def surprises(each: Answer) -> Iterator[str]:
    """How a class differs from its own profile, which is unknown behaviour."""
    yield f"**Not in the profile** `{each.question.profile}` of {each.question.release}:"
    yield ""
    for complaint in each.checked["complaints"]:
        yield f"- {complaint}"
    yield ""
    for finding in each.findings:
        yield "```text"
        yield from finding["story"]
        yield ""
        yield f"  {finding['replay']}"
        yield "```"
        yield ""


def kinds_of(answers: Sequence[Answer]) -> list[str]:
    """The kinds of classes that were asked for, in their order."""
    return list(dict.fromkeys(each.question.kind for each in answers))
